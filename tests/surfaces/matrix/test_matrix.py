"""Every example of every flow, by every way in, on both stores: the same Reply.

A domain gets all of this by the examples of its flows. People come by Python, REST and the command line; agents by
Python, REST and MCP, where `run_flow` reaches what no tool stands for, and what is for people only is Denied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from engross.calls import Principal
from engross.flows import Example, Flow, filled
from engross.office import Office, Request, Settings
from engross.office.built_in import DOMAINS
from engross.office.door.local import os_user
from engross.office.toolsets import HIDDEN
from engross.surfaces.desk import MORE, NOT_BY_DEFAULT
from tests.bed.offices import shelf
from tests.bed.sameness import masked
from tests.bed.served import UNLIMITED, Served
from tests.surfaces.matrix.ways import (
    CATALOGUE,
    Answer,
    Cli,
    Embedded,
    McpHttp,
    McpSession,
    McpStdio,
    Remote,
    Rest,
    Way,
    options_of,
)

PERSON = Principal(os_user(), "human", frozenset({"admin"}))
AGENT = Principal(f"agent:{os_user()}", "agent", frozenset({"curator"}))
PEOPLE_WAYS = ("remote", "rest", "cli")
AGENT_WAYS = ("remote", "rest", "mcp-http", "mcp-http-2025", "mcp-stdio")
EVERY = ",".join(DOMAINS)
TENANTS = count()

# What is deprecated is not there at all unless somebody names its toolset, so these offices do.
TOOLSETS = [name for name in CATALOGUE.toolsets if name not in NOT_BY_DEFAULT - HIDDEN and not name.endswith(MORE)]
NAMED = ",".join(TOOLSETS)
CASES = [
    pytest.param(flow.ref, number, id=f"{flow.ref}-{number}")
    for flow in CATALOGUE
    for number in range(len(flow.examples))
]


class House:
    """One office, served and opened beside it, as two processes of one machine would have it."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.office = Office(Settings(data=served.folder, store=served.store, domains=EVERY, toolsets=NAMED), [shelf()])

    def way(self, name: str, principal: Principal) -> Way:
        """A way in, to a tenant where nobody was before."""
        tenant, served, catalogue = f"tenant-{next(TENANTS)}", self.served, self.office.catalogue
        # Also where nobody shows it: a token is on the record like everything else.
        token = self._token(tenant, principal)
        made: dict[str, Callable[[], Way]] = {
            "embedded": lambda: Embedded(self.office, tenant, principal),
            "remote": lambda: Remote(served, token, catalogue),
            "rest": lambda: Rest(served, token),
            "mcp-http": lambda: McpHttp(served, token, catalogue),
            "mcp-http-2025": lambda: McpSession(served, token, catalogue),
            "mcp-stdio": lambda: McpStdio(served, tenant, catalogue, TOOLSETS),
            "cli": lambda: Cli(served.folder, served.store, tenant, catalogue),
        }
        return made[name]()

    def _token(self, tenant: str, principal: Principal) -> str:
        owner = Principal("owner", "human", frozenset({"admin"}))
        wish = {"principal": principal.id, "type": principal.type, "roles": sorted(principal.roles)}
        made = self.office.call(Request("door.create-token", wish, tenant, owner))
        return self.office.door.text_of(tenant, made.data["token"]["id"])


@pytest.fixture(scope="module")
def house(module_store: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A served office on each engine in turn."""
    folder = tmp_path_factory.mktemp("matrix") / "office"
    with Served(folder, module_store, knobs=UNLIMITED, toolsets=TOOLSETS, domains=EVERY) as running:
        house = House(running)
        yield house
        house.office.close()


def outcome(way: Way, flow: Flow, example: Example) -> Answer:
    """Make the calls that come before, then the one in question; the first refusal ends it."""
    answers: list[Any] = []
    for ref, arguments in (*example.given, (flow.ref, example.arguments)):
        answer = way.call(ref, filled(arguments, answers))  # type: ignore[arg-type]
        answers.append(answer)
        if answer["reply"]["reply_type"] != "S":
            break
    last: Answer = answers[-1]
    return last


def same(inside: Any, outside: Any) -> bool:
    """Whether everything said inside is said outside; a problem of RFC 9457 says some of it twice."""
    if isinstance(inside, dict) and isinstance(outside, dict):
        return all(name in outside and same(value, outside[name]) for name, value in inside.items())
    if isinstance(inside, list) and isinstance(outside, list):
        return len(inside) == len(outside) and all(map(same, inside, outside))
    return bool(inside == outside)


def compared(house: House, name: str, principal: Principal, ref: str, number: int) -> tuple[Answer, Answer]:
    """What is answered inside the process, and by another way."""
    flow = house.office.catalogue.flow(ref)
    told = []
    for each in ("embedded", name):
        way = house.way(each, principal)
        try:
            told.append(outcome(way, flow, flow.examples[number]))
        finally:
            way.close()
    inside, outside = told
    return inside, outside


def test_every_flow_is_called_by_a_command_of_its_own() -> None:
    said = {flow.ref: [options_of(flow, one.arguments) is not None for one in flow.examples] for flow in CATALOGUE}
    assert [ref for ref, by_options in said.items() if not any(by_options)] == []


@pytest.mark.requirement("REP-07", "ARCH-39")
@pytest.mark.parametrize(("ref", "number"), CASES)
@pytest.mark.parametrize("name", PEOPLE_WAYS)
def test_a_person_gets_the_same_reply_by_every_way(house: House, name: str, ref: str, number: int) -> None:
    inside, outside = compared(house, name, PERSON, ref, number)
    assert same(masked(inside), masked(outside)), (inside, outside)


@pytest.mark.requirement("REP-07", "ARCH-39", "NEW-03")
@pytest.mark.parametrize(("ref", "number"), CASES)
@pytest.mark.parametrize("name", AGENT_WAYS)
def test_an_agent_gets_the_same_reply_by_every_way(house: House, name: str, ref: str, number: int) -> None:
    inside, outside = compared(house, name, AGENT, ref, number)
    assert same(masked(inside), masked(outside)), (inside, outside)


@pytest.mark.parametrize("wrong", [{}, {"principel": "b"}, {"principal": 1, "roles": "admin"}], ids=str)
@pytest.mark.parametrize("name", ["embedded", *AGENT_WAYS])
def test_an_agent_hears_what_is_not_for_it_however_wrong_its_arguments_are(
    house: House, name: str, wrong: dict[str, Any]
) -> None:
    way = house.way(name, AGENT)
    told = way.call("door.create-token", wrong)["reply"]
    way.close()
    assert (told["reply_type"], told["message_key"]) == ("D", "PEOPLE_ONLY")
