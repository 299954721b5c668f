"""The code on the two pages runs, and prints what the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.replies import configure_crash_log, crashes, legacy

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashes, "_configured", None)
    monkeypatch.setattr(legacy, "_wraps", type(legacy._wraps)())
    monkeypatch.setattr(legacy, "_strict", True)
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path / "crashes"))
    configure_crash_log(tmp_path)


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Each block of code with the output shown under it."""
    blocks = BLOCKS.findall((DOCS / page).read_text("utf-8"))
    kinds = [kind for kind, _ in blocks]
    assert kinds == ["python", "text"] * (len(kinds) // 2), "every block shows its output"
    texts = [text for _, text in blocks]
    return zip(texts[::2], texts[1::2], strict=True)


@pytest.mark.parametrize("page", ["replies.md", "your-own-tools.md"])
@pytest.mark.shows_text
@pytest.mark.requirement("REP-08")
def test_the_page_shows_what_its_code_prints(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for code, shown in steps(page):
        exec(compile(code, page, "exec"), names)
        assert capsys.readouterr().out == shown
