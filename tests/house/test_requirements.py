"""requirements.toml and the tests say the same, and a run holds them to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.bind_requirements import Row, bind, marked_tests, read_rows, write_rows

INNER_CONFTEST = """
from tests.bed.promises import PromisesKept
from tools.bind_requirements import Row

def pytest_configure(config):
    config.addinivalue_line("markers", "requirement(*ids): rows")
    rows = [Row("ROW-01", "it holds", "ours", {status!r}, {tests!r})]
    config.pluginmanager.register(PromisesKept(config, rows, excused=lambda: {excused}))
"""
PROVED = "@pytest.mark.requirement('ROW-01')\ndef test_it_holds(): pass"
SKIPPED = "@pytest.mark.requirement('ROW-01')\ndef test_it_holds(): pytest.skip('no server')"
UNKNOWN = "@pytest.mark.requirement('ROW-99')\ndef test_it_holds(): pass"


def run_inner(
    pytester: pytest.Pytester,
    body: str,
    *args: str,
    tests: tuple[str, ...] = ("test_inner.py::test_it_holds",),
    status: str = "done",
    excused: bool = False,
) -> pytest.RunResult:
    pytester.makeconftest(INNER_CONFTEST.format(status=status, tests=list(tests), excused=excused))
    pytester.makepyfile(test_inner=f"import pytest\n{body}\ndef test_other(): pass")
    pytester.makeini("[pytest]\ntestpaths = .")
    return pytester.runpytest_inprocess("-p", "no:hypothesispytest", *args)


def test_ids_are_unique_and_well_formed() -> None:
    ids = [row.id for row in read_rows()]
    assert len(ids) == len(set(ids))
    assert not [row_id for row_id in ids if not re.fullmatch(r"[A-Z]{3,4}-\d{2}", row_id)]


def test_a_row_is_planned_or_done() -> None:
    assert {row.status for row in read_rows()} <= {"planned", "done"}


def test_a_done_row_names_a_test() -> None:
    assert [row.id for row in read_rows() if row.status == "done" and not row.tests] == []


def test_every_mark_names_a_known_row() -> None:
    assert marked_tests().keys() - {row.id for row in read_rows()} == set()


def test_each_row_lists_exactly_the_tests_that_carry_its_mark() -> None:
    marked = marked_tests()
    listed = {row.id: row.tests for row in read_rows()}
    differing = {row_id: marked.get(row_id, []) for row_id in listed if listed[row_id] != marked.get(row_id, [])}
    assert differing == {}, "run `make bind`"


def test_the_file_survives_being_written(tmp_path: Path) -> None:
    rows = [Row("ROW-01", 'a "quoted" \\ promise — ü', "ours", "done", ["tests/a.py::test_a"])]
    write_rows(rows, tmp_path)
    assert read_rows(tmp_path) == rows


def test_marks_are_found_on_functions_classes_and_modules(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_marks.py").write_text(
        "pytestmark = [pytest.mark.requirement('ROW-01')]\n"
        "@pytest.mark.requirement('ROW-02', 'ROW-03')\n"
        "async def test_one(): ...\n"
        "@pytest.mark.requirement('ROW-04')\n"
        "class TestMany:\n"
        "    def test_two(self): ...\n"
        "@pytest.mark.requirement('ROW-05')\n"
        "def not_a_test(): ...\n"
    )
    one, two = "tests/test_marks.py::test_one", "tests/test_marks.py::TestMany::test_two"
    assert marked_tests(tmp_path) == {"ROW-01": [one, two], "ROW-02": [one], "ROW-03": [one], "ROW-04": [two]}


def test_a_row_without_a_test_cannot_be_called_done() -> None:
    with pytest.raises(SystemExit):
        bind([Row("ROW-01", "it holds", "ours", "planned")], {}, done={"ROW-01"}, planned=set())


def test_a_run_that_proves_what_is_done_passes(pytester: pytest.Pytester) -> None:
    assert run_inner(pytester, PROVED).ret == pytest.ExitCode.OK


def test_a_mark_with_an_unknown_id_fails_its_test(pytester: pytest.Pytester) -> None:
    run_inner(pytester, UNKNOWN, status="planned").assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize(
    ("body", "tests"),
    [
        pytest.param(PROVED, (), id="names no test"),
        pytest.param(PROVED, ("test_inner.py::test_gone",), id="names a test that is gone"),
        pytest.param(SKIPPED, ("test_inner.py::test_it_holds",), id="its test was skipped"),
    ],
)
def test_a_run_fails_when_a_done_row_is_not_proved(
    pytester: pytest.Pytester, body: str, tests: tuple[str, ...]
) -> None:
    assert run_inner(pytester, body, tests=tests).ret == pytest.ExitCode.TESTS_FAILED


def test_a_skipped_proof_is_excused_where_a_server_is_missing(pytester: pytest.Pytester) -> None:
    assert run_inner(pytester, SKIPPED, excused=True).ret == pytest.ExitCode.OK


def test_a_partial_run_proves_nothing_and_fails_nothing(pytester: pytest.Pytester) -> None:
    assert run_inner(pytester, PROVED, "-k", "other").ret == pytest.ExitCode.OK
