"""`make run`: one line sets up, walks and serves, and it is the same office that is walked through and served."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conformance.served import free_port
from engross.surfaces.client import connect
from tests.bed.programs import PATIENCE_SECONDS, die_with_the_tests

ROOT = Path(__file__).parents[2]
# What is installed is not at stake here: the interpreter of the tests takes the place of the one that make would make.
INSTALLED = ("STAMP=Makefile", f"BIN={Path(sys.executable).parent}")


def plain() -> dict[str, str]:
    """This environment without settings of an office, and without those of the make that may run the tests."""
    ours = ("ENGROSS_", "MAKE", "MFLAGS", "PORT", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONPATH": str(ROOT / "src")}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What `make run` takes of a checkout, in a folder where no office is yet."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for file in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(file, tmp_path)
    return tmp_path


@contextmanager
def making(checkout: Path, *words: str) -> Iterator[list[str]]:
    """What make says until the office is served; what Ctrl-C does ends it."""
    process = subprocess.Popen(
        ["make", *words, *INSTALLED],
        cwd=checkout,
        env=plain(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=die_with_the_tests(signal.SIGTERM),
    )
    assert process.stdout is not None
    try:
        lines: list[str] = []
        while not lines or "engross proposals list --url" not in lines[-1]:
            line = process.stdout.readline()
            assert line, lines
            lines.append(line)
        yield lines
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert "Traceback" not in said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.requirement("ECO-01")
def test_one_line_walks_and_serves_the_office_it_walked_through_at_the_port_it_was_given(checkout: Path) -> None:
    port = free_port()
    with making(checkout, "run", f"PORT={port}") as lines:
        said = "".join(lines)
        assert f"http://127.0.0.1:{port}/v1/shelf/list-books" in said[said.index("What to try next") :]
        token = (checkout / "engross-data" / "tokens" / "owner.token").read_text().strip()
        with connect(f"http://127.0.0.1:{port}", token=token) as office:
            titles = {book["title"] for book in office.shelf.list_books().data["books"]}
            assert {"Emma", "Middlemarch"} <= titles
            (waiting,) = office.proposals.list_proposals(status="proposed").data["proposals"]
        first = subprocess.run(
            lines[-1], shell=True, cwd=checkout.parent, env=plain(), capture_output=True, text=True, check=True
        )
        about, summary = first.stdout.splitlines()
        assert waiting["id"] in about
        assert summary.strip() == waiting["summary"]


@pytest.mark.requirement("ECO-01")
def test_where_nothing_is_installed_the_same_line_sets_up_first(checkout: Path) -> None:
    argv = ["make", "--dry-run", "run", "PORT=8123", "PYTHON=python3"]
    done = subprocess.run(argv, cwd=checkout, env=plain(), capture_output=True, text=True, check=True)
    setup, walk, serve = done.stdout.splitlines()
    assert setup.startswith('tools/setup.sh "python3" ".venv" ')
    assert walk == ".venv/bin/python examples/walk.py --port 8123"
    assert serve == ".venv/bin/engross serve --data engross-data --port 8123"
