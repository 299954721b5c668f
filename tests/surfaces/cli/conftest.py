"""Shells at offices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bed.offices import EXAMPLES
from tests.surfaces.cli.shell import Shell

SHELF = EXAMPLES / "04-the-whole.py"


@pytest.fixture
def shell(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Shell:
    """A shell at an office with the shelf, on each engine in turn. The office comes to be with the first command."""
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    return Shell(tmp_path / "office", store, [SHELF])


@pytest.fixture
def local(tmp_path: Path) -> Shell:
    """A shell at an office with the shelf, in a folder."""
    return Shell(tmp_path / "office", None, [SHELF])
