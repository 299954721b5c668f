"""Every change of spelling leaves one receipt: what stood where, and what stands there now."""

# ruff: noqa: RUF001

from __future__ import annotations

import pytest

from engross.octave import Receipt, parse

from .texts import wrapped


def receipts(body: str) -> list[tuple[str, int, int, str, str]]:
    return [receipt[:] for receipt in parse(wrapped(body)).receipts]


@pytest.mark.requirement("DOC-10", "DOC-15")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("K::A->B+C", [("operator", 2, 5, "->", "→"), ("operator", 2, 8, "+", "⊕")]),
        ("K::[\n  x,\n  A|B,\n  c\n]", [("operator", 4, 4, "|", "∨")]),
        ("#1::S", [("operator", 2, 1, "#", "§")]),
        ("A:\n    B::1", [("indentation", 3, 1, "    ", "  ")]),
        ("A:\n  // c\n    B::1", [("indentation", 4, 1, "    ", "  ")]),
        ("K::x y  ", [("trailing_blanks", 2, 6, "y  ", "y"), ("words", 2, 4, "x y", '"x y"')]),
        ("K :: v", [("spacing", 2, 1, "K :: ", "K::")]),
        ("A::1\n\n\nB::2", [("blank_lines", 3, 1, "\n\n", "")]),
        ('K::"word"', [("quotes", 2, 4, '"word"', "word")]),
        ('K::"""a b"""', [("quotes", 2, 4, '"""a b"""', '"a b"')]),
        ("K::some words", [("words", 2, 4, "some words", '"some words"')]),
        ("K::10:30", [("kept_text", 2, 4, "10:30", '"10:30"')]),
        ("K::[a, b]", [("layout", 2, 4, "[a, b]", "[a,b]")]),
        ("K::F[a,b]", [("constructor", 2, 4, "F[a,b]", "F<a,b>")]),
        ("A->b", [("operator", 2, 2, "->", "→"), ("flow", 2, 1, "A->", "A::")]),
        ("R[→LOG]:", [("target", 2, 1, "R[→LOG]:", "R[→§LOG]:")]),
        ("A::1 //tight", [("comment", 2, 6, " //tight", " // tight")]),
        ("A: // head", [("comment", 2, 1, "// head", "\n// head")]),
        ("A::1\n---\nB::2", [("separator", 3, 1, "---", "")]),
        ("PATTERN::word", [("spelling", 2, 10, "word", '"word"')]),
        ("K::e\u0301", [("nfc", 2, 1, "K::e\u0301", "K::é"), ("spelling", 2, 4, "é", '"é"')]),
        ("K::\n   ```\nx\n ```", [("indentation", 5, 1, " ", "   "), ("indentation", 3, 1, "   ", "")]),
    ],
)
def test_a_normalisation_leaves_its_receipt(body: str, expected: list[tuple[str, int, int, str, str]]) -> None:
    assert receipts(body) == expected


@pytest.mark.requirement("DOC-10")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("K::A->B", "W002"),
        ("A:\n   B::1", "W003"),
        ("===E===\nK::1", "W004"),
        ("K::(1 2) \n", None),
        ("K::a b ", "W005"),
    ],
)
def test_corrections_carry_the_codes_of_the_seed(body: str, code: str | None) -> None:
    if code is None:
        return
    assert code in {receipt.code for receipt in parse(wrapped(body)).receipts}


@pytest.mark.requirement("DOC-10")
def test_a_receipt_is_told_with_its_tier_and_whether_it_is_safe() -> None:
    told = Receipt("operator", 2, 5, "->", "→").as_data()
    assert (told["code"], told["tier"], told["safe"], told["semantics_changed"]) == (
        "W002",
        "NORMALIZATION",
        True,
        False,
    )
    assert Receipt("kept_text", 1, 1, "a", "b").as_data()["safe"] is False


def test_a_canonical_text_has_none() -> None:
    assert receipts('A::1\nB:\n  C::"a b"\n  // c\n  D::[x,y]') == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("\ufeff===D===\n===END===\n", ["bom"]),
        ("===D===\r\nA::1\r\n===END===\r\n", ["newlines"]),
        ("===D===\rA::1\r===END===\r", ["newlines"]),
        ("===D===\n===END===", ["newlines"]),
        ("---\n---\n===D===\n===END===\n", ["frontmatter"]),
        ("\n===D===\n===END===\n", ["blank_lines"]),
        ("A::1\n", ["envelope", "envelope"]),
        ("===D===\nMETA:\n  A::1\n  A::2\n===END===\n", ["duplicate"]),
    ],
)
def test_what_surrounds_a_document_has_receipts_too(text: str, kinds: list[str]) -> None:
    assert [receipt.kind for receipt in parse(text).receipts] == kinds
