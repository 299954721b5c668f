"""What bytes really are, whatever the sender calls them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .result import Note

Form = Literal[
    "pdf", "picture", "archive", "binary", "vcard", "calendar", "mail", "json", "table", "markdown", "page", "text"
]
"""How a file is read."""

MISMATCH = "MIME_TYPE_MISMATCH"
NOTHING_SAID = "application/octet-stream"
ENCODING = "ENCODING_GUESSED"

_MAGIC: tuple[tuple[bytes, str, Form], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "picture"),
    (b"\xff\xd8\xff", "image/jpeg", "picture"),
    (b"GIF87a", "image/gif", "picture"),
    (b"GIF89a", "image/gif", "picture"),
    (b"II*\x00", "image/tiff", "picture"),
    (b"MM\x00*", "image/tiff", "picture"),
    (b"BM", "image/bmp", "picture"),
    (b"PK\x03\x04", "application/zip", "archive"),
    (b"PK\x05\x06", "application/zip", "archive"),
    (b"\x1f\x8b", "application/gzip", "archive"),
    (b"BZh", "application/x-bzip2", "archive"),
    (b"\xfd7zXZ\x00", "application/x-xz", "archive"),
    (b"(\xb5/\xfd", "application/zstd", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "archive"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "archive"),
    (b"\x7fELF", "application/x-executable", "binary"),
    (b"MZ", "application/vnd.microsoft.portable-executable", "binary"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "binary"),
    (b"OggS", "audio/ogg", "binary"),
    (b"ID3", "audio/mpeg", "binary"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3", "binary"),
)
_ZIPPED_NAMES = ("application/vnd.openxmlformats", "application/vnd.oasis", "application/epub", "application/java")
_PDF_WITHIN = 1024
LONGEST_JSON = 8_000_000
_LOOKED_AT = 4096

_BY_MEDIA_TYPE: dict[str, Form] = {
    "text/vcard": "vcard",
    "text/x-vcard": "vcard",
    "text/directory": "vcard",
    "text/calendar": "calendar",
    "message/rfc822": "mail",
    "application/json": "json",
    "text/json": "json",
    "application/ld+json": "json",
    "text/csv": "table",
    "application/csv": "table",
    "text/tab-separated-values": "table",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/html": "page",
    "application/xhtml+xml": "page",
}
_BY_ENDING: dict[str, Form] = {
    "vcf": "vcard",
    "ics": "calendar",
    "eml": "mail",
    "json": "json",
    "csv": "table",
    "tsv": "table",
    "md": "markdown",
    "markdown": "markdown",
    "html": "page",
    "htm": "page",
}
_CALLED = {
    **{"pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif"},
    **{"tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp", "webp": "image/webp", "heic": "image/heic"},
}
"""What a file is said to be by its name, where the sender says nothing."""
_MEDIA_TYPES: dict[Form, str] = {
    "vcard": "text/vcard",
    "calendar": "text/calendar",
    "mail": "message/rfc822",
    "json": "application/json",
    "table": "text/csv",
    "markdown": "text/markdown",
    "page": "text/html",
    "text": "text/plain",
}
_HEADERS = re.compile(r"(?:[A-Za-z][A-Za-z0-9\-]{1,60}:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*){2,}", re.ASCII)
_MAIL_HEADER = re.compile(r"(?im)^(?:message-id|received|mime-version|return-path|delivered-to)\s*:")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Sniffed(NamedTuple):
    """What the bytes are: how to read them, their media type, their text if they are one, and what was odd."""

    form: Form
    media_type: str
    text: str | None = None
    notes: tuple[Note, ...] = ()


def sniffed(content: bytes, declared: str, filename: str = "") -> Sniffed:
    """Look at the bytes first, then at what they are called."""
    said = declared.partition(";")[0].strip().lower()
    if said in ("", NOTHING_SAID):
        said = _CALLED.get(_ending(filename), said)
    found = _by_magic(content, said)
    if found is None:
        text, guessed = text_of(content)
        if text is None:
            return _judged(Sniffed("binary", NOTHING_SAID), said)
        form = _form_of(text, said, filename)
        notes = (Note(ENCODING, "The text is not UTF-8; it was read as Windows-1252."),) if guessed else ()
        found = Sniffed(form, _media_type(form, said), text, notes)
    return _judged(found, said)


def text_of(content: bytes) -> tuple[str | None, bool]:
    """The text that bytes are, and whether its encoding was guessed; None for what is no text."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if not content.startswith(mark):
            continue
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return (None, False) if _UNPRINTABLE.search(text[:_LOOKED_AT]) else (text.replace("\x00", ""), False)
    if _UNPRINTABLE.search(content[:_LOOKED_AT].decode("latin-1")):
        return None, False
    return content.decode("cp1252", "replace").replace("\x00", ""), True


def _by_magic(content: bytes, said: str) -> Sniffed | None:
    if b"%PDF-" in content[:_PDF_WITHIN]:
        return Sniffed("pdf", "application/pdf")
    for magic, media_type, form in _MAGIC:
        if content.startswith(magic) and (len(magic) > 2 or _looks_binary(content)):
            zipped = media_type == "application/zip" and said.startswith(_ZIPPED_NAMES)
            return Sniffed(form, said if zipped else media_type)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Sniffed("picture", "image/webp")
    if content[4:12] in (b"ftypheic", b"ftypmif1", b"ftypheix"):
        return Sniffed("picture", "image/heic")
    return None


def _looks_binary(content: bytes) -> bool:
    return _UNPRINTABLE.search(content[:_LOOKED_AT].decode("latin-1")) is not None


def _form_of(text: str, said: str, filename: str) -> Form:
    begins = text[:_LOOKED_AT].lstrip("\ufeff \t\r\n")
    for mark, form in (("BEGIN:VCARD", "vcard"), ("BEGIN:VCALENDAR", "calendar")):
        if begins[: len(mark)].upper() == mark:
            return form  # type: ignore[return-value]
    called = _BY_MEDIA_TYPE.get(said) or _BY_ENDING.get(_ending(filename))
    if called is not None and _is_plausible(called, begins):
        return called
    if begins[:1] in ("{", "[") and _is_json(text):
        return "json"
    if _HEADERS.match(begins) and _MAIL_HEADER.search(begins):
        return "mail"
    return "page" if re.match(r"(?i)<!doctype html|<html", begins) else "text"


def _ending(filename: str) -> str:
    return filename.rpartition(".")[2].lower() if "." in filename else ""


def _is_plausible(form: Form, begins: str) -> bool:
    """Whether a text can be what it is called."""
    if form == "json":
        return begins[:1] in ("{", "[")
    if form == "mail":
        return _HEADERS.match(begins) is not None
    if form == "page":
        return "<" in begins
    return form not in ("vcard", "calendar")


def _is_json(text: str) -> bool:
    import orjson

    if len(text) > LONGEST_JSON:
        return False
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def _media_type(form: Form, said: str) -> str:
    if _BY_MEDIA_TYPE.get(said) == form or (form == "text" and said.startswith("text/") and said not in _BY_MEDIA_TYPE):
        return said
    return _MEDIA_TYPES[form]


def _judged(found: Sniffed, said: str) -> Sniffed:
    """With a note where the sender called it something else."""
    if said in ("", NOTHING_SAID, found.media_type) or _is_close(said, found.media_type):
        return found
    told = f"The file was said to be {_printable(said)}, and is {found.media_type}; it was read as what it is."
    return found._replace(notes=(Note(MISMATCH, told), *found.notes))


def _is_close(said: str, found: str) -> bool:
    """Two names for the same, or plain text that turned out to be of a more particular kind."""
    if said in ("text/plain", "image/jpg", "image/pjpeg", "application/x-pdf", "application/x-zip-compressed"):
        return (
            found.startswith(("text/", "message/", "application/json"))
            or said[:6] == found[:6] == "image/"
            or (said.removeprefix("application/x-").partition("-")[0] in found)
        )
    return False


def _printable(media_type: str) -> str:
    return media_type[:80]
