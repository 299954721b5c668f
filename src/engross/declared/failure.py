"""What goes wrong in a flow, as the reply that the caller gets. It always names the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.replies import Coded, Failed, Invalid, codes

from .outbound.exchange import OutboundError, Received
from .redaction import Redactor

MOST_SHOWN = 2000
NOT_DONE = "not_done"
_PROBLEMS = {
    "large": "it is larger than what is read",
    "broken": "it breaks off or is no HTTP",
    "redirect": "it points to another place",
}
_NOT_FOUND = frozenset({404, 410})
_CONFLICT = frozenset({409, 412})
_UNAUTHORIZED = frozenset({401, 403, 407})
_TURNED_AWAY = _UNAUTHORIZED | {429}


def no_response(step: str, error: OutboundError, redactor: Redactor) -> Failed:
    """There is no response that could be used. Who could not be reached is told, as a dry run tells it."""
    data = {"step": step}
    if error.trouble == "host":
        return Failed(codes.HOST_REFUSED, {"step": step}, data={**data, "setting": "private_hosts"})
    if error.trouble == "unreachable":
        return Failed(codes.UPSTREAM_UNREACHABLE, {"step": step}, data=data | _whom(error, redactor))
    if error.trouble == "timeout":
        return Failed(codes.UPSTREAM_TIMEOUT, {"step": step}, data=data)
    if error.trouble == "unrecorded":
        return Failed(codes.UPSTREAM_UNRECORDED, {"step": step}, data=data)
    return unreadable(step, _PROBLEMS[error.trouble])


def _whom(error: OutboundError, redactor: Redactor) -> dict[str, str]:
    if error.at is None:
        return {}
    there = redactor.text(error.at)
    hint = f"Ask the person who runs the office whether {there} is up, and can be reached from the office."
    return {"upstream": there, "hint": hint}


def unreadable(step: str, problem: str) -> Failed:
    """There is a response, but not one that the document describes."""
    return Failed(codes.UPSTREAM_UNREADABLE, {"step": step, "problem": problem}, data={"step": step})


def refused(step: str, received: Received, redactor: Redactor) -> Coded:
    """A status of 400 or more.

    What the other system says about the request is for the caller to read. What it says about itself is not: of a
    failure nobody knows what its text gives away.
    """
    status = received.status
    said = {"step": step, "status": status}
    data: dict[str, Any] = {"step": step, "upstream_status": status}
    if status in _UNAUTHORIZED:
        return Failed(codes.UPSTREAM_UNAUTHORIZED, said, data=data)
    if status == 429 or (status == 503 and "retry-after" in received.headers):
        wait = seconds_to_wait(received)
        return Failed(codes.UPSTREAM_BUSY, {"step": step}, data=data | ({"retry_after_seconds": wait} if wait else {}))
    if status == 408:
        return Failed(codes.UPSTREAM_TIMEOUT, {"step": step}, data=data)
    if status >= 500:
        return Failed(codes.UPSTREAM_FAILED, said, data=data)
    data["upstream_answer"] = _shown(received, redactor)
    if status in _NOT_FOUND:
        return Invalid(codes.UPSTREAM_NOT_FOUND, said, data=data)
    if status in _CONFLICT:
        return Invalid(codes.UPSTREAM_CONFLICT, said, data=data)
    return Invalid(codes.UPSTREAM_REFUSED, said, data=data)


def seconds_to_wait(received: Received) -> int | None:
    """What Retry-After says, if it is a number of seconds."""
    said = received.headers.get("retry-after", "").strip()
    return int(said) if said.isdecimal() and len(said) < 7 else None


def settled(failure: Failed, *, acted: bool) -> Failed:
    """A failure of a flow that writes: it says if nothing can have been changed, whatever a part of it said."""
    data = {name: part for name, part in (failure.data or {}).items() if name != "outcome"}
    return Failed(failure.code, failure.params, data=data if acted else {**data, "outcome": NOT_DONE})


def is_undone(failure: Coded) -> bool:
    """Is it certain that the call at hand changed nothing? A refusal says so by being one."""
    data = failure.data or {}
    turned_away = data.get("upstream_status") in _TURNED_AWAY
    return not isinstance(failure, Failed) or turned_away or data.get("outcome") == NOT_DONE


def halfway(step: str, refusal: Coded, done: Sequence[str]) -> Coded:
    """A refusal after something was done already is no refusal of the whole: part of the work is there."""
    if not done or isinstance(refusal, Failed):
        return refusal
    data = {**(refusal.data or {}), "step": step, "steps_done": list(done), "refusal": refusal.code}
    return Failed(codes.STEP_FAILED, {"step": step}, data=data)


def unwritable(step: str, name: str, problem: str, inputs: Mapping[str, Any]) -> Coded:
    """A value cannot stand where the document puts it: the caller's to mend if it is the caller's."""
    said = f"{name} {problem}"
    if name.partition(".")[0] in inputs:
        return Invalid(codes.VALIDATION_ERROR, {"problem": said}, field=name, data={"step": step})
    return Failed(codes.STEP_FAILED, {"step": step}, data={"step": step, "problem": said})


def _shown(received: Received, redactor: Redactor) -> Any:
    import orjson

    body = received.body
    try:
        if len(body) <= MOST_SHOWN:
            return redactor.data(orjson.loads(body))
    except orjson.JSONDecodeError:
        pass
    # Cut afterwards: half a secret would not be found.
    return redactor.text(body[: 2 * MOST_SHOWN].decode("utf-8", "replace"))[:MOST_SHOWN]
