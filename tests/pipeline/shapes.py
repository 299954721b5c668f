"""Arguments made up from a schema: such as fit, and such as nearly do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from engross.flows import Flow

TEXT = st.text(max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    TEXT,
    st.text(st.characters(categories=["Cs", "Cc", "L"]), max_size=4),
    st.sampled_from(["", "\x00", "\ud800", "x" * 300, "'; DROP TABLE facts; --", "$0.book.id"]),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def fitting(schema: Mapping[str, Any], known: Mapping[str, list[Any]]) -> st.SearchStrategy[Any]:
    """Values that a schema describes; for a field that is known by name, often one of the values given for it."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", "object")
    listed = [kinds] if isinstance(kinds, str) else list(kinds)
    return st.one_of([_of_type(kind, schema, known) for kind in listed])


def _of_type(kind: str, schema: Mapping[str, Any], known: Mapping[str, list[Any]]) -> st.SearchStrategy[Any]:
    if kind == "object":
        return _object(schema, known)
    if kind == "array":
        return st.lists(fitting(schema.get("items", {"type": "string"}), known), max_size=3)
    if kind == "integer":
        return st.integers(schema.get("minimum", -(2**31)), schema.get("maximum", 2**31))
    if kind == "number":
        return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False)
    if kind == "boolean":
        return st.booleans()
    if kind == "null":
        return st.none()
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True).filter(lambda text: _is_long_enough(text, schema))
    shortest = schema.get("minLength", 0)
    return st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=shortest, max_size=shortest + 20)


def _is_long_enough(text: str, schema: Mapping[str, Any]) -> bool:
    return schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 1000)


def _object(schema: Mapping[str, Any], known: Mapping[str, list[Any]]) -> st.SearchStrategy[Any]:
    fields = {name: _field(name, part, known) for name, part in schema.get("properties", {}).items()}
    required = {name: fields.pop(name) for name in schema.get("required", ())}
    if not fields and not required:
        return st.dictionaries(TEXT, ANYTHING, max_size=3)
    return st.fixed_dictionaries(required, optional=fields)


def _field(name: str, schema: Mapping[str, Any], known: Mapping[str, list[Any]]) -> st.SearchStrategy[Any]:
    made = fitting(schema, known)
    return st.one_of(st.sampled_from(known[name]), made) if known.get(name) else made


def arguments_of(flow: Flow, known: Mapping[str, list[Any]]) -> st.SearchStrategy[Any]:
    """Arguments that fit the flow's published schema."""
    return fitting(flow.published, known)


def spoiled(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Arguments of which a little is wrong, or everything."""

    def with_flaw(arguments: Any, name: str, value: Any) -> Any:
        return {**arguments, name: value}

    names = st.one_of(TEXT, st.sampled_from(["tenant", "id", "title", "author", "as_of", "client_request_id"]))
    return st.one_of(st.builds(with_flaw, good, names, ANYTHING), ANYTHING)
