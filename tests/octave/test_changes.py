"""Changes of single fields: absent stays, DELETE removes, null is a value, the rest is set. All of them, or none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engross.octave import (
    ABSENT,
    DELETE,
    RESERVED,
    Block,
    List,
    Literal,
    OctaveError,
    Pair,
    apply_changes,
    apply_mutations,
    emit,
    faithful,
    find,
    parse,
    refuse_reserved,
    value_at,
)

from .texts import wrapped

TEXT = wrapped(
    'META:\n  TYPE::LOG\n  VERSION::"1.0"\nSTATUS::ACTIVE // why\nTAGS::[a,b]\n'
    'LIMITS::[\n  cpu::4,\n  mem::"8 GB"\n]\n// the server\n'
    "SERVER:\n  HOST::db1\n  DISK:\n    SIZE::10\n  CODE::\n  ```py\nold\n  ```\nA.B::1\n"
    "§1::OVERVIEW\n  OWNER::alice\n  §2::INNER\n    DEEP::1"
)


def changed(changes: dict[str, Any], text: str = TEXT) -> str:
    return faithful(apply_changes(parse(text), changes).document)


def refusal(changes: dict[str, Any]) -> OctaveError:
    with pytest.raises(OctaveError) as caught:
        apply_changes(parse(TEXT), changes)
    return caught.value


@pytest.mark.requirement("DOC-05")
def test_nothing_named_is_nothing_changed() -> None:
    assert changed({}) == emit(parse(TEXT))


@pytest.mark.requirement("DOC-05", "DOC-06")
@pytest.mark.parametrize(
    ("path", "given", "before", "after"),
    [
        ("STATUS", "DONE", "STATUS::ACTIVE // why", "STATUS::DONE // why"),
        ("STATUS", None, "STATUS::ACTIVE // why", "STATUS::null // why"),
        ("STATUS", "42", "STATUS::ACTIVE // why", 'STATUS::"42" // why'),
        ("STATUS", 42, "STATUS::ACTIVE // why", "STATUS::42 // why"),
        ("STATUS", [1, "x y"], "STATUS::ACTIVE // why", 'STATUS::[1,"x y"] // why'),
        ("STATUS", DELETE, "STATUS::ACTIVE // why\n", ""),
        ("TAGS", [], "TAGS::[a,b]", "TAGS::[]"),
        ("META.TYPE", "NOTE", "  TYPE::LOG", "  TYPE::NOTE"),
        ("SERVER.HOST", "db2", "  HOST::db1", "  HOST::db2"),
        ("SERVER.DISK.SIZE", 20, "    SIZE::10", "    SIZE::20"),
        ("SERVER.DISK.SIZE", DELETE, "    SIZE::10\n", ""),
        ("SERVER.CODE", "new", "```py\nold\n", "```py\nnew\n"),
        ("SERVER.DISK", DELETE, "  DISK:\n    SIZE::10\n", ""),
        ("SERVER.DISK", 5, "  DISK:\n    SIZE::10\n", "  DISK::5\n"),
        ("SERVER.DISK", None, "  DISK:\n    SIZE::10\n", "  DISK::null\n"),
        ("SERVER.DISK", {"KIND": "ssd"}, "    SIZE::10\n", "    KIND::ssd\n"),
        ("LIMITS.cpu", 8, "  cpu::4", "  cpu::8"),
        ("LIMITS.cpu", DELETE, "  cpu::4,\n", ""),
        ("A.B", 2, "A.B::1", "A.B::2"),
        ("§1.OWNER", "bob", "  OWNER::alice", "  OWNER::bob"),
        ("§1::OVERVIEW.§2.DEEP", 2, "    DEEP::1", "    DEEP::2"),
        ("§1", {"NEW": 1}, "  OWNER::alice\n  §2::INNER\n    DEEP::1\n", "  NEW::1\n"),
        ("§1.§2", DELETE, "  §2::INNER\n    DEEP::1\n", ""),
    ],
)
def test_a_field_of_any_kind_is_changed_and_everything_else_stays(
    path: str, given: Any, before: str, after: str
) -> None:
    text = emit(parse(TEXT))
    assert text.count(before) == 1
    assert changed({path: given}) == text.replace(before, after)


@pytest.mark.requirement("DOC-05", "DOC-06")
@pytest.mark.parametrize(
    ("path", "given", "added"),
    [
        ("NEW", 1, "    DEEP::1\nNEW::1\n===END==="),
        ("SERVER.NEW", 1, "  NEW::1\nA.B"),
        ("SERVER.DISK.NEW", [1, 2], "    NEW::[1,2]\n"),
        ("META.NEW", None, "  NEW::null\nSTATUS"),
        ("§1.NEW", "x", "  NEW::x\n"),
        ("LIMITS.io", 3, '"8 GB",\n  io::3\n]'),
        ("NEW", {"a": 1, "b": [2]}, "NEW::[\n  a::1,\n  b::[2]\n]"),
        ("NEW", {"a": {"b": 1}}, "NEW:\n  a::[\n    b::1\n  ]"),
        ("NEW", {}, "NEW:\n"),
    ],
)
def test_a_new_field_comes_last_in_its_block(path: str, given: Any, added: str) -> None:
    assert added in changed({path: given})


@pytest.mark.requirement("DOC-06")
@pytest.mark.parametrize("given", [DELETE, {"$op": "DELETE"}, json.loads(json.dumps(DELETE)), RESERVED])
def test_there_are_three_ways_to_say_delete(given: Any) -> None:
    assert "STATUS" not in changed({"STATUS": given})


@pytest.mark.requirement("DOC-06", "DOC-15")
def test_absent_null_and_a_value_are_three_things() -> None:
    document = parse(TEXT)
    assert value_at(document, "GONE") is ABSENT
    assert value_at(apply_changes(document, {"STATUS": None}).document, "STATUS") is None
    assert value_at(apply_changes(document, {"STATUS": DELETE}).document, "STATUS") is ABSENT
    assert value_at(document, "STATUS") == "ACTIVE"


@pytest.mark.requirement("DOC-06")
def test_deleting_what_is_not_there_is_no_error() -> None:
    edited = apply_changes(parse(TEXT), {"GONE": DELETE, "GONE.TOO": DELETE})
    assert [change.done for change in edited.changes] == ["absent", "absent"]
    assert emit(edited.document) == emit(parse(TEXT))


def test_deleting_a_repeated_key_deletes_all_of_it() -> None:
    assert changed({"A": DELETE}, wrapped("A::1\nB::2\nA::3")) == wrapped("B::2")


def test_setting_a_repeated_key_sets_the_one_that_counts() -> None:
    assert changed({"A": 4}, wrapped("A::1\nB::2\nA::3")) == wrapped("A::1\nB::2\nA::4")


@pytest.mark.requirement("DOC-05")
@pytest.mark.parametrize(
    "bad",
    [
        {"bad key": 1},
        {"1": 1},
        {"NOWHERE.CHILD": 1},
        {"STATUS.CHILD": 1},
        {"§9": 1},
        {"": 1},
        {"STATUS": {"$op": "APPEND"}},
        {"STATUS": {"a": {"$op": "DELETE"}}},
        {"STATUS": [RESERVED]},
        {"STATUS": float("nan")},
        {"STATUS": {"bad key": 1}},
        pytest.param({"STATUS": object()}, id="an object"),
        {"STATUS": b"bytes"},
        {"§1": "a value"},
    ],
    ids=str,
)
def test_one_bad_change_refuses_them_all(bad: dict[str, Any]) -> None:
    document = parse(TEXT)
    before = emit(document)
    with pytest.raises(OctaveError) as caught:
        apply_changes(document, {"TAGS": ["good"], **bad})
    assert caught.value.code.startswith("E_")
    assert emit(document) == before


def test_every_bad_change_is_told() -> None:
    error = refusal({"bad key": 1, "STATUS": 2, "NOWHERE.CHILD": 1})
    assert [error.code, *(other.code for other in error.others)] == ["E_INPUT", "E_UNRESOLVABLE_PATH"]


@pytest.mark.parametrize("given", [None, 5, "text", [1]], ids=str)
@pytest.mark.parametrize("text", [TEXT, wrapped("A::1")], ids=["with META", "without"])
def test_a_value_in_the_place_of_meta_is_refused(text: str, given: object) -> None:
    with pytest.raises(OctaveError) as caught:
        apply_changes(parse(text), {"META": given})
    assert caught.value.code == "E_OP_TARGET_MISMATCH"


@pytest.mark.parametrize("path", ["NOWHERE.DEEP.CHILD", "STATUS.CHILD", "§9", "§9::NEW"])
def test_a_path_that_leads_nowhere_is_refused_with_a_way_out(path: str) -> None:
    error = refusal({path: {"A": 1}})
    assert error.code == "E_UNRESOLVABLE_PATH"
    assert error.hint


@pytest.mark.requirement("DOC-06")
def test_the_reserved_text_is_refused_inside_a_document() -> None:
    refuse_reserved(parse(TEXT))
    for body in (f'A::"{RESERVED}"', f'A::[x,k::["{RESERVED}"]]'):
        with pytest.raises(OctaveError) as caught:
            refuse_reserved(parse(wrapped(body)))
        assert (caught.value.code, caught.value.line) == ("E_INPUT", 2)


@pytest.mark.requirement("DOC-07")
def test_mutations_change_meta_and_make_it_if_it_is_missing() -> None:
    mutations = {"STATUS": "DRAFT", "TYPE": DELETE, "NOTE": None}
    assert faithful(apply_mutations(parse(TEXT), mutations).document).startswith(
        '===D===\nMETA:\n  VERSION::"1.0"\n  STATUS::DRAFT\n  NOTE::null\nSTATUS::ACTIVE'
    )
    bare = apply_mutations(parse(wrapped("// top\nA::1")), {"TYPE": "X"}).document
    assert faithful(bare) == wrapped("// top\nMETA:\n  TYPE::X\nA::1")


@pytest.mark.requirement("DOC-07")
def test_meta_is_merged_not_replaced() -> None:
    assert '  TYPE::NOTE\n  VERSION::"1.0"\n  OWNER::me\n' in changed({"META": {"TYPE": "NOTE", "OWNER": "me"}})


def test_a_comment_that_would_end_another_block_is_moved_there() -> None:
    text = wrapped("A:\n  B::1\nC::2\n// about D\nD::3")
    assert changed({"C": DELETE}, text) == wrapped("A:\n  B::1\n  // about D\nD::3")


def test_a_text_over_a_zone_gets_a_fence_that_fits() -> None:
    edited = apply_changes(parse(TEXT), {"SERVER.CODE": "a\n```\nb"}).document
    assert value_at(edited, "SERVER.CODE") == Literal("a\n```\nb", "py", "````")
    faithful(edited)


def test_data_may_name_a_zone() -> None:
    zone = {"__literal_zone__": True, "content": "x", "info_tag": "sql", "fence_marker": "```"}
    assert value_at(apply_changes(parse(TEXT), {"Z": zone}).document, "Z") == Literal("x", "sql")


def test_data_becomes_values() -> None:
    data: dict[str, Any] = {"L": [1, 2.5, True, None, "x", [], {"k": "v"}, {"a": 1, "b": 2}]}
    edited = apply_changes(parse(TEXT), data).document
    assert value_at(edited, "L") == List(
        [1, 2.5, True, None, "x", List(), Pair("k", "v"), List([Pair("a", 1), Pair("b", 2)])]
    )


def test_a_path_finds_the_longest_key_first() -> None:
    document = parse(wrapped("A:\n  B::1\nA.B::2"))
    assert value_at(document, "A.B") == 2
    place = find(document, "A")
    assert place is not None
    assert isinstance(place.node, Block)


def test_delete_does_not_change() -> None:
    with pytest.raises(TypeError):
        DELETE["$op"] = "x"
    assert repr(DELETE) == "DELETE"
