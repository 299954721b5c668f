"""Whether an office is there: opening one makes it, and whoever only looks at one must not."""

from __future__ import annotations

from engross.plainfile import stands_at
from engross.replies import Invalid, codes

from .settings import Settings

HINT = "Name the office's folder with --data or ENGROSS_DATA. `engross serve`, or the first write, makes a new one."


def has_store(settings: Settings) -> bool:
    """Is there a database? Of a server's that is not known before it is asked."""
    return settings.store is not None or stands_at(settings.location)


def require_store(settings: Settings) -> None:
    """Invalid where there is no database yet."""
    if not has_store(settings):
        raise _not_there(settings)


def has_office(settings: Settings) -> bool:
    """Would opening make nothing? For a database on a server, too, the key is in the folder."""
    return settings.data.is_dir() and has_store(settings)


def require_office(settings: Settings) -> None:
    """Invalid where opening would make something."""
    if not has_office(settings):
        raise _not_there(settings)


def made_new(settings: Settings) -> str:
    """What is said where opening an office made it: the name of its folder may be a slip."""
    return f"made a new office in {settings.data}"


def _not_there(settings: Settings) -> Invalid:
    told = {"kind": "office in", "id": str(settings.data)}
    return Invalid(codes.RECORD_NOT_FOUND, told, field="data", suggestions={"hint": HINT})
