"""A document in other formats and from other points of view."""

from __future__ import annotations

import json

import pytest
import yaml  # type: ignore[import-untyped]

from engross.octave import OctaveError, eject, emit, parse, read_json, read_yaml, same

from .texts import wrapped

PLAIN = wrapped(
    "META:\n  TYPE::LOG\nSTATUS::ACTIVE\nCOUNT::3\nRATIO::1.10\nON::true\nNOTHING::null\n"
    'EMPTY::""\nTEXT::"a: b\\n\\"c\\""\n'
    "L::[\n  a,\n  [b],\n  k::1\n]\nNONE::[]\nA:\n  B::1\n  C:\nZ::\n```py\nx\ny\n```\n§1::S\n  D::1"
)
RICH = (
    "---\nname: x\n---\n\nOCTAVE::6\n// above\n===D===\n// first\nMETA:\n  TYPE::LOG // why\n---\nR[→§LOG]:\n  C::007\n"
    'K::1\nK::2\nP::["x"∧REQ]\n===END===\n\n===E===\nX::1\n===END===\n// below\n'
)
STATUS = wrapped(
    "META:\n  TYPE::X\n// c\nSTATUS::ok\nA:\n  B::1\n  RISKS:\n    R1::bad\n§1::S\n  C::1\n§2::T\n  TESTS::[a]\nD::1"
)


@pytest.mark.requirement("DOC-13")
def test_the_data_form_is_what_a_program_expects() -> None:
    ejected = eject(PLAIN, format="json")
    assert json.loads(ejected.output) == {
        "META": {"TYPE": "LOG"},
        "STATUS": "ACTIVE",
        "COUNT": 3,
        "RATIO": 1.1,
        "ON": True,
        "NOTHING": None,
        "EMPTY": "",
        "TEXT": 'a: b\n"c"',
        "L": ["a", ["b"], {"k": 1}],
        "NONE": [],
        "A": {"B": 1, "C": {}},
        "Z": {"__literal_zone__": True, "content": "x\ny", "info_tag": "py", "fence_marker": "```"},
        "§1::S": {"D": 1},
    }
    assert '"RATIO": 1.10' in ejected.output
    assert (ejected.lossy, ejected.fields_omitted, ejected.left_out) == (False, [], [])


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
def test_a_plain_document_reads_back_from_its_data(format: str, reader) -> None:
    ejected = eject(PLAIN, format=format)
    assert not ejected.lossy
    assert same(reader(ejected.output, ejected.name), parse(PLAIN))


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize("format", ["json", "yaml"])
def test_what_the_data_form_leaves_out_is_told(format: str) -> None:
    ejected = eject(RICH, format=format)
    assert ejected.lossy
    assert ejected.left_out == [
        "comments",
        "frontmatter",
        "further envelopes",
        "notes and targets",
        "patterns as such",
        "repeated keys",
        "separator",
        "spelling of numbers",
        "version line",
    ]


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
@pytest.mark.parametrize("text", [PLAIN, RICH, STATUS])
def test_the_authoring_view_is_the_whole_document(text: str, format: str, reader) -> None:
    ejected = eject(text, mode="authoring", format=format)
    assert not ejected.lossy
    assert emit(reader(ejected.output)) == emit(parse(text))


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize("text", [PLAIN, RICH, STATUS, wrapped('K::[yes,"no","1e5",on]\nN::[1e5,0x1,-3,1.5e+300]')])
@pytest.mark.parametrize("mode", ["canonical", "authoring"])
def test_any_reader_of_yaml_finds_the_same_data_as_in_the_json(text: str, mode: str) -> None:
    as_json, as_yaml = (eject(text, mode=mode, format=format).output for format in ("json", "yaml"))
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


@pytest.mark.requirement("DOC-13")
def test_the_authoring_text_needs_no_special_keyboard() -> None:
    text = wrapped('R[→§LOG]:\n  F::A→B⊕C\nP::["→"∧REQ→§X]\nQ::"→ stays" // → stays\nZ::\n```\n→ stays\n```\n§1::S')
    output = eject(text, mode="authoring").output
    assert output == wrapped(
        'R[->#LOG]:\n  F::A->B+C\nP::["→"&REQ->#X]\nQ::"→ stays" // → stays\nZ::\n```\n→ stays\n```\n#1::S'
    )
    assert same(parse(output), parse(text))


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(
    ("mode", "kept", "omitted"),
    [
        (
            "executive",
            "META:\n  TYPE::X\nSTATUS::ok\nA:\n  RISKS:\n    R1::bad",
            ["§1::S", "§2::T", "D", "A.B"],
        ),
        ("developer", "META:\n  TYPE::X\n§2::T\n  TESTS::[a]", ["STATUS", "A", "§1::S", "D"]),
    ],
)
def test_a_view_keeps_what_its_reader_wants_and_names_the_rest(mode: str, kept: str, omitted: list[str]) -> None:
    ejected = eject(STATUS, mode=mode)
    assert ejected.output == wrapped(kept)
    assert (ejected.fields_omitted, ejected.left_out, ejected.lossy) == (omitted, ["comments"], True)


@pytest.mark.requirement("DOC-13")
def test_a_view_that_leaves_nothing_out_is_not_lossy() -> None:
    text = wrapped("META:\n  TYPE::X\nSTATUS::ok")
    assert not eject(text, mode="executive").lossy


@pytest.mark.requirement("DOC-13")
def test_markdown_says_everything() -> None:
    assert eject(PLAIN, format="markdown").output == (
        "# D\n\n## META\n\n- **TYPE**: LOG\n\n**STATUS**: ACTIVE\n\n**COUNT**: 3\n\n**RATIO**: 1.10\n\n**ON**: true\n\n"
        '**NOTHING**: null\n\n**EMPTY**: ""\n\n**TEXT**: a: b<br>"c"\n\n'
        "**L**:\n- a\n- b\n- **k**: 1\n\n**NONE**: []\n\n"
        "## A\n\n- **B**: 1\n\n### C\n\n**Z**:\n\n```py\nx\ny\n```\n\n## §1 S\n\n- **D**: 1\n"
    )


@pytest.mark.parametrize("text", [PLAIN, RICH, STATUS])
def test_markdown_leaves_no_word_out(text: str) -> None:
    output = eject(text, format="markdown").output
    words = [word for word in emit(parse(text)).replace('"', " ").replace(":", " ").split() if word.isalpha()]
    assert [word for word in words if word not in output and word != "END"] == []


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize("asked", [{"mode": "secret"}, {"format": "xml"}])
def test_an_unknown_mode_or_format_is_refused(asked: dict[str, str]) -> None:
    with pytest.raises(OctaveError) as caught:
        eject(PLAIN, **asked)  # type: ignore[arg-type]
    assert caught.value.code == "E_INPUT"
    assert caught.value.hint


@pytest.mark.requirement("DOC-03")
def test_the_status_of_what_was_ejected_is_told() -> None:
    assert eject(PLAIN).validation_status == "UNVALIDATED"
    assert eject(wrapped('META:\n  TYPE::X\n  VERSION::"1"'), "META").validation_status == "VALIDATED"
    assert eject(PLAIN, "NOWHERE").validation_status == "PENDING_INFRASTRUCTURE"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{",
        '{"A": 1, "A": 2}',
        '{"bad key": 1}',
        '{"A": NaN}',
        '{"§": {}}',
        '{"octave": "document", "envelopes": []}',
    ],
)
def test_json_that_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(OctaveError) as caught:
        read_json(text)
    assert caught.value.code == "E_INPUT"


@pytest.mark.parametrize(
    "node",
    [
        {"key": "K", "value": {"pair": "a", "value": 1}},
        {"key": "bad key", "value": 1},
        {"key": "", "value": 1},
        {"key": "K", "value": {"number": "x"}},
        {"key": "K", "value": {"what": 1}},
        {"comment": "two\nlines"},
        {"section": "a b", "name": "x"},
        {"nothing": 1},
        "text",
    ],
    ids=str,
)
def test_a_tree_with_a_bad_node_is_refused(node: object) -> None:
    tree = {"octave": "document", "envelopes": [{"name": "D", "nodes": [node]}]}
    with pytest.raises(OctaveError) as caught:
        read_json(json.dumps(tree))
    assert caught.value.code == "E_INPUT"


@pytest.mark.parametrize("text", ["a: &x 1", "a: |\n  text", "- a\nb: 1", "a: {b: 1}", "a: 'x'", "a: 1\na: 2", "%YAML"])
def test_yaml_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(OctaveError) as caught:
        read_yaml(text)
    assert caught.value.code == "E_INPUT"
