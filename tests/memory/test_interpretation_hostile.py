"""Files that lie about what they are, that unfold without end, or that are broken: bounded, noted, never a crash."""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.domains.memory.interpretation.dates import instant_of, iso_of
from engross.domains.memory.interpretation.fields import fields_of
from engross.domains.memory.interpretation.interpret import interpret
from engross.domains.memory.interpretation.money import amount_of, currency_in, currency_of
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
        ("1'234.50", 1234.5),
        ("1\u202f234,50 €", 1234.5),
        ("12,34,567.89", 1234567.89),
        ("0.125", 0.125),
        (".5", 0.5),
        ("5,-", 5),
        ("5.00-", -5),
        ("\u22125", -5),
        ("€ -5", -5),
        ("$(7.25)", -7.25),
        ("1e3", 1000),
        ("1.5E-7", 1.5e-07),
        ("Rs. 500", 500),
        ("1e999", None),
        ("1e-999", None),
        ("12abc", None),
        ("12/3", None),
        ("0x10", None),
        ("5.00-10.00", None),
        ("1,2,3", None),
        ("-5-", None),
        ("CR 5", None),
        ("5%", None),
        ("12345678901234567890", None),
        ("0.1234567890123456789", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_amounts_mean_one_thing(text, amount):
    read = amount_of(text)
    assert (type(read), read) == (type(amount), amount)


@settings(max_examples=200, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**12), max_value=10**12))
def test_an_amount_is_the_number_that_was_written_however_it_was_written(number):
    grouped = f"{abs(number):,.2f}"
    german = grouped.translate(str.maketrans(",.", ".,"))
    for written in (grouped, german, grouped.replace(",", "'"), german.replace(".", "\u202f")):
        for sign in ("-{}", "{}-", "({})", "-${}", "{}- EUR") if number < 0 else ("{}", "+{}", "{} EUR", "CHF {}"):
            assert amount_of(sign.format(written)) == float(number)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789.,'-+()eE $€ /x%", max_size=12))
def test_what_is_read_as_an_amount_has_the_digits_that_were_written(text):
    read = amount_of(text)
    if read is not None and "e" not in text.lower():
        assert "".join(filter(str.isdigit, f"{abs(Decimal(repr(read))):f}")).strip("0") == "".join(
            filter(str.isdigit, text)
        ).strip("0")


@pytest.mark.parametrize("cell", ["1e999", "12abc", "12/3", "0x10"])
def test_what_is_no_amount_stays_as_it_was_written_with_one_note_for_all(cell):
    found = interpret(f"date;amount\n2025-01-01;{cell}\n2025-01-02;{cell}\n".encode(), "text/csv", "x.csv")
    assert [claim.fields["amount"] for claim in found.claims[1:]] == [cell, cell]
    assert codes(found) == ["AMOUNT_UNREADABLE"]
    text = interpret(INVOICE.replace(b"$1,500.00", cell.encode()), "text/plain", "a.txt")
    assert text.claims[0].fields["amount_due"] == cell
    assert codes(text) == ["AMOUNT_UNREADABLE"]


def test_a_sign_is_kept_wherever_it_stands():
    found = interpret(b"date;amount\n2025-01-01;5.00-\n2025-01-02;(5.00)\n", "text/csv", "x.csv")
    assert [claim.fields["amount"] for claim in found.claims[1:]] == [-5, -5]
    text = interpret(INVOICE.replace(b"$1,500.00", b"1,500.00- USD"), "text/plain", "a.txt")
    assert text.claims[0].fields["amount_due"] == -1500
    bracket = interpret(INVOICE.replace(b"Amount Due: $1,500.00", b"Total (5 items): $7"), "text/plain", "a.txt")
    assert bracket.claims[0].fields.get("amount_due") != -5


def test_three_decimals_are_decimals_where_the_table_shows_its_mark():
    shown = interpret(b"item;price\na;1.5\nb;1.125\n", "text/csv", "x.csv").claims[2]
    alone = interpret(b"item;price\nb;1.125\n", "text/csv", "x.csv").claims[1]
    assert (shown.fields["price"], alone.fields["price"]) == (1.125, 1125)


def test_the_currency_of_an_amount_in_a_table_is_not_lost():
    found = interpret(b"date;amount\n2025-01-01;5 EUR\n2025-01-02;CA$ 7\n", "text/csv", "x.csv")
    assert [(one.fields["amount"], one.fields["currency"]) for one in found.claims[1:]] == [(5, "EUR"), (7, "CAD")]
    stated = interpret(b"date;amount;currency\n2025-01-01;$5;MXN\n", "text/csv", "x.csv").claims[1]
    assert stated.fields["currency"] == "MXN"


@pytest.mark.parametrize("number", ["123456789012345678901234567890", "0.1234567890123456789", "1e-400"])
def test_a_number_that_would_change_stays_the_text_that_it_is(number):
    table = interpret(f"size\n{number}\n".encode(), "text/csv", "x.csv").claims[1]
    value = interpret(f'{{"size": {number}, "small": 5}}'.encode(), "application/json", "x.json").claims[0]
    assert (table.fields["size"], value.fields["size"], value.fields["small"]) == (number, number, 5)


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


GARBAGE_DATES = {
    "plain text": (
        INVOICE.replace(b"2025-02-14", b"32 OcT 2025 10:00Z"),
        "text/plain",
        "date_due",
        "32 OcT 2025 10:00Z",
    ),
    "CSV": (b"name,due_date\nA,99/99/9999\n", "text/csv", "due_date", "99/99/9999"),
    "JSON": (b'{"entity_type": "x", "dueDate": "99/99/9999"}', "application/json", "dueDate", "99/99/9999"),
    "JSON list": (b'[{"closed_at": "soon"}]', "application/json", "closed_at", "soon"),
    "front matter": (b"---\ndue_date: 2025-99-99\n---\nhi", "text/markdown", "due_date", "2025-99-99"),
    "e-mail": (b"From: a@example.org\nDate: garbage\n\nhi", "message/rfc822", "sent_at", "garbage"),
    "vCard": (b"BEGIN:VCARD\nFN:A\nBDAY:19809999\nEND:VCARD", "text/vcard", "birthday", "19809999"),
    "iCalendar": (
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDTSTART:99999999T999999\nEND:VEVENT\nEND:VCALENDAR",
        *("text/calendar", "start_datetime", "99999999T999999"),
    ),
    "iCalendar, a time": (
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDTSTART:102500Z\nEND:VEVENT\nEND:VCALENDAR",
        *("text/calendar", "start_datetime", "102500Z"),
    ),
}


@pytest.mark.parametrize("garbage", GARBAGE_DATES.values(), ids=GARBAGE_DATES.keys())
def test_a_date_that_is_none_stays_as_it_was_written_with_a_note_in_every_format(garbage):
    content, media_type, field, written = garbage
    found = interpret(content, media_type)
    assert [claim.fields[field] for claim in found.claims if field in claim.fields] == [written]
    assert "DATE_UNREADABLE" in codes(found)
    assert_sound(found)


def test_a_value_of_a_front_matter_says_what_was_written():
    texts = {
        "zip": "01234",
        "size": "0.12345678901234567890",
        "day": "2025-99-99",
        "born": "0001-01-01T00:00:00+02:00",
    }
    front = "\n".join(f"{name}: {value}" for name, value in {**texts, "age": "7", "share": "0.5"}.items())
    note = interpret(f"---\n{front}\n---\nhi".encode(), "text/markdown").claims[0].fields
    assert {name: note[name] for name in texts} == texts
    assert (note["age"], note["share"]) == (7, 0.5)


@pytest.mark.parametrize("name", ["update", "candidate", "validated_by", "date_format"])
def test_a_name_with_a_date_in_it_promises_none(name):
    for content, media_type in (
        (f"{name},b\nyes,1\n".encode(), "text/csv"),
        (f'{{"{name}": "yes"}}'.encode(), "application/json"),
    ):
        assert codes(interpret(content, media_type)) == []


@pytest.mark.parametrize(
    ("written", "read"),
    [("19800203T101112Z", "1980-02-03T10:11:12.000Z"), ("19800203", "1980-02-03T00:00:00.000Z"), ("--0203", "--0203")],
)
def test_the_birthday_of_a_card_is_what_it_says(written, read):
    found = interpret(f"BEGIN:VCARD\nFN:A\nBDAY:{written}\nEND:VCARD".encode(), "text/vcard")
    assert found.claims[0].fields["birthday"] == read


LATE = b"lorem ipsum\n" * 1_000 + INVOICE
CUT = {
    "plain text": (LATE, "text/plain"),
    "HTML": (b"<html><body>" + LATE + b"</body></html>", "text/html"),
    "hidden HTML": (b"<html><body><script>" + b"x" * 2_000_000 + b"</script>hi</body></html>", "text/html"),
    "Markdown": (b"# Title\n" + LATE, "text/markdown"),
    "PDF": (pdf(["lorem ipsum"] * 1_000), "application/pdf"),
    "e-mail": (b"From: a@example.org\nSubject: b\n\n" + LATE, "message/rfc822"),
    "JSON": (b'{"a": "' + b"x" * 30_000 + b'"}', "application/json"),
    "CSV": (b"a,b\n1," + b"x" * 30_000, "text/csv"),
    "vCard": (b"BEGIN:VCARD\nFN:A\nNOTE:" + b"x" * 3_000 + b"\nEND:VCARD", "text/vcard"),
    "iCalendar": (
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDESCRIPTION:" + b"x" * 9_000 + b"\nEND:VEVENT\nEND:VCALENDAR",
        "text/calendar",
    ),
}


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT.keys())
def test_a_text_that_is_cut_is_noted_in_every_format(cut):
    found = interpret(*cut, tesseract=None)
    assert "TEXT_CUT" in codes(found)
    assert_sound(found)


def test_what_was_looked_at_as_a_whole_is_not_called_cut():
    for sample in SAMPLES.values():
        assert "TEXT_CUT" not in codes(interpret(sample.content, sample.media_type, sample.name))
    assert codes(interpret(b"hello" + b"\n" * 10_000, "text/plain", "x.txt")) == []


CARDS = b"BEGIN:VCARD\nTEL:1\nEND:VCARD\nBEGIN:VCARD\nFN:A\nTITLE:x\nTITLE:y\nEND:VCARD\n"


@pytest.mark.parametrize(
    ("content", "media_type", "noted"),
    [
        (b"a,b\n1,2,3,4\n5,6\n7,8,9\n", "text/csv", ["CELLS_CUT"]),
        (b"a,a\n1,2\n", "text/csv", ["CELLS_CUT"]),
        (b"a," + b"b" * 150 + b"\n1,2\n", "text/csv", ["NAMES_CUT"]),
        (b"a,b\n1,2,,\n", "text/csv", []),
        (b"{" + b",".join(b'"f%d": 1' % n for n in range(300)) + b"}", "application/json", ["FIELDS_CUT"]),
        (b'{"a": ' * 40 + b"1" + b"}" * 40, "application/json", ["NESTING_CUT"]),
        (
            b"From: a@example.org\nTo: " + b", ".join(b"p%d@example.org" % n for n in range(80)) + b"\n\nhi",
            *("message/rfc822", ["ITEMS_CUT"]),
        ),
        (CARDS, "text/vcard", ["CARDS_CUT", "ITEMS_CUT"]),
    ],
    ids=["cells", "columns of one name", "long names", "blank cells", "fields", "nesting", "people", "cards"],
)
def test_everything_that_is_left_out_is_noted_once(content, media_type, noted):
    found = interpret(content, media_type)
    assert codes(found) == noted
    assert_sound(found)


@pytest.mark.shows_text
def test_a_note_about_losses_counts_them():
    found = interpret(b"a,b\n1,2,3,4\n5,6\n7,8,9\n", "text/csv")
    assert found.notes[0].message == "Cells without a column of their own: 3; they were left out."


def test_all_addresses_of_a_long_header_are_read():
    people = [f"person-number-{n}@department.example.org" for n in range(50)]
    mail = f"From: a@example.org\nTo: {', '.join(people)}\n\nhi".encode()
    assert interpret(mail, "message/rfc822").claims[0].fields["recipients"] == people[:49]


def test_rows_are_counted_as_they_stand_in_the_file():
    found = interpret(b"\na,b\n\n1,2\n", "text/csv")
    assert found.claims[0].spans["columns"].path == "/1"
    assert found.claims[1].spans["b"].path == "/3/1"


@pytest.mark.parametrize("said", ["application/pdf", "application/octet-stream", ""])
def test_a_picture_that_is_called_a_pdf_is_a_picture(said):
    found = interpret(PNG, said, "x.pdf", tesseract=None)
    assert (found.record_type, found.media_type) == ("image", "image/png")
    assert "MIME_TYPE_MISMATCH" in codes(found)


def test_a_date_of_a_calendar_that_makes_no_sense_stays_as_it_was_written():
    calendar = (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Standup\r\nDTSTART:20250115T090000Z\r\nDTEND:20250115T0 \r\n"
    )
    found = interpret(calendar + b"END:VEVENT\r\nEND:VCALENDAR\r\n", "text/calendar", "x.ics")
    assert_sound(found)
    assert found.claims[0].fields["start_datetime"] == "2025-01-15T09:00:00.000Z"
    assert found.claims[0].fields["end_datetime"] == "20250115T0"


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


NEVER_CLOSED = {
    "comments": (b"<html>" + b"<!--" * 200_000, "text/html"),
    "declarations": (b"<html>" + b"<!a" * 200_000, "text/html"),
    "tags": (b"<html>" + b"<a '" * 200_000, "text/html"),
    "scripts": (b"<html>" + b"<script></" * 100_000, "text/html"),
    "encoded words": (b"Message-ID: 1\nSubject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nhi", "message/rfc822"),
    "quotes": (b"Message-ID: 1\nTo: " + b'"a\\" ' * 100_000 + b"\n\nhi", "message/rfc822"),
    "brackets": (b"Message-ID: 1\nTo: " + b"(" * 7_000 + b"\n\nhi", "message/rfc822"),
    "parameters": (b"To: a\nContent-Type: a/b;" + b"n*1=b;" * 100_000 + b"\n\nhi", "message/rfc822"),
    "blank lines": (b"message-id" + b"\n" * 7_900, "text/plain"),
    "blanks": (b"invoice" + b" " * 7_900, "text/plain"),
    "digits": (b'{"a": ' + b"1" * 1_000_000 + b"}", "application/json"),
    "amounts": (b"amount\n" + b"1'111" * 1_000_000, "text/csv"),
}


@pytest.mark.parametrize("content", NEVER_CLOSED.values(), ids=NEVER_CLOSED.keys())
def test_no_file_is_slow_to_read(content):
    # Runs out of its two minutes if a reader looks for the end again and again.
    assert_sound(interpret(*content))


def test_a_page_shows_what_a_browser_would_show():
    page = (
        b"<html><head><title>no</title><style>no</style><body title='a>b'>one &amp; two<script>'<p>no</p>'</script>"
        b"<!-- <p>no</p> --><p>three<template>no</template> &#%s; <br>1 < 2" % (b"9" * 5_000)
    )
    assert interpret(page, "text/html").claims[0].fields["content"] == "one & two\nthree \ufffd \n1 < 2"


def test_names_of_attachments_are_understood_in_every_encoding():
    for name in ('"=?utf-8?B?R3LDvMOfZS50eHQ=?="', '"Grüße.txt"'):
        mail = f"From: a@example.org\nContent-Type: text/plain\nContent-Disposition: attachment; filename={name}\n\nhi"
        assert interpret(mail.encode(), "message/rfc822").claims[0].fields["attachments"] == ["Grüße.txt"]


def says(written: str, value: object) -> bool:
    """Whether words of a text say a value."""
    if isinstance(value, list):
        return all(part in written for part in value)
    return value in (written, iso_of(written), amount_of(written), currency_of(written))


LINES = [
    *("Invoice Number:", "Amount due", "Total:", "Balance", "Due date:", "Date:", "Vendor:", "From:", "Parties:"),
    *("Quantity", "Interest rate:", "Phone:", "E-mail:", "Name:", "Statement period:", "Flight", "Account number:"),
]
VALUES = st.one_of(
    st.sampled_from(
        ["INV-1", "$1,500.00", "5.00- EUR", "(7)", "1e3", "12/3", "2025-01-15", "99/99/9999", "3.5%", "A, B"]
    ),
    st.text(alphabet="0123456789.,-/:()$€eE ABab'", max_size=16),
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from(LINES), VALUES), min_size=2, max_size=8), st.sampled_from(["\n", "  ", " is "])
)
def test_what_is_read_from_a_text_stands_at_the_place_that_is_told(lines, between):
    text = between.join(f"{label} {value}" for label, value in lines)
    found = interpret(text.encode(), "text/plain")
    assert_sound(found)
    claim = found.claims[0]
    for field, span in claim.spans.items():
        assert says(text[span.start : span.end], claim.fields[field]), (field, claim.fields[field])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(VALUES, min_size=1, max_size=4), max_size=5))
def test_what_is_read_from_a_table_stands_in_the_cell_that_is_told(rows):
    whole = io.StringIO()
    csv.writer(whole, delimiter="|").writerows([["amount", "due_date", "note"], *rows])
    cells = list(csv.reader(io.StringIO(whole.getvalue(), newline=""), delimiter="|"))
    found = interpret(whole.getvalue().encode(), "text/csv")
    assert_sound(found)
    for claim in found.claims[1:]:
        for field, span in claim.spans.items():
            row, column = map(int, str(span.path).split("/")[1:])
            value = claim.fields[field]
            cell = cells[row][column].strip()
            assert says(cell, value) or value in (amount_of(cell, "."), amount_of(cell, ","), currency_in(cell))


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
