"""Files that are written whole or not at all, and locks on files."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from qdts.errors import InputError

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""What the system says of a lock that another process holds; anything else says that there are no locks."""
LOCKED_BYTE = 1 << 30
"""Windows locks bytes and not files: one beyond everything that is written."""


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step.

    If anything fails, what stood at `path` before still stands there. A link is followed.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write '{path}': it is not a regular file")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def lock(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; False if another process holds the lock.

    On a file system without locks nothing is locked.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in HELD
    return True
