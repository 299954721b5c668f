"""Bytes that came in lately: whether anything on the record came of them is looked at when their call is over.

They are on the disk before the call that brings them is decided, and it may be refused, or end as a proposal that is
turned down. Whoever keeps house asks which of them nobody refers to.
"""

from __future__ import annotations

import time


class Arrivals:
    """What came in for which tenant, and when, as far as this process knows."""

    def __init__(self) -> None:
        self._came: dict[tuple[str, str], float] = {}

    def note(self, tenant: str, digest: str) -> None:
        """These bytes were put on the disk."""
        self._came[tenant, digest] = time.monotonic()

    def tenants(self) -> list[str]:
        """Those for whom anything came."""
        return sorted({tenant for tenant, _ in list(self._came)})

    def taken(self, tenant: str, *, older_than: float) -> list[str]:
        """What came for a tenant so many seconds ago or before; it is not told again."""
        until = time.monotonic() - older_than
        found = [key for key, came in list(self._came.items()) if key[0] == tenant and came <= until]
        return sorted(digest for _, digest in found if self._came.pop((tenant, digest), None) is not None)
