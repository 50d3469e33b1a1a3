"""Runs the user's code: before against after, each in a process of its own. Importing this package imports no torch."""

from compilelint.runtime.results import Check, Mode, Side, Site, VerifyResult
from compilelint.runtime.verify import verify

__all__ = ["Check", "Mode", "Side", "Site", "VerifyResult", "verify"]
