"""What upstreams send: every format, broken in every way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.declared.conversion import Unreadable, charset_of, converted
from engross.declared.model import MISSING, RawFormat
from engross.replies import Failed, codes
from tests.declared.engines import document, engine, run, value
from tests.declared.upstream import Told, Upstream


@pytest.mark.parametrize(
    ("raw_format", "body", "expected"),
    [
        ("json", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ("json", b" \n", MISSING),
        ("text", "grüß".encode(), "grüß"),
        ("xml", b"<r><a>1</a><b k='v'>2</b></r>", {"a": "1", "b": {"k": "v", "": "2"}}),
        ("xml", b"<r><i>1</i><i>2</i><j><k>3</k></j></r>", {"i": ["1", "2"], "j": {"k": "3"}}),
        ("xml", b"<x:r xmlns:x='u'><x:a>1</x:a></x:r>", {"a": "1"}),
        ("xml", "<?xml version='1.0' encoding='iso-8859-1'?><r><a>é</a></r>".encode("latin-1"), {"a": "é"}),
        ("yaml", b"a: 1\nb: [yes, 2024-01-01, true]\n", {"a": 1, "b": ["yes", "2024-01-01", True]}),
        ("csv", b'id,name\r\n1,"a, ""b"""\r\n2\r\n', [{"id": "1", "name": 'a, "b"'}, {"id": "2", "name": ""}]),
        ("tsv", b"id\tname\n1\tx y\n", [{"id": "1", "name": "x y"}]),
        ("psv", b"id|name\n1|x,y\n", [{"id": "1", "name": "x,y"}]),
        ("csv", b"id,name\n", []),
    ],
)
def test_every_format_becomes_json_values(raw_format: RawFormat, body: bytes, expected: object) -> None:
    assert converted(body, raw_format) == expected


BOMB = b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>'
FILE = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'


@pytest.mark.parametrize(
    ("raw_format", "body"),
    [
        ("xml", b"<r>"),
        ("xml", b"not xml"),
        ("xml", BOMB),
        ("xml", FILE),
        ("xml", b"<a>" * 500 + b"</a>" * 500),
        ("xml", b"\xff\xfe\x00"),
        ("yaml", b"a: [1"),
        ("yaml", b"a: 1\na: 2\n"),
        ("yaml", b"a: &x [1]\nb: " + b"[" * 200),
        ("yaml", b"!!python/object/apply:os.system [ls]"),
        ("csv", b'a,b\n"1'),
        ("csv", b"a,b\n1,2,3\n"),
        ("json", b"{'a': 1}"),
        ("text", b"\xff\xfe\xfa"),
    ],
)
def test_what_is_broken_or_dangerous_is_unreadable(raw_format: RawFormat, body: bytes) -> None:
    with pytest.raises(Unreadable):
        converted(body, raw_format)


@given(st.sampled_from(["json", "xml", "yaml", "csv", "tsv", "psv", "text"]), st.binary(max_size=200))
def test_any_bytes_are_a_value_or_unreadable(raw_format: RawFormat, body: bytes) -> None:
    try:
        converted(body, raw_format)
    except Unreadable:
        return


def test_the_charset_is_found_however_it_is_written() -> None:
    said = ["text/csv; charset=ISO-8859-1", 'a/b;x=1;charset="utf-8"', "a/b", "a/b; charset="]
    assert [charset_of(one) for one in said] == ["iso-8859-1", "utf-8", None, None]


SHEET = """
sheet:
  path: /sheet
  description: "A sheet"
  operations: { get-sheet: { method: GET, outputRawFormat: csv } }
"""
READ = """
one:
  description: "Read the sheet."
  semantics: { safe: true }
  steps:
    sheet: { type: call, call: up.get-sheet }
    row: { type: lookup, index: sheet, match: id, lookupValue: "2", outputParameters: [name] }
  mappings: [{ target: name, value: "$.row.name" }]
"""


def test_steps_see_the_converted_response(tmp_path: Path) -> None:
    sheet = Told(body="id;name\n".replace(";", ",").encode() + "1,a\n2,é\n".encode("latin-1"))
    told = sheet._replace(headers=(("Content-Type", "text/csv; charset=iso-8859-1"),))
    with Upstream(lambda asked: told) as erp:
        assert value(engine(tmp_path, document(erp, SHEET, READ)), "test.one") == {"name": "é"}


def test_a_sheet_that_is_none_stops_the_flow_and_names_the_step(tmp_path: Path) -> None:
    with Upstream(lambda asked: Told(body=b'a,b\n"1')) as erp:
        with pytest.raises(Failed) as failed:
            run(engine(tmp_path, document(erp, SHEET, READ)), "test.one")
        assert failed.value.code == codes.UPSTREAM_UNREADABLE
        assert (failed.value.answer() or {})["step"] == "sheet"
