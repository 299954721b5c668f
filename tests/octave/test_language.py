"""What the language means, form by form."""

# The operators of the language look like letters to a linter.
# ruff: noqa: RUF001

from __future__ import annotations

from hashlib import sha256

import pytest

from engross.octave import (
    Assignment,
    Block,
    Comment,
    Document,
    List,
    Literal,
    Number,
    OctaveError,
    Pair,
    Pattern,
    Section,
    Value,
    canonical_hash,
    emit,
    parse,
    value_at,
)

from .texts import canonical, code, value, wrapped


def read(text: str) -> Value:
    found = value_at(parse(wrapped(f"K::{text}")), "K")
    assert not isinstance(found, (Block, Section))
    return found  # type: ignore[return-value]


def refused(text: str) -> OctaveError:
    with pytest.raises(OctaveError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word", "word"),
        ("-5", -5),
        ("1.5", 1.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("True", "True"),
        ('"quoted text"', "quoted text"),
        ('"true"', "true"),
        ('"42"', "42"),
        ('""', ""),
        (r'"a\"b\\c\nd\te\qf"', 'a"b\\c\nd\te\\qf'),
        ('"""say "hi" now"""', 'say "hi" now'),
        ('"two\nlines"', "two\nlines"),
        ("1.2.3", "1.2.3"),
        ("1.0-beta", "1.0-beta"),
        ("$VAR", "$VAR"),
        ("§TARGET", "§TARGET"),
        ("#TARGET", "§TARGET"),
        ("100%", "100%"),
        ("3x", "3x"),
        ("5/5", "5/5"),
        ("https://example.org/a", "https://example.org/a"),
        ("a//b", "a//b"),
        ("Issue_#111", "Issue_#111"),
        ("café", "café"),
        ("NEVER<a,b>", "NEVER<a,b>"),
        ("A:B:C", "A:B:C"),
        ("several bare words", "several bare words"),
        ("3 days", "3 days"),
        ('say "hi"', 'say "hi"'),
        ("A->B", "A→B"),
        ("A -> B + C", "A→B⊕C"),
        ("a vs b", "a⇌b"),
        ("a<->b|c&d~e@f", "a⇌b∨c∧d⧺e@f"),
        ('A->"B C"', "A→B C"),
        ("A[x]→B", "A[x]→B"),
        ("→X", "→X"),
        ("F[a,b]", "F<a,b>"),
        ("F[]", "F[]"),
        ("F [a, b]", "F [a,b]"),
    ],
)
def test_a_value_is_read(text: str, expected: Value) -> None:
    found = read(text)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("10:30", "10:30"),
        ("3:4", "3:4"),
        ("5+3", "5⊕3"),
        ("1->2", "1→2"),
        ("A→2", "A→2"),
        ("a,b", "a,b"),
        ("1,000", "1,000"),
        ("x:", "x:"),
        ("@user", "@user"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("A→B[note]", "A→B[note]"),
        ("1 B::2", "1 B::2"),
        ("===X===", "===X==="),
        ("[a] b", "[a] b"),
        ('"a b"→C', '"a b"→C'),
        ("Step One->Step Two", "Step One→Step Two"),
        ("A+B means x", "A⊕B means x"),
        ("$x y", "$x y"),
        ("~75 tokens", "⧺75 tokens"),
        ("F[a b]", "F<a b>"),
    ],
)
def test_what_fits_no_form_is_kept_whole(text: str, kept: str) -> None:
    assert read(text) == kept


@pytest.mark.parametrize("lexeme", ["1e10", "1.50", "007", "1.10", "1e400", "5.", "-0", "1E5", "9" * 5000])
def test_a_number_keeps_its_spelling(lexeme: str) -> None:
    assert value(lexeme) == lexeme
    assert isinstance(read(lexeme), Number)


def test_a_list_holds_values_pairs_and_lists() -> None:
    assert read('[a, "b c", 3, [d], k::v, 1::x,]') == List(["a", "b c", 3, List(["d"]), Pair("k", "v"), Pair("1", "x")])


def test_line_ends_separate_items_too() -> None:
    assert read("[\n  a\n  b c\n  d\n]") == List(["a", "b c", "d"])


def test_comments_in_a_list_are_kept_before_their_items() -> None:
    assert value("[\n a, // one\n // two\n b\n // three\n]") == ("[\n  a,\n  // one\n  // two\n  b\n  // three\n]")


def test_a_literal_zone_in_a_list_is_kept() -> None:
    text = "K::[\n  ```py\nraw,  [\n  ```\n  k::\n  ```\n\n  ```\n  x\n]"
    assert canonical(text) == text
    zones = [item for item in read(text[3:]).items]  # type: ignore[union-attr]
    assert zones == [Literal("raw,  [", "py"), Pair("k", Literal("\n")), "x"]


@pytest.mark.parametrize(
    "text",
    [
        '["ex"∧REQ→§SELF]',
        '["a\\"b"∧REQ]',
        '["x"∧REQ∧REGEX["^a\\\\d"]→§A∨§B]',
        "[1∧REQ∧RANGE[1,5]]",
        '[["a","b"]∧REQ∧TYPE[LIST]]',
        "[a→§X]",
        "[1.2.3∧REQ]",
        "[$v∧OPT]",
    ],
)
def test_a_pattern_keeps_its_lexemes(text: str) -> None:
    assert read(text) == Pattern(text)
    assert value(text) == text


def test_blanks_and_aliases_in_a_pattern_are_closed_up() -> None:
    assert value('["ex" & REQ & ENUM[A, B] -> #X]') == '["ex"∧REQ∧ENUM[A,B]→§X]'


def test_a_text_that_looks_like_a_pattern_stays_a_text() -> None:
    assert value('["x∧REQ"]') == '["x∧REQ"]'
    assert read('["x∧REQ"]') == List(["x∧REQ"])


def test_an_unknown_constraint_makes_it_a_list() -> None:
    assert read('["ex"∧FOO]') == List(["ex", "∧", "FOO"])


@pytest.mark.parametrize("zone", ["", "\n", "x", "\n\n", "x\n", "  deep\n\ttab é\n", "`` ` ``", "\r", "a\r\nb\r"])
@pytest.mark.requirement("DOC-17")
def test_a_literal_zone_is_kept_byte_for_byte(zone: str) -> None:
    body = zone if not zone.strip("\n") else zone + "\n"
    text = wrapped(f"K::\n```\n{body}```")
    assert emit(parse(text)) == text
    assert parse(text).nodes[0].value == Literal(zone)  # type: ignore[union-attr]


@pytest.mark.requirement("DOC-17")
def test_a_zone_is_not_composed_but_its_surroundings_are() -> None:
    decomposed = "e\u0301"
    text = wrapped(f"K::\n```\n{decomposed}\n```\nJ::{decomposed}")
    assert emit(parse(text)) == wrapped(f'K::\n```\n{decomposed}\n```\nJ::"é"')


def test_a_fence_may_be_longer_than_what_it_holds() -> None:
    text = wrapped("A::\n````\n```\nx\n```\n````")
    assert emit(parse(text)) == text


def test_a_zone_may_stand_in_a_block_a_section_or_alone() -> None:
    text = wrapped("A:\n  ```\nx\n  ```\n  B::1\n§1::S\n  ```sql\ny\n  ```\nC::1\n```\nz\n```")
    assert emit(parse(text)) == text


def test_a_document_in_a_code_fence_is_unwrapped() -> None:
    document = parse("```octave\n===D===\nA::1\n===END===\n```\n")
    assert (document.name, [receipt.kind for receipt in document.receipts]) == ("D", ["unwrapped"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("A:\n    B::1\n    C::2", "A:\n  B::1\n  C::2"),
        ("A:\n  B::1\n    C::2\n  D::3", "A:\n  B::1\n  C::2\n  D::3"),
        ("A:\n    B::1\n  C::2", "A:\n  B::1\nC::2"),
        ("A:\n  B:\n      C::1\n    D::2", "A:\n  B:\n    C::1\n  D::2"),
        ("A:\n  B:\n  C::1", "A:\n  B:\n  C::1"),
        ("A:\nB::1", "A:\nB::1"),
        ("  A::1\n    B::2", "A::1\nB::2"),
        ("A:\n\n  B::1\n\n\n  C::2", "A:\n  B::1\n  C::2"),
        ("§1::X\n  A::1\nB::2", "§1::X\n  A::1\nB::2"),
        ("§1::X\n  §2::Y\n    A::1", "§1::X\n  §2::Y\n    A::1"),
    ],
)
def test_indentation_says_what_belongs_where(body: str, expected: str) -> None:
    assert canonical(body) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("§1::NAME", "§1::NAME"),
        ("§2b::NAME", "§2b::NAME"),
        ("§1.10::NAME", "§1.10::NAME"),
        ("§CONTEXT::", "§CONTEXT::CONTEXT"),
        ("§1::", "§1::"),
        ("§1::[a, b c]", "§1::[a,b c]"),
        ("§0::META[a,b]", "§0::META[a,b]"),
        ("#3 :: NAME", "§3::NAME"),
        ("R[note]:", "R[note]:"),
        ("R[->LOG]:", "R[→§LOG]:"),
        ("R[→§LOG]::x", "R[→§LOG]::x"),
        ("A->B", "A::B"),
        ("A :: v   ", "A::v"),
        ("a.b-c/d::1", "a.b-c/d::1"),
    ],
)
def test_a_head_is_written_canonically(head: str, expected: str) -> None:
    assert canonical(head) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("// one\nA::1 // two\n// three", "// one\nA::1 // two\n// three"),
        ("A:\n  B::1\n// end\nC::2", "A:\n  B::1\n  // end\nC::2"),
        ("A:\n  B::1\n// between\n  C::2", "A:\n  B::1\n  // between\n  C::2"),
        ("A:\n  B:\n    C::1\n  // x\n  D::2", "A:\n  B:\n    C::1\n  // x\n  D::2"),
        ("A: // head\n  B::1", "A:\n  // head\n  B::1"),
        ("§1::S // head\n  B::1", "§1::S\n  // head\n  B::1"),
        ("META:\n  // in\n  T::x // behind\n// below\nA::1", "META:\n  // in\n  T::x // behind\n// below\nA::1"),
        ("A:\n  ```\nx\n  ```\n// free\nB::1", "A:\n  ```\nx\n  ```\n// free\nB::1"),
        ("A::[x∧REQ // why\n]", "// why\nA::[x∧REQ]"),
        ("//tight", "// tight"),
    ],
)
def test_comments_are_kept(body: str, expected: str) -> None:
    assert canonical(body) == expected


def test_comments_around_the_envelope_are_kept() -> None:
    text = "// above\n===D===\nA::1\n===END===\n\n// between\n===E===\n===END===\n// below\n"
    assert emit(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A::1", "===INFERRED===\nA::1\n===END===\n"),
        ("===D===\nA::1", "===D===\nA::1\n===END===\n"),
        ("", "===INFERRED===\n===END===\n"),
        ("OCTAVE::5.1.0\n===D===\n===END===\n", "OCTAVE::5.1.0\n===D===\n===END===\n"),
        ("\n// c\nOCTAVE::5.1.0\n===D===\n===END===\n", "OCTAVE::5.1.0\n// c\n===D===\n===END===\n"),
        ("---\na: 1\n---\nOCTAVE::6\n===D===\n===END===\n", "---\na: 1\n---\n\nOCTAVE::6\n===D===\n===END===\n"),
        ("  ===D===\nA::1\n  ===END===\n", "===D===\nA::1\n===END===\n"),
        ("===A===\nX::1\n===B===\nY::2\n===END===\n", "===A===\nX::1\n===END===\n\n===B===\nY::2\n===END===\n"),
        ("===A:B===\n===END===\n", "===A:B===\n===END===\n"),
        ("===D===\nMETA:\n  A::1\n---\nB::1\n---\nC::1\n===END===\n", None),
    ],
)
def test_what_surrounds_the_nodes(text: str, expected: str | None) -> None:
    assert emit(parse(text)) == (expected or "===D===\nMETA:\n  A::1\n---\nB::1\nC::1\n===END===\n")


def test_meta_is_the_first_block_and_its_keys_are_unique() -> None:
    document = parse(wrapped("META:\n  A::1\n  B:\n    C:\n      D::2\n  A::3\nMETA:\n  A::4"))
    assert document.meta is document.nodes[0]
    assert document.meta_value("A") == 3
    assert emit(document) == wrapped("META:\n  A::3\n  B:\n    C:\n      D::2\nMETA:\n  A::4")


def test_repeated_keys_are_all_kept() -> None:
    assert canonical("A::1\nA::2\nA:\n  B::3") == "A::1\nA::2\nA:\n  B::3"


@pytest.mark.requirement("DOC-09")
def test_the_hash_is_that_of_the_canonical_bytes() -> None:
    tidy, untidy = parse("===D===\nA::x→y\n===END===\n"), parse("===D===\nA :: x -> y\n===END===")
    assert canonical_hash(untidy) == canonical_hash(tidy) == sha256(emit(tidy).encode()).hexdigest()


def test_the_tree_knows_its_lines() -> None:
    document = parse("===D===\n\nA::[\n  x\n]\nB:\n  // c\n  ```\nz\n  ```\n  C::1\n===END===\n")
    lines = {type(node).__name__: node.line for node in document.walk()}
    assert [node.line for node in document.walk()] == [3, 6, 7, 8, 11]
    assert lines == {"Assignment": 11, "Block": 6, "Comment": 7}


def test_nodes_may_be_built_and_given_other_values() -> None:
    document = Document()
    node = Assignment("KEY", "a b")
    document.nodes.extend([node, Block("B", [Comment("why"), Section("1", "S")])])
    assert emit(document) == '===INFERRED===\nKEY::"a b"\nB:\n  // why\n  §1::S\n===END===\n'
    node.value = List(["x"])
    assert "KEY::[x]" in emit(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A: B", "E001"),
        ("A: 5", "E001"),
        ("A: [x]", "E001"),
        ("META::x", "E001"),
        ("K::[a,,b]", "E001"),
        ("K::'a'", "E005"),
        ("K::—", "E005"),
        ("K::a\u00a0b", "E005"),
        ("K::\u200bx", "E005"),
        ("\tA::1", "E005"),
        ('K::"a\tb"', "E005"),
        ('K::"never closed', "E005"),
        ("K::x{q}", "E005"),
        ("K::a\x00b", "E005"),
        ("§1", "E006"),
        ('§1::"A"', "E006"),
        ("§1.2.3::A", "E006"),
        ("## Title", "E006"),
        ("K::see §4 below", "E006"),
        ("K::\n```\nx", "E006"),
        ("K::\n```\n````\n```", "E007"),
        ("K::[a", "E_UNBALANCED_BRACKET"),
        ("K::a]", "E_UNBALANCED_BRACKET"),
        ("===D-E===\n===END===", "E_INVALID_ENVELOPE_ID"),
        ("===1===\n===END===", "E_INVALID_ENVELOPE_ID"),
        ("======", "E_INVALID_ENVELOPE_ID"),
        ("K::2026-01-31", "E_UNQUOTED_TIMESTAMP"),
        ("K::[2026-01-31T10:00:00Z]", "E_UNQUOTED_TIMESTAMP"),
        ("K::[a::[b::1]]", "E_NESTED_INLINE_MAP"),
        ("K::" + "[" * 100 + "]" * 100, "E_MAX_NESTING_EXCEEDED"),
        ("K::", "E_EMPTY_VALUE"),
        ("K::[a::]", "E_EMPTY_VALUE"),
        ("1::x", "E_INVALID_KEY"),
        ('"k"::x', "E_INVALID_KEY"),
        ("a b::x", "E_INVALID_KEY"),
        ("true::x", "E_INVALID_KEY"),
        ("hello", "E_BARE_LINE"),
        ("===D===\n===END===\nA::1", "E_OUTSIDE_ENVELOPE"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_code(text: str, expected: str) -> None:
    assert code(text) == expected


def test_an_error_says_where_and_what_to_do() -> None:
    with pytest.raises(OctaveError) as caught:
        parse("===D===\nA::1\n  B: 2\n===END===\n")
    error = caught.value
    assert (error.code, error.line, error.column) == ("E001", 3, 4)
    assert error.edit is not None
    assert (error.edit.before, error.edit.after) == (": ", "::")
    assert set(error.as_data()) == {"code", "message", "line", "column", "hint"}


def test_a_fence_behind_a_key_is_explained() -> None:
    behind, alone = (refused(text).hint for text in ("A::```\nx\n```", "A::\n```\nx"))
    assert behind
    assert alone
    assert behind != alone


def test_every_error_of_a_text_is_found_at_once() -> None:
    with pytest.raises(OctaveError) as caught:
        parse("A: 1\nhello\nB::(\nC::1\nK::\n")
    first = caught.value
    assert [error.code for error in (first, *first.others)] == ["E005", "E001", "E_BARE_LINE", "E_EMPTY_VALUE"]
    assert first.count == 4


def test_a_lenient_reader_lets_inline_maps_nest() -> None:
    text = wrapped("K::[\n  a::[\n    b::1\n  ]\n]")
    assert emit(parse(text, lenient=True)) == text


@pytest.mark.shows_text
def test_an_error_reads_as_a_sentence() -> None:
    with pytest.raises(OctaveError) as caught:
        parse("A: 1")
    assert str(caught.value) == (
        "E001 at line 1, column 2: a single colon behind A "
        "(an assignment is written A::value; a block's children stand on the lines below)"
    )
