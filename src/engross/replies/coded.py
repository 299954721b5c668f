"""Exceptions that already know their reply: control flow inside, a Reply at the boundary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from . import codes
from .frozen import NotSerializable
from .issue import Issue, pointer_to
from .registry import REGISTRY
from .reply import Reply, reply

_HELP = ("details", "suggestions")


class Coded(Exception):
    """Carries a code, its params and data; use one of Invalid, Denied and Failed."""

    allowed: ClassVar[str] = "IDE"

    def __init__(
        self,
        code: str,
        params: Mapping[str, Any] | None = None,
        *,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        entry = REGISTRY.entry(code)
        if entry.type not in self.allowed:
            raise ValueError(f"{type(self).__name__} cannot say {code}: its type is {entry.type}")
        super().__init__(code)
        self.code = code
        self.params = params or {}
        self.data = data
        self.is_incomplete = False
        """Does it lack params of its message? Callers read a code then, and whoever raised it hears of it."""
        self._note_unsaid(code, self.params)

    def __str__(self) -> str:
        return f"{self.code} {REGISTRY.entry(self.code).key}"

    def answer(self) -> dict[str, Any] | None:
        """The data of the reply."""
        return None if self.data is None else dict(self.data)

    def _note_unsaid(self, code: str, params: Mapping[str, Any]) -> None:
        if unsaid := REGISTRY.unsaid(code, params):
            self.is_incomplete = True
            key = REGISTRY.entry(code).key
            self.add_note(f"The message of {key} needs params that were not given: {', '.join(unsaid)}.")


class Invalid(Coded):
    """The request cannot be carried out as stated."""

    allowed = "I"

    def __init__(
        self,
        code: str,
        params: Mapping[str, Any] | None = None,
        *,
        field: str | None = None,
        details: Mapping[str, Any] | None = None,
        suggestions: Mapping[str, Any] | None = None,
        issues: Sequence[Issue] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, params, data=data)
        own = Issue(code, self.params, pointer_to(field), details, suggestions)
        self.issues = tuple(issues or (own,))
        for issue in self.issues:
            if REGISTRY.entry(issue.code).type != "I":
                raise ValueError(f"an issue cannot say {issue.code}")
            if issue is not own:
                self._note_unsaid(issue.code, issue.params)

    @classmethod
    def many(cls, issues: Sequence[Issue], *, data: Mapping[str, Any] | None = None) -> Self:
        """One exception for several issues: under their common code, else as a validation error."""
        if not issues:
            raise ValueError("no issue, nothing invalid")
        first = issues[0]
        if all(issue.code == first.code for issue in issues):
            return cls(first.code, first.params, issues=issues, data=data)
        problem = {"problem": f"{len(issues)} problems, see errors"}
        return cls(codes.VALIDATION_ERROR, problem, issues=issues, data=data)

    def answer(self) -> dict[str, Any]:
        """All issues, the first one's help on top, then the data given."""
        told = [issue.as_data() for issue in self.issues]
        first = told[0]
        helping: dict[str, Any] = {name: first[name] for name in _HELP if name in first}
        return {"errors": told, "field": first["field"], **helping, **(self.data or {})}


class Denied(Coded):
    """The request is valid, but policy refuses it."""

    allowed = "D"


class Failed(Coded):
    """We failed; nothing about why leaves the house but the code."""

    allowed = "E"


def reply_of(failure: BaseException) -> Reply:
    """The reply for an exception; of one that is not coded nothing is told, not even its text."""
    try:
        if isinstance(failure, Coded):
            return reply(failure.code, failure.params, failure.answer())
        if isinstance(failure, NotSerializable):
            return reply(codes.NOT_SERIALIZABLE, {"pointer": failure.pointer or "/"})
    except NotSerializable as unfit:
        return reply(codes.NOT_SERIALIZABLE, {"pointer": unfit.pointer or "/"})
    except Exception:
        return reply(codes.SYS_CRASH)
    return reply(codes.SYS_CRASH)
