"""`python -m compilelint` and the `compilelint` script."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # -m puts it first, with whatever modules the code to check brings: pathlib among them
    try:
        here = os.getcwd()  # noqa: PTH109
    except FileNotFoundError:  # it is gone; what needs it says so
        here = ""
    if sys.path[:1] == [here]:
        del sys.path[0]
    from compilelint.cli import main

    main()
