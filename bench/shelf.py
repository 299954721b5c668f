"""The office under measurement, and the bare rows that one of its writes leaves behind."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

from engross.flows import Aggregate
from engross.store import Params, Transaction
from engross.surfaces.client import Client

EXAMPLE = Path(__file__).parents[1] / "examples" / "04-the-whole.py"
Statements = list[tuple[str, Params]]
_numbers = itertools.count(1)


def shelf() -> Aggregate:
    """The domain of the last example."""
    spec = importlib.util.spec_from_file_location("the_whole", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    aggregate: Aggregate = module.shelf
    return aggregate


def book() -> dict[str, Any]:
    """A write that was never made before."""
    number = next(_numbers)
    return {
        "title": f"Book {number:09d}",
        "author": f"Author {number % 1000}",
        "notes": "A novel that everybody should have read.",
        "client_request_id": f"bench-{number:09d}",
    }


def written_rows(client: Client, kind: type[Transaction]) -> Statements:
    """The statements by which one call of add-book changes the store."""
    seen: Statements = []
    execute = kind.execute

    def watched(self: Transaction, sql: str, params: Params) -> int:
        changed = execute(self, sql, params)
        seen.append((sql, dict(params)))
        return changed

    kind.execute = watched  # type: ignore[method-assign]
    try:
        client.call("shelf.add-book", book())
        seen.clear()
        client.call("shelf.add-book", book())
    finally:
        kind.execute = execute  # type: ignore[method-assign]
    return [(sql, params) for sql, params in seen if sql.startswith("INSERT")]


def varied(statements: Statements, number: int) -> Statements:
    """The same rows under other keys."""
    return [(sql, _varied(params, number)) for sql, params in statements]


def _varied(params: Params, number: int) -> Params:
    return {name: _other(name, value, number) for name, value in params.items()}


def _other(name: str, value: Any, number: int) -> Any:
    base, _, ordinal = name.rpartition("_")
    field = base if ordinal.isdigit() else name
    if field == "position":
        return 10_000_000 + number
    return f"{value[:-9]}{number:09d}" if field in ("id", "subject", "key", "folded") else value
