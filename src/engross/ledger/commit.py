"""The last statements of a commit: facts, receipt and key, in one go."""

from __future__ import annotations

from engross.calls import Context
from engross.store import Params

from . import facts, keys, receipts
from .receipts import Receipt
from .unit import Unit


def write_commit(unit: Unit, receipt: Receipt | None, key: Params | None, entered: set[str]) -> None:
    """Write down what a unit did. `entered` holds the tenants that are known to be in the list of tenants."""
    if unit.flaws:
        raise unit.flaws[0]
    statements = [(facts.INSERT, written.row) for written in unit.written]
    if receipt is not None:
        statements.append((receipts.INSERT, receipt.row()))
    if key is not None:
        statements.append((keys.INSERT, key))
    if not statements:
        return
    if unit.transaction.tenant not in entered:
        statements.append(_entry(unit.context))
    unit.transaction.execute_all(statements)


def _entry(context: Context) -> tuple[str, Params]:
    return (
        "INSERT INTO tenants (tenant, since) VALUES (:tenant, :since) ON CONFLICT (tenant) DO NOTHING",
        {"since": context.occurred_at},
    )
