"""The ladder of examples: each step is a program that runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bed.offices import EXAMPLES

STEPS = sorted(path.name for path in EXAMPLES.glob("[0-9]*.py"))


def test_the_ladder_has_its_steps() -> None:
    assert [name[:2] for name in STEPS] == ["01", "02", "03", "04"]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_runs_and_says_something(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.strip()
    assert list(tmp_path.iterdir()) == []
