"""Reading sources for a rewrite and writing them back: whole, or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path

from compilelint.fix.errors import WriteError
from compilelint.source.notebook import Notebook, NotebookError, is_notebook, read


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
        data = path.read_bytes()
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

    A symbolic link stays one: its target is written. Permissions, encoding and byte order mark are kept.
    """
    data = source.encode(text)
    try:
        target = source.path.resolve(strict=True)
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise WriteError(f"{source.path}: not a regular file")
        if not os.access(target, os.W_OK):
            raise WriteError(f"{source.path}: is read-only")
        _refuse_changed(source, target)
        temporary = _write_beside(target, data, status)
        try:
            _refuse_changed(source, target)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise WriteError(f"{source.path}: can't be written: {error.strerror or error}") from None


def write_text(path: Path, text: str) -> None:
    """Make a file, which may be new, hold a text in one step, as UTF-8. Permissions are kept. Raises OSError."""
    temporary = _write_beside(path, text.encode("utf-8"), path.stat() if path.is_file() else None)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _refuse_changed(source: Source, target: Path) -> None:
    if target.read_bytes() != source.data:
        raise WriteError(f"{source.path}: changed since it was read; not written")


def _write_beside(target: Path, data: bytes, status: os.stat_result | None) -> Path:
    """A temporary file in the target's folder with its content, owner and permissions, safely on disk; `status` None
    is that of a new file."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is not None and hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only the superuser may give a file away
                os.chown(temporary, status.st_uid, status.st_gid)
        temporary.chmod(stat.S_IMODE(status.st_mode) if status is not None else _new_mode())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _new_mode() -> int:
    """The permissions that a new file gets; to ask for the umask is to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the renaming last; not all systems can, and the file is whole either way."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
