"""State from facts, once more, and whether it is the same."""

from __future__ import annotations

from hashlib import sha256
from itertools import groupby

import orjson

from engross.calls import Context
from engross.replies import Failed, codes
from engross.store import Transaction

from .factbook import ERASED, FactBook
from .facts import COLUMNS, fact_of
from .unit import State

PAGE = 1000


def state_digest(transaction: Transaction, book: FactBook) -> str:
    """SHA-256 over every row of every state table of a tenant."""
    hashed = sha256()
    for tables in book.tables.values():
        for table in tables:
            rows = transaction.rows(f"SELECT * FROM {table} WHERE tenant = :tenant", {})
            for line in sorted(orjson.dumps([*row.items()], default=bytes.hex) for row in rows):
                hashed.update(table.encode() + b"\t" + line + b"\n")
    return hashed.hexdigest()


def rebuild_state(transaction: Transaction, context: Context, book: FactBook) -> int:
    """Empty a tenant's state tables and apply every fact again; how many facts that were."""
    _refuse_unknown_facts(transaction, book)
    for tables in book.tables.values():
        for table in tables:
            transaction.execute(f"DELETE FROM {table} WHERE tenant = :tenant", {})
    state = State(transaction, context)
    count, position, ordinal = 0, 0, -1
    while True:
        rows = transaction.rows(
            f"SELECT {COLUMNS} FROM facts WHERE tenant = :tenant"
            " AND (position > :position OR (position = :position AND ordinal > :ordinal))"
            " ORDER BY position, ordinal LIMIT :most",
            {"position": position, "ordinal": ordinal, "most": PAGE},
        )
        facts = (book.upcast(fact_of(row)) for row in rows)
        for _, alike in groupby(facts, key=lambda fact: (fact.aggregate, fact.type)):
            book.apply_all(state, list(alike))
        count += len(rows)
        if len(rows) < PAGE:
            return count
        position, ordinal = rows[-1]["position"], rows[-1]["ordinal"]


def _refuse_unknown_facts(transaction: Transaction, book: FactBook) -> None:
    """State cannot be built from facts of which this office does not know what they do."""
    rows = transaction.rows(
        "SELECT DISTINCT aggregate, type FROM facts WHERE tenant = :tenant AND (payload IS NOT NULL OR type = :erased)",
        {"erased": ERASED},
    )
    unknown = sorted((row["aggregate"], row["type"]) for row in rows if not book.handles(row["aggregate"], row["type"]))
    if not unknown:
        return
    names = list(dict.fromkeys(aggregate for aggregate, _ in unknown))
    told = {
        "setting": "capabilities",
        "aggregates": names,
        "facts": [f"{aggregate}.{fact_type}" for aggregate, fact_type in unknown],
        "problem": f"there are facts of {', '.join(names)}: open the office with the capability that has them",
    }
    raise Failed(codes.CONFIG_INVALID, {"setting": "capabilities"}, data=told)
