"""Whatever is sent, the answer is arguments that fit or Invalid that says where."""

from collections import OrderedDict
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.flows import Limits, admissible
from engross.replies import Invalid, Issue, codes, freeze, reply_of
from tests.flows.shelf import AddBook, add_book_flow

FLOW = add_book_flow()

KEYS = st.one_of(st.sampled_from([*AddBook.__annotations__, "commit_mode", "id", "", "0", "a/b"]), st.text())
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(["Novel", "2024-01-01", "\ud800", "12345678"]),
)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=10,
)
CLOSE = st.fixed_dictionaries(
    {"title": SCALARS}, optional={name: ANY_JSON for name in AddBook.__annotations__ if name != "title"}
)


def leads_somewhere(pointer: str, value: Any) -> bool:
    """Does the pointer resolve, or name a child that is missing from an object that is there?"""
    steps = [unescaped(step) for step in pointer.split("/")[1:]]
    for position, step in enumerate(steps, start=1):
        if isinstance(value, list):
            value = value[int(step)]
        elif position == len(steps):
            return isinstance(value, dict)
        else:
            value = value[step]
    return True


def unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def refusal_of(raw: Any) -> Invalid | None:
    try:
        FLOW.check(raw)
    except Invalid as refused:
        return refused
    return None


def assert_passes_or_points(raw: Any) -> None:
    refused = refusal_of(raw)
    if refused is None:
        return
    assert refused.issues
    assert [issue.pointer for issue in refused.issues if not leads_somewhere(issue.pointer, raw)] == []
    answer = reply_of(refused)
    assert answer.code == refused.code
    assert orjson.dumps(answer.data)


@settings(max_examples=200, deadline=None)
@given(ANY_JSON)
def test_any_json_value_passes_or_is_invalid_at_a_place_that_exists(raw: Any) -> None:
    assert_passes_or_points(raw)


@settings(max_examples=200, deadline=None)
@given(CLOSE)
def test_arguments_that_nearly_fit_pass_or_are_invalid_at_a_place_that_exists(raw: Any) -> None:
    assert_passes_or_points(raw)


@given(ANY_JSON)
def test_what_is_admissible_can_be_sent_back(raw: Any) -> None:
    if not admissible(raw):
        assert orjson.loads(orjson.dumps(freeze({"raw": raw}))) == {"raw": raw}


def issue_of(raw: object) -> Issue:
    with pytest.raises(Invalid) as refused:
        FLOW.check(raw)
    (issue,) = refused.value.issues
    return issue


def nested(levels: int, wrap: Any) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["lists", "objects"])
def test_a_hundred_thousand_levels_are_refused_without_recursion(wrap: Any) -> None:
    issue = issue_of({"title": "x", "notes": nested(100_000, wrap)})
    assert issue.code == codes.LIMIT_EXCEEDED
    assert issue.params["limit"] == 64


def test_arguments_that_are_only_depth_are_refused_too() -> None:
    assert issue_of(nested(100_000, lambda value: [value])).code == codes.LIMIT_EXCEEDED


def test_nesting_up_to_the_limit_passes() -> None:
    deepest = {"title": "x", "notes": nested(63, lambda value: {"a": value})}
    assert FLOW.check(deepest).arguments["notes"] == deepest["notes"]
    assert issue_of({"title": "x", "notes": nested(64, lambda value: {"a": value})}).code == codes.LIMIT_EXCEEDED


def test_a_text_of_ten_megabytes_is_refused_without_being_repeated() -> None:
    issue = issue_of({"title": "x" * 10_000_000})
    assert (issue.code, issue.pointer) == (codes.LIMIT_EXCEEDED, "/title")
    assert len(str(issue)) < 500


def test_much_text_in_all_is_refused() -> None:
    issue = issue_of({"title": "x", "notes": {str(number): "x" * 1_000_000 for number in range(17)}})
    assert (issue.code, issue.pointer) == (codes.LIMIT_EXCEEDED, "")


def test_very_many_values_are_refused() -> None:
    assert issue_of({"title": "x", "tags": [0] * 1_000_000}).code == codes.LIMIT_EXCEEDED


def test_a_structure_that_contains_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert issue_of({"title": "x", "notes": {"ring": ring}}).code == codes.LIMIT_EXCEEDED


def test_a_structure_that_unfolds_without_end_is_refused() -> None:
    laughs: list[Any] = ["ha"]
    for _ in range(60):
        laughs = [laughs, laughs]
    assert issue_of({"title": "x", "notes": {"laughs": laughs}}).code == codes.LIMIT_EXCEEDED


NOT_JSON: list[Any] = [
    ({"title": float("nan")}, "/title"),
    ({"title": "x", "notes": {"a": [float("inf")]}}, "/notes/a/0"),
    ({"title": "x", "notes": {"a": -float("inf")}}, "/notes/a"),
    ({"title": "half \ud800"}, "/title"),
    ({"title": "x", "notes": {"\udfff": 1}}, "/notes"),
    ({"title": "x", 3: 1}, ""),
    ({"title": "x", None: 1}, ""),
    ({"title": "x", "notes": {b"bytes": 1}}, "/notes"),
    ({"title": b"bytes"}, "/title"),
    ({"title": ("a", "b")}, "/title"),
    ({"title": {1, 2}}, "/title"),
    ({"title": Decimal("1.5")}, "/title"),
    ({"title": date(2024, 1, 1)}, "/title"),
    ({"title": StrEnum("Colour", ["RED"]).RED}, "/title"),  # type: ignore[attr-defined]
    ({"title": "x", StrEnum("Colour", ["RED"]).RED: 1}, ""),  # type: ignore[attr-defined]
    pytest.param(object(), "", id="an object"),
]


@pytest.mark.parametrize(("raw", "pointer"), NOT_JSON, ids=lambda value: ascii(value)[:40])
def test_what_is_not_json_is_malformed(raw: Any, pointer: str) -> None:
    issue = issue_of(raw)
    assert (issue.code, issue.pointer) == (codes.MALFORMED_INPUT, pointer)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400, -(10**5000)], ids=["64", "-64", "400", "5000"])
def test_a_number_beyond_64_bits_is_refused(number: int) -> None:
    issue = issue_of({"title": "x", "year": number})
    assert (issue.code, issue.pointer) == (codes.LIMIT_EXCEEDED, "/year")


def test_a_very_long_field_name_is_refused_at_its_object() -> None:
    issue = issue_of({"title": "x", "notes": {"k" * 257: 1}})
    assert (issue.code, issue.pointer) == (codes.LIMIT_EXCEEDED, "/notes")


def test_many_fields_with_long_names_pass() -> None:
    notes = {f"{'k' * 200}{number}": "é" for number in range(100)}
    assert FLOW.check({"title": "x", "notes": notes}).arguments["notes"] == notes


def test_what_is_not_json_is_capped_as_well() -> None:
    with pytest.raises(Invalid) as refused:
        FLOW.check({"title": "x", "notes": {"a": [float("nan")] * 10_000}})
    assert len(refused.value.issues) == 100


def test_several_things_that_are_not_json_are_told_together() -> None:
    found = admissible({"b": float("nan"), "a": {"c": "\ud800"}, 1: 2})
    assert [issue.pointer for issue in found] == ["", "/a/c", "/b"]


def test_subclasses_of_objects_and_lists_are_welcome() -> None:
    frozen = freeze({"title": "x", "tags": ["a"], "notes": {"b": [1]}})
    assert FLOW.check(frozen).arguments == {**frozen, "kind": "Novel"}
    assert FLOW.check(OrderedDict(title="x")).arguments["title"] == "x"


def test_characters_of_every_plane_are_welcome() -> None:
    assert FLOW.check({"title": "Ünïcode 漢字 🎉"}).arguments["title"] == "Ünïcode 漢字 🎉"


def test_limits_can_be_set() -> None:
    assert admissible({"a": [1]}, Limits(depth=2)) == []
    assert [issue.code for issue in admissible({"a": [1]}, Limits(depth=1))] == [codes.LIMIT_EXCEEDED]
    assert [issue.pointer for issue in admissible({"a": "long"}, Limits(text=3))] == ["/a"]


def test_fifty_thousand_wrong_items_are_still_told() -> None:
    with pytest.raises(Invalid) as refused:
        FLOW.check({"title": "x", "tags": list(range(49_000))})
    assert len(refused.value.issues) == 100
    assert refused.value.data == {"errors_in_all": 49_001}
