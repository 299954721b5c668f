"""Stage 4, remember: has this very call been made before?

    in this process     one call per key runs, the others wait for it (flights)
    the adapter cache   a retry that comes soon (answers); it counts only while the key's row stands for it
    the key's row       what counts; looked up before the write's own transaction does anything else. Where a row that
                        is in the way has the whole unit run again (SQLite), only that second run looks first: nearly
                        every key is new, and looking for it would be a fifth of what the write asks of the store.
                        A bulk write looks first all the same

Same key and same request: the first answer again, marked as a replay. Same key, other request or other principal:
Invalid, and nothing of the first is told. Still running: Invalid, with when to come back. Only what was committed is
remembered, so a call that was refused or crashed may be made again with its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from engross.calls import Context, parse_instant
from engross.flows import Flow
from engross.governance import find_proposal
from engross.ledger import Reader, StoredKey, Unit, clear_key, find_key, fingerprint, read_key
from engross.replies import Failed, Invalid, Reply, UnknownCode, codes, reply
from engross.store import Reading, RequeueError, states_of_effects

from .answers import Remembered
from .fittings import Fittings
from .flights import FlightKey
from .steps import Landing, Look, Steps, time_left

WAIT_SECONDS = 2.0


def flight_key(context: Context) -> FlightKey:
    """What a client request id belongs to."""
    return (context.tenant, context.flow, context.client_request_id or "")


def request_fingerprint(context: Context, arguments: Mapping[str, Any]) -> str:
    """What makes two calls the same request: the flow, its arguments after defaults, and where they apply."""
    return fingerprint(
        {
            "operation": context.flow,
            "arguments": arguments,
            "proposal_id": context.proposal_id,
            "commit_mode": context.commit_mode,
            "model": context.pins.get("model_id"),
        }
    )


def lead_or_replay(fittings: Fittings, context: Context, mark: str) -> Steps[Reply | None]:
    """Take the lead among the calls with this key (None), or give the answer that it has already."""
    key = flight_key(context)
    while True:
        found = fittings.answers.get(key, context)
        if found and found.fingerprint == mark and found.principal == context.principal.id:
            again = yield from _again(fittings, context, found)
            if again is not None:
                return again
            fittings.answers.drop([key])
        landing = fittings.flights.begin(key)
        if landing is None:
            # Whoever landed since the look at the cache is found in the store.
            return None
        if not (yield Landing(landing, min(WAIT_SECONDS, time_left(context)))):
            raise in_progress()


def keeping_key(failure: Failed, context: Context) -> Failed:
    """A failure that leaves open what became of a write says under which key to ask again."""
    if not failure.data or failure.data.get("outcome") != "unknown" or context.client_request_id is None:
        return failure
    told = {**failure.data, "client_request_id": context.client_request_id}
    return Failed(failure.code, failure.params, data=told)


def recall(unit: Unit, flow: Flow, mark: str) -> Remembered | None:
    """The answer that the key's row holds; None once the key is this call's. Comes before anything is changed."""
    context = unit.context
    key = context.client_request_id or ""
    stored = find_key(unit.transaction, context.flow, key)
    found = None if stored is None else _known(stored, flow, context, mark)
    if found is None:
        _take(unit, key, clearing=stored is not None)
    return found


def committed(reading: Reading, context: Context, flow: Flow, mark: str) -> Remembered | None:
    """The answer that the key's row holds, for a call that goes no further."""
    stored = read_key(reading, context.flow, context.client_request_id or "")
    return None if stored is None else _known(stored, flow, context, mark)


def _known(stored: StoredKey, flow: Flow, context: Context, mark: str) -> Remembered | None:
    """What a row tells the call that found it; None if it is not in the way."""
    if stored.is_past(context.occurred_at):
        return None
    if stored.principal != context.principal.id:
        raise Invalid(codes.IDEMPOTENCY_KEY_REUSED, field="client_request_id")
    if stored.state == "erased":
        raise _erased(context.client_request_id or "")
    if stored.fingerprint != mark:
        raise Invalid(
            codes.IDEMPOTENCY_KEY_REUSED,
            field="client_request_id",
            details={"original_request_time": stored.created_at},
            suggestions={"hint": "Use a new client_request_id for a different request."},
        )
    if stored.state == "leased":
        _refuse_leased(stored, flow, context)
        return None
    assert stored.answer is not None
    return Remembered(stored.principal, mark, stored.answer, stored.position, stored.created_at)


def settled(unit: Unit, mark: str) -> Remembered | None:
    """The answer that another call with this key and request has left meanwhile."""
    context = unit.context
    stored = find_key(unit.transaction, context.flow, context.client_request_id or "")
    if stored is None or stored.answer is None or stored.is_past(context.occurred_at):
        return None
    if stored.fingerprint != mark or stored.principal != context.principal.id:
        return None
    return Remembered(stored.principal, mark, stored.answer, stored.position, stored.created_at)


def _take(unit: Unit, key: str, *, clearing: bool) -> None:
    """The key is this call's, once no other process is about to use it and no row is in the way."""
    operation = unit.context.flow
    if not unit.transaction.claim(f"{operation}/{key}"):
        raise RequeueError from in_progress()
    if clearing:
        unit.lasting(lambda: clear_key(unit.transaction, operation, key, unit.now))


def _refuse_leased(stored: StoredKey, flow: Flow, context: Context) -> None:
    """A lease that still runs is in progress; one that ran out leaves open whether the call was made."""
    if stored.expires_at > context.occurred_at:
        left = parse_instant(stored.expires_at) - parse_instant(context.occurred_at)
        raise in_progress(max(1, round(left.total_seconds())))
    if not flow.semantics.idempotent:
        raise Failed(codes.OUTCOME_UNKNOWN, data={"outcome": "unknown", "original_request_time": stored.created_at})


def in_progress(retry_after_seconds: int = 1) -> Invalid:
    """The call with this key has not ended yet."""
    return Invalid(
        codes.REQUEST_IN_PROGRESS,
        field="client_request_id",
        data={"retry_after_seconds": retry_after_seconds, "retryable": True},
    )


def _erased(key: str) -> Invalid:
    return Invalid(codes.PAYLOAD_ERASED, {"kind": "answer to", "id": key}, field="client_request_id")


def replayed(fittings: Fittings, context: Context, found: Remembered) -> Steps[Reply]:
    """The answer that the key's row held a moment ago, once more."""
    again = yield from _again(fittings, context, found)
    if again is None:
        # It was erased or purged since.
        raise in_progress()
    return again


def _again(fittings: Fittings, context: Context, found: Remembered) -> Steps[Reply | None]:
    """The first answer with what has become of its subject since; None if no row in the store stands for it."""
    deadline = context.deadline or 0.0
    since, state = yield Look(
        fittings.store,
        context.tenant,
        lambda reading: _since(reading, context, found),
        fittings.workers,
        deadline,
    )
    if since is None:
        return None
    if found.again is not None and found.unchanged_in == state:
        return found.again
    answer = found.answer
    data = {
        **answer["data"],
        **since,
        "idempotent_replay": True,
        "original_request_time": found.created_at,
        "original_trace_id": answer["trace_id"],
    }
    again = _told_again(answer, data)
    kept = found if since else replace(found, unchanged_in=state, again=again)
    fittings.answers.put(flight_key(context), kept, context)
    return again


def _told_again(answer: Mapping[str, Any], data: dict[str, Any]) -> Reply:
    """The first answer's own code; where another release gave one that is not known here, that it was done."""
    try:
        return reply(answer["code"], answer["params"], data)
    except UnknownCode:
        # Only successes are remembered.
        return reply(codes.SYS_OK, data={**data, "original_code": answer["code"]})


def remember_suggestions(fittings: Fittings, context: Context, suggestions: str) -> None:
    """Let the cached answer have them too, so that a retry need not think of them again."""
    key = flight_key(context)
    found = fittings.answers.get(key, context)
    if found is not None:
        fittings.answers.put(key, replace(found, suggestions=suggestions, again=None), context)


def _since(reading: Reading, context: Context, found: Remembered) -> tuple[dict[str, Any] | None, str]:
    """What a replay has to say beyond the original answer, if it stands, and in which state of the store."""
    state = reading.state()
    if found.again is not None and found.unchanged_in == state:
        return {}, state
    stored = read_key(reading, context.flow, context.client_request_id or "")
    if stored is None or not _stands_for(stored, found):
        return None, state
    return _changes(reading, context, found), state


def _stands_for(stored: StoredKey, found: Remembered) -> bool:
    """Whether a row is of the very call that had this answer, and nobody erased it."""
    return stored.state == "done" and (stored.principal, stored.fingerprint, stored.position, stored.created_at) == (
        found.principal,
        found.fingerprint,
        found.position,
        found.created_at,
    )


def _changes(reading: Reading, context: Context, found: Remembered) -> dict[str, Any]:
    answer = found.answer
    proposal_id = answer["params"].get("proposal_id")
    if proposal_id is not None:
        current = find_proposal(Reader(reading, context), proposal_id)
        status = current.current_status(context.occurred_at)
        return {"proposal": {**answer["data"]["proposal"], "current_status": status}}
    if found.position is None:
        return {}
    files = states_of_effects(reading, answer["data"].get("published", ()))
    published: dict[str, Any] = {"published": files} if files else {}
    # The sign keeps SQLite from looking through all that came after: the subject's own facts are few.
    rows = reading.rows(
        "SELECT l.ends, l.type FROM facts f JOIN facts l"
        " ON l.tenant = f.tenant AND l.aggregate = f.aggregate AND l.subject = f.subject AND l.version > f.version"
        " WHERE f.tenant = :tenant AND f.position = :position AND +l.position > :position AND l.ends = 1 LIMIT 1",
        {"position": found.position},
    )
    return {**published, "current_state": "deleted"} if rows else published
