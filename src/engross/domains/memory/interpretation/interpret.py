"""One file in, one interpretation out."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from .document import add_document, read_as_text
from .record_types import category, type_of_empty
from .result import Draft, Interpretation, Note
from .script import Script
from .sniffing import Sniffed, sniffed
from .source import Source

if TYPE_CHECKING:
    from .mail import Attachment

CODE_VERSION = "engross-rules:3"
"""Which rules made an interpretation. Another version may read the same file otherwise."""

_TRIPPED = Note("READING_FAILED", "The file could not be read as what it is; only its bytes were kept.")
_NOT_OPENED = Note("NOT_OPENED", "The file is packed or of a kind that is not read here; only its bytes were kept.")


def interpret(content: bytes, media_type: str, filename: str = "", *, tesseract: str | None = None) -> Interpretation:
    """What a file says, by rules alone: the same bytes give the same claims."""
    return _interpreted(sniffed(content, media_type, filename), content, filename, tesseract)


def readable_text(
    content: bytes, media_type: str, filename: str = "", *, tesseract: str | None = None
) -> tuple[Script, str, list[Note]]:
    """The text of a file, whatever its format, with its media type and what hindered reading it."""
    seen = sniffed(content, media_type, filename)
    draft = Draft()
    draft.notes.extend(seen.notes)
    script = _script(draft, seen, content, tesseract)
    return script, seen.media_type, list(draft.all_notes())


def _script(draft: Draft, seen: Sniffed, content: bytes, tesseract: str | None) -> Script:
    if seen.form == "page" and seen.text is not None:
        from .page import text_of_page

        return Script(text_of_page(draft, seen.text))
    if seen.text is not None:
        return Script(seen.text)
    if seen.form == "archive":
        from .packed import packed_text

        return Script(packed_text(draft, content))
    script, notes = _unlocked(seen, content, tesseract)
    draft.notes.extend(notes)
    return script


def _interpreted(seen: Sniffed, content: bytes, filename: str, tesseract: str | None) -> Interpretation:
    source = Source(content, seen.media_type, filename, sha256(content).hexdigest())
    draft = Draft()
    draft.notes.extend(seen.notes)
    try:
        kind = _read(draft, seen, source, tesseract)
    except Exception:
        # Formats are read by libraries, and a file can be made to trip any of them up. It is kept all the same.
        draft = Draft()
        draft.notes.extend((*seen.notes, _TRIPPED))
        kind = _kept_only(draft, source)
    return draft.finished(kind, category(kind), seen.media_type)


def _read(draft: Draft, seen: Sniffed, source: Source, tesseract: str | None) -> str:
    if seen.form == "archive" and (kind := _read_packed(draft, source)) is not None:
        return kind
    if seen.text is None:
        script, notes = _unlocked(seen, source.content, tesseract)
        draft.notes.extend(notes)
        if not script:
            return _kept_only(draft, source)
        return read_as_text(draft, script, source)
    script = Script(seen.text)
    if not script:
        return read_as_text(draft, script, source)
    if seen.form == "mail":
        from .mail import read_mail

        return read_mail(draft, source, partial(_read_attachment, tesseract))
    return _read_text(draft, seen, script, source)


def _read_packed(draft: Draft, source: Source) -> str | None:
    from .packed import read_packed

    return read_packed(draft, source)


def _read_attachment(tesseract: str | None, attachment: Attachment) -> Interpretation:
    """What is attached to a message is a file like any other; but a message in a message is only kept."""
    media_type = "text/plain" if attachment.media_type == "message/rfc822" else attachment.media_type
    seen = sniffed(attachment.content, media_type, attachment.name)
    if seen.form == "mail":
        seen = seen._replace(form="text", media_type="text/plain")
    return _interpreted(seen, attachment.content, attachment.name, tesseract)


def _read_text(draft: Draft, seen: Sniffed, script: Script, source: Source) -> str:
    # Each reader brings its library along; it is imported for the first file that needs it.
    if seen.form == "markdown":
        from .markdown import read_markdown as read
    elif seen.form == "table":
        from .table import read_table as read
    elif seen.form == "json":
        from .json_text import read_json as read
    elif seen.form == "vcard":
        from .vcard import read_vcard as read
    elif seen.form == "calendar":
        from .calendar import read_calendar as read
    elif seen.form == "page":
        from .page import text_of_page

        return read_as_text(draft, Script(text_of_page(draft, script.text)), source)
    else:
        read = read_as_text
    return read(draft, script, source)


def _unlocked(seen: Sniffed, content: bytes, tesseract: str | None) -> tuple[Script, list[Note]]:
    """The text of a file that is none itself."""
    if seen.form == "pdf":
        from .pdf import read_pdf

        return read_pdf(content, tesseract)
    if seen.form == "picture":
        from .picture import read_picture

        return read_picture(content, tesseract)
    return Script(""), [_NOT_OPENED]


def _kept_only(draft: Draft, source: Source) -> str:
    """A file of which nothing but its bytes is known."""
    kind = type_of_empty(source.media_type, source.filename)
    add_document(draft, kind, {}, source)
    return kind
