"""Opening an office inside this process, or reaching one that runs elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from engross.calls import DEFAULT_TENANT, Clock, Principal, now
from engross.flows import Aggregate
from engross.office import Settings
from engross.office.capabilities import open_office
from engross.office.door.local import os_user
from engross.office.settings import TOKEN_VARIABLE
from engross.replies import Failed, reply_of

from .address import SCHEMES, is_address
from .client import Client, held, known
from .embedded import EmbeddedPort


def connect(
    data: str | Path | None = None,
    *aggregates: Aggregate,
    tenant: str = DEFAULT_TENANT,
    principal: Principal | None = None,
    roles: Iterable[str] = ("curator",),
    clock: Clock = now,
    token: str | None = None,
    **settings: Any,
) -> Client:
    """Open the office in a data folder, with these aggregates, and be somebody in it.

    Whoever can open the folder owns the office, so the principal is taken at its word: by default the operating
    system's user, a human with the role of a curator. Settings are those of `engross.office.Settings`.

    With an address, as `https://office.example`, reach the office that runs there. Who calls is then what its door
    makes of the `token`, or of ENGROSS_TOKEN if none is given; of the settings only `call_seconds` means something.
    """
    if isinstance(data, str) and is_address(data):
        _refuse_what_an_office_decides(aggregates, tenant, principal, settings)
        return _remote(data, token, **settings)
    _refuse_what_no_folder_takes(aggregates, token)
    caller = Principal(os_user(), roles=held(roles)) if principal is None else known(principal)
    folder = Path(data) if data is not None else None
    try:
        chosen = Settings.from_environment(data=folder, **settings)
        office = open_office(chosen, *aggregates, clock=clock)
    except Failed as failure:
        answer = reply_of(failure)
        failure.add_note(f"{answer.message} {orjson.dumps(answer.data).decode()}")
        raise
    return Client(EmbeddedPort(office, tenant, caller))


def _remote(address: str, token: str | None, call_seconds: float = 30.0) -> Client:
    from .remote import RemotePort

    return Client(RemotePort(address, held_token(token), call_seconds=call_seconds))


def held_token(given: str | None) -> str | None:
    """The token that is given, be it empty and thus none; the environment's only if no token is given at all.

    A file ends with a line end, which is no part of the token.
    """
    token = os.environ.get(TOKEN_VARIABLE) if given is None else given
    return None if token is None else token.strip()


def _refuse_what_no_folder_takes(aggregates: tuple[object, ...], token: str | None) -> None:
    if token is not None:
        raise TypeError(f"a token goes with an address, which begins with {' or '.join(SCHEMES)}; a folder takes none")
    for one in aggregates:
        if not isinstance(one, Aggregate):
            raise TypeError(f"{one!r} is no Aggregate; files that define some are named by the setting capabilities")


def _refuse_what_an_office_decides(
    aggregates: tuple[Aggregate, ...], tenant: str, principal: Principal | None, settings: dict[str, Any]
) -> None:
    settled = [name for name in settings if name != "call_seconds"]
    if aggregates or tenant != DEFAULT_TENANT or principal is not None or settled:
        what = ", ".join(settled) or "the aggregates, the tenant and the principal"
        raise TypeError(f"a remote office has settled this already, or does not know it: {what}")
