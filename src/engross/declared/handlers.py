"""Python functions that documents may name as a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

StepHandler: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], Any]
"""`(inputs, outputs of earlier steps, what with gives) -> output`. None is no output. May be async."""

Function = TypeVar("Function", bound=StepHandler)

HANDLERS: dict[str, StepHandler] = {}
"""All that were registered in this process."""


def step_handler(name: str) -> Callable[[Function], Function]:
    """Decorator: documents may say `type: handler, handler: name`. The last function of a name counts."""

    def register(function: Function) -> Function:
        HANDLERS[name] = function
        return function

    return register
