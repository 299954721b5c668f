"""Reading typed dictionaries: the schema a modelling library makes of them, and the notes it passes over."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, TypedDict, Union, get_args, get_origin

from .definition import FlowDefinitionError
from .described import Described


class NoArguments(TypedDict):
    """For a flow that needs nothing to be told."""


def complaint_about(shape: object) -> str | None:
    """What hinders this from being the shape of arguments or answers, if anything does."""
    if isinstance(shape, Mapping):
        return None
    if not is_typed_dict(shape):
        return "Annotate with a TypedDict class, or give a JSON Schema of an object."
    if sys.version_info < (3, 12) and type(shape).__module__ == "typing" and shape.__annotations__:
        return "On Python 3.11 import TypedDict from typing_extensions, not from typing."
    return None


def is_typed_dict(shape: object) -> bool:
    """Is this a TypedDict class, of the standard library or of typing_extensions?"""
    return isinstance(shape, type) and hasattr(shape, "__required_keys__")


def generated(shape: type[Any], subject: str) -> dict[str, Any]:
    """The schema of a TypedDict class as pydantic writes it."""
    if not shape.__annotations__:
        return {"type": "object", "properties": {}}
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        return TypeAdapter(shape).json_schema()
    except (PydanticUserError, NameError, TypeError) as problem:
        reason = str(problem).splitlines()[0]
        raise FlowDefinitionError(subject, f"{shape.__name__} cannot be read: {reason}") from problem


def with_notes(hint: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with what `Described` and `Doc` say about its fields."""
    kind, keywords = _unwrapped(hint)
    if is_typed_dict(kind):
        hints = _hints_of(kind)
        fields: dict[str, Any] = schema.get("properties", {})
        schema = {**schema, "properties": {name: with_notes(hints[name], fields[name]) for name in fields}}
    elif get_origin(kind) is list:
        schema = {**schema, "items": with_notes(get_args(kind)[0], schema.get("items", {}))}
    return {**schema, **keywords}


def _hints_of(shape: type[Any]) -> Mapping[str, Any]:
    from typing_extensions import get_type_hints

    try:
        return get_type_hints(shape, include_extras=True)
    except NameError:
        # Names from inside a function: the library found them in its frame, here only ForwardRefs are left.
        return shape.__annotations__


def _unwrapped(hint: Any) -> tuple[Any, dict[str, Any]]:
    """The type inside NotRequired, Annotated and `| None`, and the keywords noted on the way."""
    keywords: dict[str, Any] = {}
    while _is_wrapper(hint):
        inner, *notes = (part for part in get_args(hint) if part is not type(None))
        for note in notes:
            keywords.update(_keywords_of(note))
        hint = inner
    return hint, keywords


def _is_wrapper(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return len(get_args(hint)) == 2 and type(None) in get_args(hint)
    return origin is Annotated or getattr(origin, "_name", None) in ("NotRequired", "Required", "ReadOnly")


def _keywords_of(note: object) -> dict[str, Any]:
    if isinstance(note, Described):
        return note.keywords
    # By name: the class lives in typing_extensions and annotated_doc, and neither need be imported here.
    return {"description": getattr(note, "documentation", "")} if type(note).__name__ == "Doc" else {}
