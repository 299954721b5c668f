"""A grant: somebody may commit directly what would otherwise become a proposal."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from engross.calls import Principal


class Grant(NamedTuple):
    """Direct commits of some operations, up to a tier, for one principal or everybody with a role."""

    operations: tuple[str, ...]
    principal: str | None = None
    role: str | None = None
    max_tier: int = 2
    expires_at: str | None = None

    def covers(self, principal: Principal, ref: str) -> bool:
        """Is it about this principal and this flow?"""
        theirs = principal.id == self.principal if self.role is None else self.role in principal.roles
        return theirs and any(fnmatchcase(ref, pattern) for pattern in self.operations)

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
        }
