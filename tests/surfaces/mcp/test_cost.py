"""What a client pays before the first answer: the time of imports, and the room in a model's context."""

import subprocess
import sys
from pathlib import Path

import pytest

from engross.calls import Caller, Principal
from engross.surfaces.client import connect
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import tool_bytes

SURFACE = ("mcp", "starlette", "pydantic")
HEAVY = ("rapidfuzz", "structlog", "typer", "rich", "prometheus_client", "psycopg", "redis")


def loaded(program: str, names: tuple[str, ...]) -> list[str]:
    code = f"import sys\n{program}\nprint(*sorted(set({names!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_naming_the_surface_imports_nothing_of_it() -> None:
    assert loaded("import engross.surfaces.mcp, engross.surfaces.desk", SURFACE) == []


def test_serving_stdio_imports_no_more_than_it_needs() -> None:
    assert loaded("from engross.surfaces.mcp import serve_stdio", HEAVY) == []


@pytest.mark.requirement("ECO-04")
def test_what_an_agent_is_told_at_first_leaves_room_for_its_work(tmp_path: Path) -> None:
    agent = Caller("main", Principal("scout", "agent", frozenset({"agent"})))
    with connect(tmp_path / "office", domains="architecture,memory,documents") as client:
        sizes = tool_bytes(Desk(client.office), agent, "mcp-stdio")
    assert sizes["tools/list"] < 48 * 1024
    assert sizes["instructions"] < 2 * 1024
