"""`make bench`: measure everything, print a table, save the figures."""

from __future__ import annotations

import json
import platform
import sys
from compileall import compile_dir
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import (
    architecture,
    declared_calls,
    declared_check,
    document_writes,
    economy,
    memory,
    memory_scale,
    octave,
    opening,
    postgres_writes,
    replays,
    sqlite_writes,
    surfaces,
)

SOURCE = Path(__file__).parents[1] / "src"
RESULTS = Path(__file__).parent / "results.json"
PARTS = {
    "sqlite": sqlite_writes,
    "replays": replays,
    "opening": opening,
    "postgres": postgres_writes,
    "surfaces": surfaces,
    "economy": economy,
    "architecture": architecture,
    "octave": octave,
    "documents": document_writes,
    "declared-check": declared_check,
    "declared-calls": declared_calls,
    "memory": memory,
}
LONG = {"memory-scale": memory_scale}
"""Parts that take a quarter of an hour: measured only when they are named."""


def main(chosen: list[str]) -> int:
    """Measure the chosen parts, or all; 1 when a promise was not kept."""
    # As installing does: else starting would be measured together with compiling.
    compile_dir(SOURCE, quiet=1)
    wanted = {name: part for name, part in {**PARTS, **LONG}.items() if name in chosen} if chosen else PARTS
    claims = [claim for part in wanted.values() for claim in part.measure()]
    table = Table("what", "ratio", "promised", "", "figures (medians)")
    for claim in claims:
        table.add_row(*claim.row())
    Console().print(table)
    if not chosen:
        saved = {
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "claims": [claim.as_data() for claim in claims],
        }
        RESULTS.write_text(json.dumps(saved, indent=2) + "\n")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
