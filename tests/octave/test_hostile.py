"""Texts that mean harm, or were never OCTAVE."""

from __future__ import annotations

import pytest

from engross.octave import (
    Assignment,
    Block,
    Document,
    Node,
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

from .texts import code, wrapped

HALF_A_MEGABYTE = 512 * 1024


def nested(depth: int, indent: int = 1) -> str:
    heads = [f"{' ' * (indent * level)}B:" for level in range(depth)]
    return wrapped("\n".join([*heads, f"{' ' * (indent * depth)}LEAF::1"]))


@pytest.mark.requirement("REL-07")
def test_blocks_may_be_nested_by_the_thousand() -> None:
    document = parse(nested(2000))
    assert sum(isinstance(node, Block) for node in document.walk()) == 2000
    assert same(parse(emit(document)), document)
    for format in ("json", "yaml", "markdown"):
        assert "LEAF" in eject(document, format=format).output
    assert "LEAF::2" in emit(apply_changes(document, {"LEAF": 2}).document)
    assert validate(document, "META").validation_status == "UNVALIDATED"


@pytest.mark.requirement("REL-07")
def test_ten_thousand_levels_are_read_and_written() -> None:
    document = parse(nested(10_000))
    depth, node = 0, document.nodes[0]
    while isinstance(node, Block):
        depth, node = depth + 1, node.children[0]
    assert depth == 10_000
    assert isinstance(node, Assignment)


@pytest.mark.requirement("REL-07")
def test_ten_thousand_brackets_are_refused() -> None:
    assert code("K::" + "[" * 10_000) == "E_MAX_NESTING_EXCEEDED"
    assert code("K::" + "F[" * 10_000 + "]" * 10_000) == "E_MAX_NESTING_EXCEEDED"


@pytest.mark.parametrize("reader", [read_json, read_yaml])
def test_data_nested_too_deeply_is_refused(reader) -> None:
    document = parse(nested(2000))
    format = "json" if reader is read_json else "yaml"
    for mode in ("canonical", "authoring"):
        with pytest.raises(OctaveError) as caught:
            reader(eject(document, mode=mode, format=format).output)
        assert caught.value.code == "E_INPUT"


def test_a_value_nested_too_deeply_is_refused() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    fields: dict[str, object] = {}
    for _ in range(5000):
        fields = {"a": fields}
    for value in (deep, fields):
        with pytest.raises(OctaveError) as caught:
            apply_changes(Document(), {"K": value})
        assert caught.value.code == "E_INPUT"


@pytest.mark.requirement("REL-07")
@pytest.mark.parametrize(
    "text",
    [
        "K::" + "a->" * (HALF_A_MEGABYTE // 3) + "b",
        "K::" + "a + b | c ~ " * (HALF_A_MEGABYTE // 12) + "d",
        "K::[" + "a, " * (HALF_A_MEGABYTE // 3) + "]",
        "K::[" + "a " * (HALF_A_MEGABYTE // 2) + "]",
        "K::[" + "[a], " * (HALF_A_MEGABYTE // 5) + "]",
        "K::[" + "k::A->B,\n" * (HALF_A_MEGABYTE // 9) + "]",
        "K::" + "word " * (HALF_A_MEGABYTE // 5),
        "K::" + "a-" * (HALF_A_MEGABYTE // 2) + "b",
        "K::" + "a:" * (HALF_A_MEGABYTE // 2) + "b",
        'K::"' + 'x\\"' * (HALF_A_MEGABYTE // 3) + '"',
        "K::[" + '"x"∧REQ' * (HALF_A_MEGABYTE // 7) + "]",
        "K::" + "N<a," * (HALF_A_MEGABYTE // 4),
        "K::" + "=" * HALF_A_MEGABYTE,
        "K::" + "é" * HALF_A_MEGABYTE,
        "K::" + "\u0301" * HALF_A_MEGABYTE,
        "K::" + "a\u0301\u0327" * (HALF_A_MEGABYTE // 3),
        "K::x" + "\u0301\u0327" * (HALF_A_MEGABYTE // 2),
        "K::" + "\u00a0" * HALF_A_MEGABYTE,
        " " * HALF_A_MEGABYTE + "K::1",
        "A::1\n" + "\n \n" * (HALF_A_MEGABYTE // 3) + "B::2",
        "// c\n" * (HALF_A_MEGABYTE // 5),
        "A:\n  // c\n" * (HALF_A_MEGABYTE // 10),
        "```\nx\n```\n" * (HALF_A_MEGABYTE // 10),
        "K::\n```\n" + "`` `\n" * (HALF_A_MEGABYTE // 5) + "```",
        "---\n" * (HALF_A_MEGABYTE // 4),
        "===A===\n" * (HALF_A_MEGABYTE // 8),
        "A: 1\n" * (HALF_A_MEGABYTE // 5),
        "K::[\n" * 50 + "a\n" * (HALF_A_MEGABYTE // 2),
        "K::A[" + "x,\n// c\n" * (HALF_A_MEGABYTE // 8) + "]",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_half_a_megabyte_of_it_is_read_or_refused_within_the_minute(text: str) -> None:
    try:
        document = parse(text)
    except OctaveError as error:
        assert error.line is not None  # noqa: PT017
    else:
        assert same(parse(emit(document)), document)


@pytest.mark.requirement("REL-07")
def test_a_text_over_the_limit_is_refused() -> None:
    with pytest.raises(OctaveError) as caught:
        parse("A::1\n" * 100, longest=400)
    assert caught.value.code == "E_TOO_LARGE"
    assert caught.value.hint


def test_ten_thousand_errors_are_counted_and_the_first_hundred_told() -> None:
    with pytest.raises(OctaveError) as caught:
        parse("bare\n" * 10_000)
    assert caught.value.count == 10_000
    assert len(caught.value.others) == 99


def test_ten_thousand_violations_are_counted_and_the_first_hundred_told() -> None:
    text = wrapped("META:\n  TYPE::TEST_HOLOGRAPHIC\n" + "TEST_HOLOGRAPHIC:\n  NAME::x\n" * 10_000)
    verdict = validate(text, "TEST_HOLOGRAPHIC")
    assert verdict.error_count > 10_000 - 1
    assert len(verdict.violations) == 100


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe\x00", b"A::1\n\xc3\n", bytes(range(256)), b"\x80" * 1000, b"PK\x03\x04\x00\x00", b"A::\xed\xa0\x80"],
)
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(OctaveError) as caught:
        parse(data)
    assert caught.value.code in ("E_ENCODING", "E005")
    assert caught.value.line is not None


def test_a_lone_surrogate_is_refused_wherever_it_comes_from() -> None:
    assert code("A::\ud800") == "E_ENCODING"
    with pytest.raises(OctaveError) as caught:
        apply_changes(Document(), {"A": "\ud800"})
    assert caught.value.code == "E_INPUT"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_kind_of_line_end_is_read(newline: str) -> None:
    text = newline.join(["===D===", "A:", "  B::1 // c", '  C::"x', 'y"', "===END===", ""])
    document = parse(text)
    assert emit(document) == '===D===\nA:\n  B::1 // c\n  C::"x\\ny"\n===END===\n'
    assert [node.line for node in document.walk()] == [2, 3, 4]


def test_mixed_line_ends_are_read_and_zones_keep_theirs() -> None:
    document = parse("===D===\r\nA::1\rB::\n```\r\nx\r\ny\r\n```\r\nC::2\r===END===")
    assert emit(document) == "===D===\nA::1\nB::\n```\nx\r\ny\r\n```\nC::2\n===END===\n"
    assert [node.line for node in document.walk()] == [2, 3, 8]
    assert same(parse(emit(document)), document)


def test_a_joiner_holds_an_emoji_together() -> None:
    family = "\U0001f469\u200d\U0001f467"
    assert emit(parse(wrapped(f"K::{family}"))) == wrapped(f'K::"{family}"')


def test_a_tree_that_cannot_be_written_is_not_passed_off_as_written() -> None:
    zone: Node = parse(wrapped("```\nx\n```")).nodes[0]
    for nodes in ([Block("A"), zone], [Assignment("bad key", 1)], [Assignment("A", 1, comment="two\nlines")]):
        document = Document()
        document.nodes.extend(nodes)
        with pytest.raises(OctaveError) as caught:
            faithful(document)
        assert caught.value.code == "E_FIDELITY"
