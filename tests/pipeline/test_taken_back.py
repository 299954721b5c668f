"""Whatever a unit did, and by whatever kind of statement: if the call does not commit, nothing of it stays."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State, Unit
from engross.replies import Invalid, codes
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.bed.programs import PATIENCE_SECONDS

MARKS = "CREATE TABLE marks (tenant $text NOT NULL, id $text NOT NULL, PRIMARY KEY (tenant, id))$clustered;"
INSERT = "INSERT INTO marks (tenant, id) VALUES (:tenant, :id)"


class Make(TypedDict):
    """A mark, and how it is made."""

    how: str
    then: str


class Nothing(TypedDict):
    """No filter."""


def by_returning(state: State, fact: Fact) -> None:
    state.row(f"{INSERT} RETURNING id", id=fact.subject)


def by_two_statements_of_which_one_fails(state: State, fact: Fact) -> None:
    state.execute(INSERT, id=fact.subject)
    state.execute(INSERT, id=fact.subject)


WAYS: dict[str, Callable[[State, Fact], None]] = {
    "returning": by_returning,
    "half": by_two_statements_of_which_one_fails,
}


def marks() -> Aggregate:
    aggregate = Aggregate("marks", "Marks", tables=["marks"], migrations=[("marks", MARKS)])

    @aggregate.applies("Marked")
    def marked(state: State, fact: Fact) -> None:
        assert fact.payload is not None
        WAYS[fact.payload["how"]](state, fact)

    @aggregate.record(effect="create")
    def make(unit: Unit, arguments: Make) -> dict[str, Any]:
        """Make a mark, then do something else."""
        identifier = unit.new_id()
        try:
            unit.append("Marked", identifier, 0, {"how": arguments["how"]})
        except Exception:
            if arguments["then"] != "shrug":
                raise
        if arguments["then"] == "refuse":
            raise Invalid(codes.NO_CHANGES)
        if arguments["then"] == "crash":
            raise ValueError("crash")
        if arguments["then"] == "exit":
            raise SystemExit(3)
        return {"id": identifier}

    @aggregate.read
    def count(reader: Reader, arguments: Nothing) -> dict[str, Any]:
        """Count the marks."""
        return {"marks": reader.value("SELECT count(*) AS marks FROM marks WHERE tenant = :tenant")}

    return aggregate


@pytest.fixture
def office(offices: Offices) -> Client:
    return offices.open(marks())


@pytest.mark.parametrize(
    ("how", "then", "reply"),
    [
        ("returning", "refuse", "NO_CHANGES"),
        ("returning", "crash", "SYS_CRASH"),
        ("returning", "exit", "SYS_CRASH"),
        ("half", "nothing", "SYS_CRASH"),
        ("half", "shrug", "SYS_CRASH"),
    ],
)
def test_nothing_stays_of_a_call_that_failed(office: Client, how: str, then: str, reply: str) -> None:
    assert office.marks.make(how=how, then=then).message_key in (reply, "STORE_UNAVAILABLE")
    assert office.marks.count().data["marks"] == 0
    assert office.marks.make(how="returning", then="nothing").message_key == "CREATED"
    assert office.marks.count().data["marks"] == 1


@pytest.mark.requirement("NEW-10")
def test_nothing_stays_of_a_dry_run_or_of_what_is_only_proposed(office: Client) -> None:
    agent = office.as_("scout", "agent", ["agent"])
    assert office.marks.make.dry_run(how="returning", then="nothing").message_key == "VALIDATION_DONE"
    assert agent.marks.make(how="returning", then="nothing").message_key == "PROPOSAL_RECORDED"
    assert office.marks.count().data["marks"] == 0


def test_an_expired_key_does_not_hinder_a_call_that_rewinds(offices: Offices) -> None:
    office = offices.open()
    agent = office.as_("scout", "agent", ["agent"])

    def rebased() -> str:
        proposed = agent.shelf.add_book(title="Dune", commit_mode="draft")
        proposal = proposed.data["proposal"]["id"]
        return agent.proposals.rebase_proposal(proposal_id=proposal, client_request_id="rebase-0001").message_key

    assert rebased() == "PROPOSAL_REBASED"
    offices.clock.pass_(days=8)
    assert rebased() == "PROPOSAL_REBASED"


def test_a_caller_in_a_hurry_is_told_that_the_outcome_is_not_known(offices: Offices) -> None:
    released = Event()
    slow = Aggregate("slow", "What takes its time")

    @slow.record(effect="create")
    def wait(unit: Unit, arguments: Nothing) -> dict[str, Any]:
        """Wait until told."""
        released.wait(PATIENCE_SECONDS)
        return {}

    answer = offices.open(slow).call("slow.wait", {}, timeout=0.0)
    released.set()
    assert (answer.message_key, answer.data["outcome"]) == ("TIMEOUT", "unknown")
