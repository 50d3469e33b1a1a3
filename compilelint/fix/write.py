"""Reading sources for a rewrite and writing them back: whole, or not at all."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

from compilelint.errors import NotebookError
from compilelint.fix.errors import WriteError
from compilelint.source.files import read_regular
from compilelint.source.notebook import Notebook, is_notebook, read
from compilelint.writing import real_place, replace_file


@dataclass(frozen=True)
class Source:
    """A file as it was read. `text` has no byte order mark, its newlines are those of the file; of a notebook it is
    the code."""

    path: Path
    data: bytes
    text: str
    encoding: str
    notebook: Notebook | None = None

    def encode(self, text: str) -> bytes:
        """The bytes of the file with another text. Raises WriteError."""
        try:
            return (text if self.notebook is None else self.notebook.with_text(text)).encode(self.encoding)
        except NotebookError as error:
            raise WriteError(f"{self.path}: cell {error.page}: {error}") from None
        except UnicodeEncodeError as error:
            raise WriteError(
                f"{self.path}: {error.object[error.start]!r} is not in its encoding {self.encoding}"
            ) from None
        except UnicodeError as error:
            raise WriteError(f"{self.path}: can't be written in its encoding {self.encoding}: {error}") from None


def read_source(path: Path) -> Source:
    """Read a Python file by its declared encoding, or a notebook. Raises WriteError."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise WriteError(f"{path}: can't be read: {error.strerror}") from None
    try:
        if is_notebook(path):
            notebook = read(data)
            return Source(path, data, notebook.text, "utf-8", notebook)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return Source(path, data, data.decode(encoding), encoding)
    except (
        NotebookError,
        SyntaxError,
        LookupError,
        UnicodeError,
        ValueError,
        TypeError,
    ) as error:  # of codecs for no text, too
        raise WriteError(f"{path}: not readable as text: {error}") from None


def write_source(source: Source, text: str) -> None:
    """Replace the file's content in one step. Raises WriteError when it changed since it was read, or can't be written.

    A symbolic link stays one: its target is written, where that lies in the link's folder or the working folder.
    Permissions, encoding and byte order mark are kept.
    """
    data = source.encode(text)
    try:
        target = real_place(source.path)

        def check() -> None:
            if read_regular(target) != source.data:
                raise WriteError(f"{source.path}: changed since it was read; not written")

        check()
        replace_file(target, data, check=check)
    except OSError as error:
        raise WriteError(f"{source.path}: can't be written: {error.strerror or error}") from None
