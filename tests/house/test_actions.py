"""The page of all actions leaves nothing out, and is not written where something is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate, Catalogue, Consistency, Described, Determinism, Example, Flow
from engross.office import Settings, own_refusals
from engross.office.built_in import DOMAINS
from engross.office.capabilities import catalogue_of
from engross.replies import REGISTRY, codes
from tools.actions import PAGE, Hole, page

CATALOGUE = catalogue_of(Settings(data=Path("no-office-here"), domains=",".join(DOMAINS)))
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
EVERY = pytest.mark.parametrize("flow", list(CATALOGUE), ids=lambda flow: flow.ref)


class Look(TypedDict):
    shelf: Annotated[str, Described("Which | shelf.", enum=["a", "b"])]
    most: NotRequired[Annotated[int, Described("At most so many.", default=3)]]


class Seen(TypedDict):
    books: Annotated[list[str], Described("What stands there.")]


def look(reader: object, arguments: Look) -> Seen:
    """Look at a shelf."""
    return {"books": []}


def section(**facets: Any) -> str:
    """What the page says about a flow with these facets."""
    shelf = Aggregate("shelf", "Shelf")
    shelf.define("read", look, **{"examples": [Example("Look", {"shelf": "a"})], **facets})
    return page(Catalogue([shelf])).partition("### shelf.look")[2].partition("## What is no")[0]


@pytest.mark.requirement("MEM-38")
@EVERY
def test_every_flow_has_a_section_with_all_that_is_promised(flow: Flow) -> None:
    told = SECTIONS[flow.ref]
    for label in ("tool", "kind", "risk", "consistency", "deterministic", "limits"):
        assert re.search(rf"^- {label}: \S", told, re.MULTILINE), label
    assert f"version {flow.version}" in told
    assert f"tier {flow.tier}" in told
    for name in (*flow.published["properties"], *flow.output["properties"]):
        assert name == "reply" or f"`{name}`" in told, name
    for entry in own_refusals(flow):
        retry = "yes" if entry.retryable else "no"
        assert re.search(rf"^\| \[`{entry.key}`\]\S+ \| {entry.http} \| {retry} \|", told, re.MULTILINE), entry.key
    assert (flow.rate or "the rate of every") in told
    assert flow.deprecated_since is None or flow.deprecated_since in told


@pytest.mark.requirement("MEM-38")
def test_every_tool_is_told_with_its_toolset() -> None:
    for tool in CATALOGUE.tools():
        assert f"`{tool.name}` in the toolset `{tool.exposure.toolset}`" in SECTIONS[tool.flow.ref]


@pytest.mark.requirement("MEM-38")
def test_a_section_tells_what_the_flow_says() -> None:
    told = section(
        refuses=[codes.ANALYSIS_FAILED],
        consistency=Consistency("eventual", max_delay_ms=250),
        determinism=Determinism(False, "a model is asked"),
        rate="5/hour",
        timeout_seconds=2.5,
        deprecated_since="0.3.0",
    )
    for part in ("within 250 ms", "no: a model is asked", "`5/hour`, 2.5 s", "Deprecated since 0.3.0"):
        assert part in told
    assert "| `shelf` | string: `a`, `b` | yes | Which \\| shelf. |" in told
    assert "| `most` | integer; `3` by default |  | At most so many. |" in told
    assert "| `books` | array of string | What stands there. |" in told
    assert re.search(r"ANALYSIS_FAILED.* \| 500 \| yes \|", told)
    assert "QUOTA_EXCEEDED" not in told


def _undescribed(field: str) -> Mapping[str, Any]:
    return {"type": "object", "properties": {field: {"type": "string"}}}


@pytest.mark.requirement("MEM-38")
@pytest.mark.parametrize(
    ("facets", "hole"),
    [
        ({"arguments": _undescribed("title")}, "title"),
        ({"answers": _undescribed("found")}, "found"),
        ({"examples": []}, "an example"),
    ],
    ids=["an argument", "an answer", "no example"],
)
def test_a_hole_keeps_the_page_from_being_written(facets: Mapping[str, Any], hole: str) -> None:
    with pytest.raises(Hole) as found:
        section(**facets)
    assert len(found.value.holes) == 1
    assert "shelf.look" in found.value.holes[0]
    assert hole in found.value.holes[0]


def test_every_code_of_the_page_is_registered() -> None:
    keys = set(re.findall(r"^\| \[`([A-Z_]+)`\]", PAGE.read_text("utf-8"), re.MULTILINE))
    assert keys
    assert keys <= {entry.key for entry in REGISTRY}
