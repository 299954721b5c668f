"""Plain files: what is to be read or written as one may be something else, or a link that leads nowhere."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISREG


class NoPlainFile(OSError):
    """Something stands where a plain file should, and is none."""


def stands_at(path: str | os.PathLike[str]) -> bool:
    """Whether anything has this name, be it a link that leads nowhere. What we may not look at counts as there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def only_plain(path: str, flags: int) -> int:
    """An opener for `open` that takes plain files alone."""
    # A pipe in the place of a file would be waited for.
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise _no_plain_file(path)


def plain_target(path: str | os.PathLike[str]) -> Path:
    """The file that writing to a path means. A link is followed, so that it stays when the file is replaced."""
    try:
        is_plain = S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        is_plain = True
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        is_plain = False
    if not is_plain:
        raise _no_plain_file(path)
    return Path(os.path.realpath(path))


def _no_plain_file(path: str | os.PathLike[str]) -> NoPlainFile:
    return NoPlainFile(errno.EINVAL, "something that is no plain file is there", os.fspath(path))
