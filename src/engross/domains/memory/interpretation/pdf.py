"""PDF: the text that is in it, page by page, read by a process that may fail; scans go to whoever reads pictures."""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

from .picture import NO_READER, located, read_picture
from .program import run
from .result import Note
from .script import Script, paged

SECONDS = 10
MEGABYTES = 768
MOST_PAGES = 200
MOST_CHARACTERS = 400_000

_READER = Path(__file__).with_name("pdf_reader.py")
_TOO_COSTLY = Note("PDF_TOO_COSTLY", "Reading the PDF took too much time or memory; only its bytes were kept.")
_PROBLEMS = {
    "encrypted": Note("PDF_ENCRYPTED", "The PDF needs a password; only its bytes were kept."),
    "unreadable": Note("PDF_UNREADABLE", "The PDF is damaged, or is none; only its bytes were kept."),
}
_NO_TEXT = Note("NO_TEXT", "There is no text in the PDF.")


def read_pdf(content: bytes, tesseract: str | None) -> tuple[Script, list[Note]]:
    """The text of a PDF, and what hindered reading all of it."""
    limits = map(str, (SECONDS, MEGABYTES, MOST_PAGES, MOST_CHARACTERS))
    outcome = run([sys.executable, "-I", str(_READER), *limits], content, SECONDS * 3)
    if outcome.output is None:
        return Script(""), [_TOO_COSTLY]
    import orjson

    told = orjson.loads(outcome.output)
    if "problem" in told:
        return Script(""), [_PROBLEMS[told["problem"]]]
    script = paged(told["pages"])
    notes = _gaps(told)
    return (script, notes) if script else _scanned(told["pictures"], tesseract, notes)


def _gaps(told: dict[str, Any]) -> list[Note]:
    notes = []
    count, read, broken = told["count"], len(told["pages"]), told["broken"]
    if read < count:
        notes.append(Note("TEXT_CUT", f"The PDF has {count} pages; the first {read} were read."))
    if told["cut"]:
        notes.append(Note("TEXT_CUT", "The PDF has more text or pictures than are taken of one."))
    if broken:
        notes.append(Note("PDF_PAGES_UNREADABLE", f"{broken} of {read} pages could not be read."))
    return notes


def _scanned(pictures: list[str], tesseract: str | None, notes: list[Note]) -> tuple[Script, list[Note]]:
    """The words of photographed pages, each picture counting as a page."""
    if not pictures:
        return Script(""), [*notes, _NO_TEXT]
    if located(tesseract) is None:
        return Script(""), [*notes, NO_READER]
    pages = []
    for picture in pictures:
        page, more = read_picture(b64decode(picture), tesseract)
        pages.append(page.text)
        notes += [note for note in more if note not in notes]
    return paged(pages), notes
