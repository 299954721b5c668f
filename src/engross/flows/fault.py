"""One way in which arguments miss their schema, and the issue that tells the caller about it.

An issue repeats the caller's field names but never a value: a value may be a secret, or ten megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from engross.replies import Issue, codes

from .nearest import nearest
from .pointer import pointer

MOST_SHOWN = 100
LONGEST_SHOWN = 80

SERVER_OWNED = frozenset(
    {
        *("tenant", "tenant_id", "organization_id", "repository_id"),
        *("principal", "principal_id", "user", "user_id", "role", "roles", "scope", "scopes"),
        *("id", "message_id", "correlation_id", "causation_id", "trace_id", "span_id", "traceparent"),
        *("version", "aggregate_version", "layer", "occurred_at", "created_at", "updated_at", "producer"),
    }
)
"""Names that the server fills in. A schema may still offer one of them on purpose."""


Path: TypeAlias = tuple[str | int, ...]


class Fault(NamedTuple):
    """A schema keyword that does not hold at a place in the arguments."""

    path: Path
    keyword: str
    bound: Any
    """What the keyword says in the schema: the limit, the options, the types."""

    @property
    def name(self) -> str:
        """The last step of the path, as shown."""
        return shortened(str(self.path[-1])) if self.path else "the whole"


def is_unknown(fault: Fault) -> bool:
    """Is this about a field that is not in the schema?"""
    return fault.keyword in ("additionalProperties", "unevaluatedProperties")


def missing(fault: Fault, schema: Mapping[str, Any], sample: object = None) -> Issue:
    """A required field is not there; with a value that would do, where one is known."""
    details = {"rule": "required", "expected": _expected_type(schema), **_description(schema)}
    helps = _allowed_values(_choices(schema), None) or {"hint": f"Add {_where(fault)}."}
    return _misfit(fault, f"{_where(fault)} is missing", details, helps, sample)


def unknown(fault: Fault, allowed: Iterable[str], present: Iterable[str], forbidden: frozenset[str]) -> Issue:
    """A field that is not in the schema."""
    fields = list(allowed)
    suggestions: dict[str, Any] = {"allowed_fields": fields[:MOST_SHOWN]}
    if fault.path[-1] in forbidden:
        details = {"why": "The server sets this itself, from your credential or at the time of the call."}
        return Issue(codes.FIELD_NOT_ALLOWED, {"field": fault.name}, pointer(fault.path), details, suggestions)
    close = nearest(fault.path[-1], set(fields).difference(present))
    if close:
        suggestions = {"did_you_mean": close, **suggestions}
    return Issue(codes.UNKNOWN_FIELD, {"field": fault.name}, pointer(fault.path), None, suggestions)


def misfit(fault: Fault, value: object, schema: Mapping[str, Any], sample: object = None) -> Issue:
    """A value that its schema does not accept; with one that it would, where one is known."""
    expected = _in_words(fault, schema) or _EXPECTED.get(fault.keyword, _as_described)(fault.bound)
    details = {
        "rule": fault.keyword,
        "expected": expected,
        **({"limit": fault.bound} if isinstance(fault.bound, int | float) else {}),
        **_received(value),
        **_description(schema),
    }
    options = fault.bound if fault.keyword == "enum" else ()
    helps = _allowed_values(options, value) or {"hint": f"Send {_where(fault)} so that it is {expected}."}
    return _misfit(fault, f"{_where(fault)} must be {expected}", details, helps, sample)


def shortened(text: object) -> str:
    """The text, cut to what an answer or a log may repeat; of what is no text, nothing."""
    if not isinstance(text, str):
        return ""
    if len(text) > LONGEST_SHOWN:
        text = text[: LONGEST_SHOWN - 3] + "..."
    return text if text.isascii() else text.encode(errors="replace").decode()


def _misfit(fault: Fault, problem: str, details: dict[str, Any], suggestions: dict[str, Any], sample: object) -> Issue:
    if sample is not None:
        suggestions["example"] = sample
    return Issue(codes.VALIDATION_ERROR, {"problem": problem}, pointer(fault.path), details, suggestions)


def _where(fault: Fault) -> str:
    return shortened(".".join(str(step) for step in fault.path)) or "the whole"


def _received(value: object) -> dict[str, Any]:
    for kind in (str, list, dict):
        if isinstance(value, kind):
            return {"received": _NAMES[kind], "received_length": len(value)}
    return {"received": _NAMES.get(type(value), "null")}


def _description(schema: Mapping[str, Any]) -> dict[str, str]:
    description = schema.get("description")
    return {"description": description[:200]} if isinstance(description, str) else {}


def _in_words(fault: Fault, schema: Mapping[str, Any]) -> str | None:
    """What a pattern asks for, as its field is described, if the pattern itself is too long to be shown."""
    described = _description(schema).get("description")
    if fault.keyword != "pattern" or described is None or len(str(fault.bound)) <= LONGEST_SHOWN:
        return None
    return f"as described ({described.rstrip('.')})"


def _choices(schema: Mapping[str, Any]) -> Iterable[Any]:
    """What may be chosen: for the field, or for the items of its list."""
    items = schema.get("items")
    choices: Iterable[Any] = schema.get("enum") or (items.get("enum", ()) if isinstance(items, Mapping) else ())
    return choices


def _allowed_values(options: Iterable[Any], value: object) -> dict[str, Any] | None:
    allowed = list(options)
    if not allowed:
        return None
    close = nearest(value, [option for option in allowed if isinstance(option, str)])
    return {
        **({"did_you_mean": close} if close else {}),
        "allowed_values": allowed[:MOST_SHOWN],
        **({"allowed_values_in_all": len(allowed)} if len(allowed) > MOST_SHOWN else {}),
    }


def _expected_type(schema: Mapping[str, Any]) -> str:
    return _one_of_types(schema.get("type", ()))


def _one_of_types(kinds: str | Iterable[str]) -> str:
    if isinstance(kinds, str):
        kinds = (kinds,)
    return " or ".join(_WITH_ARTICLE.get(kind, kind) for kind in kinds) or "a value"


def _counted(limit: Any, noun: str) -> str:
    return f"{limit} {noun}" if limit == 1 else f"{limit} {noun}s"


def _as_described(bound: object) -> str:
    return "as its description says"


_NAMES: dict[type, str] = {
    **{str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"},
}
_WITH_ARTICLE = {
    **{"string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number"},
    **{"array": "a list", "object": "an object", "null": "null"},
}
_EXPECTED: dict[str, Callable[[Any], str]] = {
    "type": _one_of_types,
    "enum": lambda options: "one of the allowed values",
    "const": lambda value: "the one allowed value",
    "minLength": lambda limit: f"at least {_counted(limit, 'character')} long",
    "maxLength": lambda limit: f"at most {_counted(limit, 'character')} long",
    "pattern": lambda pattern: f"a text that matches {shortened(pattern)}",
    "format": lambda name: f"a valid {name}",
    "minimum": lambda limit: f"at least {limit}",
    "maximum": lambda limit: f"at most {limit}",
    "exclusiveMinimum": lambda limit: f"more than {limit}",
    "exclusiveMaximum": lambda limit: f"less than {limit}",
    "multipleOf": lambda step: f"a multiple of {step}",
    "minItems": lambda limit: f"a list of at least {_counted(limit, 'item')}",
    "maxItems": lambda limit: f"a list of at most {_counted(limit, 'item')}",
    "uniqueItems": lambda _: "a list without repeats",
    "minProperties": lambda limit: f"an object with at least {_counted(limit, 'field')}",
    "falseSchema": lambda _: "left out",
    "unevaluatedItems": lambda _: "left out",
    "maxProperties": lambda limit: f"an object with at most {_counted(limit, 'field')}",
}
