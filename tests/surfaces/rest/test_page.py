"""The commands on the page about REST run against a served office, and print what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bed.served import Served

PAGE = Path(__file__).parents[3] / "docs" / "rest.md"
STEPS = re.compile(r"```sh\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
# Ids, times and digests are different every time.
VARYING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16}\b|\b[0-9a-f]{32}\b"
    r"|\d{4}-\d\d-\d\dT[0-9:.]+Z|(?<=\"position\": )\d+|(?<=\"duration_ms\": )[0-9.]+"
)


def plain(text: str) -> str:
    return VARYING.sub("*", text.replace("\r", "")).strip()


@pytest.mark.shows_text
@pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl", "python3"))), reason="the page uses bash, curl, python3")
def test_the_page_shows_what_its_commands_print(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving()
    environment = {"PATH": os.environ["PATH"], "OFFICE": served.url, "TOKEN": served.owner}
    steps = STEPS.findall(PAGE.read_text("utf-8"))
    assert len(steps) > 6
    for commands, shown in steps:
        run = subprocess.run(
            ["bash", "-c", commands], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )
        assert plain(run.stdout.replace(served.url, "http://127.0.0.1:8080")) == plain(shown), (commands, run.stderr)
