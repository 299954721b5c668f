"""Requests made up from the API's own description by schemathesis: nothing crashes, every answer is as described."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.office import Office, Settings
from tests.bed.offices import shelf
from tests.surfaces.rest.house import House, serving
from tests.surfaces.rest.odds import odds

EXAMPLES = 10
# A domain may refuse what its schema allows: a cursor that is none of ours, an operation that is not there. And null is
# understood where it is not advertised: a control field that is null counts as not given.
LEFT_OUT = "positive_data_acceptance,negative_data_rejection"
TIMEOUT = "parameters/timeout"
KNOBS = """
[rate_limits]
"*" = "unlimited"
"""


@pytest.fixture
def unhurried(folder: Path) -> Iterator[House]:
    """A served office that counts no calls."""
    (folder / "policies").mkdir(parents=True)
    (folder / "policies" / "knobs.toml").write_text(KNOBS)
    office = Office(Settings(domains="", data=folder), [shelf(), odds])
    try:
        with serving(office) as served:
            yield served
    finally:
        office.close()


def patient(document: Any) -> Any:
    """The document without the header by which a caller asks for less time than any answer takes."""
    for item in document["paths"].values():
        for operation in item.values():
            operation["parameters"] = [one for one in operation["parameters"] if TIMEOUT not in one.get("$ref", "")]
    return document


@pytest.mark.requirement("REL-06")
def test_made_up_requests_are_answered_as_described(unhurried: House, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_bytes(orjson.dumps(patient(unhurried.get("/openapi.json").json())))
    run = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(document)),
            *("--url", unhurried.url, "--no-color", "--workers", "1"),
            *("--header", f"Authorization: {unhurried.token('adam')}"),
            *("--phases", "examples,coverage,fuzzing", "--generation-deterministic"),
            *("--max-examples", str(EXAMPLES), "--exclude-checks", LEFT_OUT, "--request-timeout", "20"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert "Fuzzing" in run.stdout
    assert unhurried.is_alive()
    crashes = unhurried.office.settings.data / "logs"
    assert [path.name for path in crashes.rglob("*") if path.is_file() and path.stat().st_size] == []
