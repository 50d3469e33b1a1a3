"""Rewriting files: edits, the Rewriter that rules use, the rounds of a fix, and atomic writing."""
