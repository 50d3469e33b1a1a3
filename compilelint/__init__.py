"""compilelint: finds graph breaks and hidden GPU syncs in PyTorch code, from source alone, and fixes them."""

__version__ = "0.1.0"
