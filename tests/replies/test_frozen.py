"""What a reply carries cannot change, and JSON can carry it."""

from __future__ import annotations

import copy
import datetime
import enum
import math
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.replies import FrozenDict, FrozenList, NotSerializable, freeze
from engross.replies.frozen import MAX_DEPTH

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


class Colour(enum.StrEnum):
    RED = "red"


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth - 1):
        inner = {"in": inner}
    return inner


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=5))
def test_a_frozen_value_equals_its_source_and_serialises_alike(content: dict[str, Any]) -> None:
    frozen = freeze(content)
    assert frozen == content
    assert orjson.dumps(frozen) == orjson.dumps(content)


@pytest.mark.requirement("REP-01")
def test_a_frozen_value_does_not_follow_its_source() -> None:
    source: dict[str, Any] = {"list": [1, {"deep": "old"}]}
    frozen = freeze(source)
    source["list"][1]["deep"] = "new"
    source["list"].append(2)
    assert frozen == {"list": [1, {"deep": "old"}]}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"b": 1}),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.update(b=1),
    ],
)
@pytest.mark.requirement("REP-01")
def test_a_frozen_dict_refuses_every_change(change: Any) -> None:
    frozen = freeze({"a": [1]})
    with pytest.raises(TypeError):
        change(frozen)
    assert frozen == {"a": [1]}


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__delitem__(0),
        lambda x: x.__iadd__([1]),
        lambda x: x.__imul__(2),
        lambda x: x.append(1),
        lambda x: x.clear(),
        lambda x: x.extend([1]),
        lambda x: x.insert(0, 1),
        lambda x: x.pop(),
        lambda x: x.remove("b"),
        lambda x: x.reverse(),
        lambda x: x.sort(),
    ],
)
@pytest.mark.requirement("REP-01")
def test_a_frozen_list_refuses_every_change(change: Any) -> None:
    frozen = freeze({"a": ["b", "a"]})["a"]
    with pytest.raises(TypeError):
        change(frozen)
    assert frozen == ["b", "a"]


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": Colour.RED}, "/a"),
        ({"a": [0, {"b/c": datetime.date.today()}]}, "/a/1/b~1c"),
        ({"a~": b"bytes"}, "/a~0"),
        ({"a": [math.nan]}, "/a/0"),
        ({"a": math.inf}, "/a"),
        ({"a": 2**64}, "/a"),
        ({"a": [-(2**63) - 1]}, "/a/0"),
        ({"a": {1: 2}}, "/a/1"),
        ({"a": {(): 2}}, "/a/?"),
        ({"a": "\ud800"}, "/a"),
        ({"a": {"\ud800": 1}}, "/a/?"),
        ({"a": {1, 2}}, "/a"),
        ({"a": object()}, "/a"),
    ],
)
@pytest.mark.requirement("REP-01")
def test_what_json_cannot_carry_is_refused_with_its_place(value: Any, pointer: str) -> None:
    with pytest.raises(NotSerializable) as refused:
        freeze(value)
    assert refused.value.pointer == pointer


def test_a_hundred_levels_pass_and_one_more_does_not() -> None:
    freeze(nested(MAX_DEPTH))
    with pytest.raises(NotSerializable):
        freeze(nested(MAX_DEPTH + 1))


def test_freezing_step_by_step_does_not_pass_the_depth_limit() -> None:
    inner = freeze(nested(MAX_DEPTH))
    with pytest.raises(NotSerializable):
        freeze({"one": inner})


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = [endless]
    with pytest.raises(NotSerializable):
        freeze(endless)


def test_what_is_not_an_object_is_refused() -> None:
    with pytest.raises(NotSerializable):
        freeze([1])  # type: ignore[arg-type]


def test_relatives_of_dict_and_list_are_taken_as_such() -> None:
    source = MappingProxyType({"a": OrderedDict(b=(1, 2)), "c": [(3.5, 4)]})
    frozen = freeze(source)
    assert frozen == {"a": {"b": [1, 2]}, "c": [[3.5, 4]]}
    assert type(frozen["a"]["b"]) is FrozenList


def test_the_constructors_judge_their_content_too() -> None:
    with pytest.raises(NotSerializable):
        FrozenDict({"a": object()})
    with pytest.raises(NotSerializable):
        FrozenList([math.nan])
    assert FrozenList(["a"]) == ["a"]


def test_initialising_a_second_time_changes_nothing() -> None:
    frozen = freeze({"a": [1]})
    frozen.__init__({"b": 2})  # type: ignore[misc]
    frozen["a"].__init__([2])
    assert frozen == {"a": [1]}


def test_frozen_values_can_be_copied_hashed_and_pickled() -> None:
    frozen = freeze({"a": [1, {"b": None}]})
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    assert copy.copy(frozen["a"]) is frozen["a"]
    assert copy.deepcopy(frozen["a"]) is frozen["a"]
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert hash(frozen) == hash(freeze({"a": [1, {"b": None}]}))
