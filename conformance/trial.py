"""One trial: the suite against one served office, at one revision of the protocol."""

from __future__ import annotations

from typing import Literal

from .expectations import Expectations
from .suite import Ran, Requirements, Suite
from .verdicts import Verdict, judged, missing

OfficeName = Literal["pack", "ladder"]


def try_out(suite: Suite, office: OfficeName, url: str, revision: str) -> list[Verdict]:
    """The verdict on every scenario that counts; against the pack, on the others as well."""
    expected = Expectations.read()
    asked = suite.requirements(revision)
    counting = _counting(office, revision, asked, expected)
    ran = {each.scenario: each for each in suite.run(url, revision)}

    def verdict(scenario: str) -> Verdict:
        found: Ran | None = ran.get(scenario)
        counts = scenario in counting
        if found is None:
            return missing(office, revision, scenario, counts=counts)
        reached = judged(office, revision, found, counts=counts, excuses=expected.excuses(office, revision, scenario))
        # What is not aimed at needs no list of all that is missing.
        return reached if counts else reached._replace(why=(f"not required: {asked.not_scored[scenario]}",))

    others = [scenario for scenario in asked.not_scored if scenario not in counting]
    return [verdict(scenario) for scenario in [*counting, *(others if office == "pack" else ())]]


def _counting(office: OfficeName, revision: str, asked: Requirements, expected: Expectations) -> dict[str, None]:
    if office == "ladder":
        return dict.fromkeys(expected.generic.get(revision, ()))
    return dict.fromkeys((*asked.required, *expected.beyond.get(revision, ())))
