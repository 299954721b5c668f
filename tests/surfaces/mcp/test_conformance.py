"""The published MCP conformance suite, against the pack of flows, as `engross serve` serves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.served import Served, free_port
from conformance.suite import REVISIONS, Suite
from conformance.trial import try_out


@pytest.fixture(scope="module")
def pack_url(conformance_suite: Suite) -> Iterator[str]:
    """Where the office with the pack is served."""
    with Served.pack() as url:
        yield url


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_that_counts_passes(conformance_suite: Suite, pack_url: str, revision: str) -> None:
    verdicts = try_out(conformance_suite, "pack", pack_url, revision)
    counting = {verdict.scenario for verdict in verdicts if verdict.counts}
    assert counting >= set(conformance_suite.requirements(revision).required)
    assert [verdict for verdict in verdicts if not verdict.holds] == []


def test_nothing_passes_where_nobody_serves(conformance_suite: Suite) -> None:
    verdicts = try_out(conformance_suite, "pack", f"http://127.0.0.1:{free_port()}/mcp", "2025-11-25")
    assert [verdict for verdict in verdicts if verdict.outcome == "passed"] == []
    assert not any(verdict.holds for verdict in verdicts if verdict.counts)
