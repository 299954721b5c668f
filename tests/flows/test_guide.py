"""The guide to flows: its code runs, and it leaves nothing out."""

import re
from pathlib import Path
from types import ModuleType

from engross.flows import CONTROLS, HINTS, Facets

GUIDE = (Path(__file__).parents[2] / "docs" / "flows.md").read_text("utf-8")


def test_the_code_of_the_guide_runs_from_top_to_bottom() -> None:
    blocks = list(re.finditer(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL))
    module = ModuleType("guide")
    for block in blocks:
        lines_before = "\n" * GUIDE.count("\n", 0, block.start(1))
        exec(compile(lines_before + block[1], "docs/flows.md", "exec"), module.__dict__)
    assert len(blocks) > 10


def test_every_facet_control_and_hint_is_in_the_guide() -> None:
    names = [*Facets.__annotations__, *CONTROLS, *HINTS]
    assert [name for name in names if name not in GUIDE] == []
