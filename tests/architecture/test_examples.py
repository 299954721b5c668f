"""Every example of every flow is run, on both engines; every flow is portable and small."""

from collections.abc import Mapping
from typing import Any

import pytest

from engross.domains.architecture import architecture
from engross.flows import Example, Flow, filled, lint
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.architecture.studio import Studio


def outcome(client: Client, flow: Flow, given: Example) -> Reply:
    answers: list[Any] = []
    for before, arguments in given.given:
        answer = client.call(before, _call(arguments, answers))
        assert answer.ok, (before, answer)
        answers.append(answer.data)
    return client.call(flow.ref, _call(given.arguments, answers))


def _call(arguments: Mapping[str, object], answers: list[Any]) -> Any:
    return filled(arguments, answers)


@pytest.mark.requirement("ARCH-03")
def test_every_example_ends_as_it_says(studio: Studio) -> None:
    tried = 0
    for flow in architecture().flows.values():
        for given in flow.examples:
            tried += 1
            somewhere_new = studio.clara.as_("clara", "human", ["curator"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, flow, given)
            assert answer.message_key == given.reply, (flow, given.title, answer)
    assert tried > 40


def test_every_flow_has_an_example_and_is_portable() -> None:
    flows = list(architecture().flows.values())
    assert [flow.ref for flow in flows if not flow.examples] == []
    assert lint(flows) == []
