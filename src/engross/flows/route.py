"""A flow at an address of REST's own: a method, a path, and where its arguments come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

Where = Literal["path", "query", "header", "cookie", "body"]


class RouteField(NamedTuple):
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


def usual_place(name: str, path: str, method: str) -> Where:
    """Where an argument is if nobody says: in the path if it has its name, in the query of a read, in the body."""
    if f"{{{name}}}" in path:
        return "path"
    return "query" if method in ("GET", "DELETE") else "body"


class Route(NamedTuple):
    """Data: an address below a namespace, and the flow it stands for. `{name}` in the path is an argument."""

    namespace: str
    name: str
    method: str
    path: str
    ref: str
    fields: tuple[RouteField, ...] | None = None
    """None: where all arguments of the flow are follows from the path and the method."""
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """The whole path."""
        return f"/{self.namespace}{self.path}".rstrip("/")

    def fields_for(self, names: Iterable[str]) -> tuple[RouteField, ...]:
        """Where the arguments of these names are: as was said, else as `usual_place` has it."""
        if self.fields is not None:
            return self.fields
        return tuple(RouteField(name, usual_place(name, self.path, self.method)) for name in names)

    @property
    def shape(self) -> str:
        """The same for addresses that nobody could tell apart."""
        return re.sub(r"\{[^{}]*\}", "{}", self.address)
