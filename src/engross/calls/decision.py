"""What governance says about a plan."""

from __future__ import annotations

from typing import Literal, NamedTuple

Verdict = Literal["commit", "propose", "deny"]


class Decision(NamedTuple):
    """Commit, propose or deny, with what decided it."""

    verdict: Verdict
    tier: int
    policy_version: str
    approvals_required: int = 0
    confirm: bool = False
    because: tuple[str, ...] = ()
    denial: str | None = None
    advice: str | None = None
