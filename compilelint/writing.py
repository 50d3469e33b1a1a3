"""Files are replaced as a whole: whatever ends the process, and whenever, a file has its old content or the new one.

The new content is written into a folder of its own beside the file, safely to disk, and then takes the file's place.
The folder tells git to ignore it, and no source is named as its file is: what a kill leaves of it is in nobody's way,
and goes with a file that is written there later.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

PREFIX = ".compilelint-"
LEFT_BEHIND = 600.0  # seconds: no file takes so long to write


def write_text(path: Path, text: str) -> None:
    """Make a file, which may be new, hold a text, as UTF-8. Raises OSError."""
    replace_file(real_place(path), text.encode("utf-8"))


def real_place(path: Path) -> Path:
    """Where a link leads, so that it stays one; a path that is none, as it is.

    Raises OSError for a link that leads out of its folder and of the working folder: who named it may not know.
    """
    if not path.is_symlink():
        return path
    place = Path(os.path.realpath(path))
    if not any(place.is_relative_to(os.path.realpath(folder)) for folder in (path.parent, Path())):
        raise OSError(errno.EPERM, f"is a link to {place}, outside of its folder and of the working folder")
    return place


def replace_file(target: Path, data: bytes, *, check: Callable[[], None] = lambda: None) -> None:
    """Make a file, which may be new, hold these bytes. Its permissions, owner and extended attributes are kept where
    the system allows. `check` is called last before the new content takes its place: what it raises prevents that.

    Raises OSError, also for what is no regular file, is read-only, or has further names (hard links), which would keep
    the old content.
    """
    try:
        status = target.lstat()
    except FileNotFoundError:
        status = None
    if status is not None:
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, f"has {status.st_nlink} names (hard links): to write one would part them")
        if not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, "is read-only")
    with _folder_beside(target) as folder:
        new = folder / "new"
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is not None:
            _take_over(target, status, new)
        check()
        new.replace(target)
    _sync(target.parent)


@contextlib.contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    _remove_left_behind(target.parent)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=target.parent, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _appear(folder / ".gitignore", b"*\n")
        yield folder


def _appear(path: Path, data: bytes) -> None:
    """Make a file that nobody sees without its content, where the system can: git would take an empty `.gitignore`."""
    try:
        handle = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except (OSError, AttributeError):
        path.write_bytes(data)
        return
    with os.fdopen(handle, "wb", buffering=0) as file:
        file.write(data)
        try:
            # Python follows links only where a descriptor is named, which an absolute path has no use for
            os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
        except OSError:  # no /proc
            path.write_bytes(data)


@lru_cache(maxsize=1024)
def _remove_left_behind(folder: Path) -> None:
    """What earlier runs were killed over, once for each folder and run."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > LEFT_BEHIND and {path.name for path in Path(entry.path).iterdir()} <= {".gitignore", "new"}:
                    shutil.rmtree(entry.path, ignore_errors=True)


def _take_over(old: Path, status: os.stat_result, new: Path) -> None:
    """Owner, extended attributes and permissions, in this order: each change may reset those behind it."""
    mode = stat.S_IMODE(status.st_mode)
    if hasattr(os, "chown"):
        try:
            os.chown(new, status.st_uid, status.st_gid)
        except OSError:  # only the superuser may give a file away
            mode &= 0o777  # to run as the owner is not passed on to another
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(old):
                with contextlib.suppress(OSError):
                    os.setxattr(new, name, os.getxattr(old, name))
    new.chmod(mode)


def _sync(folder: Path) -> None:
    """Make the renaming last; not all systems can, and the file is whole either way."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
