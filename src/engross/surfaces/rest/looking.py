"""Addresses that can be looked at and not written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.types import Scope, Send

from engross.replies import Coded

from .answers import send_empty, send_refusal
from .asked import Asked
from .calls import refuse_method

METHODS = ("GET", "HEAD", "OPTIONS")
T = TypeVar("T")


async def looked_at(asked: Asked, scope: Scope, send: Send, base_url: str, show: Callable[[Scope], T]) -> T | None:
    """What there is to show; None if the request is answered already."""
    try:
        refuse_method(asked.method, METHODS)
        if asked.method == "OPTIONS":
            await send_empty(send, 204, {"allow": ", ".join(METHODS)})
            return None
        return show(scope)
    except Coded as refusal:
        await send_refusal(scope, send, refusal, base_url)
        return None
