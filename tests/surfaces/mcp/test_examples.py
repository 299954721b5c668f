"""Every example of every flow ends over MCP as it says, by its own tool and by run_flow."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from engross.calls import Caller, Principal
from engross.flows import Example, filled
from engross.surfaces.client import Client
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import make_server
from tests.surfaces.mcp.house import connected, on_a_loop, told

BOTH_ROLES = Principal("clara", "human", frozenset({"curator", "admin"}))


def prepared(client: Client, given: Example) -> dict[str, Any]:
    """The arguments of an example, once what must have happened before it has."""
    answers: list[Any] = []
    for before, arguments in given.given:
        answer = client.call(before, filled(arguments, answers))  # type: ignore[arg-type]
        assert answer.ok, (before, answer)
        answers.append(answer.data)
    ready: Any = filled(given.arguments, answers)
    return dict(ready)


@pytest.mark.requirement("REP-07")
@on_a_loop
async def test_every_example_ends_as_it_says(curator: Client, era: str) -> None:
    desk = Desk(curator.office)
    everything = [(tool, given) for tool in curator.office.catalogue.tools() for given in tool.flow.examples]
    assert len(everything) > 20
    for number, (tool, given) in enumerate(everything):
        somewhere_new = Caller(f"t{number}", BOTH_ROLES, "clara")
        arguments = prepared(curator.as_("clara", "human", ["curator", "admin"], tenant=f"t{number}"), given)
        expected = "PEOPLE_ONLY" if tool.flow.people_only else given.reply
        server = make_server(desk, partial(replace, somewhere_new), "mcp-stdio")
        async with connected(server, era) as session:
            wish = {"flow": tool.flow.ref, "arguments": arguments}
            calls = ((tool.name, arguments),) if tool.flow.writes else ((tool.name, arguments), ("run_flow", wish))
            for name, sent in calls:
                answer = told(await session.call_tool(name, sent))
                assert answer["reply"]["message_key"] == expected, (tool.name, given.title, answer)
