"""The file that holds a cache: a SQLite database, which takes two runs at once and a kill at any moment."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

FORMAT = 1
DAYS = 30  # that a part is kept without being asked for
WAIT = 2.0  # seconds for another run to finish writing
_DAY = 86_400


class Store:
    """Values by key, and what is known of files. What can't be read is as if it were not there, and made anew."""

    def __init__(self, path: Path) -> None:
        """Raises OSError or sqlite3.Error where no database can be had."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = self._open(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, read-only, a full disk: not its content
                raise
            path.unlink(missing_ok=True)
            self._database = self._open(path)

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        database = sqlite3.connect(path, timeout=WAIT)
        try:
            (form,) = database.execute("PRAGMA user_version").fetchone()
            if form != FORMAT:
                with database:
                    database.execute("DROP TABLE IF EXISTS parts")
                    database.execute("DROP TABLE IF EXISTS files")
                    database.execute("CREATE TABLE parts (key TEXT PRIMARY KEY, used INTEGER, value TEXT)")
                    database.execute("CREATE TABLE files (path TEXT PRIMARY KEY, stamp TEXT, digest TEXT)")
                    database.execute(f"PRAGMA user_version = {FORMAT}")
            return database
        except sqlite3.Error:
            database.close()
            raise

    def files(self) -> dict[str, tuple[str, str]]:
        """Path → (stamp, digest)."""
        with contextlib.suppress(sqlite3.Error, ValueError):
            return {path: (stamp, digest) for path, stamp, digest in self._database.execute("SELECT * FROM files")}
        return {}

    def values(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the values asked for that are there."""
        found = {}
        with contextlib.suppress(sqlite3.Error):
            for key in keys:
                row = self._database.execute("SELECT value FROM parts WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = row[0]
        return found

    def keep(self, values: Mapping[str, str], used: Iterable[str], files: Mapping[str, tuple[str, str]]) -> None:
        """Adds values and files, and notes which values were used; those unused for long go. What fails is left."""
        today = int(time.time()) // _DAY
        with contextlib.suppress(sqlite3.Error, UnicodeError), self._database as database:  # names may be any bytes
            database.executemany(
                "INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", [(key, today, value) for key, value in values.items()]
            )
            database.executemany(
                "UPDATE parts SET used = ? WHERE key = ? AND used < ?", [(today, key, today) for key in used]
            )
            database.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?)", [(path, *known) for path, known in files.items()]
            )
            if values:
                database.execute("DELETE FROM parts WHERE used < ?", (today - DAYS,))

    def close(self) -> None:
        self._database.close()
