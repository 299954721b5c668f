"""How many interpretations a user may have: so many runs in so many days, counted over the days just past."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

from engross.calls import days_after, parse_instant
from engross.ledger import Reader
from engross.replies import Invalid, codes

from ..owners import owner_of
from ..ways import Ways

COUNTED = "('rule_based', 'model')"
"""What is structured already needs no interpreter, and costs nothing of it."""
_USED = (
    "SELECT count(*) AS used, min(started_at) AS first FROM memory_runs WHERE tenant = :tenant AND owner = :owner"
    # The index knows only runs that are not structured, and is used only where that is said.
    f" AND started_at > :since AND provider <> 'structured' AND provider IN {COUNTED}"
)
_DAY = 86_400


class Quota(NamedTuple):
    """How much of it is used."""

    used: int
    limit: int
    days: int
    wait_seconds: int

    @property
    def is_spent(self) -> bool:
        """Whether there is nothing left."""
        return self.used >= self.limit

    def skipped(self) -> dict[str, Any]:
        """Why a file was kept without being interpreted."""
        return {"reason": "quota_exceeded", "current": self.used, "limit": self.limit}

    def warning(self) -> dict[str, Any]:
        """The same, as a warning."""
        return {
            "code": "QUOTA_EXCEEDED",
            "message": f"The file was kept, not interpreted: all {self.limit} runs of {self.days} days are used up.",
            "field": "interpret",
            "suggestion": "Call reinterpret with its source_id once there are runs again.",
            "retry_after_seconds": self.wait_seconds,
        }

    def refusal(self) -> Invalid:
        """The refusal where there is nothing to keep."""
        return Invalid(
            codes.QUOTA_EXCEEDED,
            {"limit": self.limit, "days": self.days},
            details={"current": self.used, "limit": self.limit},
            data={"retry_after_seconds": self.wait_seconds},
        )


def quota_of(reader: Reader, ways: Ways) -> Quota:
    """The caller's quota, as it stands."""
    since = days_after(reader.now, -ways.quota_days)
    row = reader.row(_USED, owner=owner_of(reader.context), since=since)
    assert row is not None
    return Quota(row["used"], ways.quota_runs, ways.quota_days, _wait(reader.now, row["first"], ways.quota_days))


def _wait(now: str, first: str | None, days: int) -> int:
    if first is None:
        return 0
    passed = (parse_instant(now) - parse_instant(first)).total_seconds()
    return max(1, ceil(days * _DAY - passed))
