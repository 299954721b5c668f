"""The code on the page runs, and prints what the page shows."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "documents.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.shows_text
def test_the_page_shows_what_its_code_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [kind for kind, _ in BLOCKS] == ["python", "text"] * (len(BLOCKS) // 2)
    names: dict[str, object] = {}
    for (_, code), (_, shown) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "docs/documents.md", "exec"), names)
        assert printed.getvalue() == shown


def test_every_flow_is_on_the_page() -> None:
    from tests.documents.archive import domain

    flows = [name for name, flow in domain(Path("nowhere")).flows.items() if not flow.deprecated_since]
    assert [name for name in flows if name not in PAGE and name.replace("-", "_") not in PAGE] == []
