"""Arguments that passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from .controls import Controls

CallWarning: TypeAlias = Mapping[str, Any]
"""Something the caller should know though the call goes on: code, message, field, suggestion."""

Normaliser: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], list[dict[str, Any]]]]
"""Turns what people write into what the flow understands, with warnings about what it changed."""


class Checked(Struct, frozen=True):
    """What a flow gets to work with: complete arguments, controls apart, and what was noticed on the way."""

    arguments: dict[str, Any]
    controls: Controls
    warnings: tuple[CallWarning, ...] = ()
