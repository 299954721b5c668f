"""How a Reply looks on the wire: one table of dialects, and the three carriers MCP, HTTP and exit codes.

Every structured answer has the fields its dialect promises, plus `reply`. Agents branch on reply.reply_type
and reply.code, whatever the dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import orjson
from msgspec.structs import asdict

from . import codes
from .frozen import NotSerializable, freeze
from .registry import REGISTRY
from .reply import RESERVED, Reply, reply, restored
from .trace import Trace

JSON = "application/json"
PROBLEM_JSON = "application/problem+json"
REPLY_JSON = "application/vnd.engross.reply+json"
"""A Reply as itself, in no dialect: what one program of ours sends to another."""
EXIT_CODES: Mapping[str, int] = {"S": 0, "I": 2, "D": 3, "E": 4}
CONTENT = "content"
_RETRY_AFTER = "retry_after_seconds"
_RETRY_STATUSES = (409, 429, 503)


def about(answer: Reply) -> dict[str, Any]:
    """The field `reply`: the outcome without the payload."""
    entry, trace = answer.entry, answer.trace
    told: dict[str, Any] = {
        "reply_type": entry.type,
        "code": entry.code,
        "message_key": entry.key,
        "message": answer.message,
        "trace_id": None if trace is None else trace.trace_id,
        "span_id": None if trace is None else trace.span_id,
    }
    if entry.type == "S":
        return told
    if answer.params:
        told["params"] = answer.params
    if answer.reply_type == "E":
        told["retryable"] = answer.retryable
    wait = retry_after(answer)
    if wait is not None:
        told[_RETRY_AFTER] = wait
    return told


def retry_after(answer: Reply) -> int | None:
    """Whole seconds until a repetition makes sense, where the answer knows."""
    for source in (answer.data, answer.params):
        wait = None if source is None else source.get(_RETRY_AFTER)
        if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0:
            return ceil(wait)
    return None


@dataclass(frozen=True, slots=True)
class _Fault:
    """What went wrong, taken apart once for all dialects."""

    errors: list[dict[str, Any]]
    field: str | None
    suggestions: Any
    details: dict[str, Any]

    @classmethod
    def of(cls, answer: Reply) -> _Fault:
        rest = dict(answer.data)
        errors = rest.pop("errors") if _are_issues(rest.get("errors")) else []
        field = rest.pop("field", None)
        suggestions = rest.pop("suggestions", None)
        details = rest.pop("details", None)
        if isinstance(details, Mapping):
            rest = {**details, **rest}
        elif details is not None:
            rest["details"] = details
        return cls(errors, field, suggestions, rest)

    @property
    def told(self) -> dict[str, Any]:
        """The details, with all errors where there are several."""
        return {**self.details, "errors": self.errors} if len(self.errors) > 1 else self.details


def _are_issues(errors: object) -> bool:
    return isinstance(errors, list) and all(
        isinstance(error, Mapping) and error.get("reply_code") in REGISTRY for error in errors
    )


def _bare(answer: Reply) -> dict[str, Any]:
    return dict(answer.data)


def _architecture_success(answer: Reply) -> dict[str, Any]:
    return {"success": True, **_bare(answer)}


def _architecture_failure(answer: Reply) -> dict[str, Any]:
    fault = _Fault.of(answer)
    error: dict[str, Any] = {"code": answer.message_key, "message": answer.message}
    for name, value in (("field", fault.field), ("details", fault.told), ("suggestions", fault.suggestions)):
        if value:
            error[name] = value
    return {"success": False, "error": error}


def _memory_failure(answer: Reply) -> dict[str, Any]:
    fault = _Fault.of(answer)
    details = {**fault.told, "reply_code": answer.code, "reply_type": answer.reply_type}
    for name, value in (("field", fault.field), ("suggestions", fault.suggestions)):
        if value:
            details[name] = value
    error = {"code": answer.message_key, "message": answer.message, "details": details}
    return {"error": error if answer.trace_id is None else {**error, "trace_id": answer.trace_id}}


def _documents_success(answer: Reply) -> dict[str, Any]:
    told = {"status": "success", "errors": [], **_bare(answer)}
    # This dialect has the field for something else; what became of a write has one of its own.
    if told["status"] in _DONE:
        told |= {"status": "success", "outcome": told["status"]}
    would = told.get("answer")
    if isinstance(would, Mapping):
        # A dry run: what the write would say stands where the write says it.
        told |= {name: would[name] for name in _OF_A_WRITE if name in would}
    return told


_DONE = ("committed", "unchanged")
_OF_A_WRITE = ("path", "canonical_hash", "corrections", "diff", "validation_status")
_NOTHING: Mapping[str, Any] = {
    "path": "",
    "canonical": "",
    "canonical_hash": "",
    "output": "",
    "lossy": False,
    "fields_omitted": [],
    "diff": "",
    "corrections": [],
    "repairs": [],
    "warnings": [],
    "validation_status": "UNVALIDATED",
}
"""What a failure says in the fields that any success of this dialect may have: the envelope is always whole."""
_PLACE = ("spec_code", "line", "column", "hint")


def _documents_failure(answer: Reply) -> dict[str, Any]:
    fault = _Fault.of(answer)
    return {**_NOTHING, **fault.details, "status": "error", "errors": _documents_errors(answer, fault)}


def _documents_errors(answer: Reply, fault: _Fault) -> list[dict[str, Any]]:
    whole = {"reply_code": answer.code, "message": answer.message}
    told = []
    for error in fault.errors or [whole]:
        entry = REGISTRY.entry(error["reply_code"])
        names = {"code": documents_code(entry.code), "message_key": entry.key, "reply_type": entry.type}
        details = error.get("details") or {}
        place = {name: details[name] for name in _PLACE if name in details}
        told.append({**error, **place, **names})
    return told


_FIVE = ("E_PATH", "E_PARSE", "E_HASH", "E_WRITE", "E_INPUT")


def documents_code(code: str) -> str:
    """One of the five names of the documents dialect; a denial has none and counts as a write not made."""
    entry = REGISTRY.entry(code)
    if entry.key in _FIVE:
        return entry.key
    if entry.type in "DE":
        return "E_WRITE"
    if code == codes.VERSION_CONFLICT:
        return "E_HASH"
    return {"RES": "E_PATH", "PARSE": "E_PARSE"}.get(entry.area, "E_INPUT")


def _read_reply(wire: Mapping[str, Any]) -> str:
    return str(wire[RESERVED]["code"])


def _read_key(wire: Mapping[str, Any]) -> str:
    return REGISTRY.by_key(wire["error"]["code"]).code


def _read_memory(wire: Mapping[str, Any]) -> str:
    return str(wire["error"]["details"]["reply_code"])


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one document shapes its answers, and how to read the code back from a failure."""

    success: Callable[[Reply], dict[str, Any]]
    failure: Callable[[Reply], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], str]
    failed: Callable[[Mapping[str, Any]], bool]
    # RFC 9457 wants a numeric `status`; a dialect with a `status` of its own keeps it and is plain JSON.
    problems: bool = True


DIALECTS: Mapping[str, Dialect] = {
    "plain": Dialect(_bare, _bare, _read_reply, lambda wire: wire[RESERVED]["reply_type"] != "S"),
    "architecture": Dialect(
        _architecture_success, _architecture_failure, _read_key, lambda wire: wire["success"] is False
    ),
    "memory": Dialect(_bare, _memory_failure, _read_memory, lambda wire: "error" in wire),
    "documents": Dialect(
        _documents_success,
        _documents_failure,
        _read_reply,
        lambda wire: wire["status"] == "error" and wire[RESERVED]["reply_type"] != "S",
        problems=False,
    ),
}


def structured(answer: Reply, dialect: str = "plain") -> dict[str, Any]:
    """The answer as one JSON object in a dialect."""
    shape = DIALECTS[dialect]
    body = shape.success(answer) if answer.ok else shape.failure(answer)
    body[RESERVED] = about(answer)
    return body


def serialise(answer: Reply, dialect: str = "plain") -> bytes:
    """The answer as JSON bytes; raises NotSerializable where that fails."""
    try:
        return orjson.dumps(structured(answer, dialect))
    except TypeError:
        raise NotSerializable from None


def mcp_result(answer: Reply, dialect: str = "plain", *, blocks: bool = False) -> dict[str, Any]:
    """The answer as an MCP tool result; a failure is a result too, or the model would never see it.

    With `blocks`, the field `content` of a success holds content blocks: they are sent as such, and only once.
    """
    body = structured(answer, dialect)
    told = [*body.pop(CONTENT, ())] if blocks and answer.ok else []
    told.append({"type": "text", "text": orjson.dumps(body).decode()})
    return {"isError": not answer.ok, "structuredContent": body, "content": told}


def problem(answer: Reply, base: str = "") -> dict[str, Any]:
    """A failure as an RFC 9457 problem."""
    if answer.ok:
        raise ValueError("a success is no problem")
    told = {
        "type": f"{base.rstrip('/')}/problems/{answer.code}",
        "title": answer.entry.title,
        "status": answer.http_status,
        "detail": answer.message,
        "code": answer.code,
        "reply_type": answer.reply_type,
    }
    fault = _Fault.of(answer)
    for name, value in (
        ("instance", f"urn:trace:{answer.trace_id}" if answer.trace_id else None),
        ("errors", [{**error, "detail": error.get("message")} for error in fault.errors]),
        ("suggestions", fault.suggestions),
        (_RETRY_AFTER, retry_after(answer)),
    ):
        if value or value == 0:
            told[name] = value
    return told


def http(
    answer: Reply, dialect: str = "plain", *, base: str = "", if_match: bool = False, by_address: bool = False
) -> tuple[int, dict[str, str], str, dict[str, Any]]:
    """Status, headers, media type and body.

    if_match says that the caller sent a precondition, by_address that the operation was part of the address.
    """
    body = structured(answer, dialect)
    status = _status(answer, if_match, by_address)
    if answer.ok or not DIALECTS[dialect].problems:
        return status, _headers(answer, status), JSON, body
    return status, _headers(answer, status), PROBLEM_JSON, {**body, **problem(answer, base), "status": status}


def _status(answer: Reply, if_match: bool, by_address: bool) -> int:
    if if_match and answer.code in (codes.VERSION_CONFLICT, codes.E_HASH):
        return 412
    return 404 if by_address and answer.code == codes.UNKNOWN_OPERATION else answer.http_status


def _headers(answer: Reply, status: int) -> dict[str, str]:
    headers: dict[str, str] = {}
    if status in _RETRY_STATUSES and (wait := retry_after(answer)) is not None:
        headers["Retry-After"] = str(wait)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def exit_code(answer: Reply) -> int:
    """What a command line ends with: 0 done, 2 invalid, 3 denied, 4 our failure."""
    return EXIT_CODES[answer.reply_type]


def parse(target: str, wire: Any) -> tuple[str, str]:
    """(reply_type, code) read back from a dialect, "mcp", "problem" or "http"; a contradiction raises."""
    if target == "mcp":
        return _agreed(_read_text(wire["content"]), wire["isError"])
    if target == "problem":
        return _agreed(str(wire["code"]), wire["status"] >= 400)
    if target == "http":
        status, _, _, body = wire
        return _agreed(_read_reply(body), status >= 400)
    shape = DIALECTS[target]
    failed = shape.failed(wire)
    return _agreed(shape.read(wire) if failed else _read_reply(wire), failed)


def neutral(answer: Reply) -> dict[str, Any]:
    """The whole Reply as one JSON object, from which `received` makes the same Reply again."""
    trace = None if answer.trace is None else asdict(answer.trace)
    meta = {"tool": answer.tool, "duration_ms": answer.duration_ms, "trace": trace}
    return {RESERVED: about(answer), "params": answer.params, "data": answer.data, "meta": meta}


def received(wire: object) -> Reply:
    """The Reply that somebody sent as `neutral`. What is no reply is an E: what became of the call is not known.

    A code of a newer release keeps its type: a code of ours stands in for it, and `original` in the data is
    what was really said.
    """
    try:
        return _received(wire)
    except (LookupError, TypeError, ValueError, AttributeError):
        params = {"tool": "the server", "kind": type(wire).__name__}
        return reply(codes.NON_REPLY_RETURN, params, {"outcome": "unknown"})


def _received(wire: Any) -> Reply:
    told, meta = wire[RESERVED], wire["meta"]
    code, kind = told["code"], told["reply_type"]
    tool, duration = _measured(meta)
    params, data = freeze(wire["params"]), freeze(wire["data"])
    if isinstance(code, str) and code not in REGISTRY:
        params = freeze({"problem": f"{code} is not known here", "flow": tool or code})
        code, data = _standing_in(kind), freeze({**data, "original": told})
    if REGISTRY.entry(code).type != kind or RESERVED in data:
        raise ValueError("the reply contradicts itself")
    return restored(code, params, data, _trace(meta["trace"]), tool, duration)


def _standing_in(kind: str) -> str:
    """The most general code of a type."""
    return {
        "S": codes.SYS_OK,
        "I": codes.VALIDATION_ERROR,
        "D": codes.CALL_DENIED,  # reply-lint: L7 because another office said it, and this one only repeats it
        "E": codes.SYS_CRASH,
    }[kind]


def _trace(told: Mapping[str, Any] | None) -> Trace | None:
    return None if told is None else Trace.restored(**told)


def _measured(meta: Mapping[str, Any]) -> tuple[str | None, float | None]:
    tool, duration = meta["tool"], meta["duration_ms"]
    if not isinstance(tool, str | None) or not isinstance(duration, float | int | None):
        raise TypeError("not what a tool and a duration look like")
    return tool, duration


def _read_text(content: list[dict[str, Any]]) -> str:
    return _read_reply(orjson.loads(content[-1]["text"]))


def _agreed(code: str, failed: bool) -> tuple[str, str]:
    kind = REGISTRY.entry(code).type
    if (kind != "S") is not failed:
        raise ValueError(f"{code} does not go with {'a failure' if failed else 'a success'}")
    return kind, code
