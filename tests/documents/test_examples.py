"""Every example of every flow is run, on both engines; every flow is portable and small."""

from __future__ import annotations

from pathlib import Path

from engross.flows import lint
from tests.bed.offices import Offices
from tests.bed.trying import outcome
from tests.documents.archive import Archive, domain


def test_every_example_ends_as_it_says(offices: Offices) -> None:
    archives = Archive(offices, settings={"toolsets": "documents,legacy"})
    tried = 0
    for flow in domain(archives.folder).flows.values():
        for given in flow.examples:
            tried += 1
            somewhere_new = archives.clara.as_("clara", "human", ["curator"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, flow, given)
            assert answer.message_key == given.reply, (flow, given.title, answer)
    assert tried > 30


def test_every_flow_has_an_example_and_is_portable(tmp_path: Path) -> None:
    flows = list(domain(tmp_path).flows.values())
    assert [flow.ref for flow in flows if not flow.examples] == []
    assert lint(flows) == []
