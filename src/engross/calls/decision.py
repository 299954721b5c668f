"""What governance says about a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["commit", "propose", "deny"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Commit, propose or deny, with what decided it."""

    verdict: Verdict
    tier: int
    policy_version: str
    approvals_required: int = 0
    confirm: bool = False
    because: tuple[str, ...] = ()
    denial: str | None = None
