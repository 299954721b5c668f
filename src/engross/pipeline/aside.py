"""What a read may do before it looks: ask another system, with nothing of the store held meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from engross.calls import Context
from engross.ledger import Reader
from engross.replies import Failed
from engross.store import Statement

from .fittings import Fittings
from .steps import time_left

T = TypeVar("T")
PATIENCE_SECONDS = 5.0

_log = logging.getLogger("engross.aside")


class Aside(NamedTuple):
    """Given to the preparer of a read. It sees what is committed, and writes nothing that a fact could speak of."""

    fittings: Fittings
    context: Context

    def look(self, work: Callable[[Reader], T]) -> T:
        """Do the work on a snapshot."""
        return self.fittings.store.read(
            self.context.tenant, lambda reading: work(Reader(reading, self.context)), timeout=time_left(self.context)
        )

    def keep(self, statements: Sequence[Statement]) -> bool:
        """Write derived rows, any of which may be lost; False where that is not possible, or nothing may be written."""
        if self.fittings.policy.read_only:
            return False
        patience = min(PATIENCE_SECONDS, time_left(self.context))
        try:
            self.fittings.store.write(
                self.context.tenant, lambda transaction: transaction.execute_all(statements), timeout=patience
            )
        except Failed as failure:
            _log.warning("derived rows were not kept: %s", failure.code)
            return False
        return True
