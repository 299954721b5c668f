"""The arrows between the rooms are drawn in pyproject.toml; here they are shown to hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "engross"
ROOMS = [
    "replies",
    "calls",
    "flows",
    "store",
    "ledger",
    "octave",
    "domains",
    "domains/architecture",
    "domains/memory",
    "domains/documents",
    "declared",
    "governance",
    "pipeline",
    "office",
    "surfaces",
]
ALLOWED = [
    ("calls", "replies"),
    ("flows", "calls"),
    ("store", "calls"),
    ("ledger", "flows"),
    ("ledger", "store"),
    ("domains/memory", "ledger"),
    ("domains/documents", "octave"),
    ("declared", "flows"),
    ("governance", "ledger"),
    ("pipeline", "governance"),
    ("office", "pipeline"),
    ("office", "domains/memory"),
    ("office", "declared"),
    ("surfaces", "office"),
    ("surfaces", "replies"),
]
FORBIDDEN = [
    ("replies", "calls"),
    ("flows", "store"),
    ("store", "flows"),
    ("octave", "replies"),
    ("domains/memory", "governance"),
    ("domains/memory", "domains/architecture"),
    ("governance", "domains"),
    ("declared", "ledger"),
    ("declared", "store"),
    ("pipeline", "domains/memory"),
    ("pipeline", "declared"),
    ("ledger", "pipeline"),
    ("office", "surfaces"),
    ("surfaces", "pipeline"),
    ("surfaces", "store"),
    ("surfaces", "domains/memory"),
]


def check_arrows(folder: Path, arrows: list[tuple[str, str]], extra_room: str | None = None) -> int:
    package = folder / "src" / "engross"
    for room in [".", *ROOMS, *([extra_room] if extra_room else [])]:
        (package / room).mkdir(parents=True, exist_ok=True)
        (package / room / "__init__.py").touch()
    for importer, imported in arrows:
        with (package / importer / "__init__.py").open("a") as file:
            file.write(f"import engross.{imported.replace('/', '.')}\n")
    shutil.copy(ROOT / "pyproject.toml", folder)
    # The linter's own command, run where `engross` means this small copy.
    argv = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True).returncode


def test_every_arrow_of_the_architecture_is_allowed(tmp_path: Path) -> None:
    assert check_arrows(tmp_path, ALLOWED) == 0


@pytest.mark.requirement("REP-03")
@pytest.mark.parametrize(("importer", "imported"), FORBIDDEN)
def test_an_arrow_that_is_not_drawn_is_refused(tmp_path: Path, importer: str, imported: str) -> None:
    assert check_arrows(tmp_path, [(importer, imported)]) == 1


def test_a_room_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    assert check_arrows(tmp_path, [], extra_room="attic") == 1


def test_every_room_has_its_place_in_the_contract() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    listed = {room.strip(" ()") for layer in layers for room in layer.split("|")}
    existing = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert existing - listed == {"__init__"}


def test_nothing_is_called_by_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
    assert [path for path in SOURCE.rglob("*") if path.stem in empty] == []
