"""E-mail: the message, the people who sent and got it, and what is attached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from typing import NamedTuple

from .claimed import read_date
from .dates import iso_of
from .document import add_document, add_person
from .losses import ITEMS
from .page import text_of_page
from .plain import plain_text
from .result import Draft, Findings, Found, Interpretation, Span
from .script import LONGEST_EXCERPT
from .source import Source

MOST_PEOPLE = 50
MOST_PARTS = 200
MOST_ATTACHMENTS = 100
MOST_READ = 5
"""So many attachments are read; each may need a process of its own."""
LONGEST_HEADER = 2_000
LONGEST_ADDRESSES = 40_000
LONGEST_NAME = 200
LONGEST_ADDRESS = 320
LARGEST = 8_000_000

_ZONE_NAME = re.compile(r"\s*\([^)]*\)$")
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
    message = _parsed(source.content[:LARGEST])
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


def _parsed(content: bytes) -> EmailMessage:
    from email import message_from_bytes, policy

    return message_from_bytes(content, policy=policy.default.clone(max_line_length=None))


def _header(draft: Draft, message: EmailMessage, name: str, longest: int = LONGEST_HEADER) -> str | None:
    """A header as text. The parser may stumble over one that is malformed; then it is as if it were not there."""
    try:
        value = message.get(name)
        text = None if value is None else re.sub(r"\s+", " ", str(value)).strip()
    except Exception:
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
    from email.utils import getaddresses

    seen: set[tuple[str, str]] = set()
    for header, _ in _FIELDS:
        said = _header(draft, message, header, LONGEST_ADDRESSES)
        for name, address in getaddresses([said]) if said else ():
            address = address.strip().lower()
            if "@" not in address or (header, address) in seen:
                continue
            seen.add((header, address))
            if len(seen) <= MOST_PEOPLE:
                yield Person(draft.cut(name.strip(), LONGEST_NAME), draft.cut(address, LONGEST_ADDRESS), header)
    draft.count(ITEMS, len(seen) - MOST_PEOPLE)


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
        draft.note("PARTS_UNREADABLE", "An attachment of the message could not be unpacked; it was left out.")
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
    try:
        return part.get_filename()
    except (LookupError, ValueError, AttributeError, TypeError):
        return None
