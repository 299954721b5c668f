"""The tag that a GET of one object gives is what its writes take as If-Match, in every domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import httpx2
import pytest

from engross.flows import filled
from engross.office import Office, Settings
from engross.office.built_in import DOMAINS
from engross.replies import codes
from tests.bed.offices import shelf
from tests.surfaces.rest.conftest import TENANTS
from tests.surfaces.rest.house import House, serving

Arguments = dict[str, Any]
NOTE = '===NOTE===\nMETA:\n  TYPE::NOTE\n  VERSION::"1.0"\nSTATUS::{status}\n===END===\n'
REVIEW = "proposals.review-proposal"


class Kind(NamedTuple):
    """A kind of object: how one is made, how somebody changes it, and what its writes are told."""

    make: Callable[[House], str]
    read: Callable[[str], Arguments]
    change: Callable[[House, str], httpx2.Response]
    writes: Mapping[str, Callable[[str], Arguments]]


def made(house: House, ref: str, arguments: Arguments, by: str = "clara") -> Any:
    answer = house.call(ref, arguments, by=by)
    assert answer.status_code in (200, 201, 202), answer.text
    return answer.json()


def an_element(house: House) -> str:
    identifier: str = made(house, "architecture.create-element", {"type": "Node", "name": "One"})["element"]["id"]
    return identifier


def a_book(house: House) -> str:
    identifier: str = made(house, "shelf.add-book", {"title": "Dune"})["book"]["id"]
    return identifier


def a_document(house: House) -> str:
    for status in ("DRAFT", "ACTIVE"):
        made(house, "documents.octave-write", {"target_path": "a.oct.md", "content": NOTE.format(status=status)})
    return "a.oct.md"


def a_draft(house: House) -> str:
    added = made(house, "shelf.add-book", {"title": "Dune", "commit_mode": "draft"}, by="scout")
    identifier: str = added["proposal"]["id"]
    return identifier


def a_proposal(house: House) -> str:
    identifier: str = made(house, "shelf.add-book", {"title": "Dune"}, by="scout")["proposal"]["id"]
    return identifier


def grown(house: House, proposal: str) -> httpx2.Response:
    return house.call("shelf.add-book", {"title": "Emma", "proposal_id": proposal}, by="scout")


def naming(field: str, **more: Any) -> Callable[[str], Arguments]:
    return lambda name: {field: name, **more}


FIRST = {"target_path": "a.oct.md", "content": NOTE.format(status="DRAFT")}
CAPABILITY = {"name": "Ordering", "profile": {"owner": "Ann", "criticality": "High", "lifecycle": "Active"}}
PROPOSAL = naming("proposal_id")
READS = {
    "architecture.get-element": Kind(
        an_element,
        naming("id"),
        lambda house, name: house.call("architecture.update-element", {"id": name, "name": "Two"}),
        {
            "architecture.update-element": naming("id", name="Three"),
            "architecture.delete-element": naming("id"),
        },
    ),
    "documents.read-document": Kind(
        a_document,
        naming("path"),
        lambda house, path: house.call(
            "documents.octave-write", {"target_path": path, "content": NOTE.format(status="DONE")}
        ),
        {
            "documents.octave-write": naming("target_path", content=NOTE.format(status="GONE")),
            "documents.octave-amend": naming("target_path", changes={"STATUS": "GONE"}),
            "documents.undo-document": naming("path"),
        },
    ),
    "proposals.get-proposal": Kind(
        a_draft,
        PROPOSAL,
        grown,
        {
            "proposals.submit-proposal": PROPOSAL,
            "proposals.withdraw-proposal": PROPOSAL,
            "proposals.rebase-proposal": PROPOSAL,
            REVIEW: naming("proposal_id", decision="reject", rationale="No."),
        },
    ),
    "shelf.get-book": Kind(
        a_book,
        naming("id"),
        lambda house, name: house.call("shelf.change-book", {"id": name, "title": "Emma"}),
        {
            "shelf.change-book": naming("id", title="Persuasion"),
            "shelf.remove-book": naming("id"),
        },
    ),
}
# What changes or ends something and takes no tag, since no GET gives one for what it is about.
WITHOUT = {
    *("architecture.apply-changes", "architecture.set-context", "door.revoke-token", "record.erase"),
    *("memory.activate-schema", "memory.merge-entities", "memory.unmerge-entities", "memory.retract-source"),
    "proposals.expire-proposals",
    # The whole document, as the tool of before had it: what stands there is not asked for.
    "documents.octave-create",
}


@pytest.fixture(scope="module")
def town(module_store: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A served office with every domain, the deprecated flows among it, on each engine in turn."""
    settings = Settings(data=tmp_path_factory.mktemp("town"), store=module_store, domains=",".join(DOMAINS))
    office = Office(settings, [shelf()])
    try:
        with serving(office, toolsets=list(office.catalogue.toolsets)) as served:
            yield served
    finally:
        office.close()


@pytest.fixture
def home(town: House) -> Iterator[House]:
    """The office, for a tenant of the test's own."""
    mine = town.next_door(next(TENANTS))
    yield mine
    mine.close()


def tag_of(house: House, ref: str, arguments: Arguments) -> str:
    answer = house.get(f"/v1/{ref.replace('.', '/')}", by="adam", params=arguments)
    assert answer.status_code == 200, answer.text
    tag: str = answer.headers["etag"]
    return tag


def is_taken(answer: httpx2.Response) -> bool:
    """What is to be confirmed first has found its precondition to hold."""
    return answer.is_success or answer.json()["reply"]["code"] == codes.CONFIRMATION_REQUIRED


@pytest.mark.requirement("ARCH-30")
@pytest.mark.parametrize(("read", "write"), [(read, write) for read, kind in READS.items() for write in kind.writes])
def test_a_write_takes_the_tag_of_its_object_and_refuses_an_older_one(home: House, read: str, write: str) -> None:
    kind = READS[read]
    name = a_proposal(home) if write == REVIEW else kind.make(home)
    before = tag_of(home, read, kind.read(name))
    assert kind.change(home, name).status_code in (200, 202)
    now = tag_of(home, read, kind.read(name))
    told = kind.writes[write](name)
    late = home.call(write, told, by="adam", headers={"If-Match": before})
    assert (late.status_code, late.json()["reply"]["reply_type"]) == (412, "I"), late.text
    assert tag_of(home, read, kind.read(name)) == now
    in_time = home.call(write, told, by="adam", headers={"If-Match": now})
    assert is_taken(in_time), in_time.text


def test_what_a_draft_holds_has_no_tag_that_a_write_could_take(home: House) -> None:
    name = a_book(home)
    drafted = home.call("shelf.change-book", {"id": name, "title": "Emma", "commit_mode": "draft"})
    there = {"id": name, "proposal_id": drafted.json()["proposal"]["id"]}
    shown = home.get("/v1/shelf/get-book", params=there)
    assert shown.json()["book"]["title"] == "Emma"
    assert shown.headers["etag"].startswith('W/"')
    late = home.call("shelf.change-book", {"id": name, "title": "Ulysses"}, headers={"If-Match": shown.headers["etag"]})
    assert late.status_code == 400


def test_an_approval_of_what_moved_is_refused_before_its_token_is_looked_at(home: House) -> None:
    name = a_proposal(home)
    shown = home.get("/v1/proposals/get-proposal", params={"proposal_id": name})
    approval = {"proposal_id": name, "decision": "approve", "approval_token": shown.json()["approval_token"]}
    grown(home, name)
    late = home.call(REVIEW, approval, headers={"If-Match": shown.headers["etag"]})
    assert (late.status_code, late.json()["reply"]["code"]) == (412, codes.VERSION_CONFLICT)
    assert late.json()["suggestions"]["current_version"] > 1
    again = home.call(REVIEW, approval)
    assert (again.status_code, again.json()["reply"]["code"]) == (409, codes.PLAN_DRIFT)


@pytest.mark.parametrize(
    ("write", "arguments", "read", "name"),
    [
        ("architecture.create-capability", CAPABILITY, "architecture.get-element", "$0.capability.id"),
        ("architecture.create-element", {"type": "Node", "name": "One"}, "architecture.get-element", "$0.element.id"),
        ("documents.octave-write", FIRST, "documents.read-document", "$0.path"),
        ("documents.octave-create", FIRST, "documents.read-document", "$0.path"),
        ("shelf.add-book", {"title": "Dune"}, "shelf.get-book", "$0.book.id"),
    ],
)
def test_the_tag_of_what_was_written_begins_that_of_what_is_read(
    home: House, write: str, arguments: Arguments, read: str, name: str
) -> None:
    written = home.call(write, arguments)
    assert written.status_code == 201, written.text
    shown = READS[read].read(str(filled(name, [written.json()])))
    assert tag_of(home, read, shown).startswith(written.headers["etag"].removesuffix('"') + "-")


def test_a_relationship_is_deleted_by_the_tag_of_its_making(home: House) -> None:
    one = an_element(home)
    told = {"type": "Association", "source_id": one, "target_id": one}
    related = home.call("architecture.create-relationship", told)
    assert related.status_code == 201, related.text
    gone = {"id": related.json()["relationship"]["id"]}
    other = home.call("architecture.delete-relationship", gone, headers={"If-Match": '"7"'})
    assert other.status_code == 412
    assert is_taken(home.call("architecture.delete-relationship", gone, headers={"If-Match": related.headers["etag"]}))


def test_every_read_with_a_strong_tag_is_in_the_table_and_every_write_that_takes_one(town: House) -> None:
    catalogue = town.office.catalogue
    told = {ref for kind in READS.values() for ref in kind.writes} | {"architecture.delete-relationship"}
    for flow in catalogue:
        changes = flow.effect in ("update", "delete")
        assert (flow.ref in told) is (flow.expects is not None), flow.ref
        assert not changes or (flow.ref in told) is not (flow.ref in WITHOUT), flow.ref
    assert {flow.ref for flow in catalogue if flow.semantics.safe and flow.state_at} == set(READS)
