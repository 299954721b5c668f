"""What a scenario's checks amount to. Stricter than the suite: a warning fails, and so does what could not be tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .suite import Check, Ran

Outcome = Literal["passed", "failed", "not run"]
# The suite adds these to every scenario, whatever it managed to try.
ABOUT_THE_WIRE = frozenset({"wire-schema-valid", "wire-schema-harness-error"})
REMARKS = frozenset({"outgoing-request", "incoming-response", "incoming-sse-event", "stream-closed"})


class Verdict(NamedTuple):
    """How a scenario went."""

    office: str
    revision: str
    scenario: str
    counts: bool
    outcome: Outcome
    checks: str
    why: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the run may go on to succeed."""
        return self.outcome == "passed" or not self.counts


def judged(office: str, revision: str, ran: Ran, *, counts: bool, excuses: Mapping[str, str]) -> Verdict:
    """The verdict on a scenario that was run."""
    tried = [check for check in ran.checks if not _is_remark(check)]
    passed = {check.id for check in tried if check.status == "SUCCESS"}
    excused = [check for check in tried if check.id in excuses and _could_not_be_tried(check)]
    complaints = [
        *(_complaint(check) for check in tried if not _stands(check) and check not in excused),
        *(f"{check} passes: its entry in expectations.toml is stale" for check in sorted(passed & excuses.keys())),
    ]
    reasons = [f"{check.id}: not applicable, {excuses[check.id]}" for check in excused]
    if not complaints and not passed - ABOUT_THE_WIRE:
        outcome: Outcome = "not run"
    else:
        outcome = "failed" if complaints else "passed"
    tally = f"{sum(map(_stands, tried))}/{len(tried)}"
    return Verdict(office, revision, ran.scenario, counts, outcome, tally, tuple(complaints or reasons))


def missing(office: str, revision: str, scenario: str, *, counts: bool) -> Verdict:
    """The verdict on a scenario of which the suite left no trace."""
    return Verdict(office, revision, scenario, counts, "not run", "0/0", ("the suite left no result",))


def _stands(check: Check) -> bool:
    return check.status == "SUCCESS" and not check.untestable


def _could_not_be_tried(check: Check) -> bool:
    return check.untestable or check.status in ("SKIPPED", "INFO")


def _complaint(check: Check) -> str:
    return f"{check.id}: {check.message or check.status.lower()}"


def _is_remark(check: Check) -> bool:
    """Whether it only tells what went over the wire."""
    return check.status == "INFO" and check.id in REMARKS
