"""A page in a real browser, for tests of HTML reports."""

from __future__ import annotations

import shutil
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


class Opened:
    """A page in Chromium, and what went wrong in it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith("file:"):
            self.wrong.append(request.url)
