"""Texts and changes in which something could get lost without a word."""

from __future__ import annotations

import json

import pytest

from engross.octave import (
    DELETE,
    Document,
    OctaveError,
    apply_changes,
    eject,
    emit,
    faithful,
    parse,
    read_json,
    read_yaml,
    same,
    validate,
)

from .texts import wrapped

FRONTED = "---\na: 1\n---\n"


def kinds(text: str) -> list[str]:
    return sorted(receipt.kind for receipt in parse(text).receipts)


def changed(text: str, **changes: object) -> str:
    return faithful(apply_changes(parse(text), changes).document)


@pytest.mark.requirement("DOC-15")
def test_a_frontmatter_inside_a_fence_is_not_lost_to_the_one_above_it() -> None:
    text = f"{FRONTED}\n```\n---\nb: 2\n---\n{wrapped('K::1')}```\n"
    canonical = emit(parse(text))
    assert "a: 1" in canonical
    assert "b: 2" in canonical
    assert same(parse(canonical), parse(text))


@pytest.mark.requirement("DOC-10")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f" ---\na: 1\n---\n\n{wrapped('K::1')}", "spacing"),
        (f"---\na: 1\n--- \n\n{wrapped('K::1')}", "spacing"),
        (f"{FRONTED}{wrapped('K::1')}", "gap"),
        (f"{wrapped('K::1')}{wrapped('K::2')}", "gap"),
        (f"{wrapped('K::1')}// c\n\n{wrapped('K::2')}", "blank_lines"),
        (f"{wrapped('K::1')}\n", "blank_lines"),
        (f"{wrapped('K::1')}\n// c\n", "blank_lines"),
    ],
)
def test_blanks_around_envelopes_and_frontmatter_leave_receipts(text: str, kind: str) -> None:
    assert kind in kinds(text)
    assert emit(parse(text)) != text


@pytest.mark.requirement("DOC-10")
def test_envelopes_that_are_set_apart_need_no_receipt() -> None:
    text = f"{FRONTED}\n{wrapped('K::1')}\n// c\n{wrapped('K::2')}// d\n"
    assert kinds(text) == []
    assert emit(parse(text)) == text


@pytest.mark.requirement("DOC-10")
def test_each_separator_that_is_removed_leaves_a_receipt() -> None:
    assert kinds(f"\n---\n---\n{wrapped('K::1')}") == ["blank_lines", "separator", "separator"]


@pytest.mark.requirement("DOC-10")
def test_what_a_key_of_meta_replaces_is_in_the_receipt_whole() -> None:
    document = parse(wrapped("META:\n  X:\n    a::secret // why\n  X::2"))
    (receipt,) = document.receipts
    assert (receipt.kind, receipt.before, receipt.after) == ("duplicate", "X:\n  a::secret // why", "X::2")


@pytest.mark.requirement("DOC-09", "DOC-15")
@pytest.mark.parametrize(
    "text",
    [
        "§1.::\n  A::1\n",
        "§1.::[x]\n",
        " K:\n ```\n x\n ```\n  // one\n// two\n",
        "K:\n```\nx\n```\n// one\n// two\nA::1\n",
    ],
)
def test_odd_heads_and_comments_below_zones_have_a_canonical_form(text: str) -> None:
    document = parse(text)
    assert same(parse(faithful(document)), document)
    assert parse(emit(document)).receipts == []


def test_a_target_whose_mark_stands_elsewhere_is_refused() -> None:
    with pytest.raises(OctaveError) as caught:
        parse(wrapped("R[->LOG#]:\n  A::1"))
    assert caught.value.code == "E006"


@pytest.mark.requirement("DOC-02", "DOC-17")
def test_a_repair_of_the_text_leaves_the_line_ends_in_literal_zones_alone() -> None:
    text = "===D===\r\nA: x\r\nK::\r\n```\r\none\r\ntwo\rthree\n```\r\n===END===\r\n"
    canonical = validate(text, "META", fix=True).canonical
    assert canonical == "===D===\nA::x\nK::\n```\none\r\ntwo\rthree\n```\n===END===\n"


@pytest.mark.requirement("DOC-05")
def test_a_comment_and_a_note_stay_when_the_kind_of_a_node_changes() -> None:
    nested = {"a": {"b": {"c": 1}}}
    made = changed(wrapped("K[n]::1 // why"), K=nested)
    assert "K[n]:\n  // why\n" in made
    zone = {"__literal_zone__": True, "content": "x"}
    assert changed(wrapped("K::1 // why\nL::2"), K=zone, L=3) == wrapped("// why\nK::\n```\nx\n```\nL::3")
    assert "K[→§LOG]:\n" in changed(wrapped("K[→LOG]::1"), K=nested)
    assert "K[→§LOG]::1\n" in changed(wrapped("K[→§LOG]:\n  a::1"), K=1)


@pytest.mark.requirement("DOC-05")
def test_keys_are_found_however_their_characters_are_composed() -> None:
    assert changed(wrapped("caf\u00e9::1"), **{"cafe\u0301": 2}) == wrapped("caf\u00e9::2")
    assert "caf\u00e9:" in changed(wrapped("A::1"), B={"cafe\u0301": {"x": {"y": 1}}})


@pytest.mark.parametrize(
    "value", [10**6000, [{"a": {"b": 1}}], "\ud800"], ids=["too many digits", "a map in a map", "half a character"]
)
def test_values_that_no_strict_reader_would_find_again_are_refused(value: object) -> None:
    document = parse(wrapped("K::\n```\nx\n```"))
    with pytest.raises(OctaveError) as caught:
        apply_changes(document, {"K": value})
    assert caught.value.code == "E_INPUT"


@pytest.mark.parametrize("key", [" A", "A ", "A\n", "B. A"])
def test_a_key_with_blanks_around_it_is_refused(key: str) -> None:
    with pytest.raises(OctaveError) as caught:
        apply_changes(parse(wrapped("B:\n  C::1")), {key: 1})
    assert caught.value.code == "E_INPUT"


def test_a_map_is_not_put_into_an_inline_map() -> None:
    document = parse(wrapped("K::[a::1]"))
    for path in ("K.a", "K.b"):
        with pytest.raises(OctaveError) as caught:
            apply_changes(document, {path: {"c": 1}})
        assert caught.value.code == "E_INPUT"


def test_an_inline_map_may_have_numbers_for_keys() -> None:
    assert changed(wrapped("K::[a::1]"), **{"K.7": "x"}) == wrapped("K::[\n  a::1,\n  7::x\n]")


@pytest.mark.requirement("DOC-05", "DOC-06")
def test_deletions_and_additions_in_one_call_keep_every_other_node_in_its_place() -> None:
    text = wrapped("§1::X\n  F::6\nA::1\n// a\nB::2\nB::3\nC:\n  D::4\n  E::5\nJ::1\n// end")
    changes = {"B": DELETE, "G": 7, "C.D": DELETE, "C.H": 8, "§1": DELETE, "A": None, "J": DELETE, "I": 9}
    assert changed(text, **changes) == wrapped("A::null\n// a\nC:\n  E::5\n  H::8\nG::7\nI::9\n// end")


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
def test_numbers_for_keys_and_an_uncomposed_frontmatter_read_back(format: str, reader) -> None:
    numbered = parse(wrapped("K::[1::x,\n2::[y]]"))
    ejected = eject(numbered, format=format)
    assert not ejected.lossy
    assert same(reader(ejected.output, ejected.name), numbered)
    fronted = parse(f"---\ncafe\u0301: 1\n---\n\n{wrapped('K::1')}")
    assert same(reader(eject(fronted, mode="authoring", format=format).output), fronted)


@pytest.mark.requirement("DOC-13")
def test_numbers_beyond_every_machine_are_still_numbers_elsewhere() -> None:
    text = wrapped("A::007e400\nB::[-00e999,1.e400,1.50]\nC::1e400")
    shown = eject(text, format="json").output
    assert json.loads(shown, parse_constant=pytest.fail, parse_float=str) == {
        "A": "7e400",
        "B": ["-0e999", "1e400", "1.50"],
        "C": "1e400",
    }
    assert eject(text, format="yaml").output == "A: 7.0e+400\nB:\n  - -0.0e+999\n  - 1.0e+400\n  - 1.50\nC: 1.0e+400\n"


@pytest.mark.requirement("REL-07")
@pytest.mark.parametrize(
    "body",
    [
        "A::1\n---\n" * 60_000,
        "// c\n" * 100_000 + "META::x\n" * 50_000,
        "K::1\n" + "// c\n" * 90_000 + "---\n" * 90_000,
    ],
    ids=["separators", "META again and again", "comments and separators"],
)
def test_lines_that_depend_on_what_stands_first_take_no_longer_in_long_texts(body: str) -> None:
    try:
        assert parse(wrapped(body)).receipts
    except OctaveError as error:
        assert error.count == 50_000  # noqa: PT017


@pytest.mark.requirement("REL-07", "DOC-05")
def test_fifty_thousand_changes_are_made_in_one_go() -> None:
    document = parse(wrapped("".join(f"K{number}::1\n" for number in range(50_000))))
    some = {f"K{number}.a.b.c": DELETE for number in range(0, 50_000, 2)}
    edited = apply_changes(document, {**some, **{f"K{number}": DELETE for number in range(1, 50_000, 2)}, "L": 1})
    assert len(edited.document.nodes) == 25_001
    assert isinstance(edited.document, Document)
