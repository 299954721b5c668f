"""Messages are decoration: rendering them never fails, evaluates nothing, and nobody can set them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.replies import REGISTRY, Registry, codes, reply
from engross.replies.entry import entry_of
from engross.replies.template import MAX_VALUE, Template, places

FIELDS: dict[str, Any] = {"title": "t", "http": 404, "advice": "a", "since": "0.1.0"}


def small_registry() -> Registry:
    found = {
        **FIELDS,
        "key": "LOST",
        "template": "No {kind} {id}.",
        "params": {"kind": "string", "id": "string"},
    }
    return Registry(
        [
            entry_of("WA-RES-I-500", found),
            entry_of("WA-RES-I-501", {**FIELDS, "key": "GONE", "template": "Gone."}),
        ]
    )


def test_values_are_filled_in() -> None:
    assert small_registry().message("WA-RES-I-500", {"kind": "card", "id": 7}) == "No card 7."


@pytest.mark.parametrize("params", [{}, {"kind": "card"}, {"kind": "card", "id": object()}])
@pytest.mark.requirement("REP-02")
def test_a_missing_or_unusable_value_falls_back_to_code_and_key(params: dict[str, Any]) -> None:
    assert small_registry().message("WA-RES-I-500", params) == "WA-RES-I-500: LOST"


@pytest.mark.parametrize("value", ["{x.__class__}", "{0}", "{id}", "%s %(id)s", "{", "}}", "{id!r:>99}"])
@pytest.mark.requirement("REP-02")
def test_a_value_stays_literal(value: str) -> None:
    assert small_registry().message("WA-RES-I-500", {"kind": value, "id": "1"}) == f"No {value} 1."


def test_a_long_value_is_cut() -> None:
    text = small_registry().message("WA-RES-I-500", {"kind": "k" * 10_000, "id": "1"})
    assert len(text) < MAX_VALUE + 20


@settings(deadline=None)
@given(st.sampled_from([entry.code for entry in REGISTRY]), st.data())
def test_rendering_never_fails(code: str, data: st.DataObject) -> None:
    names = list(REGISTRY.entry(code).params) or ["stray"]
    values = st.text() | st.integers() | st.floats() | st.none() | st.binary() | st.lists(st.text(), max_size=3)
    params = data.draw(st.dictionaries(st.sampled_from(names), values))
    text = REGISTRY.message(code, params)
    assert text
    text.encode()


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_safe_template(text: str) -> None:
    filled = Template(text, {"a": "string"}).fill({"a": "{a}"})
    assert filled == text.replace("{a}", "{a}")


def test_places_are_found_and_strange_braces_are_noticed() -> None:
    assert places("{a} and {b_2}") == {"a", "b_2"}
    assert places("{a.b}") is None
    assert places("{}") is None


@pytest.mark.requirement("REP-02")
def test_every_template_can_be_rephrased_for_the_life_of_the_registry() -> None:
    registry = small_registry()
    registry.rephrase(lambda code: f"<{code}> {{id}} {{x.y}} {{")
    assert registry.message("WA-RES-I-500", {"kind": "card", "id": "1"}) == "<WA-RES-I-500> 1 {x.y} {"
    assert registry.message("WA-RES-I-501", {}) == "<WA-RES-I-501> {id} {x.y} {"
    assert registry.entry("WA-RES-I-501").template == "<WA-RES-I-501> {id} {x.y} {"
    assert registry.by_key("LOST").template.startswith("<")


@pytest.mark.shows_text
def test_the_shipped_wording_reads_like_a_sentence() -> None:
    assert reply(codes.RECORD_NOT_FOUND, {"kind": "card", "id": "c-1"}).message == "There is no card c-1."


@pytest.mark.shows_text
def test_every_shipped_template_ends_its_sentence() -> None:
    assert [entry.code for entry in REGISTRY if not entry.template.endswith(".")] == []
