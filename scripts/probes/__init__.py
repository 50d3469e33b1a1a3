"""What the scripts measure beside torch's own operator database: constructs and calls, as data."""
