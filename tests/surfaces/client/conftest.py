"""The same caller twice: in the office's own process, and on the other side of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from engross.calls import Principal
from engross.surfaces.client import Client, connect
from tests.bed.offices import shelf
from tests.bed.rig import rig
from tests.bed.served import Served

TENANTS = count()
At = Callable[..., Client]


@pytest.fixture
def at(served: Served) -> Iterator[At]:
    """Opens clients at the served office: `at("remote", "clara", "human", "curator")`, in a tenant of their own."""
    opened: list[Client] = []

    def open_client(way: str, name: str = "clara", type: str = "human", *roles: str, tenant: str = "main") -> Client:
        held = roles or ("curator",)
        if way == "remote":
            client = connect(served.url, token=served.token(name, type, *held, tenant=tenant))
        else:
            principal = Principal(name, type, frozenset(held))  # type: ignore[arg-type]
            client = connect(served.folder, shelf(), rig, store=served.store, principal=principal, tenant=tenant)
        opened.append(client)
        return client

    yield open_client
    for client in opened:
        client.close()


@pytest.fixture
def tenant() -> str:
    """A tenant that nobody else uses."""
    return f"tenant-{next(TENANTS)}"


@pytest.fixture(params=["embedded", "remote"])
def way(request: pytest.FixtureRequest) -> str:
    """By which way a client reaches the office."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def clara(at: At, way: str, tenant: str) -> Client:
    """The curator Clara, where nobody was before."""
    return at(way, tenant=tenant)
