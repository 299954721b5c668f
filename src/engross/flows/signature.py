"""What a function says about itself: the types of what it takes and gives, and its docstring."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter, cleandoc, signature
from types import FrameType, SimpleNamespace
from typing import Any, get_type_hints

from .definition import FlowDefinitionError
from .typed import is_typed_dict

Handler = Callable[..., object]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def arguments_type(handler: Handler, subject: str) -> type[Any]:
    """The TypedDict that the second parameter is annotated with."""
    parameters = [name for name, part in signature(handler).parameters.items() if part.kind in _POSITIONAL]
    if len(parameters) < 2:
        raise FlowDefinitionError(subject, "Take two parameters: the unit or reader, and the arguments.")
    annotation = _annotation(handler, parameters[1], subject)
    if annotation is None:
        raise FlowDefinitionError(
            subject, f"Annotate {parameters[1]} with a TypedDict class, or give arguments= to the decorator."
        )
    return annotation  # type: ignore[no-any-return]


def answers_type(handler: Handler, subject: str) -> type[Any] | None:
    """The TypedDict that the function returns; None where the annotation says nothing about fields."""
    if "return" not in getattr(handler, "__annotations__", {}):
        raise FlowDefinitionError(subject, "Annotate what is returned: a TypedDict class, or Mapping[str, object].")
    annotation = _annotation(handler, "return", subject)
    return annotation if is_typed_dict(annotation) else None


def documentation(handler: Handler) -> str:
    """The docstring, without its indentation."""
    return cleandoc(handler.__doc__ or "")


def _annotation(handler: Handler, name: str, subject: str) -> Any:
    annotation = getattr(handler, "__annotations__", {}).get(name)
    if not isinstance(annotation, str):
        return annotation
    # Only this one: others may name types that exist for type checkers alone.
    alone = SimpleNamespace(__annotations__={name: annotation})
    names: Mapping[str, Any] = getattr(handler, "__globals__", {})
    try:
        return get_type_hints(alone, dict(names), _names_around(names), include_extras=True)[name]
    except NameError as problem:
        raise FlowDefinitionError(
            subject, f"The annotation {annotation!r} is not known here: define the class above the function."
        ) from problem


def _names_around(names: Mapping[str, Any]) -> dict[str, Any]:
    """The local names of the frame that is defining the function, which may be another function."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals is not names:
        frame = frame.f_back
    return dict(frame.f_locals) if frame else {}
