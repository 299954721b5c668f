"""Facts are the truth: state built again from them is the same, whatever was done to get there."""

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.calls import Context, Decision, FactDraft
from engross.flows import Aggregate
from engross.ledger import FactBook, Unit, digest, receipt_for, write_commit
from engross.ledger.facts import facts_digest, write_down
from engross.replies import Failed, Reply, Trace, codes
from engross.store import Transaction
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.office.desk import approve, facts, proposal_of, settle, titles

NUMBER = st.integers(0, 5)
TITLE = st.sampled_from([f"Title {number}" for number in range(20)])
FIELDS = st.fixed_dictionaries(
    {"notes": st.sampled_from(["sand", "love", "worms", None])},
    optional={"title": TITLE, "author": st.sampled_from(["Herbert", "Austen", "Joyce"])},
)
WHO = st.sampled_from(["curator", "agent"])
MODE = st.sampled_from([None, "draft", "proposal"])
STEP = st.one_of(
    st.tuples(st.just("add"), WHO, TITLE, FIELDS, MODE),
    st.tuples(st.just("add_inside"), TITLE, NUMBER),
    st.tuples(st.just("change"), WHO, NUMBER, FIELDS),
    st.tuples(st.just("change_inside"), NUMBER, FIELDS, NUMBER),
    st.tuples(st.just("remove"), WHO, NUMBER),
    st.tuples(st.just("import_some"), WHO, st.lists(TITLE, min_size=1, max_size=3)),
    st.tuples(st.just("move"), st.sampled_from(["submit", "withdraw", "rebase"]), st.sampled_from([0, 1]), NUMBER),
    st.tuples(st.just("decide"), st.just("approve"), NUMBER),
    st.tuples(st.just("decide"), st.sampled_from(["reject", "request_changes"]), NUMBER),
    st.tuples(st.just("erase"), NUMBER),
)
BEGINNING: list[Any] = [
    ("add", "curator", "Dune", {"author": "Herbert"}, None),
    ("add", "curator", "Emma", {"author": "Austen"}, None),
    ("change", "agent", 0, {"title": "Dune Messiah"}),
    ("add", "agent", "Ulysses", {"notes": "one day"}, "draft"),
]


class Story:
    """People and agents at work in a tenant of their own, and what could be read at every position."""

    def __init__(self, office: Client) -> None:
        tenant = f"t{uuid4().hex}"
        self.curator = office.as_("clara", "human", ["curator"], tenant=tenant)
        self.agent = office.as_("scout", "agent", ["agent"], tenant=tenant)
        self.books: list[str] = []
        self.proposals: list[str] = []
        self.erased: set[str] = set()
        self.was: dict[int, dict[str, Any]] = {}

    def do(self, name: str, *arguments: Any) -> None:
        answer = getattr(self, name)(*arguments)
        if answer is None:
            return
        assert answer.reply_type in "SID", answer
        self._keep(answer)
        self.was[settle(self.curator)] = self.shelf()

    def shelf(self, **arguments: Any) -> dict[str, Any]:
        listed = self.curator.call("shelf.list-books", {"limit": 500, **arguments})
        return {book["id"]: book for book in listed.data["books"]}

    def add(self, who: str, title: str, fields: dict[str, Any], mode: str | None) -> Reply:
        more = {name: value for name, value in fields.items() if name != "title" and value is not None}
        steering = {"commit_mode": mode} if mode else {}
        added: Reply = getattr(self, who).shelf.add_book(title=title, **more, **steering)
        return added

    def add_inside(self, title: str, number: int) -> Reply | None:
        proposal = self._one(self.proposals, number)
        return proposal and self.agent.call("shelf.add-book", {"title": title, "proposal_id": proposal})

    def change(self, who: str, number: int, fields: dict[str, Any]) -> Reply | None:
        book = self._one(self.books, number)
        return book and getattr(self, who).shelf.change_book(id=book, **fields)

    def change_inside(self, number: int, fields: dict[str, Any], inside: int) -> Reply | None:
        book, proposal = self._one(self.books, number), self._one(self.proposals, inside)
        if book is None or proposal is None:
            return None
        return self.agent.call("shelf.change-book", {"id": book, **fields, "proposal_id": proposal})

    def remove(self, who: str, number: int) -> Reply | None:
        book = self._one(self.books, number)
        return book and self._confirmed(getattr(self, who), "shelf.remove-book", {"id": book})

    def import_some(self, who: str, titles: list[str]) -> Reply:
        text = "\n".join(f"{title}, Somebody" for title in titles)
        imported: Reply = getattr(self, who).shelf.import_books(text=text)
        return imported

    def move(self, how: str, who: int, number: int) -> Reply | None:
        proposal = self._one(self.proposals, number)
        client = (self.agent, self.curator)[who]
        return proposal and client.call(f"proposals.{how}-proposal", {"proposal_id": proposal})

    def decide(self, decision: str, number: int) -> Reply | None:
        proposal = self._one(self.proposals, number)
        if proposal is None:
            return None
        shown = self.curator.proposals.get_proposal(proposal_id=proposal)
        token = shown.data.get("approval_token", "none") if shown.ok else "none"
        more = {"approval_token": token} if decision == "approve" else {"rationale": "because"}
        return self.curator.proposals.review_proposal(proposal_id=proposal, decision=decision, **more)

    def erase(self, number: int) -> Reply | None:
        book = self._one(self.books, number)
        if book is None:
            return None
        answer = self._confirmed(self.curator, "record.erase", {"aggregate": "shelf", "subject": book})
        if answer.ok:
            self.erased.add(book)
        return answer

    def _confirmed(self, client: Client, flow: str, arguments: dict[str, Any]) -> Reply:
        answer = client.call(flow, arguments)
        if answer.message_key != "CONFIRMATION_REQUIRED":
            return answer
        return client.call(flow, {**arguments, "confirm_token": answer.data["confirm_token"]})

    def _one(self, known: list[str], number: int) -> Any:
        return known[number % len(known)] if known else None

    def _keep(self, answer: Reply) -> None:
        data: Any = answer.data or {}
        if "proposal" in data and answer.ok and data["proposal"]["id"] not in self.proposals:
            self.proposals.append(data["proposal"]["id"])
        if "book" in data and answer.ok and data["book"]["id"] not in self.books:
            self.books.append(data["book"]["id"])


@pytest.mark.requirement("NEW-08")
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEP, min_size=5, max_size=20))
def test_whatever_was_done_state_rebuilt_from_facts_is_the_same(curator: Client, steps: list[Any]) -> None:
    story = Story(curator)
    for step in [*BEGINNING, *steps]:
        story.do(*step)
    tenant = story.curator.tenant
    rebuilt = curator.office.rebuild(tenant)
    assert rebuilt.same
    assert rebuilt.facts == len(facts(story.curator))
    for position, books in story.was.items():
        still = {identifier: book for identifier, book in books.items() if identifier not in story.erased}
        assert story.shelf(as_of=position) == still
    versions: dict[tuple[str, str], int] = {}
    for fact in facts(story.curator):
        subject = (fact["source"], fact["subject"])
        versions[subject] = versions.get(subject, 0) + 1
        assert fact["data"]["version"] == versions[subject]


def test_a_long_story_of_every_kind_of_step(curator: Client) -> None:
    story = Story(curator)
    steps: list[Any] = [
        ("add", "curator", "Dune", {"author": "Herbert", "notes": "sand"}, None),
        ("add", "agent", "Emma", {"author": "Austen"}, "draft"),
        ("change_inside", 1, {"notes": "love"}, 0),
        ("add_inside", "Persuasion", 0),
        ("move", "submit", 0, 0),
        ("decide", "approve", 0),
        ("change", "agent", 0, {"title": "Middlemarch"}),
        ("change", "curator", 0, {"author": "Joyce"}),
        ("move", "rebase", 0, 1),
        ("decide", "approve", 2),
        ("import_some", "agent", ["Ulysses", "Dune"]),
        ("decide", "request_changes", 3),
        ("move", "withdraw", 0, 3),
        ("remove", "agent", 0),
        ("decide", "reject", 4),
        ("erase", 0),
        ("remove", "curator", 1),
    ]
    for step in steps:
        story.do(*step)
    kinds = {fact["type"].split(".fact.")[1] for fact in facts(story.curator)}
    assert kinds == {
        "BookAdded.v2",
        "BookChanged.v1",
        "BookRemoved.v1",
        "Erased.v1",
        "PlanAdded.v1",
        "ProposalAccepted.v1",
        "ProposalOpened.v1",
        "ProposalRebased.v1",
        "ProposalRejected.v1",
        "ProposalReviewed.v1",
        "ProposalSubmitted.v1",
        "ProposalWithdrawn.v1",
    }
    assert curator.office.rebuild(story.curator.tenant).same


def test_state_that_does_not_follow_from_the_facts_is_noticed_and_can_be_replaced(curator: Client) -> None:
    curator.shelf.add_book(title="Dune", author="Herbert")
    sql = "UPDATE authors SET books = 7 WHERE tenant = :tenant"
    curator.office.store.write("main", lambda transaction: transaction.execute(sql, {}))
    assert not curator.office.rebuild("main").same
    assert curator.shelf.list_authors().data["authors"][0]["books"] == 7
    assert not curator.office.rebuild("main", keep=True).same
    assert curator.shelf.list_authors().data["authors"][0]["books"] == 1
    assert curator.office.rebuild("main").same


def test_rebuilding_one_tenant_leaves_the_others_alone(curator: Client) -> None:
    other = curator.as_("clara", "human", ["curator"], tenant="other")
    for client in (curator, other):
        client.shelf.add_book(title="Dune", author="Herbert")
    sql = "UPDATE authors SET books = 7 WHERE tenant = :tenant"
    curator.office.store.write("other", lambda transaction: transaction.execute(sql, {}))
    assert curator.office.rebuild("main", keep=True).same
    assert other.shelf.list_authors().data["authors"][0]["books"] == 7


def old_fact(client: Client, aggregate: Aggregate, subject: str, payload: dict[str, Any]) -> None:
    """A fact as the first version of the program wrote it, in a commit of its own."""
    trace = Trace.new()
    context = Context(
        client.tenant,
        client.principal,
        "shelf.add-book",
        uuid4().hex,
        "2020-01-01T00:00:00.000000Z",
        trace,
        trace.trace_id,
    )
    draft = FactDraft("shelf", "BookAdded", 1, subject, 1, payload)

    def work(transaction: Transaction) -> None:
        unit = Unit(transaction, context, FactBook([aggregate]))
        written = write_down(
            draft,
            tenant=client.tenant,
            position=transaction.position,
            ordinal=0,
            id=f"{context.message_id}.0",
            time=context.occurred_at,
            causation=None,
        )
        unit.written.append(written)
        receipt = receipt_for(
            context,
            position=transaction.position,
            flow_version="0.1.0",
            arguments_digest=digest({}),
            facts=(1, facts_digest([written.fact])),
            decision=Decision("commit", 2, "old"),
        )
        write_commit(unit, receipt, None, set())

    client.office.store.write(client.tenant, work)


@pytest.mark.requirement("GOV-03")
def test_a_fact_of_the_first_version_is_read_through_its_upcaster(curator: Client) -> None:
    old_fact(curator, shelf(), "book_old", {"title": "Dune", "writer": "Frank Herbert"})
    assert not curator.office.rebuild("main", keep=True).same
    book = curator.shelf.get_book(id="book_old").data["book"]
    assert book == {"id": "book_old", "version": 1, "title": "Dune", "author": "Frank Herbert", "notes": None}
    (fact,) = facts(curator)
    assert fact["type"] == "io.engross.shelf.fact.BookAdded.v2"
    assert fact["data"]["payload"] == {"title": "Dune", "author": "Frank Herbert", "notes": None}
    assert curator.shelf.change_book(id="book_old", notes="sand").data["book"]["version"] == 2
    assert curator.shelf.list_authors().data["authors"] == [{"author": "Frank Herbert", "books": 1}]
    assert curator.office.rebuild("main").same


@pytest.mark.requirement("GOV-03")
def test_a_draft_made_by_an_older_program_can_still_be_read_and_brought_up_to_date(
    offices: Offices, curator: Client, agent: Client
) -> None:
    opened = agent.shelf.add_book(title="Dune", author="Frank Herbert")
    proposal = proposal_of(opened)
    make_it_old(curator, proposal)
    later = offices.open()
    scout = later.as_("scout", "agent", ["agent"])
    assert titles(scout, proposal_id=proposal) == ["Dune"]
    read = scout.shelf.get_book(id=opened.data["book"]["id"], proposal_id=proposal)
    assert read.data["book"]["author"] == "Frank Herbert"
    assert approve(later, proposal).message_key == "PROPOSAL_STALE"
    rebased = scout.proposals.rebase_proposal(proposal_id=proposal).data["proposal"]["id"]
    assert approve(later, rebased).message_key == "PROPOSAL_COMMITTED"
    assert titles(later) == ["Dune"]


def make_it_old(client: Client, proposal: str) -> None:
    """Write a proposal's plan as the first version of the program would have."""
    sql = (
        "UPDATE proposal_plans SET body = replace(replace(replace(body,"
        ' \'"schema_version":2\', \'"schema_version":1\'), \'"payload":{"author"\', \'"payload":{"writer"\'),'
        ' \'"facts_digest":"\', \'"facts_digest":"0\') WHERE tenant = :tenant AND proposal = :proposal'
    )
    touched = client.office.store.write(
        client.tenant, lambda transaction: transaction.execute(sql, {"proposal": proposal})
    )
    assert touched == 1


@pytest.mark.parametrize("erased", [False, True])
def test_facts_of_an_aggregate_that_is_not_there_are_named_and_nothing_is_changed(
    offices: Offices, curator: Client, erased: bool
) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    if erased:
        asked = {"aggregate": "shelf", "subject": book}
        token = curator.call("record.erase", asked).data["confirm_token"]
        assert curator.call("record.erase", {**asked, "confirm_token": token}).ok
    without = offices.open(Aggregate("other", "Nothing yet"))
    with pytest.raises(Failed) as raised:
        without.office.rebuild("main", keep=True)
    assert (raised.value.code, raised.value.params) == (codes.CONFIG_INVALID, {"setting": "capabilities"})
    assert raised.value.data is not None
    assert raised.value.data["aggregates"] == ["shelf"]
    assert titles(curator) == ([] if erased else ["Dune"])
    assert curator.office.rebuild("main").same
