"""Office documents: words and cells are read; bombs, bad parts and other zip files are only kept."""

from __future__ import annotations

import pytest

from engross.domains.memory.interpretation.interpret import interpret, readable_text
from tests.memory.packages import DOCX, ODT, SHEET, WORD, XLSX, docx, odt, packed, xlsx
from tests.memory.samples import INVOICE_LINES

BOMB = f'<w:document xmlns:w="{WORD}">' + "<w:p/>" * 3_000_000 + "</w:document>"
LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><d>&b;</d>'
MANY = packed({"word/document.xml": "<d/>", **{f"x{number}": "" for number in range(5_001)}})
CELLS = [
    ['<c r="A1" t="s"><v>0</v></c>', '<c r="B1" t="s"><v>1</v></c>', '<c r="D1" t="s"><v>2</v></c>'],
    [
        '<c r="A2" s="1"><v>45672</v></c>',
        '<c r="B2"><v>12.5</v></c>',
        '<c r="D2" t="inlineStr"><is><t>T-1</t></is></c>',
    ],
    ['<c r="A3" s="1"><v>99999999999</v></c>', '<c r="B3"><v>7</v></c>', '<c r="D3" t="s"><v>99</v></c>'],
]


@pytest.mark.parametrize(("make", "media_type"), [(docx, DOCX), (odt, ODT)], ids=["docx", "odt"])
def test_the_words_of_a_document_are_read(make, media_type):
    content = make(*INVOICE_LINES)
    found = interpret(content, media_type, "i.docx")
    assert (found.record_type, found.media_type) == ("invoice", media_type)
    assert found.claims[0].fields["invoice_number"] == "INV-001"
    assert "Amount Due: $1,500.00" in readable_text(content, media_type)[0].text
    assert interpret(content, "application/zip", "i").record_type == "invoice"


def test_the_cells_of_a_sheet_are_rows_with_dates():
    content = xlsx(CELLS, ["date", "amount", "transaction_id"])
    found = interpret(content, XLSX, "bank.xlsx")
    first, second = found.claims[1:]
    assert (first.entity_type, first.name) == ("transaction", "T-1")
    assert first.fields["date"] == "2025-01-15T00:00:00.000Z"
    assert first.fields["amount"] == 12.5
    assert second.fields["amount"] == 7
    assert "transaction_id\n" in readable_text(content, XLSX)[0].text


HOSTILE = {
    "a bomb": packed({"word/document.xml": BOMB}),
    "a laugh": packed({"word/document.xml": LAUGHS}),
    "a laugh in UTF-16": packed({"word/document.xml": LAUGHS.encode("utf-16")}),
    "no XML": packed({"word/document.xml": "no"}),
    "no sheet": packed({"xl/workbook.xml": f'<workbook xmlns="{SHEET}"/>'}),
    "cut off": docx("hello")[:-40],
    "damaged": docx(*["hello"] * 500)[:60] + b"?" * 40 + docx(*["hello"] * 500)[100:],
    "many": MANY,
    "another zip file": packed({"a.txt": "hello"}),
    "nothing in it": packed({}),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_cannot_be_read_is_kept_with_a_note(content):
    found = interpret(content, DOCX, "x.docx")
    codes = {note.code for note in found.notes}
    assert "NOT_OPENED" in codes
    assert "READING_FAILED" not in codes
    assert len(found.claims) == 1
    assert readable_text(content, DOCX)[0].text == ""
