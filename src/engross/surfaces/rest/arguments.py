"""A call's arguments, out of a query or a body, and out of the headers that stand for some of them.

A query is all text. A text becomes what the published schema says its field is; one that does not look like that stays
a text, and the check tells the caller what it should have been.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from engross.flows import Flow
from engross.replies import Invalid, codes

from .asked import Asked, Fields, refuse_header
from .etags import state_in

KEY = "client_request_id"
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_TRUTHS = {"true": True, "false": False}

Schema = Mapping[str, Any]


def from_query(fields: Fields, schema: Schema) -> dict[str, Any]:
    """The arguments that a query spells out: a list by repeating its name, an object as JSON."""
    known: Mapping[str, Schema] = schema.get("properties", {})
    texts: dict[str, list[str]] = {}
    for name, text in fields:
        texts.setdefault(name, []).append(text)
    return {name: _value(name, given, known.get(name, {})) for name, given in texts.items()}


def with_headers(arguments: Any, asked: Asked, flow: Flow) -> Any:
    """The arguments, with what Idempotency-Key and If-Match say."""
    if b"idempotency-key" in asked.headers and flow.writes:
        if KEY not in flow.published["properties"]:
            refuse_header("Idempotency-Key", "this flow keeps no account of repetitions")
        arguments = _added(arguments, KEY, asked.key, "Idempotency-Key")
    if b"if-match" in asked.headers:
        if flow.expects is None:
            refuse_header("If-Match", "this flow does not look at versions")
        state = _state(asked, flow.published["properties"][flow.expects])
        arguments = _added(arguments, flow.expects, state, "If-Match")
    return arguments


def _added(arguments: Any, name: str, value: Any, header: str) -> Any:
    """The argument that a header stands for. Said twice, it must be the same."""
    if not isinstance(arguments, dict):
        return arguments
    if arguments.get(name) is not None and arguments[name] != value:
        problem = f"{header} and {name} say different things"
        raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field=name, details={"header": header})
    return {**arguments, name: value}


def _state(asked: Asked, schema: Schema) -> Any:
    text = state_in(asked.headers[b"if-match"].decode("latin-1"))
    if text is None:
        refuse_header("If-Match", 'it takes one tag as an answer has it, such as "3"')
    return as_declared(text, schema)


def as_declared(text: str, schema: Schema) -> Any:
    """A text as what its field is."""
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        made = _MAKERS.get(kind, _as_it_is)(text)
        if made is not text:
            return made
    return text


def _value(name: str, texts: list[str], schema: Schema) -> Any:
    if schema.get("type") == "array":
        return [as_declared(text, schema.get("items", {})) for text in texts]
    if len(texts) > 1:
        raise Invalid(codes.VALIDATION_ERROR, {"problem": f"{name[:80]} is there more than once"}, field=name)
    return as_declared(texts[0], schema)


def _as_it_is(text: str) -> Any:
    return text


def _integer(text: str) -> Any:
    return int(text) if _INTEGER.fullmatch(text) else text


def _number(text: str) -> Any:
    return _read(text, int | float) if _NUMBER.fullmatch(text) else text


def _object(text: str) -> Any:
    return _read(text, dict)


def _read(text: str, kind: Any) -> Any:
    """What a text says in JSON, if that is of a kind."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return said if isinstance(said, kind) else text


_MAKERS: Mapping[str | None, Callable[[str], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: _TRUTHS.get(text, text),
    "object": _object,
    # Whatever it may be, it can be said in JSON.
    None: _as_it_is,
}
