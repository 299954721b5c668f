"""The published MCP conformance suite, as `make conformance` runs it: against the pack of flows, where all that counts
has to pass, and against the example ladder, an office as any other, where what needs no fixtures of the suite's has to.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.expectations import Expectations
from conformance.served import Served, free_port
from conformance.suite import REVISIONS, Suite
from conformance.trial import OfficeName, try_out


@pytest.fixture(scope="module", params=[Served.pack, Served.ladder], ids=["pack", "ladder"])
def served(conformance_suite: Suite, request: pytest.FixtureRequest) -> Iterator[tuple[OfficeName, str]]:
    """The name of an office, and where it is served."""
    office: Served = request.param()
    with office as url:
        yield office.office, url


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_that_counts_passes(
    conformance_suite: Suite, served: tuple[OfficeName, str], revision: str
) -> None:
    office, url = served
    verdicts = try_out(conformance_suite, office, url, revision)
    generic = Expectations.read().generic[revision]
    required = conformance_suite.requirements(revision).required if office == "pack" else generic
    assert {verdict.scenario for verdict in verdicts if verdict.counts} >= set(required)
    assert [verdict for verdict in verdicts if not verdict.holds] == []


def test_nothing_passes_where_nobody_serves(conformance_suite: Suite) -> None:
    verdicts = try_out(conformance_suite, "pack", f"http://127.0.0.1:{free_port()}/mcp", "2025-11-25")
    assert [verdict for verdict in verdicts if verdict.outcome == "passed"] == []
    assert not any(verdict.holds for verdict in verdicts if verdict.counts)
