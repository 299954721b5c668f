"""Writes name the metamodel that checked them; what another one checked is checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.domains.architecture import architecture, metamodel
from engross.surfaces.client import Client
from tests.architecture.studio import Studio, done
from tests.bed.offices import Offices

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Change], None]]:
    """Puts a changed metamodel into force, as an update of the program would."""
    home = import_module("engross.domains.architecture.metamodel")
    source = home.SOURCE

    def change(how: Change) -> None:
        data = orjson.loads(source.read_bytes())
        how(data)
        other = tmp_path / "metamodel.json"
        other.write_bytes(orjson.dumps(data))
        monkeypatch.setattr(home, "SOURCE", other)
        metamodel.cache_clear()

    yield change
    metamodel.cache_clear()


def without_realization(data: dict[str, Any]) -> None:
    """No ApplicationComponent realizes an ApplicationService any more."""
    column = data["order"].index("ApplicationService")
    row = data["matrix"]["ApplicationComponent"].split()
    row[column] = row[column].replace("r", "")
    data["matrix"]["ApplicationComponent"] = " ".join(row)


def described_otherwise(data: dict[str, Any]) -> None:
    """Nothing that a relationship depends on."""
    data["elements"]["Node"]["description"] = "Something else"


def proposed(offices: Offices) -> tuple[str, str]:
    """A proposal to relate two elements, and the metamodel that checked it."""
    studio = Studio(offices)
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    answer = studio.scout.architecture.create_relationship(
        type="Realization", source_id=orders["id"], target_id=service["id"]
    )
    return done(answer).data["proposal"]["id"], metamodel().digest


def approved(clara: Client, proposal: str) -> Any:
    shown = done(clara.proposals.get_proposal(proposal_id=proposal)).data
    return clara.proposals.review_proposal(
        proposal_id=proposal, decision="approve", **{k: shown[k] for k in ("approval_token",) if k in shown}
    )


def short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:16]


@pytest.mark.requirement("ARCH-06", "ARCH-31")
def test_receipts_and_proposals_name_the_metamodel(studio: Studio) -> None:
    made = done(studio.clara.architecture.create_element(type="Node", name="Server"))
    receipt = studio.clara.record.get_receipt(position=made.data["position"]).data["receipt"]
    assert receipt["flow_version"].endswith(f"+archimate.3.2.{short(metamodel().digest)}")
    schema = done(studio.scout.architecture.get_write_schema(operation="createElement")).data
    assert schema["metamodel"]["digest"] == metamodel().digest
    assert schema["schema_version"] == receipt["flow_version"]
    proposal = done(studio.scout.architecture.create_element(type="Node", name="Other")).data["proposal"]["id"]
    shown = done(studio.clara.proposals.get_proposal(proposal_id=proposal)).data["proposal"]
    assert shown["operations"][0]["version"] == receipt["flow_version"]


def test_what_another_metamodel_checked_is_not_committed_as_it_is(
    offices: Offices, in_force: Callable[[Change], None]
) -> None:
    proposal, before = proposed(offices)
    in_force(described_otherwise)
    assert metamodel().digest != before
    clara = offices.open(architecture())
    refused = approved(clara, proposal)
    assert refused.message_key == "PLAN_DRIFT"
    (moved,) = refused.data["moved"]
    assert short(before) in moved["from"]
    assert short(metamodel().digest) in moved["to"]
    again = done(clara.proposals.rebase_proposal(proposal_id=proposal)).data["proposal"]["id"]
    committed = done(approved(clara, again))
    receipt = clara.record.get_receipt(position=committed.data["position"]).data["receipt"]
    assert short(metamodel().digest) in receipt["plans"][0]["version"]


def test_what_the_metamodel_no_longer_allows_is_refused_when_it_is_checked_again(
    offices: Offices, in_force: Callable[[Change], None]
) -> None:
    proposal, _ = proposed(offices)
    in_force(without_realization)
    clara = offices.open(architecture())
    assert approved(clara, proposal).message_key == "PLAN_DRIFT"
    refused = clara.proposals.rebase_proposal(proposal_id=proposal)
    assert refused.reply_type == "I"
    assert "INVALID_RELATIONSHIP" in str(refused.data)
    assert done(clara.architecture.list_relationships()).data["relationships"] == []
    assert done(clara.architecture.check_model()).data["sound"] is True


def test_a_model_that_a_stricter_metamodel_would_not_allow_is_found_by_the_check(
    offices: Offices, in_force: Callable[[Change], None]
) -> None:
    studio = Studio(offices)
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    kept = studio.relate("Realization", orders, service)
    in_force(without_realization)
    told = done(offices.open(architecture()).architecture.check_model()).data
    assert told["sound"] is False
    (problem,) = told["problems"]
    assert (problem["code"], problem["id"]) == ("INVALID_RELATIONSHIP", kept["id"])
