"""Ids that a call may use.

Every id of a call is derived from the call's own message id and a counter. A transaction that is retried, and a
proposal that is replayed weeks later, therefore arrive at the very same ids: an id can be promised before it is used.
The form is that of a version 7 UUID, so that ids sort by the time of the call that made them.
"""

from __future__ import annotations

from hashlib import sha256

from uuid_utils import uuid7


def new_message_id() -> str:
    """A fresh, time-ordered id for one call."""
    return str(uuid7())


def derived_id(message_id: str, ordinal: int) -> str:
    """The id number `ordinal` of the call with that message id."""
    digest = sha256(f"{message_id}/{ordinal}".encode()).hexdigest()
    variant = "89ab"[int(digest[3], 16) & 3]
    return f"{message_id[:13]}-7{digest[:3]}-{variant}{digest[4:7]}-{digest[7:19]}"
