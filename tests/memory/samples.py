"""Small files of every kind that is read, as people have them."""

from __future__ import annotations

from typing import NamedTuple

from tests.memory.pdfs import pdf

INVOICE_LINES = (
    "ACME CORP",
    "Invoice Number: INV-001",
    "Invoice Date: January 15, 2025",
    "Due Date: 2025-02-14",
    "Vendor: Acme Corp",
    "Bill To: Test Customer",
    "Amount Due: $1,500.00",
    "Payment terms: 30 days",
)
INVOICE = "\n".join(INVOICE_LINES).encode()
RECEIPT = b"""RECEIPT #R-77
Store: Corner Shop
Transaction date: 2025-03-01
Total amount: EUR 12,50
Payment method: card
Thank you for your purchase
"""
CONTRACT = b"""This Agreement No. 7 is made between Acme Corp and Beta LLC.
Effective date: 1 March 2025
Expiration date: 28 February 2027
Terms and conditions apply.
"""
MARKDOWN = b"""---
title: Spring plan
tags: [garden, 2025]
review_date: 2025-04-01
---
# Something else

Buy seeds first.

- [ ] buy seeds
- [x] sharpen the spade
"""
TABLE = b"""date,amount,merchant_name,transaction_id
2025-01-02,"1,200.50",Acme Corp,T-1
2025-01-03,7,Beta LLC,T-2
"""
PEOPLE_JSON = b'[{"entity_type": "person", "name": "Jane Doe", "email": "jane@example.org"}, {"colour": "red"}]'
INVOICE_JSON = b'{"invoice_number": "INV-9", "amount": 5, "vendor_name": "Acme Corp", "date": "2025-01-15"}'
MAIL = b"""From: Jane Doe <jane@example.org>
To: Bob Roe <bob@example.org>, carl@example.org
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Tue, 14 Jan 2025 10:00:00 +0100
Message-ID: <m1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Hello Bob
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="offer.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--b--
""".replace(b"\n", b"\r\n")
CARD = (
    b"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Jane Doe\r\nORG:Acme Corp;Sales\r\nEMAIL;TYPE=work:Jane@acme.com\r\n"
    b"EMAIL:j2@acme.com\r\nTEL:tel:+1-555-0123\r\nBDAY:19800203\r\nNOTE:long\r\n  text\\, folded\r\nEND:VCARD\r\n"
)
CALENDAR = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:u1\r\nSUMMARY:Standup\r\n"
    b"DTSTART;TZID=Europe/Berlin:20250115T100000\r\nDTEND:20250115T093000Z\r\nATTENDEE:mailto:Ann@example.org\r\n"
    b"RRULE:FREQ=DAILY\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nUID:u2\r\nSUMMARY:Report\r\nDUE;VALUE=DATE:20250201\r\n"
    b"END:VTODO\r\nEND:VCALENDAR\r\n"
)
PAGE = (
    b"<!DOCTYPE html><html><head><title>x</title></head><body><p>Invoice Number: INV-5</p><p>Amount due: $5</p></body>"
)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"


class Sample(NamedTuple):
    """A file, what it is called, and what it is found to be."""

    content: bytes
    media_type: str
    name: str
    record_type: str


SAMPLES = {
    "plain text": Sample(INVOICE, "text/plain", "a.txt", "invoice"),
    "receipt": Sample(RECEIPT, "text/plain", "b.txt", "receipt"),
    "contract": Sample(CONTRACT, "text/plain", "c.txt", "contract"),
    "Markdown": Sample(MARKDOWN, "text/markdown", "plan.md", "note"),
    "CSV": Sample(TABLE, "text/csv", "bank.csv", "dataset"),
    "JSON list": Sample(PEOPLE_JSON, "application/json", "people.json", "dataset"),
    "JSON object": Sample(INVOICE_JSON, "application/json", "i.json", "invoice"),
    "e-mail": Sample(MAIL, "message/rfc822", "m.eml", "message"),
    "vCard": Sample(CARD, "text/vcard", "jane.vcf", "contact"),
    "iCalendar": Sample(CALENDAR, "text/calendar", "c.ics", "event"),
    "PDF": Sample(pdf(INVOICE_LINES[:4], INVOICE_LINES[4:]), "application/pdf", "i.pdf", "invoice"),
    "HTML": Sample(PAGE, "text/html", "i.html", "invoice"),
    "picture": Sample(PNG, "image/png", "p.png", "image"),
}
