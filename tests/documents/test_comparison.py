"""The difference of two texts: it can be applied, and takes its time in proportion to their length."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.domains.documents.comparison import CUT, lines_of, runs, unified

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "", "e e", "ä"]), max_size=30).map("\n".join)


@settings(max_examples=200, deadline=None)
@given(old=TEXTS, new=TEXTS)
def test_runs_are_what_both_texts_have_in_order(old: str, new: str) -> None:
    before, after = lines_of(old.encode()), lines_of(new.encode())
    at_old = at_new = 0
    for run in runs(before, after):
        assert run.old >= at_old
        assert run.new >= at_new
        assert before[run.old : run.old + run.size] == after[run.new : run.new + run.size]
        at_old, at_new = run.old + run.size, run.new + run.size


@settings(max_examples=25, deadline=None)
@given(old=TEXTS, new=TEXTS)
def test_patch_makes_the_new_text_of_the_old_one(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    folder = Path(tmp_path_factory.mktemp("patch"))
    (folder / "file").write_bytes(old.encode())
    difference = unified(old.encode(), new.encode(), "file")
    assert bool(difference) is (old != new)
    if difference and old and new:
        subprocess.run(["patch", "-s", "file"], cwd=folder, input=difference.encode(), check=True)
        assert (folder / "file").read_bytes() == new.encode()


def test_a_file_that_is_new_or_gone_is_shown_as_such() -> None:
    assert unified(None, b"a\n", "f") == "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n"
    assert unified(b"a\n", None, "f") == "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert "\\ No newline at end of file\n" in unified(b"a", b"a\n", "f")


def test_a_long_difference_is_cut_and_says_so() -> None:
    difference = unified(b"", b"line\n" * 100_000, "f")
    assert difference.endswith(CUT)
    assert len(difference) < 210_000


@pytest.mark.parametrize("kind", ["alike", "different", "woven"])
def test_texts_of_many_lines_are_compared_in_bounded_steps(kind: str) -> None:
    old = [f"{number % 7}" for number in range(40_000)]
    new = {
        "alike": [*old[5:], "end"],
        "different": [f"x{number}" for number in range(40_000)],
        "woven": [f"{number % 5}" for number in range(40_000)],
    }[kind]
    found = runs(old, new)
    assert all(old[run.old] == new[run.new] for run in found)
