"""What it costs to have the domain: nothing heavy is loaded before somebody uses it."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import engross.flows, engross.ledger
before = set(sys.modules)
from engross.domains.architecture import architecture
architecture()
print(*sorted(set(sys.modules) - before))
"""
HEAVY = ("xml", "zipfile", "csv", "email", "http", "urllib", "asyncio", "rapidfuzz", "base64", "tempfile", "socket")
USED_LATER = ("exchange", "drawing", "search", "element_writes", "changes", "templates", "discovery", "graphs", "views")


def test_having_the_domain_loads_nothing_but_its_flows() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []
    parts = [name.removeprefix("engross.domains.architecture.") for name in loaded]
    assert [name for name in parts if name.partition(".")[0] in USED_LATER] == []
    assert len(loaded) < 30
