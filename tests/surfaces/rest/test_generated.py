"""Requests made up from the API's own description by schemathesis: nothing crashes, every answer is as described."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.flows import Aggregate
from engross.office import Office, Settings
from engross.office.built_in import DOMAINS
from tests.bed.offices import shelf
from tests.surfaces.rest.house import House, serving
from tests.surfaces.rest.odds import odds

# Not everything that a schema allows is taken: half a character and a whole number beyond 64 bits are refused
# everywhere, and a domain refuses a cursor that is none of ours, or an operation that is not there.
POSITIVE = "positive_data_acceptance"
# Null is understood where it is not advertised: a control field that is null counts as not given. The odds have none,
# so there whatever the description does not allow is refused.
NEGATIVE = "negative_data_rejection"
ODDS = "^/v1/odds/"
WITH_CONTROLS = ("--exclude-path-regex", ODDS, "--exclude-checks", f"{POSITIVE},{NEGATIVE}")
WITHOUT_CONTROLS = ("--include-path-regex", ODDS, "--exclude-checks", POSITIVE)
TIMEOUT = "parameters/timeout"
# To cover every keyword of every schema takes nine tenths of the time where there are many flows.
QUICK = "examples,fuzzing"
THOROUGH = "examples,coverage,fuzzing"
KNOBS = """
[rate_limits]
"*" = "unlimited"
"""


@contextmanager
def unhurried(folder: Path, *own: Aggregate, domains: str) -> Iterator[House]:
    """A served office that counts no calls."""
    (folder / "policies").mkdir(parents=True)
    (folder / "policies" / "knobs.toml").write_text(KNOBS)
    office = Office(Settings(domains=domains, data=folder), [shelf(), *own])
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


def holds_out(house: House, folder: Path, which: Sequence[str], phases: str, most: int, seconds: float) -> None:
    """Let requests be made up from the description of an office: all go well, and nothing has crashed."""
    document = folder / "openapi.json"
    document.write_bytes(orjson.dumps(patient(house.get("/openapi.json").json())))
    run = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(document)),
            *("--url", house.url, "--no-color", "--workers", "1"),
            *("--header", f"Authorization: {house.token('adam')}"),
            *("--phases", phases, "--max-examples", str(most), "--generation-deterministic"),
            *("--request-timeout", "20", *which),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert "Fuzzing" in run.stdout
    assert house.is_alive()
    crashes = house.office.settings.data / "logs"
    assert [path.name for path in crashes.rglob("*") if path.is_file() and path.stat().st_size] == []


@pytest.mark.requirement("REL-06")
@pytest.mark.parametrize("which", [WITH_CONTROLS, WITHOUT_CONTROLS], ids=["with controls", "without"])
def test_made_up_requests_are_answered_as_described(tmp_path: Path, which: Sequence[str]) -> None:
    with unhurried(tmp_path / "office", odds, domains="") as house:
        holds_out(house, tmp_path, which, THOROUGH, 10, seconds=100)


@pytest.mark.faults
@pytest.mark.requirement("REL-06")
def test_made_up_requests_to_every_domain_are_answered_as_described(tmp_path: Path, full_length: bool) -> None:
    phases, most, seconds = (THOROUGH, 50, 1800) if full_length else (QUICK, 10, 110)
    with unhurried(tmp_path / "office", domains=",".join(DOMAINS)) as house:
        holds_out(house, tmp_path, WITH_CONTROLS, phases, most, seconds)
