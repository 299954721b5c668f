"""Replies are imported by every process, so they must come cheap."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "asyncio",
    "mcp",
    "mcp_types",
    "tomllib",
    "pydantic",
    "structlog",
    "typer",
    "rich",
    "cryptography",
    "multiprocessing",
)


def test_importing_replies_imports_nothing_heavy() -> None:
    program = f"import sys, engross.replies; print(*set({HEAVY!r}).intersection(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
