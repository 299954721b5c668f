"""Files of every kind become claims, each field with its place; the same bytes give the same claims."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode

import pytest

from engross.domains.memory.interpretation.interpret import interpret
from engross.domains.memory.interpretation.record_types import ALIASES, category, record_type
from engross.domains.memory.interpretation.result import Interpretation, Note
from tests.memory.samples import CALENDAR, CARD, CONTRACT, INVOICE, MAIL, MARKDOWN, PEOPLE_JSON, SAMPLES, TABLE, Sample


def read(sample: Sample) -> Interpretation:
    """What a sample says, on a machine without Tesseract."""
    return interpret(sample.content, sample.media_type, sample.name, tesseract=None)


def codes(notes: tuple[Note, ...]) -> list[str]:
    """What the notes are about."""
    return [note.code for note in notes]


def told(text: bytes, name: str = "a.txt") -> dict[str, object]:
    """The fields of a plain text."""
    return dict(interpret(text, "text/plain", name).claims[0].fields)


@pytest.mark.requirement("MEM-01")
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_each_kind_of_file_is_recognised(sample):
    found = read(sample)
    assert found.record_type == sample.record_type
    assert found.media_type == sample.media_type
    assert found.claims[0].entity_type == sample.record_type


@pytest.mark.requirement("MEM-33")
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_the_same_bytes_give_the_same_claims(sample):
    assert read(sample) == read(sample)


@pytest.mark.requirement("MEM-33")
def test_another_process_with_other_hashes_gives_the_same_claims():
    program = (
        "from tests.memory.samples import SAMPLES; from tests.memory.test_interpretation import read;"
        "from hashlib import sha256;"
        "print(sha256(repr([read(one) for name, one in SAMPLES.items() if name != 'PDF']).encode()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said != {b""}


def test_the_fields_of_an_invoice_are_typed_and_have_their_places():
    claim = interpret(INVOICE, "text/plain", "a.txt").claims[0]
    assert {name: value for name, value in claim.fields.items() if name not in ("summary", "file_name")} == {
        "invoice_number": "INV-001",
        "amount_due": 1500,
        "currency": "USD",
        "date_issued": "2025-01-15T00:00:00.000Z",
        "date_due": "2025-02-14T00:00:00.000Z",
        "vendor_name": "Acme Corp",
        "customer_name": "Test Customer",
    }
    text = INVOICE.decode()
    places = {name: text[span.start : span.end] for name, span in claim.spans.items()}
    assert places["invoice_number"] == "INV-001"
    assert places["amount_due"] == "$1,500.00"
    assert places["date_issued"] == "January 15, 2025"
    assert places["vendor_name"] == "Acme Corp"
    assert claim.fields["summary"] == "Invoice INV-001 from Acme Corp for $1,500.00"


@pytest.mark.parametrize("label", ["Amount Due", "Balance due", "TOTAL DUE"])
def test_what_is_due_is_an_amount_and_no_date(label):
    fields = told(f"Invoice INV-7\nInvoice date: 2025-01-15\n{label}: 1500 USD\n".encode())
    assert fields["amount_due"] == 1500
    assert "date_due" not in fields


def test_an_invoice_names_companies_and_refers_to_them():
    found = interpret(INVOICE, "text/plain", "a.txt")
    assert [(one.entity_type, one.name) for one in found.claims] == [
        ("invoice", "INV-001"),
        ("company", "Acme Corp"),
        ("company", "Test Customer"),
    ]
    assert [tuple(tie) for tie in found.ties] == [("REFERS_TO", 0, 1), ("REFERS_TO", 0, 2)]
    assert found.category == "FinancialRecord"


def test_a_pdf_tells_the_page_of_each_field():
    found = read(SAMPLES["PDF"])
    spans = found.claims[0].spans
    assert found.claims[0].fields["invoice_number"] == "INV-001"
    assert spans["invoice_number"].page == 1
    assert spans["amount_due"].page == 2
    assert found.category == "FinancialRecord"


def test_a_receipt_and_a_contract_have_fields_of_their_own():
    receipt = read(SAMPLES["receipt"]).claims
    assert receipt[0].fields["amount_total"] == 12.5
    assert receipt[0].fields["currency"] == "EUR"
    assert receipt[0].fields["date_purchased"] == "2025-03-01T00:00:00.000Z"
    assert receipt[1].name == "Corner Shop"
    contract = interpret(CONTRACT, "text/plain", "c.txt").claims
    assert contract[0].fields["parties"] == ["Acme Corp", "Beta LLC"]
    assert contract[0].fields["effective_date"] == "2025-03-01T00:00:00.000Z"
    assert [one.name for one in contract[1:]] == ["Acme Corp", "Beta LLC"]


def test_three_capitals_are_no_currency():
    assert "currency" not in told(b"Invoice number: INV-7\nAmount due: 5\nVendor: ABC")


@pytest.mark.parametrize(
    ("kind", "text", "field", "value"),
    [
        ("transaction", b"Transaction ID: T-9\nAmount: 12\nPosted date: 2025-01-03", "transaction_id", "T-9"),
        (
            "statement",
            b"Account summary\nStatement period: 2025-01-01 to 2025-01-31\nEnding balance: 7",
            "period_end",
            "2025-01-31T00:00:00.000Z",
        ),
        (
            "travel_document",
            b"Booking\nFlight LH400\nPassenger: Jane Doe\nDeparture: 2025-05-01 10:30",
            "departure_datetime",
            "2025-05-01T10:30:00.000Z",
        ),
        (
            "identity_document",
            b"Passport\nFull name: Jane Doe\nNationality: X\nDate of birth: 3 Feb 1980",
            "full_name",
            "Jane Doe",
        ),
        ("task", b"Task: water plants\nDue date: 2025-06-01\nPriority: high\nAssignee: Bob", "assignee", "Bob"),
        ("project", b"Project: Garden\nPhase: two\nStart date: 2025-01-01\nMilestone one", "name", "Garden"),
        ("event", b"Event: Fair\nVenue: Hall 3\nAttendees: Ann, Bob\nWhen: 2025-07-01", "attendees", ["Ann", "Bob"]),
        (
            "contact",
            b"Contact\nName: Jane Doe\nEmail: jane@example.org\nPhone: +1 555 0123",
            "email",
            "jane@example.org",
        ),
        (
            "liability",
            b"Liability: Mortgage\nLender: Big Bank\nInterest rate: 3.5\nMinimum payment: 900",
            "interest_rate",
            3.5,
        ),
        ("tax_filing", b"Tax return\nTax year: 2024\nFiling status: single\nJurisdiction: CA", "tax_year", 2024),
    ],
)
def test_other_types_are_known_by_their_signs(kind, text, field, value):
    found = interpret(text, "text/plain", "x.txt")
    assert found.record_type == kind
    assert found.claims[0].fields[field] == value


def test_two_signs_are_needed_and_a_file_name_counts_as_one():
    assert interpret(b"Amount due: 5", "text/plain", "x.txt").record_type == "document"
    assert interpret(b"Amount due: 5", "text/plain", "my-invoice.txt").record_type == "invoice"


def test_what_shows_no_signs_is_a_document_with_its_text():
    found = interpret(b"hello there", "text/plain", "x.txt")
    assert found.record_type == "document"
    assert found.claims[0].fields["content"] == "hello there"


def test_two_files_of_one_name_are_two_documents():
    names = {interpret(text, "text/plain", "scan.txt").claims[0].name for text in (b"hello", b"world")}
    assert len(names) == 2


def test_front_matter_title_and_tasks_of_a_markdown_file():
    found = interpret(MARKDOWN, "text/markdown", "plan.md")
    note = found.claims[0]
    assert (note.name, note.fields["title"], note.fields["tags"]) == ("Spring plan", "Spring plan", ["garden", 2025])
    assert note.fields["review_date"] == "2025-04-01T00:00:00.000Z"
    assert MARKDOWN.decode()[note.spans["title"].start : note.spans["title"].end] == "title: Spring plan"
    assert [(one.name, one.fields["status"]) for one in found.claims[1:]] == [
        ("buy seeds", "open"),
        ("sharpen the spade", "completed"),
    ]
    assert [tuple(tie) for tie in found.ties] == [("PART_OF", 1, 0), ("PART_OF", 2, 0)]


def test_a_long_task_is_cut_with_a_note_and_a_blank_one_is_none():
    found = interpret(b"- [ ] " + b"x" * 400 + b"\n- [ ] \r\n- [x] short\n", "text/markdown", "x.md")
    assert [one.name for one in found.claims[1:]] == ["x" * 300, "short"]
    assert codes(found.notes) == ["TEXT_CUT"]


@pytest.mark.parametrize("front", [b"[1, 2", b"a: &a [1]\nb: *a", b"- 1\n- 2", b"a: !!python/object:os.system x"])
def test_front_matter_that_is_none_is_left_out_with_a_note(front):
    found = interpret(b"---\n" + front + b"\n---\n# Title\n", "text/markdown", "x.md")
    assert "FRONT_MATTER_UNREADABLE" in codes(found.notes)
    assert found.claims[0].fields["title"] == "Title"


def test_rows_of_a_table_are_claims_of_the_type_that_their_columns_show():
    found = interpret(TABLE, "text/csv", "bank.csv")
    assert found.claims[0].fields["row_count"] == 2
    first = found.claims[1]
    assert (first.entity_type, first.name, first.fields["amount"]) == ("transaction", "T-1", 1200.5)
    assert first.fields["date"] == "2025-01-02T00:00:00.000Z"
    assert first.spans["amount"].path == "/1/1"


def test_more_rows_than_are_taken_are_counted_and_noted():
    found = interpret(b"n,m\n" + b"".join(b"%d,x\n" % n for n in range(5_000)), "text/csv", "x.csv")
    assert found.claims[0].fields["row_count"] == 5_000
    assert len(found.claims) == 1_001
    assert "ROWS_CUT" in codes(found.notes)


def test_numbers_that_are_identifiers_stay_texts():
    row = interpret(b"phone,zip_code,age,name\n0555,01234,30,Bob\n", "text/csv", "x.csv").claims[1]
    assert dict(row.fields) == {"phone": "0555", "zip_code": "01234", "age": 30, "name": "Bob"}


def test_objects_that_say_what_they_are_become_that():
    found = interpret(PEOPLE_JSON, "application/json", "p.json")
    assert [(one.entity_type, one.name) for one in found.claims[1:2]] == [("person", "Jane Doe")]
    assert found.claims[1].spans["email"].path == "/0/email"
    assert found.claims[2].entity_type == "dataset_row"


def test_a_message_its_people_and_its_attachments():
    found = interpret(MAIL, "message/rfc822", "m.eml")
    message = found.claims[0].fields
    assert message["subject"] == "Grüße"
    assert message["sent_at"] == "2025-01-14T09:00:00.000Z"
    assert message["sender"] == "jane@example.org"
    assert message["recipients"] == ["bob@example.org", "carl@example.org"]
    assert message["content"] == "Hello Bob"
    assert message["attachments"] == ["offer.pdf"]
    assert [(one.entity_type, one.name) for one in found.claims[1:]] == [
        ("person", "Jane Doe"),
        ("person", "Bob Roe"),
        ("person", "carl@example.org"),
        ("document", found.claims[4].name),
    ]
    assert "PDF_UNREADABLE" in codes(found.notes)


def test_an_invoice_that_is_attached_to_a_message_is_read():
    pdf = b64encode(SAMPLES["PDF"].content)
    found = interpret(MAIL.replace(b"JVBERi0=", pdf), "message/rfc822", "m.eml")
    place = next(place for place, one in enumerate(found.claims) if one.entity_type == "invoice")
    invoice = found.claims[place]
    assert invoice.fields["invoice_number"] == "INV-001"
    assert invoice.spans["amount_due"].path == "part/2"
    assert invoice.spans["amount_due"].page == 2
    assert ("PART_OF", place, 0) in [tuple(tie) for tie in found.ties]


def test_a_card_is_a_contact_a_person_and_a_company():
    found = interpret(CARD, "text/vcard", "jane.vcf")
    contact = found.claims[0].fields
    assert (contact["name"], contact["email"], contact["phone"]) == ("Jane Doe", "jane@acme.com", "+1-555-0123")
    assert contact["other_emails"] == ["j2@acme.com"]
    assert contact["birthday"] == "1980-02-03T00:00:00.000Z"
    assert contact["note"] == "long text, folded"
    assert [(one.entity_type, one.name) for one in found.claims[1:]] == [
        ("company", "Acme Corp"),
        ("person", "Jane Doe"),
    ]


def test_entries_of_a_calendar_are_events_and_tasks_in_utc():
    found = interpret(CALENDAR, "text/calendar", "c.ics")
    event, task = found.claims
    assert event.fields["start_datetime"] == "2025-01-15T09:00:00.000Z"
    assert event.fields["end_datetime"] == "2025-01-15T09:30:00.000Z"
    assert event.fields["attendees"] == ["ann@example.org"]
    assert (task.entity_type, task.fields["due_date"]) == ("task", "2025-02-01T00:00:00.000Z")


@pytest.mark.parametrize(
    ("word", "kind"), [(" Bill ", "invoice"), ("EMAIL", "message"), ("no such", "document"), ("", "document")]
)
def test_words_for_types_are_understood(word, kind):
    assert record_type(word) == kind


def test_every_type_has_a_category():
    assert {category(kind) for kind in ALIASES} >= {"FinancialRecord", "LegalRecord", "KnowledgeRecord"}
    assert category("invoice") == "FinancialRecord"


@pytest.mark.parametrize(
    ("media_type", "name", "kind"),
    [("text/csv", "x.csv", "dataset"), ("text/plain", "x", "note"), ("application/json", "x.json", "document")],
)
def test_a_file_without_text_is_what_its_name_says(media_type, name, kind):
    assert interpret(b"  \n ", media_type, name).record_type == kind
