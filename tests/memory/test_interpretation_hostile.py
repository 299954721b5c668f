"""Files that lie about what they are, that unfold without end, or that are broken: bounded, noted, never a crash."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.domains.memory.interpretation.dates import instant_of, iso_of
from engross.domains.memory.interpretation.fields import fields_of
from engross.domains.memory.interpretation.interpret import interpret
from engross.domains.memory.interpretation.money import amount_of
from engross.domains.memory.interpretation.result import Interpretation
from engross.domains.memory.interpretation.rules import signs
from engross.domains.memory.interpretation.script import Script
from engross.flows.admissible import admissible
from tests.memory.pdfs import bomb, endless_pdf, nested_pdf, packed_pdf, pdf, scanned_pdf
from tests.memory.samples import INVOICE, PNG, SAMPLES

TEXTUAL = {name: sample for name, sample in SAMPLES.items() if name not in ("PDF", "picture")}


def codes(found: Interpretation) -> list[str]:
    """What the notes are about."""
    return [note.code for note in found.notes]


def assert_sound(found: Interpretation) -> None:
    """Whatever the file was: something can be recorded about it, and it can be recorded as it is."""
    assert found.claims
    assert "READING_FAILED" not in codes(found)
    for claim in found.claims:
        assert claim.entity_type
        assert claim.name.strip()
        assert admissible({**claim.fields}) == []
        assert set(claim.spans) <= set(claim.fields)
    for tie in found.ties:
        assert max(tie.source, tie.target) < len(found.claims)


@pytest.mark.parametrize(
    ("content", "said", "really"),
    [
        (PNG, "application/pdf", "image/png"),
        (pdf(["hello"]), "image/png", "application/pdf"),
        (pdf(["hello"]), "text/plain", "application/pdf"),
        (b"PK\x05\x06" + bytes(18), "application/pdf", "application/zip"),
        (b"hello", "application/pdf", "text/plain"),
        (b"hello", "application/json", "text/plain"),
        (b"MZ\x90\x00\x03", "text/plain", "application/vnd.microsoft.portable-executable"),
        (b"\x00\x01\x02", "text/plain", "application/octet-stream"),
        (b"BEGIN:VCARD\nFN:Jane\nEND:VCARD\n", "text/csv", "text/vcard"),
        (b"hello", "text/vcard", "text/plain"),
    ],
)
def test_a_lying_media_type_is_noted_and_the_bytes_are_believed(content, said, really):
    found = interpret(content, said, "x", tesseract=None)
    assert found.media_type == really
    assert "MIME_TYPE_MISMATCH" in codes(found)
    assert_sound(found)


def test_a_truthful_media_type_is_not_noted():
    for sample in SAMPLES.values():
        assert "MIME_TYPE_MISMATCH" not in codes(interpret(sample.content, sample.media_type, sample.name))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"%PDF-1.7\nnot really", "PDF_UNREADABLE"),
        (pdf(["hello"])[:-200], None),
        (nested_pdf(), None),
        (endless_pdf(), None),
        (packed_pdf(zlib.compress(b"\x00" * 1_000_000)), "NO_TEXT"),
        (packed_pdf(b"this does not unpack"), None),
    ],
    ids=["none", "cut off", "nested", "endless", "empty", "broken stream"],
)
def test_a_broken_pdf_is_kept_with_a_note(content, code):
    found = interpret(content, "application/pdf", "x.pdf", tesseract=None)
    assert code is None or code in codes(found)
    assert_sound(found)


def test_a_pdf_that_unpacks_to_very_much_ends_early():
    content = bomb()
    assert len(content) < 3_000_000
    found = interpret(content, "application/pdf", "x.pdf", tesseract=None)
    assert set(codes(found)) & {"PDF_TOO_COSTLY", "PDF_PAGES_UNREADABLE", "NO_TEXT", "PDF_UNREADABLE"}
    assert_sound(found)


def test_a_pdf_with_very_many_pages_is_cut():
    found = interpret(pdf(*[["Invoice Number: INV-1", "Amount due: 5"]] * 300), "application/pdf", "x.pdf")
    assert "TEXT_CUT" in codes(found)
    assert found.record_type == "invoice"


def test_a_zip_bomb_is_never_opened():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(100_000_000))
    assert len(packed.getvalue()) < 200_000
    found = interpret(packed.getvalue(), "application/zip", "x.zip")
    assert "NOT_OPENED" in codes(found)
    assert_sound(found)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'{"a": 1e999}',
        b'{"n": 123456789012345678901234567890}',
        b'{"\\u0000": "\\ud800"}',
        b"{" + b",".join(b'"f%d": 1' % n for n in range(10_000)) + b"}",
        b'{"a": "' + b"x" * 9_000_000 + b'"}',
    ],
    ids=["arrays", "objects", "number", "large integer", "characters", "fields", "size"],
)
def test_hostile_json_is_bounded(content):
    assert_sound(interpret(content, "application/json", "x.json"))


def test_a_calendar_that_recurs_without_end_is_one_event():
    text = SAMPLES["iCalendar"].content.replace(b"FREQ=DAILY", b"FREQ=SECONDLY")
    assert len(interpret(text, "text/calendar", "x.ics").claims) == 2


def test_a_message_of_very_many_parts_is_cut():
    parts = b"".join(b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" for _ in range(1_000))
    mail = b"From: a@example.org\r\nMessage-ID: <1@x>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + parts
    found = interpret(mail, "message/rfc822", "x.eml")
    assert "PARTS_CUT" in codes(found)


@pytest.mark.parametrize(
    "text",
    [
        "99/99/9999",
        "2025-13-01",
        "2025-02-30",
        "0000-00-00",
        "31.31.2025",
        "2025-01-01T25:61:00Z",
        "8036",
        "1.0",
        "",
        "now",
    ],
)
def test_garbage_dates_are_no_dates(text):
    assert iso_of(text) is None


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2025-01-15", "2025-01-15T00:00:00.000Z"),
        ("01/02/2025", "2025-01-02T00:00:00.000Z"),
        ("15/02/2025", "2025-02-15T00:00:00.000Z"),
        ("01.02.2025", "2025-02-01T00:00:00.000Z"),
        ("1/2/49", "2049-01-02T00:00:00.000Z"),
        ("1/2/50", "1950-01-02T00:00:00.000Z"),
        ("Feb 3rd, 2025", "2025-02-03T00:00:00.000Z"),
        ("3 February 2025 4:05 pm", "2025-02-03T16:05:00.000Z"),
        ("2025-01-15T10:30:00.5+02:00", "2025-01-15T08:30:00.500Z"),
        ("Tue, 14 Jan 2025 10:00:00 +0100", "2025-01-14T09:00:00.000Z"),
    ],
)
def test_dates_mean_one_thing(text, iso):
    assert iso_of(text) == iso


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("$1,500.00", 1500),
        ("1.234,56 EUR", 1234.56),
        ("12,50", 12.5),
        ("1'000", 1000),
        ("-$5", -5),
        ("($7.25)", -7.25),
        ("1,234,567", 1234567),
        ("nothing", None),
    ],
)
def test_amounts_mean_one_thing(text, amount):
    assert amount_of(text) == amount


def test_a_garbage_date_in_an_invoice_is_kept_as_it_was_written():
    found = interpret(INVOICE.replace(b"2025-02-14", b"99/99/9999"), "text/plain", "a.txt")
    assert found.claims[0].fields["date_due"] == "99/99/9999"
    assert "DATE_UNREADABLE" in codes(found)


def test_text_that_is_not_utf_8_is_read_with_a_note():
    found = interpret("Café, Grüße".encode("cp1252"), "text/plain", "x.txt")
    assert found.claims[0].fields["content"] == "Café, Grüße"
    assert "ENCODING_GUESSED" in codes(found)


def test_utf_16_is_read():
    assert interpret("hello".encode("utf-16"), "text/plain", "x.txt").claims[0].fields["content"] == "hello"


def test_a_date_of_a_calendar_that_makes_no_sense_is_left_out():
    calendar = (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Standup\r\nDTSTART:20250115T090000Z\r\nDTEND:20250115T0 \r\n"
    )
    found = interpret(calendar + b"END:VEVENT\r\nEND:VCALENDAR\r\n", "text/calendar", "x.ics")
    assert_sound(found)
    assert found.claims[0].fields["start_datetime"] == "2025-01-15T09:00:00.000Z"
    assert "end_datetime" not in found.claims[0].fields


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=400), sample=st.sampled_from(sorted(TEXTUAL)), place=st.floats(0, 1))
def test_no_bytes_at_all_are_too_much(content, sample, place):
    whole = TEXTUAL[sample].content
    cut = int(len(whole) * place)
    for one in (content, whole[:cut] + content + whole[cut:]):
        found = interpret(one, TEXTUAL[sample].media_type, TEXTUAL[sample].name, tesseract=None)
        assert_sound(found)
        assert found == interpret(one, TEXTUAL[sample].media_type, TEXTUAL[sample].name, tesseract=None)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=20), inner, max_size=5),
    )
)
def test_any_json_is_read(value):
    assert_sound(interpret(json.dumps(value).encode("utf-8", "replace"), "application/json", "x.json"))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text):
    moment = instant_of(text)
    assert moment is None or moment.utcoffset() is not None


@pytest.mark.parametrize("text", ["a" * 8_000, "Total: " + "1," * 4_000, "Invoice" * 1_000, ": " * 4_000, "- " * 4_000])
def test_no_text_is_slow_to_read(text):
    # Runs out of its minute if a pattern has to go back over the text again and again.
    for kind in signs():
        fields_of(kind, Script(text))


def stand_in(folder: Path, words: str) -> str:
    """A program that reads every picture as the same words, as Tesseract is called."""
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\nprintf '%s' '{words}'\n")
    program.chmod(0o755)
    return str(program)


def test_words_in_a_picture_are_read_where_tesseract_is_installed(tmp_path):
    reader = stand_in(tmp_path, "Invoice Number: INV-3 Amount due: $7")
    found = interpret(PNG, "image/png", "scan.png", tesseract=reader)
    assert found.claims[0].fields["invoice_number"] == "INV-3"


def test_a_scanned_pdf_is_read_like_a_picture(tmp_path):
    reader = stand_in(tmp_path, "Invoice Number: INV-4 Amount due: $7")
    found = interpret(scanned_pdf(), "application/pdf", "scan.pdf", tesseract=reader)
    assert found.claims[0].fields["invoice_number"] == "INV-4"
    assert found.claims[0].spans["invoice_number"].page == 1


@pytest.mark.parametrize("content", [PNG, scanned_pdf()], ids=["picture", "scan"])
def test_without_tesseract_a_picture_is_kept_with_a_clear_note(content):
    found = interpret(content, "image/png", "scan.png", tesseract="no-such-program-anywhere")
    assert "OCR_UNAVAILABLE" in codes(found)
    assert_sound(found)


def test_a_reader_that_fails_is_noted(tmp_path):
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    assert "OCR_FAILED" in codes(interpret(PNG, "image/png", "scan.png", tesseract=str(program)))
