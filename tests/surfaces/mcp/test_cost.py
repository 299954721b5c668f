"""What a client waits for before the first answer: imports."""

import subprocess
import sys

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
