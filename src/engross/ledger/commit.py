"""The last statements of a commit: facts, receipt and key, in one go."""

from __future__ import annotations

from collections.abc import Iterable

from engross.calls import Context
from engross.store import Params

from . import facts, keys, receipts
from .facts import Written
from .receipts import Receipt
from .unit import Unit


def write_commit(unit: Unit, receipt: Receipt | None, key: Params | None, entered: set[str]) -> None:
    """Write down what a unit did. `entered` holds the tenants that are known to be in the list of tenants."""
    if unit.flaws:
        raise unit.flaws[0]
    statements = _entries(unit.written)
    if receipt is not None:
        statements.append((receipts.INSERT, receipt.row()))
    if key is not None:
        statements.append((keys.INSERT, key))
    if not statements:
        return
    if unit.transaction.tenant not in entered:
        statements.append(_entry(unit.context))
    unit.transaction.execute_all(statements)


def _entries(written: Iterable[Written]) -> list[tuple[str, Params]]:
    """Facts as rows. One that follows a fact of an earlier commit has to find it there."""
    statements = []
    latest: dict[tuple[str, str], int] = {}
    for one in written:
        fact = one.fact
        known = latest.get((fact.aggregate, fact.subject), 0) == fact.version - 1
        statements.append((facts.INSERT if known else facts.INSERT_FOLLOWING, one.row))
        latest[fact.aggregate, fact.subject] = fact.version
    return statements


def _entry(context: Context) -> tuple[str, Params]:
    return (
        "INSERT INTO tenants (tenant, since) VALUES (:tenant, :since) ON CONFLICT (tenant) DO NOTHING",
        {"since": context.occurred_at},
    )
