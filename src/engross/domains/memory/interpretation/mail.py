"""E-mail: the message, the people who sent and got it, and what is attached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from typing import Any, NamedTuple

from .claimed import read_date
from .dates import iso_of
from .document import add_document, add_person
from .losses import ITEMS
from .page import text_of_page
from .plain import plain_text
from .result import Draft, Findings, Found, Interpretation, Note, Span
from .script import LONGEST_EXCERPT
from .source import Source

MOST_PEOPLE = 50
MOST_PARTS = 200
MOST_ATTACHMENTS = 100
MOST_READ = 5
"""So many attachments are read; each may need a process of its own."""
LONGEST_HEADER = 2_000
LONGEST_RAW_HEADER = 8_000
LONGEST_NAME = 200
LONGEST_ADDRESS = 320
LARGEST = 8_000_000

ABOUT_PART = "content-"

_ZONE_NAME = re.compile(r"\s*\([^)]*\)$")
_UNREADABLE = Note("PARTS_UNREADABLE", "A header or an attachment of the message could not be read; it was left out.")
_FIELDS = (("from", "sender"), ("to", "recipients"), ("cc", "cc"))


class Person(NamedTuple):
    """Somebody in an address field."""

    name: str
    address: str
    header: str


class Attachment(NamedTuple):
    """A file in a message."""

    number: int
    name: str
    media_type: str
    content: bytes


def read_mail(draft: Draft, source: Source, read: Callable[[Attachment], Interpretation]) -> str:
    """Claims from an e-mail, and by `read` from what is attached to it; always a message."""
    if len(source.content) > LARGEST:
        draft.note("TEXT_CUT", f"Of the message, the first {LARGEST} bytes were read.")
    message = _parsed(draft, source.content[:LARGEST])
    people = list(_people(draft, message))
    body, attachments = _body(draft, message)
    found = {**_headers(draft, message), **_addressed(people), **body, **_attached(draft, attachments)}
    name = found["message_id"].value if "message_id" in found else None
    place = add_document(draft, "message", found, source, f"id:message_id:{name}" if name else None)
    for person in people:
        add_person(draft, place, _about(person))
    for attachment in attachments[:MOST_READ]:
        draft.include(read(attachment), f"part/{attachment.number}", place)
    if len(attachments) > MOST_READ:
        draft.note("ATTACHMENTS_CUT", f"There are {len(attachments)} attachments; the first {MOST_READ} were read.")
    return "message"


def _parsed(draft: Draft, content: bytes) -> EmailMessage:
    """A message whose headers are short enough to be taken apart: for long ones the parser needs ever more time."""
    from email import message_from_bytes
    from email.policy import EmailPolicy

    class Bounded(EmailPolicy):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            name, value = super().header_source_parse(sourcelines)
            if name.lower().startswith(ABOUT_PART):
                return name, _bounded(draft, value, LONGEST_HEADER, ";")
            return name, _bounded(draft, value, LONGEST_RAW_HEADER, ",")

        def header_fetch_parse(self, name: str, value: str) -> Any:
            # What is said about a part is asked for many times, and needs no grammar.
            if name.lower().startswith(ABOUT_PART):
                return re.sub(r"[\r\n]+", "", value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            return super().header_fetch_parse(name, value)

    policy: Any = Bounded(max_line_length=None)
    return message_from_bytes(content, EmailMessage, policy=policy)


def _bounded(draft: Draft, value: str, longest: int, mark: str) -> str:
    """The beginning of a header, up to the last whole entry."""
    beginning = draft.cut(value, longest)
    return beginning if beginning == value else beginning.rpartition(mark)[0] or beginning


def _header(draft: Draft, message: EmailMessage, name: str, longest: int = LONGEST_HEADER) -> str | None:
    """A header as text. The parser may stumble over one that is malformed; then it is left out."""
    try:
        value = message.get(name)
        text = None if value is None else re.sub(r"\s+", " ", str(value)).strip()
    except Exception:
        draft.note(*_UNREADABLE)
        return None
    return plain_text(draft.cut(text, longest)) if text else None


def _headers(draft: Draft, message: EmailMessage) -> Findings:
    found: Findings = {}
    for header, field in (("subject", "subject"), ("message-id", "message_id"), ("in-reply-to", "in_reply_to")):
        if (said := _header(draft, message, header)) is not None:
            found[field] = Found(said, Span(path=f"header/{header}"))
    if (sent := _header(draft, message, "date")) is not None:
        found["sent_at"] = Found(_date(draft, sent), Span(path="header/date"))
    return found


def _date(draft: Draft, said: str) -> str:
    """An instant; mailers like to add the name of the zone in brackets."""
    return iso_of(_ZONE_NAME.sub("", said)) or read_date(draft, said)


def _people(draft: Draft, message: EmailMessage) -> Iterator[Person]:
    seen: set[tuple[str, str]] = set()
    for header, _ in _FIELDS:
        for name, address in _addresses(draft, message, header):
            if "@" not in address or (header, address) in seen:
                continue
            seen.add((header, address))
            if len(seen) <= MOST_PEOPLE:
                yield Person(draft.cut(name, LONGEST_NAME), draft.cut(address, LONGEST_ADDRESS), header)
    draft.count(ITEMS, len(seen) - MOST_PEOPLE)


def _addresses(draft: Draft, message: EmailMessage, header: str) -> list[tuple[str, str]]:
    from email.utils import getaddresses

    said = _header(draft, message, header, LONGEST_RAW_HEADER)
    try:
        found = getaddresses([said]) if said else []
    except Exception:
        draft.note(*_UNREADABLE)
        return []
    return [(name.strip(), address.strip().lower()) for name, address in found]


def _addressed(people: list[Person]) -> Findings:
    found: Findings = {}
    for header, field in _FIELDS:
        addresses = [person.address for person in people if person.header == header]
        if addresses:
            value = addresses[0] if field == "sender" else addresses
            found[field] = Found(value, Span(path=f"header/{header}"))
    return found


def _about(person: Person) -> Findings:
    span = Span(path=f"header/{person.header}")
    named = {"name": Found(person.name, span)} if person.name else {}
    return {**named, "email": Found(person.address, span)}


def _body(draft: Draft, message: EmailMessage) -> tuple[Findings, list[Attachment]]:
    texts: dict[str, tuple[str, int]] = {}
    attachments: list[Attachment] = []
    for number, part in enumerate(message.walk()):
        if number >= MOST_PARTS:
            draft.note("PARTS_CUT", f"Only the first {MOST_PARTS} parts of the message were looked at.")
            break
        kind = part.get_content_type()
        if part.is_multipart():
            continue
        if part.get_content_disposition() == "attachment" or _file_name(part):
            attachments += _attachment(draft, part, number, kind)
        elif kind in ("text/plain", "text/html"):
            if kind in texts:
                draft.note("PARTS_CUT", "The message has several texts; the first of each kind was read.")
            texts.setdefault(kind, (_text(part), number))
    return _content(draft, texts), attachments


def _attachment(draft: Draft, part: EmailMessage, number: int, kind: str) -> list[Attachment]:
    try:
        content = part.get_payload(decode=True)
    except (LookupError, ValueError, AttributeError, TypeError):
        content = None
    if not isinstance(content, bytes):
        draft.note(*_UNREADABLE)
    if not isinstance(content, bytes) or not content:
        return []
    name = plain_text(_file_name(part) or f"part-{number}").replace("/", "_").replace("\\", "_")
    return [Attachment(number, draft.cut(name, LONGEST_NAME), kind, content)]


def _content(draft: Draft, texts: dict[str, tuple[str, int]]) -> Findings:
    if "text/plain" in texts:
        text, number = texts["text/plain"]
    elif "text/html" in texts:
        text, number = texts["text/html"]
        text = text_of_page(draft, text)
    else:
        return {}
    text = draft.cut(text.strip(), LONGEST_EXCERPT)
    return {"content": Found(text, Span(0, len(text), None, f"part/{number}"))} if text else {}


def _attached(draft: Draft, attachments: list[Attachment]) -> Findings:
    draft.count(ITEMS, len(attachments) - MOST_ATTACHMENTS)
    names = [attachment.name for attachment in attachments[:MOST_ATTACHMENTS]]
    return {"attachments": Found(names)} if names else {}


def _text(part: EmailMessage) -> str:
    try:
        content = part.get_content()
        return plain_text(content) if isinstance(content, str) else ""
    except (LookupError, ValueError, AttributeError, TypeError, AssertionError):
        raw = part.get_payload(decode=True)
        return plain_text(raw.decode("latin-1")) if isinstance(raw, bytes) else ""


def _file_name(part: EmailMessage) -> str | None:
    from email.header import decode_header, make_header

    try:
        said = part.get_filename()
        return str(make_header(decode_header(said))) if said else None
    except Exception:
        # Whatever is wrong with the name: it is not known.
        return None
