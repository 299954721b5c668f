"""What readers of files note is explained to people."""

from __future__ import annotations

import re
from pathlib import Path

import engross.domains.memory

PAGE = Path(__file__).parents[2] / "docs" / "memory-ingestion.md"
NOTED = re.compile(r"""(?:\bNote\(|\.note\(|"code": |^[A-Z_]+ = )\s*"([A-Z]+(?:_[A-Z]+)+)\"""", re.MULTILINE)


def test_every_note_is_on_the_page_about_taking_things_in() -> None:
    files = Path(engross.domains.memory.__file__).parent.rglob("*.py")
    noted = {code for file in files for code in NOTED.findall(file.read_text("utf-8"))}
    assert noted >= {"NO_TEXT", "PDF_PAGES_UNREADABLE", "CYCLE_SKIPPED", "ENCODING_GUESSED"}
    told = PAGE.read_text("utf-8")
    assert {code for code in noted if f"`{code}`" not in told} == set()
