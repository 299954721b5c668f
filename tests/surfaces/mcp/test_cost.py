"""What a client pays before the first answer: the time of imports, and the room in a model's context."""

import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from engross.surfaces.client import connect
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import tool_bytes
from tests.bed.offices import shelf
from tests.bed.served import ROOT
from tests.surfaces.mcp.house import AGENT

SURFACE = ("mcp", "starlette", "pydantic")
HEAVY = ("rapidfuzz", "structlog", "typer", "rich", "prometheus_client", "psycopg", "redis")
DOMAINS = "architecture,memory,documents"


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
    with connect(tmp_path / "office", domains=DOMAINS) as client:
        sizes = tool_bytes(Desk(client.office), AGENT, "mcp-stdio")
    assert sizes["tools/list"] < 48_000
    assert sizes["instructions"] < 2_000


@pytest.mark.requirement("ECO-04")
def test_the_page_tells_what_the_tools_cost_with_the_shelf(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "mcp.md").read_text()
    (told,) = (literal_eval(line) for line in page.splitlines() if line.startswith("{'guide': "))
    with connect(tmp_path / "office", shelf(), domains=DOMAINS) as client:
        sizes = tool_bytes(Desk(client.office), AGENT, "mcp-stdio")
    # A word more or less does not make it untrue.
    assert told == {name: pytest.approx(size, rel=0.05) for name, size in sizes.items()}
    fewer = sum(told[toolset] for toolset in ("guide", "record", "shelf"))
    for size in (told["tools/list"], told["tools/list"] - told["shelf"], fewer):
        assert f"{size / 1000:.1f} KB" in page
