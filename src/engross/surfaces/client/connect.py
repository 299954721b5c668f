"""Opening an office inside this process."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from engross.calls import Clock, Principal, now
from engross.flows import Aggregate
from engross.office import Office, Settings
from engross.replies import Failed, reply_of

from .client import Client

DEFAULT_TENANT = "main"


def connect(
    data: str | Path | None = None,
    *aggregates: Aggregate,
    tenant: str = DEFAULT_TENANT,
    principal: Principal | None = None,
    roles: Iterable[str] = ("curator",),
    clock: Clock = now,
    **settings: Any,
) -> Client:
    """Open the office in a data folder, with these aggregates, and be somebody in it.

    Whoever can open the folder owns the office, so the principal is taken at its word: by default the operating
    system's user, a human with the role of a curator. Settings are those of `engross.office.Settings`.
    """
    folder = Path(data) if data is not None else None
    try:
        office = Office(Settings.from_environment(data=folder, **settings), aggregates, clock=clock)
    except Failed as failure:
        answer = reply_of(failure)
        failure.add_note(f"{answer.message} {orjson.dumps(answer.data).decode()}")
        raise
    return Client(office, tenant, principal or Principal(_user(), "human", frozenset(roles)))


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
