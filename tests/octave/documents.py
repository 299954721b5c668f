"""Random documents and random texts, for tests of what always holds."""

# ruff: noqa: RUF001

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from engross.octave import (
    Assignment,
    Block,
    Comment,
    Document,
    Envelope,
    Item,
    List,
    Literal,
    Node,
    Number,
    Pair,
    Pattern,
    Section,
    Separator,
    Value,
)

KEYS = st.sampled_from(["A", "B", "KEY", "a.b", "x-y", "p/q", "café", "N<q>", "PATTERN", "REGEX", "STATUS", "_"])
PAIR_KEYS = st.sampled_from(["k", "cpu", "a.b", "PATTERN", "1", "x-y"])
WORDS = ["word", "true", "vs", "null", "42", "1.5", "A→B", "a b", "x∧REQ", "x∧b", "N<q>", "$v", "§T", "->", "", "a-"]
TEXTS = st.one_of(
    st.sampled_from([*WORDS, 'say "hi"', "back\\slash", "two\nlines", "a\tb", "cr\r", "// no", "[x]", "a,b", "é", "`"]),
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=12).map(
        lambda text: unicodedata.normalize("NFC", text)
    ),
)
COMMENTS = st.sampled_from(["why", "A::1", "", "two  blanks", "→ § é", '"', "```"])
NOTES = st.sampled_from([None, None, None, "note", "a,b", "→§LOG"])
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["1.50", "007", "1e10", "5.", "-0", "1E5"]).map(Number),
)
LITERALS = st.builds(
    Literal,
    st.sampled_from(["", "\n", "x", "  a\n\n b", "```\nx", "````", "\ttab", "a\r\nb\r", "e\u0301", "===END==="]),
    st.sampled_from([None, "py", 'sql title="x"']),
    st.sampled_from(["`````", "``````"]),
)
PATTERNS = st.sampled_from(['["ex"∧REQ→§SELF]', '["a\\"b"∧OPT]', "[1∧REQ∧RANGE[1,5]]", "[a→§X∨§Y]"]).map(Pattern)
ATOMS = st.one_of(TEXTS, TEXTS, NUMBERS, st.booleans(), st.none())


def lists(items: st.SearchStrategy[Item]) -> st.SearchStrategy[List]:
    """Lists of such items, some with comments."""

    def commented(made: list[Item], places: list[int], text: str) -> List:
        return List(made, sorted((place % (len(made) + 1), text) for place in places))

    places = st.lists(st.integers(0, 9), max_size=2)
    return st.builds(commented, st.lists(items, max_size=4), places, COMMENTS)


PAIR_VALUES: st.SearchStrategy[Value] = st.one_of(ATOMS, LITERALS, lists(ATOMS))
ITEMS: st.SearchStrategy[Item] = st.recursive(
    st.one_of(ATOMS, ATOMS, st.builds(Pair, PAIR_KEYS, PAIR_VALUES), PATTERNS, LITERALS), lists, max_leaves=6
)
VALUES: st.SearchStrategy[Value] = st.one_of(ATOMS, ATOMS, lists(ITEMS), LITERALS, PATTERNS)
ASSIGNMENTS = st.builds(
    lambda key, value, note, comment: Assignment(key, value, 0, note, None if isinstance(value, Literal) else comment),
    KEYS,
    VALUES,
    NOTES,
    st.none() | COMMENTS,
)


def containers(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Blocks and sections of such children."""
    nodes = st.lists(children, max_size=4)
    return st.one_of(
        st.builds(lambda key, inner, note: Block(key, inner, 0, note), KEYS, nodes, NOTES),
        st.builds(
            lambda id, name, inner, note: Section(id, name, inner, 0, note),
            st.sampled_from(["1", "2b", "1.10", "CONTEXT"]),
            st.sampled_from(["NAME", "a-b"]),
            nodes,
            st.sampled_from([None, None, "a,b"]),
        ),
    )


NODES: st.SearchStrategy[Node] = st.recursive(ASSIGNMENTS | st.builds(Comment, COMMENTS), containers, max_leaves=12)
METAS = st.builds(
    lambda fields: Block("META", list({node.key: node for node in fields}.values())),
    st.lists(ASSIGNMENTS, max_size=4),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Documents of every kind of node. Where a comment at the margin belongs is left to the parser."""
    envelopes = []
    for name in draw(st.lists(st.sampled_from(["D", "A:B", "INFERRED", "x_1"]), min_size=1, max_size=2)):
        head: list[Node] = [*draw(st.lists(METAS, max_size=1)), *draw(st.sampled_from([[], [Separator()]]))]
        before = draw(st.lists(COMMENTS, max_size=1))
        envelopes.append(Envelope(name, [*head, *draw(st.lists(NODES, max_size=5))], before))
    frontmatter = draw(st.sampled_from([None, "a: 1\nb: [x]"]))
    return Document(
        envelopes, frontmatter, draw(st.sampled_from([None, "5.1.0"])), draw(st.lists(COMMENTS, max_size=1))
    )


FRAGMENTS = [
    *(
        "A",
        "foo",
        "x.y",
        "12",
        "1.50",
        "-3",
        "1.2.3",
        "true",
        "null",
        "vs",
        '"q"',
        '"a b"',
        '"""t"""',
        "$v",
        "§X",
        "#y",
    ),
    *("→", "->", "⊕", "+", "~", "|", "&", "∧", "∨", "<->", "@", "::", ":", ",", "[", "]", "[a,b]", "[a,b,c]", "[]"),
    *("A<x>", "N[q]", "N[q r]", "// c", "---", "===D===", "===END===", "é", "日本", "%", "100%", "∧REQ", "→§T", "k::v"),
    *("\n", "\n", "\n  ", "\n    ", "  ", " ", "K::", "K::", "K:\n", "META:\n", "\n§1::S\n", "PATTERN::", "R[n]::"),
    *("\n```\n", "\n  ```py\nx\n  ```\n", "k::\n```\nq\n```\n", "2026-01-01", "\\", "'", '"', "-", "=", "\r\n", "\r"),
    *("\t", "\u0301", "\u00a0", "\ufeff", "\u200d", "OCTAVE::5.1.0\n", "{q}", "\x00", "[\n", "\n]", ",\n"),
]
LINES = [
    "K::x",
    "A.b::[a, b]",
    "L:",
    "  // note",
    "§2::N",
    "J::A->B",
    "K::[\n    a,\n    b,\n    c\n  ]",
    "M::some words",
]
TEXTS_OF_FRAGMENTS = st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join)
TEXTS_OF_LINES = st.lists(
    st.tuples(st.sampled_from(["", "  ", "    ", "   "]), st.sampled_from([*LINES, *FRAGMENTS])).map("".join),
    max_size=8,
).map("\n".join)
ANY_TEXT = st.one_of(
    TEXTS_OF_FRAGMENTS, TEXTS_OF_LINES, TEXTS_OF_LINES.map("===D===\n{}\n===END===\n".format), st.text(max_size=40)
)
