"""Two tenants in one office: nothing crosses, and what belongs to the other is simply not there."""

import re
from typing import Any

import orjson
import pytest

from engross.calls import Principal
from engross.replies import Invalid, Reply
from engross.surfaces.client import Client, EmbeddedPort
from tests.bed.offices import Offices
from tests.office.desk import approve, facts, policies, proposal_of, settle, show, titles

SECRET = "Zanzibar"


class Houses:
    """The same people in two tenants; only the first one has ever done anything."""

    def __init__(self, curator: Client) -> None:
        self.here = curator.as_("clara", "human", ["curator", "admin"], tenant="here")
        self.there = curator.as_("clara", "human", ["curator", "admin"], tenant="there")
        agent = self.here.as_("scout", "agent", ["agent"])
        added = self.here.shelf.add_book(title=SECRET, author=SECRET, client_request_id="add-secret")
        self.book = added.data["book"]["id"]
        self.position = added.data["position"]
        self.proposal = proposal_of(agent.shelf.change_book(id=self.book, notes=SECRET))
        self.draft = proposal_of(agent.shelf.add_book(title=f"{SECRET} II", commit_mode="draft"))
        self.token = show(self.here, self.proposal)["approval_token"]
        self.confirm = self.here.shelf.remove_book(id=self.book).data["confirm_token"]
        made = self.here.door.create_token(principal="scout", type="agent", roles=["agent"], note=SECRET)
        self.credential = made.data["token"]["id"]
        self.file = self._kept(SECRET.encode())
        settle(self.here)

    def _kept(self, content: bytes) -> dict[str, Any]:
        office = self.here.office
        digest = office.blobs("here").put(content)
        file = {"content_hash": digest, "size": len(content), "media_type": "text/plain", "name": f"{SECRET}.txt"}
        file["upload_token"] = office.vouch("here", digest, len(content))
        assert self.here.record.keep_blob(**file).ok
        return file


def about(answer: Reply, *known: str) -> str:
    """What an answer says, but for the id that was asked for."""
    said = orjson.dumps([answer.code, answer.message, answer.params, answer.data]).decode()
    for one in known:
        said = re.sub(rf"\b{re.escape(one)}\b", "X", said)
    return said


# Every flow that names something: its arguments with what is here, and with what is nowhere.
def naming(houses: Houses) -> dict[str, list[tuple[dict[str, Any], str, str]]]:
    book, proposal, draft = houses.book, houses.proposal, houses.draft
    no_book, no_proposal = "book_nowhere", "prop_nowhere"
    position, no_position, no_file = houses.position, 2**50, "0" * 64

    def both(arguments: dict[str, Any], real: Any, none: Any) -> tuple[dict[str, Any], str, str]:
        return arguments, real, none

    return {
        "shelf.get-book": [
            both({"id": "?"}, book, no_book),
            both({"id": book, "proposal_id": "?"}, proposal, no_proposal),
        ],
        "shelf.list-books": [both({"proposal_id": "?"}, draft, no_proposal)],
        "shelf.list-authors": [both({"proposal_id": "?"}, draft, no_proposal)],
        "shelf.add-book": [both({"title": "Emma", "proposal_id": "?"}, draft, no_proposal)],
        "shelf.change-book": [both({"id": "?", "notes": "x"}, book, no_book)],
        "shelf.remove-book": [
            both({"id": "?"}, book, no_book),
            both({"id": "?", "confirm_token": houses.confirm}, book, no_book),
        ],
        "shelf.import-books": [both({"text": "Emma, Austen", "proposal_id": "?"}, draft, no_proposal)],
        "proposals.get-proposal": [both({"proposal_id": "?"}, proposal, no_proposal)],
        "proposals.submit-proposal": [both({"proposal_id": "?"}, draft, no_proposal)],
        "proposals.withdraw-proposal": [both({"proposal_id": "?"}, proposal, no_proposal)],
        "proposals.rebase-proposal": [both({"proposal_id": "?"}, proposal, no_proposal)],
        "proposals.review-proposal": [
            both({"proposal_id": "?", "decision": "reject", "rationale": "x"}, proposal, no_proposal),
            both(
                {"proposal_id": "?", "decision": "approve", "approval_token": houses.token},
                proposal,
                no_proposal,
            ),
        ],
        "record.why": [both({"of": "?"}, book, no_book)],
        "record.get-receipt": [both({"position": "?"}, position, no_position)],
        "record.read-history": [
            both({"aggregate": "shelf", "subject": "?"}, book, no_book),
            both({"aggregate": "proposals", "subject": "?"}, proposal, no_proposal),
        ],
        "record.get-blob": [both({"content_hash": "?"}, houses.file["content_hash"], no_file)],
        "record.keep-blob": [both({**houses.file, "content_hash": "?"}, houses.file["content_hash"], no_file)],
        "record.erase": [
            both({"aggregate": "shelf", "subject": "?"}, book, no_book),
            both({"aggregate": "proposals", "subject": "?"}, proposal, no_proposal),
        ],
        "door.revoke-token": [both({"token_id": "?"}, houses.credential, "tok_nowhere")],
        "record.validate-write": [
            both({"operation": "changeBook", "payload": {"id": "?", "notes": "x"}}, book, no_book),
            both({"operation": "withdrawProposal", "payload": {"proposal_id": "?"}}, proposal, no_proposal),
        ],
    }


# Flows that name nothing: they list, and must list nothing.
LISTING: dict[str, dict[str, Any]] = {
    "shelf.list-books": {},
    "shelf.list-authors": {},
    "proposals.list-proposals": {},
    "proposals.expire-proposals": {},
    "record.read-facts": {},
    "door.list-tokens": {},
}

# Flows that tell of the caller alone.
ABOUT_THE_CALLER = {"record.who-am-i"}

# Flows that only make something new, in the caller's own tenant.
MAKING = {"door.create-token"}


def asked(arguments: Any, value: Any) -> Any:
    if isinstance(arguments, dict):
        return {name: asked(part, value) for name, part in arguments.items()}
    return value if arguments == "?" else arguments


@pytest.mark.requirement("REL-05")
def test_what_belongs_to_another_tenant_is_not_found_like_what_is_nowhere(curator: Client) -> None:
    houses = Houses(curator)
    questions = naming(houses)
    every_flow = {flow.ref for flow in curator.office.catalogue}
    assert {*questions, *LISTING, *MAKING, *ABOUT_THE_CALLER} == every_flow
    before = facts(houses.here)
    for flow, cases in questions.items():
        for arguments, real, none in cases:
            theirs = houses.there.call(flow, asked(arguments, real))
            nowhere = houses.there.call(flow, asked(arguments, none))
            assert about(theirs, str(real)) == about(nowhere, str(none)), (flow, theirs)
            assert SECRET not in about(theirs)
            not_found = theirs.reply_type == "I" or theirs.data["valid"] is False
            assert not_found, (flow, theirs)
    assert facts(houses.here) == before
    assert facts(houses.there) == []


@pytest.mark.requirement("REL-05")
def test_lists_and_feeds_show_ones_own_only(curator: Client) -> None:
    houses = Houses(curator)
    for flow, arguments in LISTING.items():
        answer = houses.there.call(flow, arguments)
        assert answer.ok, (flow, answer)
        assert SECRET not in about(answer)
        lists = [value for value in answer.data.values() if isinstance(value, list)]
        assert lists
        assert all(listed == [] for listed in lists)
    for filters in (
        {"author": "scout"},
        {"target": f"shelf/{houses.book}"},
        {"status": "proposed"},
        {"risk": 1},
    ):
        assert houses.there.call("proposals.list-proposals", filters).data["proposals"] == []
        assert houses.here.call("proposals.list-proposals", filters).data["proposals"] != []
    assert titles(houses.there, as_of=settle(houses.here)) == []


@pytest.mark.requirement("REL-05")
def test_a_key_belongs_to_its_tenant(curator: Client) -> None:
    houses = Houses(curator)
    arguments = {"title": SECRET, "author": SECRET, "client_request_id": "add-secret"}
    theirs = houses.there.call("shelf.add-book", arguments)
    assert (theirs.message_key, theirs.data["idempotent_replay"]) == ("CREATED", False)
    assert theirs.data["book"]["id"] != houses.book
    ours = houses.here.call("shelf.add-book", arguments)
    assert (ours.data["idempotent_replay"], ours.data["book"]["id"]) == (True, houses.book)
    other = houses.there.call("shelf.add-book", {**arguments, "title": "Emma"})
    assert other.message_key == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.requirement("REL-05")
def test_a_cursor_carries_nothing_across(offices: Offices, curator: Client) -> None:
    here, there = (curator.as_("scout", "agent", ["agent"], tenant=tenant) for tenant in ("here", "there"))
    ours = [proposal_of(here.shelf.add_book(title=f"{SECRET} {number}")) for number in range(4)]
    offices.clock.pass_(seconds=1)
    theirs = [proposal_of(there.shelf.add_book(title=f"Book {number}")) for number in range(4)]
    cursor = here.proposals.list_proposals(limit=2).data["next_cursor"]
    page = there.proposals.list_proposals(cursor=cursor)
    assert [proposal["id"] for proposal in page.data["proposals"]] == theirs
    back = there.proposals.list_proposals(limit=2).data["next_cursor"]
    assert here.proposals.list_proposals(cursor=back).data["proposals"] == []
    assert [one["id"] for one in here.proposals.list_proposals().data["proposals"]] == ours


@pytest.mark.requirement("REL-05")
def test_a_token_of_one_tenant_is_none_in_another(curator: Client) -> None:
    houses = Houses(curator)
    scout = houses.there.as_("scout", "agent", ["agent"])
    book = houses.there.shelf.add_book(title=SECRET).data["book"]["id"]
    proposal = proposal_of(scout.shelf.change_book(id=book, notes=SECRET))
    refused = houses.there.proposals.review_proposal(
        proposal_id=proposal, decision="approve", approval_token=houses.token
    )
    assert refused.message_key == "TOKEN_INVALID"
    confirming = houses.there.shelf.remove_book(id=book, confirm_token=houses.confirm)
    assert confirming.message_key == "TOKEN_INVALID"


@pytest.mark.requirement("REL-05")
def test_blobs_belong_to_their_tenant(curator: Client) -> None:
    office = curator.office
    digest = office.blobs("here").put(SECRET.encode())
    assert not office.blobs("there").has(digest)
    assert list(office.blobs("there")) == []
    refusals = []
    for wanted in (digest, "0" * 64):
        with pytest.raises(Invalid) as refused:
            office.blobs("there").get(wanted)
        refusals.append((refused.value.code, refused.value.params["kind"]))
    assert refusals[0] == refusals[1]
    assert office.blobs("there").erase(digest) is False
    assert office.blobs("here").get(digest) == SECRET.encode()


@pytest.mark.requirement("REL-05")
def test_names_taken_here_are_free_there_and_counts_stay_apart(curator: Client) -> None:
    houses = Houses(curator)
    assert houses.there.shelf.add_book(title=SECRET, author=SECRET).message_key == "CREATED"
    for house in (houses.here, houses.there):
        assert house.shelf.list_authors().data["authors"] == [{"author": SECRET, "books": 1}]
    approve(houses.here, houses.proposal)
    assert houses.there.shelf.list_books().data["books"][0]["notes"] is None
    for tenant in ("here", "there"):
        assert curator.office.rebuild(tenant).same


@pytest.mark.requirement("REL-05")
def test_suggestions_come_from_ones_own_shelf(curator: Client) -> None:
    houses = Houses(curator)
    houses.here.shelf.add_book(title="Another", author=SECRET)
    added = houses.there.shelf.add_book(title="Emma", author=SECRET)
    assert added.data["suggestions"] == []
    twice = houses.there.shelf.add_book(title="Emma")
    assert twice.data["suggestions"]["existing_book"]["id"] == added.data["book"]["id"]


@pytest.mark.requirement("REL-05")
def test_a_tenant_named_in_the_arguments_is_refused(curator: Client) -> None:
    for field in ("tenant", "tenant_id"):
        refused = curator.call("shelf.add-book", {"title": "Dune", field: "there"})
        assert (refused.message_key, refused.data["field"]) == ("FIELD_NOT_ALLOWED", field)


def test_a_name_that_is_fit_for_no_tenant_gets_nowhere(curator: Client) -> None:
    for tenant in ("", "a/b", "..", "a b", "x" * 200, "here' OR 1=1 --", "\u00fc"):
        strange = Client(EmbeddedPort(curator.office, tenant, Principal("clara", "human", frozenset({"curator"}))))
        for answer in (strange.shelf.list_books(), strange.shelf.add_book(title="Dune")):
            assert answer.reply_type == "E", tenant
    assert facts(curator) == []


def test_knobs_of_one_tenant_do_not_hold_in_another(offices: Offices, tmp_path: Any) -> None:
    knobs = '[tenants.here]\ndefault_mode = "direct"\n'
    curator = offices.open(policies=policies(tmp_path / "policies", knobs))
    here, there = (curator.as_("scout", "agent", ["agent"], tenant=tenant) for tenant in ("here", "there"))
    assert here.shelf.add_book(title="Dune").message_key == "CREATED"
    assert there.shelf.add_book(title="Dune").message_key == "PROPOSAL_RECORDED"
