"""The examples of every flow end in the same Reply, in the office's own process and on the other side of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engross.flows import Example, filled
from engross.replies import Reply
from engross.surfaces.client import Client, connect
from tests.bed.sameness import told
from tests.bed.served import Served
from tests.surfaces.client.conftest import TENANTS, At


def newcomer(owner: Client) -> tuple[Client, str]:
    """Somebody in a tenant of their own, and a token that stands for them."""
    somebody = owner.as_("clara", "human", ["admin", "curator"], tenant=f"tenant-{next(TENANTS)}", surface="rest")
    made = somebody.door.create_token(principal="clara", type="human", roles=["admin", "curator"])
    return somebody, owner.office.door.text_of(somebody.tenant, made.data["token"]["id"])


def outcome(client: Client, ref: str, example: Example) -> Reply:
    answers: list[Any] = []
    for before, arguments in example.given:
        answer = client.call(before, _call(arguments, answers))
        assert answer.ok, (before, answer)
        answers.append(answer.data)
    return client.call(ref, _call(example.arguments, answers))


def _call(arguments: Any, answers: Sequence[Any]) -> Any:
    return filled(arguments, answers)


@pytest.mark.requirement("REP-07")
@pytest.mark.timeout(240)
def test_every_example_ends_in_the_same_reply_by_either_way(served: Served, at: At) -> None:
    owner = at("embedded", "clara", "human", "admin", "curator")
    tried = 0
    for flow in owner.office.catalogue:
        for example in flow.examples:
            near, _ = newcomer(owner)
            _, token = newcomer(owner)
            with connect(served.url, token=token) as far:
                expected, found = outcome(near, flow.ref, example), outcome(far, flow.ref, example)
            assert found.message_key == example.reply, (flow.ref, example.title, found)
            assert told(found) == told(expected), (flow.ref, example.title)
            tried += 1
    assert tried > 25
