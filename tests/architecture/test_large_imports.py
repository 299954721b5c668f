"""Very large imports: one commit that is never held as a whole, and that nobody is asked to look through."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest

from engross.calls import CONVERSATION, Question, unanswered
from engross.domains.architecture import metamodel
from engross.ledger import Unit
from engross.ledger.verify import verify
from engross.surfaces.client import Client
from tests.architecture.files import element, exchange
from tests.architecture.studio import Studio, done
from tests.bed.offices import Offices

MANY = 300
"""More than are held until the commit, in several batches."""


@pytest.fixture(autouse=True)
def _little_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let less count as very much, so that it takes less time."""
    monkeypatch.setattr(Unit, "most_held", 200)
    monkeypatch.setattr(import_module("engross.ledger.bulk"), "BATCH", 128)


def large(elements: int = MANY, relationships: int = MANY) -> str:
    """A file with so many elements and relationships."""
    things = "".join(element(f"e{n}", "Node", f"Server {n}") for n in range(elements))
    ties = "".join(
        f'<relationship identifier="r{n}" source="e{n % elements}" target="e{(n * 7) % elements}" xsi:type="Flow"/>'
        for n in range(relationships)
    )
    return exchange(f"<elements>{things}</elements><relationships>{ties}</relationships>")


def confirmed(client: Client, **asked: Any) -> Any:
    refused = client.architecture.import_model(mode="commit", **asked)
    assert refused.message_key == "CONFIRMATION_REQUIRED"
    return client.architecture.import_model(mode="commit", **asked, confirm_token=refused.data["confirm_token"])


class Listener:
    """Somebody who waits, and hears how far it is."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def report(self, done: float, total: float | None, message: str | None) -> None:
        self.heard.append(message or "")

    def remark(self, data: Any, level: str) -> None:
        raise AssertionError(data)

    def can_ask(self, means: str) -> bool:
        return False

    def ask(self, questions: Mapping[str, Question]) -> dict[str, Mapping[str, Any]]:
        raise unanswered(questions)


def test_a_large_import_is_one_commit_that_verifies_and_rebuilds(offices: Offices) -> None:
    studio = Studio(offices)
    content = large()
    looked = done(studio.clara.architecture.import_model(content=content)).data
    assert looked["counts"]["elements"] == looked["counts"]["relationships"] == MANY
    refused = studio.clara.architecture.import_model(mode="commit", content=content)
    assert refused.message_key == "CONFIRMATION_REQUIRED"
    assert len(refused.data["diff"]) <= 1000
    # The model, its elements and its relationships, less those that are shown.
    assert refused.data["diff_left_out"] + len(refused.data["diff"]) == 2 * MANY + 1
    listener = Listener()
    before = CONVERSATION.set(listener)
    try:
        answer = confirmed(studio.clara, content=content)
    finally:
        CONVERSATION.reset(before)
    told = done(answer).data
    assert told["counts"]["elements_created"] == told["counts"]["relationships_created"] == MANY
    assert len(told["facts"]) == 2 * MANY + 1
    assert listener.heard[-1] == "Writing relationships"
    receipt = studio.clara.record.get_receipt(position=told["position"]).data["receipt"]
    assert receipt["facts"] == 2 * MANY + 1
    office = studio.clara.office
    assert verify(office.settings.location, public_key=office.public_key).ok
    assert office.rebuild("main").same
    overview = done(studio.scout.architecture.describe_model(model_id=told["model"]["id"])).data
    assert overview["counts"] == {"elements": MANY, "relationships": MANY, "views": 0}
    found = done(studio.scout.architecture.semantic_search(query="server 271", model_id=told["model"]["id"])).data
    assert found["results"][0]["name"] == "Server 271"


def test_an_agent_cannot_propose_what_nobody_could_review(shared_studio: Studio) -> None:
    refused = shared_studio.scout.architecture.import_model(mode="commit", content=large(MANY, 0))
    assert refused.message_key == "LIMIT_EXCEEDED"
    assert refused.data["details"] == {"limit": Unit.most_held, "actual": MANY + 1}
    # Elements and relationships count together.
    tied = shared_studio.scout.architecture.import_model(mode="commit", content=large(150, 150))
    assert tied.data["details"] == {"limit": Unit.most_held, "actual": 301}
    assert done(shared_studio.scout.proposals.list_proposals()).data["proposals"] == []
    assert len(done(shared_studio.scout.architecture.list_models()).data["models"]) == 1


def test_a_large_import_into_a_model_changes_what_differs_and_adds_the_rest(shared_studio: Studio) -> None:
    clara = shared_studio.clara
    model = done(clara.architecture.create_model(name="Landscape")).data["model"]["id"]
    first = exchange(f"<elements>{element('e1', 'Node', 'Old name')}{element('e2', 'Node', 'Server 2')}</elements>")
    done(confirmed(clara, content=first, model_id=model))
    told = done(confirmed(clara, content=large(), model_id=model)).data["counts"]
    assert (told["elements_updated"], told["unchanged"]) == (1, 1)
    assert told["elements_created"] == MANY - 2
    again = clara.architecture.import_model(mode="commit", content=large(), model_id=model)
    assert again.message_key == "NO_EFFECT"
    assert done(again).data["counts"]["unchanged"] == 2 * MANY


def test_a_file_may_be_uploaded_first(offices: Offices) -> None:
    clara = offices.open(domains="architecture")
    kept = done(clara.upload(io.BytesIO(large(300, 0).encode()), name="landscape.xml")).data["blob"]["content_hash"]
    answer = confirmed(clara, content_hash=kept)
    assert done(answer).data["counts"]["elements_created"] == 300
    nowhere = clara.architecture.import_model(content_hash="0" * 64)
    assert nowhere.reply_type == "I"


@pytest.mark.requirement("REL-07")
def test_chains_of_junctions_are_looked_through(shared_studio: Studio) -> None:
    kind, source, target = next(
        (kind, source, target)
        for kind in ("Triggering", "Flow", "Serving")
        for source in metamodel().element_types
        for target in metamodel().element_types
        if metamodel().allows(kind, source, "AndJunction")
        and metamodel().allows(kind, "AndJunction", target)
        and not metamodel().allows(kind, source, target)
    )
    things = (
        element("a", source, "A")
        + element("d", target, "D")
        + '<element identifier="j1" xsi:type="AndJunction"/><element identifier="j2" xsi:type="OrJunction"/>'
    )

    def tied(*kinds: str) -> dict[str, Any]:
        ends = (("a", "j1"), ("j1", "j2"), ("j2", "d"))
        ties = "".join(
            f'<relationship identifier="r{n}" source="{first}" target="{last}" xsi:type="{kinds[n]}"/>'
            for n, (first, last) in enumerate(ends)
        )
        content = exchange(f"<elements>{things}</elements><relationships>{ties}</relationships>")
        return dict(done(shared_studio.clara.architecture.import_model(content=content)).data)

    # Each of them may be there, but not all of them: what comes in at the one end may not go out at the other.
    far = tied(kind, kind, kind)
    assert [(one["id"], one["code"]) for one in far["invalid_relationships"]] == [("r2", "JUNCTION_CONFLICT")]
    assert far["would_be_refused"] is True
    mixed = tied("Association", "Association", kind)["invalid_relationships"]
    assert [(one["id"], one["code"]) for one in mixed] == [("r2", "JUNCTION_CONFLICT")]
    assert tied("Association", "Association", "Association")["invalid_relationships"] == []
