"""`python -m compilelint` and the `compilelint` script."""

from __future__ import annotations

from compilelint.cli import main

if __name__ == "__main__":
    main()
