"""Holds a test run against requirements.toml: what is called done must have been proved by this run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import pytest

from tools.bind_requirements import Row

# Options that make a run a partial one; so is what one of several workers runs.
CHOOSERS = ("keyword", "markexpr", "lf", "deselect", "ignore", "collectonly")


class PromisesKept:
    """Fails a test that names an unknown promise, and a full run that leaves a done promise unproved."""

    def __init__(self, config: pytest.Config, rows: list[Row], excused: Callable[[], bool]) -> None:
        self._config = config
        self._excused = excused
        self._rows = rows
        self._known = {row.id for row in rows}
        self._outcomes: dict[str, set[str]] = defaultdict(set)
        self._broken: list[str] = []

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        unknown = {row_id for mark in item.iter_markers("requirement") for row_id in mark.args} - self._known
        if unknown:
            pytest.fail(f"no such row in requirements.toml: {', '.join(sorted(unknown))}", pytrace=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self._outcomes[_test_name(report.nodeid)].add(report.outcome)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._was_whole(session):
            return
        self._broken = [f"{row.id} {test}: {why}" for row in self._rows for test, why in self._unproved(row)]
        if self._broken and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._broken:
            terminalreporter.section("done in requirements.toml, but not proved by this run", red=True, bold=True)
            for line in self._broken:
                terminalreporter.line(line)

    def _was_whole(self, session: pytest.Session) -> bool:
        config = self._config
        is_part = hasattr(config, "workerinput") or any(config.getoption(name, None) for name in CHOOSERS)
        everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS or config.args == ["tests"]
        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        return everything and ended and not (is_part or session.shouldstop or session.shouldfail)

    def _unproved(self, row: Row) -> Iterable[tuple[str, str]]:
        if row.status != "done":
            return
        if not row.tests:
            yield "-", "names no test"
        for test in row.tests:
            outcomes = self._outcomes[test]
            if "failed" in outcomes:
                yield test, "failed"
            elif "passed" not in outcomes and not (outcomes and self._excused()):
                yield test, "did not run"


def _test_name(nodeid: str) -> str:
    return nodeid.partition("[")[0]
