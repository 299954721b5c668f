"""Everything about a call but its arguments: who, when, in which trace, caused by what, and with which ids."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError
from typing import Any

import orjson
import pytest

from engross.calls import Context, derived_id, instant, now, present
from engross.ledger import Reader, Unit
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.board import Conduct, board, find_note
from tests.pipeline.tables import count, rows

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PATIENCE = 20


def receipts(client: Client) -> list[dict[str, Any]]:
    found = rows(client, "SELECT body FROM receipts WHERE tenant = :tenant ORDER BY position")
    return [orjson.loads(receipt["body"]) for receipt in found]


def events(client: Client) -> list[dict[str, Any]]:
    answer = client.call("record.read-facts", {"after": 0})
    return list(answer.data["facts"])


class Watching:
    """Keeps the contexts that reach each piece of a flow's code."""

    def __init__(self) -> None:
        self.seen: dict[str, Context] = {}
        self.conduct = Conduct(
            read=lambda reader: self.keep("read", reader),
            prepare=lambda reader: self.keep("prepare", reader),
            perform=lambda unit: self.keep("perform", unit),
            suggest=lambda reader: self.keep("suggest", reader),
        )

    def keep(self, place: str, reader: Reader) -> None:
        self.seen[place] = reader.context


# --- trace -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-37")
@pytest.mark.parametrize("flags", ["01", "00"])
def test_a_call_joins_the_callers_trace_with_a_span_of_its_own(offices: Offices, flags: str) -> None:
    watching = Watching()
    curator = offices.open(board(watching.conduct))
    done = curator.call(
        "board.pin-note",
        {"text": "a"},
        traceparent=f"00-{TRACE}-{SPAN}-{flags}",
        tracestate="vendor=x,other=y",
    )
    assert done.trace is not None
    assert (done.trace_id, done.trace.parent_span_id, done.trace.tracestate) == (
        TRACE,
        SPAN,
        "vendor=x,other=y",
    )
    assert done.span_id not in (SPAN, "0" * 16)
    assert done.traceparent == f"00-{TRACE}-{done.span_id}-{flags}"
    assert {context.trace for context in watching.seen.values()} == {done.trace}
    assert set(watching.seen) == {"prepare", "perform", "suggest"}
    assert receipts(curator)[0]["traceparent"] == done.traceparent
    assert [event["traceparent"] for event in events(curator)] == [done.traceparent]


MALFORMED: list[Any] = [
    None,
    "",
    "nonsense",
    f"00-{TRACE}-{SPAN}",
    f"00-{TRACE.upper()}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{TRACE}-{SPAN}-01-more",
    f"00-{TRACE[:-1]}-{SPAN}-01",
    "00-" + "a" * 10_000_000,
    "\ud800",
    17,
]


@pytest.mark.requirement("ARCH-37")
def test_a_malformed_trace_is_ignored_and_a_new_one_begins(curator: Client) -> None:
    for number, traceparent in enumerate(MALFORMED):
        done = curator.call("shelf.add-book", {"title": f"Book {number}"}, traceparent=traceparent, tracestate="a=b")
        assert done.message_key == "CREATED"
        assert done.trace is not None
        assert done.trace_id not in (TRACE, "0" * 32)
        assert len(done.trace.trace_id) == 32
        assert done.trace.parent_span_id is None
        assert done.trace.tracestate is None


@pytest.mark.requirement("ARCH-37")
def test_every_answer_says_its_trace_whatever_its_type(curator: Client, agent: Client) -> None:
    header = f"00-{TRACE}-{SPAN}-01"
    calls: list[tuple[Client, str, Any]] = [
        (curator, "shelf.add-book", {"title": "Dune"}),
        (curator, "shelf.list-books", {}),
        (curator, "shelf.add-book", {}),
        (curator, "no.such-flow", {}),
        (curator, "shelf.add-book", "no object"),
        (agent, "proposals.review-proposal", {"proposal_id": "x", "decision": "reject"}),
        (curator.as_("x", roles=["curator"], tenant="not a tenant"), "shelf.list-books", {}),
    ]
    answers = [client.call(flow, arguments, traceparent=header) for client, flow, arguments in calls]
    assert [answer.reply_type for answer in answers] == ["S", "S", "I", "I", "I", "D", "E"]
    assert {answer.trace_id for answer in answers} == {TRACE}
    assert len({answer.span_id for answer in answers}) == len(answers)


@pytest.mark.requirement("ARCH-37")
def test_what_validate_write_tries_out_is_part_of_its_callers_trace(offices: Offices) -> None:
    watching = Watching()
    curator = offices.open(board(watching.conduct))
    answer = curator.call(
        "record.validate-write",
        {"operation": "board.pin-note", "payload": {"text": "a"}},
        traceparent=f"00-{TRACE}-{SPAN}-01",
        correlation_id="order-17",
    )
    inner = watching.seen["perform"]
    assert (inner.trace.trace_id, inner.trace.parent_span_id) == (TRACE, answer.span_id)
    assert inner.correlation_id == "order-17"
    assert inner.dry_run


# --- correlation, causation, message ids -----------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-37")
def test_correlation_and_causation_reach_context_receipt_and_fact(offices: Offices) -> None:
    watching = Watching()
    curator = offices.open(board(watching.conduct))
    curator.call("board.pin-note", {"text": "a"}, correlation_id="order-17", causation_id="message-that-caused-it")
    context = watching.seen["perform"]
    assert (context.correlation_id, context.causation_id) == ("order-17", "message-that-caused-it")
    (receipt,) = receipts(curator)
    assert receipt["correlation_id"] == "order-17"
    (event,) = events(curator)
    assert (event["correlationid"], event["causationid"]) == ("order-17", "message-that-caused-it")


@pytest.mark.requirement("ARCH-37")
def test_without_them_the_trace_correlates_and_the_call_itself_is_the_cause(curator: Client) -> None:
    done = curator.shelf.add_book(title="Dune")
    (receipt,), (event,) = receipts(curator), events(curator)
    assert receipt["correlation_id"] == event["correlationid"] == done.trace_id
    assert event["causationid"] == receipt["message_id"]


@pytest.mark.requirement("ARCH-37")
def test_nonsense_for_correlation_or_causation_counts_as_none(curator: Client) -> None:
    nonsenses: list[Any] = ["", "with blank", "caf\u00e9", "\ud800", "x" * 10_000_000, "a\x00b", 17]
    answers = [
        curator.call("shelf.add-book", {"title": f"Book {number}"}, correlation_id=nonsense, causation_id=nonsense)
        for number, nonsense in enumerate(nonsenses)
    ]
    for answer, receipt, event in zip(answers, receipts(curator), events(curator), strict=True):
        assert answer.message_key == "CREATED"
        assert receipt["correlation_id"] == answer.trace_id
        assert event["causationid"] == receipt["message_id"]


@pytest.mark.requirement("ARCH-37")
def test_facts_of_a_proposal_are_caused_by_it(curator: Client, agent: Client) -> None:
    proposed = agent.call("shelf.add-book", {"title": "Dune"}, correlation_id="the-agents-errand")
    proposal_id = proposed.data["proposal"]["id"]
    shown = curator.proposals.get_proposal(proposal_id=proposal_id)
    approving = curator.proposals.review_proposal(
        proposal_id=proposal_id, decision="approve", approval_token=shown.data["approval_token"]
    )
    (added,) = [event for event in events(curator) if event["type"].endswith("BookAdded.v2")]
    assert added["causationid"] == proposal_id
    assert added["traceparent"] == approving.traceparent


@pytest.mark.requirement("ARCH-14")
def test_every_call_has_a_message_id_of_its_own_and_ids_come_from_it(offices: Offices) -> None:
    watching = Watching()
    curator = offices.open(board(watching.conduct))
    seen = []
    for text in ("a", "b"):
        done = curator.board.pin_note(text=text)
        message_id = watching.seen["perform"].message_id
        assert done.data["note"]["id"] == "note_" + derived_id(message_id, 1)
        assert done.data["facts"] == [f"{message_id}.0"]
        seen.append(message_id)
    assert seen == sorted(set(seen))
    assert [receipt["message_id"] for receipt in receipts(curator)] == seen


@pytest.mark.requirement("ARCH-14")
def test_time_is_the_servers_and_one_for_the_whole_call(offices: Offices) -> None:
    watching = Watching()
    curator = offices.open(board(watching.conduct))
    began = instant(offices.clock())
    watching.conduct.prepare = lambda reader: offices.clock.pass_(hours=1)
    curator.board.pin_note(text="a")
    assert watching.seen["perform"].occurred_at == watching.seen["suggest"].occurred_at == began
    assert receipts(curator)[0]["time"] == events(curator)[0]["time"] == began


@pytest.mark.requirement("ARCH-14")
def test_the_servers_clock_shows_each_moment_as_it_would_be_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [
        datetime(2026, 12, 31, 23, 59, 59, 999_999, UTC),
        datetime(2027, 1, 1, tzinfo=UTC),
        datetime(2027, 1, 1, 0, 0, 0, 7, UTC),
        datetime(2026, 6, 1, 12, 30, tzinfo=UTC),
    ]
    for moment in moments:
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        nanoseconds = (since // timedelta(microseconds=1)) * 1000 + 999
        monkeypatch.setattr(sys.modules[present.__module__], "time_ns", lambda shown=nanoseconds: shown)
        assert present(now) == instant(moment)


@pytest.mark.requirement("ARCH-14")
def test_what_the_server_makes_cannot_be_sent(curator: Client) -> None:
    for field in ("id", "message_id", "correlation_id", "occurred_at", "created_at", "version"):
        refused = curator.shelf.add_book(title="Dune", **{field: "x"})
        assert (refused.message_key, refused.data["field"]) == ("FIELD_NOT_ALLOWED", field)


# --- who -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-14", "ARCH-15")
def test_the_context_says_what_the_credential_says_and_cannot_be_changed(offices: Offices) -> None:
    watching = Watching()
    clara = offices.open(board(watching.conduct))
    scout = clara.as_("scout", "agent", ["agent"], tenant="blue", surface="mcp-http")
    scout.board.pin_note(text="a", client_request_id="note-0001", reason="because")
    context = watching.seen["perform"]
    assert (context.tenant, context.surface) == ("blue", "mcp-http")
    assert (context.principal.id, context.principal.type, context.principal.roles) == (
        "scout",
        "agent",
        frozenset({"agent"}),
    )
    assert (context.flow, context.client_request_id, context.reason) == (
        "board.pin-note",
        "note-0001",
        "because",
    )
    assert context.producer.startswith("urn:")
    with pytest.raises(AttributeError):
        context.tenant = "main"  # type: ignore[misc]
    (receipt,) = receipts(scout)
    assert (receipt["tenant"], receipt["surface"]) == ("blue", "mcp-http")
    assert receipt["principal"]["id"] == "scout"
    assert receipt["client_request_id"] == "note-0001"
    assert receipt["reason"] == "because"


@pytest.mark.requirement("ARCH-15")
def test_no_field_of_any_flow_leads_to_another_tenant(curator: Client) -> None:
    # One who may call every flow: whoever may not hears that, and nothing of fields.
    other = curator.as_("otto", roles=["curator", "admin"], tenant="blue")
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    seen = []
    for flow in curator.office.catalogue:
        for field in ("tenant", "tenant_id"):
            refused = other.call(flow.ref, {field: "main"})
            errors = refused.data.get("errors", [])
            seen.append((flow.ref, field in [error["field"] for error in errors]))
            assert refused.reply_type in ("I", "D"), flow.ref
    assert all(named for _, named in seen), [ref for ref, named in seen if not named]
    tried = other.call(
        "record.validate-write",
        {"operation": "shelf.change-book", "payload": {"id": book, "title": "x", "tenant": "main"}},
    )
    assert {error["code"] for error in tried.data["errors"]} == {"FIELD_NOT_ALLOWED"}
    assert other.shelf.get_book(id=book).message_key == "RECORD_NOT_FOUND"
    assert other.shelf.list_books().data["books"] == []


@pytest.mark.requirement("ARCH-37")
def test_concurrent_calls_on_one_loop_keep_their_contexts_apart(offices: Offices) -> None:
    seen: dict[str, str] = {}

    def keep(unit: Unit) -> None:
        seen[unit.context.trace.trace_id] = unit.context.correlation_id

    curator = offices.open(board(Conduct(perform=keep)))

    async def together() -> list[Reply]:
        return await asyncio.gather(
            *(
                curator.acall(
                    "board.pin-note",
                    {"text": str(n)},
                    traceparent=f"00-{n:032x}-{SPAN}-01",
                    correlation_id=f"order-{n}",
                )
                for n in range(1, 21)
            )
        )

    answers = asyncio.run(together())
    assert [answer.trace_id for answer in answers] == [f"{n:032x}" for n in range(1, 21)]
    assert seen == {f"{n:032x}": f"order-{n}" for n in range(1, 21)}


# --- run twice, the same call ----------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-14")
def test_a_unit_that_runs_again_arrives_at_the_same_ids_and_time(offices: Offices) -> None:
    if offices.store is None:
        pytest.skip("with one writer there are no serialization conflicts")
    both_have_read = Barrier(2)
    runs: dict[str, list[tuple[str, str, str]]] = {}
    target: list[str] = []

    def collide(unit: Unit) -> None:
        """Read what the other is about to write, wait until it has read too, and write."""
        if not target:
            return
        note = find_note(unit, target[0])
        context = unit.context
        run = runs.setdefault(context.correlation_id, [])
        run.append((context.message_id, unit.now, derived_id(context.message_id, 1)))
        if len(run) == 1:
            try:
                both_have_read.wait(PATIENCE)
            except BrokenBarrierError:
                pytest.fail("the other never came")
        unit.append("NotePainted", note["id"], note["version"], {"colour": context.correlation_id})

    curator = offices.open(board(Conduct(perform=collide)))
    first = curator.board.pin_note(text="contested")
    target.append(first.data["note"]["id"])
    with ThreadPoolExecutor(2) as threads:
        answers = list(
            threads.map(
                lambda name: curator.call("board.pin-note", {"text": name}, correlation_id=name),
                ["ada", "bob"],
            )
        )
    assert [answer.message_key for answer in answers] == ["CREATED", "CREATED"]
    again = [run for run in runs.values() if len(run) > 1]
    assert again, "nobody had to run again"
    assert all(len(set(run)) == 1 for run in runs.values())
    made = {answer.data["note"]["id"] for answer in answers}
    assert made == {"note_" + run[0][2] for run in runs.values()}
    assert count(curator, "notes") == 3
    versions = rows(
        curator,
        "SELECT version FROM facts WHERE tenant = :tenant AND subject = :id ORDER BY version",
        id=target[0],
    )
    assert [row["version"] for row in versions] == [1, 2, 3]
