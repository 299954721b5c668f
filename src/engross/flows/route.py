"""A flow at an address of REST's own: a method, a path, and where its arguments come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Where = Literal["path", "query", "header", "cookie", "body"]


@dataclass(frozen=True, slots=True)
class RouteField:
    """Where a request carries an argument. A field with a `constant` never looks at the request."""

    name: str
    where: Where
    constant: Any = None
    find: Callable[[Any], Any] | None = None
    """For a field of the body: takes it out of the whole; None for one that is called as the argument is."""

    @property
    def fixed(self) -> bool:
        """Is it always the same?"""
        return self.constant is not None


@dataclass(frozen=True, slots=True)
class Route:
    """Data: an address below a namespace, and the flow it stands for. `{name}` in the path is an argument."""

    namespace: str
    name: str
    method: str
    path: str
    ref: str
    fields: tuple[RouteField, ...] = ()
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """The whole path."""
        return f"/{self.namespace}{self.path}".rstrip("/")

    @property
    def shape(self) -> str:
        """The same for addresses that nobody could tell apart."""
        return re.sub(r"\{[^{}]*\}", "{}", self.address)
