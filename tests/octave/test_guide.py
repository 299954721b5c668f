"""The code on the page runs, and prints what the page shows."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from engross import octave

PAGE = (Path(__file__).parents[2] / "docs" / "octave.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.shows_text
def test_the_page_shows_what_its_code_prints() -> None:
    assert [kind for kind, _ in BLOCKS] == ["python", "text"] * (len(BLOCKS) // 2)
    names: dict[str, object] = {}
    for (_, code), (_, shown) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "docs/octave.md", "exec"), names)
        assert printed.getvalue() == shown


def test_everything_that_a_caller_needs_is_on_the_page() -> None:
    functions = [name for name in octave.__all__ if name.islower() and callable(getattr(octave, name))]
    internal = {"advice", "breach", "chain_of", "copied", "paths", "repair", "rule_of", "suggest", "view_of"}
    assert [name for name in functions if name not in PAGE and name not in internal] == []
