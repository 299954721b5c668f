"""How the conformance runner reads what the suite found: more strictly than the suite itself does."""

from __future__ import annotations

import pytest

from conformance.expectations import Expectations
from conformance.suite import Check, Ran
from conformance.verdicts import Verdict, judged

FINE = Check("it-works", "SUCCESS", "", untestable=False)
WIRE = Check("wire-schema-valid", "SUCCESS", "", untestable=False)


def verdict(*checks: Check, **excuses: str) -> Verdict:
    named = {name.replace("_", "-"): reason for name, reason in excuses.items()}
    return judged("pack", "2026-07-28", Ran("a-scenario", checks), counts=True, excuses=named)


def test_a_scenario_passes_when_all_its_checks_do() -> None:
    assert verdict(FINE, WIRE).outcome == "passed"
    assert verdict(FINE, WIRE).checks == "2/2"


@pytest.mark.parametrize("status", ["FAILURE", "WARNING", "SKIPPED", "INFO"])
def test_anything_but_success_fails_it(status: str) -> None:
    found = verdict(FINE, WIRE, Check("another", status, "so it is", untestable=False))
    assert found.outcome == "failed"
    assert not found.holds
    assert found.why == ("another: so it is",)


def test_success_in_something_that_could_not_be_tried_fails_it() -> None:
    assert verdict(WIRE, FINE._replace(untestable=True)).outcome == "failed"


def test_messages_that_fit_the_schema_alone_prove_nothing() -> None:
    assert verdict(WIRE).outcome == "not run"
    assert not verdict(WIRE).holds
    assert not verdict().holds


def test_what_went_over_the_wire_is_no_check() -> None:
    assert verdict(FINE, Check("incoming-response", "INFO", "", untestable=False)).checks == "1/1"


@pytest.mark.parametrize(
    "check",
    [Check("another", "SKIPPED", "", untestable=False), Check("another", "FAILURE", "Not testable", untestable=True)],
    ids=["skipped", "not testable"],
)
def test_a_reason_excuses_what_could_not_be_tried(check: Check) -> None:
    found = verdict(FINE, check, another="there is nothing to change")
    assert found.outcome == "passed"
    assert found.why == ("another: not applicable, there is nothing to change",)


def test_no_reason_excuses_a_failure() -> None:
    assert not verdict(FINE, Check("another", "FAILURE", "", untestable=False), another="we know").holds
    assert not verdict(FINE, Check("another", "WARNING", "", untestable=False), another="we know").holds


def test_a_reason_for_something_that_passes_is_stale() -> None:
    assert not verdict(FINE, it_works="it never did").holds


def test_the_data_file_gives_a_reason_for_every_check_it_lists() -> None:
    listed = Expectations.read().not_applicable
    assert listed
    assert all(each.reason.strip() for each in listed)
    assert {each.office for each in listed} <= {None, "pack", "ladder"}
