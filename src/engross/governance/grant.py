"""A grant: somebody may commit directly what would otherwise become a proposal."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from engross.calls import Principal


class Grant(NamedTuple):
    """Direct commits of some operations on some types, up to a tier, for one principal or everybody with a role."""

    operations: tuple[str, ...]
    principal: str | None = None
    role: str | None = None
    max_tier: int = 2
    expires_at: str | None = None
    types: tuple[str, ...] | None = None
    """Patterns of what may be changed, as its domain names types; None for anything."""

    def covers(self, principal: Principal, ref: str) -> bool:
        """Is it about this principal and this flow?"""
        theirs = principal.id == self.principal if self.role is None else self.role in principal.roles
        return theirs and any(fnmatchcase(ref, pattern) for pattern in self.operations)

    def allows(self, types: Collection[str | None]) -> bool:
        """Is everything that is changed of its types? What has none that anybody knows is of no type at all."""
        if self.types is None:
            return True
        return bool(types) and all(one is not None and self._names(one) for one in types)

    def tier_at(self, moment: str) -> int:
        """How far it reaches at a moment: 0 once it has expired."""
        return self.max_tier if self.expires_at is None or moment < self.expires_at else 0

    def as_data(self) -> dict[str, Any]:
        """The grant as JSON."""
        return {
            "operations": list(self.operations),
            "principal": self.principal,
            "role": self.role,
            "max_tier": self.max_tier,
            "expires_at": self.expires_at,
            # Grants that say nothing about it stay what they were: policy versions are made of this.
            **({} if self.types is None else {"types": list(self.types)}),
        }

    def _names(self, type_: str) -> bool:
        return any(fnmatchcase(type_, pattern) for pattern in self.types or ())
