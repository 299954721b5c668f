"""The examples of every flow end in the same Reply from a shell as in the office's own process."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engross.flows import Example, Flow, filled
from engross.replies import structured
from engross.replies.envelopes import EXIT_CODES
from engross.surfaces.client import Client, connect
from tests.bed.sameness import masked
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Done, Shell


def by_shell(shell: Shell, flow: Flow, example: Example, tenant: str) -> Done:
    answers: list[Any] = []
    for before, arguments in example.given:
        answer = called(shell, before, filled(arguments, answers), tenant)
        assert answer.code == 0, (before, answer)
        answers.append(answer.json)
    return called(shell, flow.ref, filled(example.arguments, answers), tenant)


def called(shell: Shell, ref: str, arguments: object, tenant: str) -> Done:
    words = ("call", ref, "--json", "-", "--tenant", tenant, "--role", "admin")
    # The library's office has the shelf alone, and what is suggested depends on what there is.
    return shell.run(*words, input=orjson.dumps(arguments), env={"ENGROSS_DOMAINS": ""})


def by_library(office: Client, flow: Flow, example: Example, tenant: str) -> Any:
    somebody = office.as_(office.principal.id, "human", ["admin"], tenant=tenant, surface="cli")
    answers: list[Any] = []
    for before, arguments in example.given:
        answers.append(somebody.call(before, filled(arguments, answers)).data)  # type: ignore[arg-type]
    answer = somebody.call(flow.ref, filled(example.arguments, answers))  # type: ignore[arg-type]
    return orjson.loads(orjson.dumps(structured(answer, flow.dialect)))


@pytest.mark.requirement("REP-07")
@pytest.mark.timeout(240)
def test_every_example_ends_in_the_same_reply_from_a_shell(shell: Shell) -> None:
    with connect(shell.folder, capabilities=SHELF, store=shell.store) as office:
        tried = 0
        for flow in office.office.catalogue:
            for example in flow.examples:
                tried += 1
                found = by_shell(shell, flow, example, f"shell-{tried}")
                assert found.key == example.reply, (flow.ref, example.title, found)
                assert found.code == EXIT_CODES[found.json["reply"]["reply_type"]]
                expected = by_library(office, flow, example, f"library-{tried}")
                assert masked(found.json) == masked(expected), (flow.ref, example.title)
    assert tried > 25
