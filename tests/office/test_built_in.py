"""Built-in domains are there in every office, and cost nothing until somebody uses them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engross.flows import Aggregate, FlowDefinitionError, NoArguments
from engross.governance import Knobs
from engross.office import Settings
from engross.office.built_in import DOMAINS, Surroundings, built_in
from engross.office.capabilities import catalogue_of, open_office
from engross.replies import Failed, codes, reply_of
from engross.store import Blobs
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices, shelf

EVERY = ",".join(DOMAINS)
ORDERS = {"type": "ApplicationService", "name": "Order Service"}


def elements(client: Client) -> list[str]:
    answer = client.call("architecture.list-elements", {})
    assert answer.ok, answer
    return [element["name"] for element in answer.data["elements"]]


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_a_domain_takes_just_the_names_that_are_known_before_it_is_made(name: str, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, domains=name)
    (later,) = built_in(Surroundings(settings, Knobs(), lambda tenant: Blobs(tmp_path, tenant)))
    made = later.make()
    assert made.namespace == later.namespace == name
    assert {exposure.tool for exposure in made.exposures} == set(later.tools)
    assert {prompt.name for prompt in made.prompts} == set(later.prompts)
    assert {resource.address.shape for resource in made.resources} == set(later.shapes)
    assert (made.owned_by is not None) == later.is_owned


def test_opening_an_office_makes_no_domain_and_the_first_call_makes_the_one_it_needs(tmp_path: Path) -> None:
    program = f"""
import sys
from engross import connect
made = lambda: sorted(name for name in sys.modules if name.startswith("engross.domains.") and name.count(".") == 2)
with connect({str(tmp_path)!r}, domains={EVERY!r}) as client:
    print(made())
    print(client.architecture.create_element(**{ORDERS!r}).ok)
    print(made())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["[]", "True", "['engross.domains.architecture']"]


def test_what_a_domain_recorded_is_there_when_the_office_opens_again(offices: Offices) -> None:
    offices.open(domains=EVERY).call("architecture.create-element", ORDERS)
    offices.close()
    again = offices.open(domains=EVERY)
    assert elements(again) == ["Order Service"]
    assert again.office.rebuild(again.tenant).same


def test_a_proposal_of_a_domain_is_approved_by_an_office_that_never_used_it(offices: Offices) -> None:
    here, there = offices.open(domains=EVERY), offices.open(domains=EVERY)
    proposed = here.as_("scout", "agent", ["agent"]).call("architecture.create-element", ORDERS)
    assert proposed.data["status"] == "proposed"
    proposal = proposed.data["proposal"]["id"]
    token = there.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    approved = there.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)
    assert approved.ok, approved
    assert elements(there) == elements(here) == ["Order Service"]


def test_an_office_that_never_used_a_domain_erases_what_it_recorded(offices: Offices) -> None:
    made = offices.open(domains=EVERY).call("architecture.create-element", ORDERS)
    there = offices.open(domains=EVERY).as_("clara", "human", ["admin", "curator"])
    wish = {"aggregate": "architecture", "subject": made.data["element"]["id"]}
    asked = there.call("record.erase", wish)
    gone = there.call("record.erase", {**wish, "confirm_token": asked.data["confirm_token"]})
    assert gone.code == codes.ERASED
    assert elements(there) == []


@pytest.mark.parametrize("domains", [EVERY, "architecture"])
def test_an_office_that_never_used_a_domain_still_shows_its_facts_only_to_whom_they_belong(
    offices: Offices, domains: str
) -> None:
    here = offices.open(domains=EVERY)
    told = here.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "John Doe"}]})
    subject = {"aggregate": "memory", "subject": told.data["source_id"]}
    for name, roles, sees in (("vera", "contributor", 0), ("carl", "curator", 1)):
        there = offices.open(domains=domains).as_(name, "human", [roles])
        assert len(there.call("record.read-facts", {}).data["facts"]) == sees
        there = offices.open(domains=domains).as_(name, "human", [roles])
        assert there.call("record.read-history", subject).ok is bool(sees)


def test_a_domain_whose_tables_may_not_be_made_says_so_and_the_rest_goes_on(offices: Offices) -> None:
    offices.open().close()
    curator = offices.open(domains=EVERY, migrate=False)
    for _ in range(2):
        answer = curator.call("architecture.create-element", ORDERS)
        assert answer.code == codes.MIGRATION_PENDING
    assert curator.call("shelf.add-book", {"title": "Emma"}).ok


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_an_aggregate_with_the_name_of_a_domain_is_refused_on_opening(name: str, tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        connect(tmp_path, Aggregate(name, "My own"), domains=EVERY)
    told = reply_of(refused.value)
    assert (told.code, told.data["namespace"]) == (codes.CONFIG_INVALID, name)
    assert "domains" in told.data["hint"]
    with connect(tmp_path, domains=EVERY) as client:
        assert set(DOMAINS) < set(client.office.catalogue.namespaces)


def test_a_capability_with_the_name_of_a_domain_is_refused_on_opening_and_on_looking(tmp_path: Path) -> None:
    file = tmp_path / "memory.py"
    file.write_text('from engross.flows import Aggregate\nown = Aggregate("memory", "My own")\n')
    settings = Settings(data=tmp_path / "office", domains=EVERY, capabilities=(file,))
    for look in (open_office, catalogue_of):
        with pytest.raises(Failed) as refused:
            look(settings)
        assert reply_of(refused.value).data["namespace"] == "memory"


def test_a_name_of_a_domain_that_is_left_out_is_free(tmp_path: Path) -> None:
    own = Aggregate("architecture", "My own")
    with connect(tmp_path, own, domains="memory,documents") as client:
        assert client.office.catalogue.aggregate("architecture") is own


def test_a_domain_that_somebody_made_takes_its_own_place(tmp_path: Path) -> None:
    from engross.domains.architecture import architecture

    own = architecture()
    with connect(tmp_path, own, domains=EVERY) as client:
        assert client.office.catalogue.aggregate("architecture") is own
        assert client.architecture.create_element(**ORDERS).ok


def test_nobody_takes_the_name_of_a_domain_while_the_office_is_open(tmp_path: Path) -> None:
    with connect(tmp_path, Aggregate("pages", "Pages"), domains=EVERY) as client:
        with pytest.raises(FlowDefinitionError):
            client.office.catalogue.replace({"pages"}, [Aggregate("memory", "My own")])
        assert client.office.catalogue.aggregate("memory") is not None
        assert client.office.catalogue.aggregate("pages") is not None


def test_a_tool_that_is_called_like_one_of_a_domain_is_refused_on_opening(tmp_path: Path) -> None:
    own = Aggregate("pages", "Pages")

    @own.read
    def get_element(reader: object, arguments: NoArguments) -> dict[str, str]:
        """Get an element of a page."""
        return {}

    with pytest.raises(Failed) as refused:
        connect(tmp_path, own, domains=EVERY)
    assert reply_of(refused.value).code == codes.CONFIG_INVALID
    assert "getElement" in str(reply_of(refused.value).data)


def test_a_domain_that_there_is_not_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        connect(tmp_path, domains="architectur")
    assert reply_of(refused.value).data["did_you_mean"] == ["architecture"]


def test_an_office_has_every_domain_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGROSS_DOMAINS")
    every = {aggregate.namespace for aggregate in catalogue_of(Settings.from_environment(data=tmp_path)).aggregates}
    assert set(DOMAINS) < every
    with connect(tmp_path, shelf()) as client:
        assert set(client.office.catalogue.namespaces) == {*every, "shelf"}
