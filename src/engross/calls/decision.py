"""What governance says about a plan."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Verdict = Literal["commit", "propose", "deny"]


class Decision(Struct, frozen=True, gc=False):
    """Commit, propose or deny, with what decided it."""

    verdict: Verdict
    tier: int
    policy_version: str
    approvals_required: int = 0
    confirm: bool = False
    because: tuple[str, ...] = ()
    denial: str | None = None
    advice: str | None = None
