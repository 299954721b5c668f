"""What the runner expects beyond the suite's own requirements: one data file, read and checked."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "expectations.toml"


class NotApplicable(NamedTuple):
    """A check that a server like this one cannot be put to."""

    revision: str
    scenario: str
    check: str
    office: str | None
    """Only against this office, `pack` or `ladder`; None stands for both."""
    reason: str


class Expectations(NamedTuple):
    """Scenarios by revision, and the checks that do not apply."""

    beyond: dict[str, tuple[str, ...]]
    generic: dict[str, tuple[str, ...]]
    not_applicable: tuple[NotApplicable, ...]

    @classmethod
    def read(cls, file: Path = FILE) -> Expectations:
        """Those of the data file."""
        said = tomllib.loads(file.read_text())
        return cls(
            {each["revision"]: tuple(each["scenarios"]) for each in said["beyond"]},
            {each["revision"]: tuple(each["scenarios"]) for each in said["generic"]},
            tuple(
                NotApplicable(each["revision"], each["scenario"], check, each.get("office"), each["reason"])
                for each in said["not_applicable"]
                for check in each["checks"]
            ),
        )

    def excuses(self, office: str, revision: str, scenario: str) -> dict[str, str]:
        """Why which checks of a scenario do not apply."""
        return {
            each.check: each.reason
            for each in self.not_applicable
            if (each.revision, each.scenario) == (revision, scenario) and each.office in (None, office)
        }
