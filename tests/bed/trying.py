"""Trying out the examples of flows."""

from __future__ import annotations

from typing import Any

from engross.flows import Example, Flow, filled
from engross.replies import Reply
from engross.surfaces.client import Client


def outcome(client: Client, flow: Flow, example: Example) -> Reply:
    """Make the calls that come before, which must succeed, then the one in question."""
    answers: list[Any] = []
    for before, arguments in example.given:
        answer = client.call(before, filled(arguments, answers))  # type: ignore[arg-type]
        assert answer.ok, (before, answer)
        answers.append(answer.data)
    return client.call(flow.ref, filled(example.arguments, answers))  # type: ignore[arg-type]
