"""Office documents: of their zip file a few parts are read, each up to a bound, and nothing else is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile
from zlib import error as DecompressionError

from .dates import iso
from .document import read_as_text
from .losses import CELLS
from .plain import plain_text
from .result import Draft
from .script import Script
from .source import Source
from .table import read_rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST_PART = 8_000_000
MOST_ENTRIES = 5_000
END = b"PK\x05\x06"
LONGEST_END = 66_000
MOST_COLUMNS = 500

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
BUILT_IN_DATES = frozenset({*range(14, 23), *range(45, 48)})
FIRST_DAY = datetime(1899, 12, 30)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(Exception):
    """A part is not there, too large, or no plain XML."""


UNREADABLE = (
    *(Unreadable, BadZipFile, RuntimeError, NotImplementedError, OSError, ValueError, KeyError, EOFError),
    DecompressionError,
)
"""What damaged, locked and hostile zip files make the library raise."""


def read_packed(draft: Draft, source: Source) -> str | None:
    """Claims from a document or a sheet; None for every other kind of zip file."""
    try:
        found = _opened(draft, source.content)
    except UNREADABLE:
        draft.note("DOCUMENT_UNREADABLE", "The document is damaged, locked or too large; only its bytes were kept.")
        return None
    if found is None:
        return None
    if isinstance(found, str):
        return read_as_text(draft, Script(found), source)
    # A sheet writes its numbers as programs do, wherever it was made.
    return read_rows(draft, iter(found), source, decimal=".")


def packed_text(draft: Draft, content: bytes) -> str:
    """The text of a document, or of a sheet with tabs between its cells; nothing for what is neither."""
    try:
        found = _opened(draft, content)
    except UNREADABLE:
        return ""
    if isinstance(found, str):
        return found
    return "\n".join("\t".join(row) for row in found or ())


def _opened(draft: Draft, content: bytes) -> str | list[list[str]] | None:
    """The text of a document or the rows of a sheet."""
    if not 0 < _entries(content) <= MOST_ENTRIES:
        return None
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        if "word/document.xml" in names:
            return _words(_part(archive, "word/document.xml"))
        if "xl/workbook.xml" in names:
            return list(_rows(draft, archive, names))
        if "content.xml" in names and "mimetype" in names:
            return _open_words(_part(archive, "content.xml"))
    return None


def _entries(content: bytes) -> int:
    """How many files a zip file says that it holds, read from its end: the list of them alone may be very long."""
    end = content.rfind(END, max(0, len(content) - LONGEST_END))
    return int.from_bytes(content[end + 10 : end + 12], "little") if end >= 0 else 0


def _part(archive: ZipFile, name: str) -> Element:
    """A part as XML. How large it says that it is does not count, only how much comes."""
    from xml.etree.ElementTree import ParseError, fromstring

    with archive.open(name) as file:
        content = file.read(LARGEST_PART + 1)
    if len(content) > LARGEST_PART or content[:2] in UTF_16 or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise Unreadable(name)
    try:
        return fromstring(content)
    except ParseError:
        raise Unreadable(name) from None


def _words(document: Element) -> str:
    lines = []
    for paragraph in document.iter(f"{WORD}p"):
        pieces = [_piece(one) for one in paragraph.iter()]
        lines.append("".join(pieces))
    return plain_text("\n".join(lines))


def _piece(one: Element) -> str:
    if one.tag == f"{WORD}t":
        return one.text or ""
    return {f"{WORD}tab": "\t", f"{WORD}br": "\n"}.get(str(one.tag), "")


def _open_words(content: Element) -> str:
    lines = ["".join(one.itertext()) for one in content.iter() if one.tag in (f"{TEXT}p", f"{TEXT}h")]
    return plain_text("\n".join(lines))


def _rows(draft: Draft, archive: ZipFile, names: set[str]) -> Iterator[list[str]]:
    """The rows of the first sheet, as texts."""
    sheets = sorted((name for name in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)), key=_number)
    if not sheets:
        raise Unreadable("sheet")
    if len(sheets) > 1:
        draft.note("SHEETS_CUT", f"There are {len(sheets)} sheets; the first was read.")
    shared = _shared(archive) if "xl/sharedStrings.xml" in names else []
    dates = _date_styles(archive) if "xl/styles.xml" in names else frozenset()
    sheet = _part(archive, sheets[0])
    return (_row(draft, row, shared, dates) for row in sheet.iter(f"{SHEET}row"))


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))


def _shared(archive: ZipFile) -> list[str]:
    part = _part(archive, "xl/sharedStrings.xml")
    return [plain_text("".join(one.text or "" for one in item.iter(f"{SHEET}t"))) for item in part.iter(f"{SHEET}si")]


def _date_styles(archive: ZipFile) -> frozenset[int]:
    """The styles that show a number as a date: a sheet has no other way to say so."""
    styles = _part(archive, "xl/styles.xml")
    own = {
        int(one.get("numFmtId", "0"))
        for one in styles.iter(f"{SHEET}numFmt")
        if re.search(r"[dy]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", one.get("formatCode", "")), re.IGNORECASE)
    }
    formats = styles.find(f"{SHEET}cellXfs")
    numbers = [int(one.get("numFmtId", "0")) for one in formats] if formats is not None else []
    return frozenset(place for place, number in enumerate(numbers) if number in own or number in BUILT_IN_DATES)


def _row(draft: Draft, row: Element, shared: list[str], dates: frozenset[int]) -> list[str]:
    cells: list[str] = []
    for cell in row.iter(f"{SHEET}c"):
        place = _column(cell.get("r", "")) if cell.get("r") else len(cells)
        if place >= MOST_COLUMNS:
            draft.count(CELLS)
            continue
        cells += [""] * (place + 1 - len(cells))
        cells[place] = _cell(cell, shared, dates)
    return cells


def _column(reference: str) -> int:
    """Where a cell such as `C7` stands, counted from 0."""
    place = 0
    for letter in re.sub(r"[^A-Z]", "", reference.upper())[:4]:
        place = place * 26 + ord(letter) - 64
    return max(0, place - 1)


def _cell(cell: Element, shared: list[str], dates: frozenset[int]) -> str:
    if cell.get("t") == "inlineStr":
        return plain_text("".join(one.text or "" for one in cell.iter(f"{SHEET}t")))
    value = cell.find(f"{SHEET}v")
    text = plain_text((value.text or "") if value is not None else "")
    if cell.get("t") == "s":
        return shared[int(text)] if text.isdigit() and int(text) < len(shared) else ""
    if cell.get("t") in (None, "n") and text and int(cell.get("s", "0")) in dates:
        return _as_date(text)
    return text


def _as_date(serial: str) -> str:
    try:
        return iso(FIRST_DAY + timedelta(days=float(serial)))
    except (ValueError, OverflowError):
        return serial
