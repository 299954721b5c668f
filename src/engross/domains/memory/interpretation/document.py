"""Claims about a document as a whole, and about those who are named in its fields."""

from __future__ import annotations

from ..capabilities import CAPABILITIES, Extraction
from ..extraction import Extracted, extracted, natural_name
from .cues import type_by_cues
from .fields import fields_of
from .record_types import UNKNOWN, category, type_of_empty
from .result import Draft, Findings, Found, Span
from .script import LOOKED_AT, Script
from .source import Source

_KEEPS_TEXT = ("KnowledgeRecord", "CommunicationRecord", "LegalRecord")
_EXTRACTIONS: dict[str, tuple[Extraction, ...]] = {
    **{capability.entity_type: capability.extractions for capability in CAPABILITIES.values()},
    "receipt": (
        Extraction("field_value", "merchant_name", "company"),
        Extraction("field_value", "vendor_name", "company"),
    ),
    "purchase": (Extraction("field_value", "vendor_name", "company"),),
    "statement": (Extraction("field_value", "institution", "company"),),
    "contact": (Extraction("field_value", "organization", "company"),),
    "identity_document": (Extraction("field_value", "full_name", "person"),),
}


def read_as_text(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a text without a structure of its own; the type that it was found to have."""
    beginning = script.beginning
    if not beginning:
        kind = type_of_empty(source.media_type, source.filename)
        add_document(draft, kind, {}, source)
        return kind
    kind = type_by_cues(beginning.text, source.filename) or UNKNOWN
    found, notes = fields_of(kind, beginning)
    draft.notes.extend(notes)
    note_cut(draft, script)
    if category(kind) in _KEEPS_TEXT:
        found["content"] = script.excerpt
    add_document(draft, kind, found, source)
    return kind


def note_cut(draft: Draft, script: Script) -> None:
    """Note that a text goes on beyond what the rules look at."""
    if script.goes_on:
        draft.note("TEXT_CUT", f"The text is longer than {LOOKED_AT} characters; only its beginning was looked at.")


def add_document(draft: Draft, kind: str, found: Findings, source: Source, name: str | None = None) -> int:
    """The claim about the document itself, and those about whom its fields name; the place of the first."""
    values = {field: one.value for field, one in found.items()}
    described = {**found, "summary": Found(summary(kind, values, source.filename))}
    if source.filename:
        described.setdefault("file_name", Found(source.filename))
    place = draft.claim(kind, name or natural_name(values) or source.fallback_name, described)
    for one in extracted(_EXTRACTIONS.get(kind, ()), values):
        _add_named(draft, place, one, found)
    if kind == "contact" and isinstance(values.get("name"), str):
        add_person(draft, place, {field: found[field] for field in ("name", "email", "phone") if field in found})
    return place


def add_person(draft: Draft, document: int, found: Findings) -> int:
    """A person whom a document names."""
    name = found["name"].value if "name" in found else found["email"].value
    place = draft.claim("person", name, found)
    draft.tie("REFERS_TO", document, place)
    return place


def summary(kind: str, values: dict[str, object], filename: str) -> str:
    """A line that says what a document is."""
    if kind == "invoice":
        return _line("Invoice", ("", "invoice_number"), ("from", "vendor_name"), ("for", "amount_due"), values=values)
    if kind == "receipt":
        return _line("Receipt", ("from", "merchant_name"), ("for", "amount_total"), values=values)
    if kind == "contract":
        return _line("Contract", ("", "contract_number"), ("between", "parties"), values=values)
    named = natural_name(values) or values.get("subject")
    return f"{kind.replace('_', ' ').capitalize()}: {named or filename or 'without a name'}"[:300]


def _line(begins: str, *parts: tuple[str, str], values: dict[str, object]) -> str:
    said = [begins]
    for word, field in parts:
        value = values.get(field)
        if value not in (None, ""):
            said += [word, _said(value, field, values)] if word else [_said(value, field, values)]
    return " ".join(said)[:300]


def _said(value: object, field: str, values: dict[str, object]) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    if field.startswith("amount") and isinstance(value, int | float):
        currency = values.get("currency", "USD")
        return f"${value:,.2f}" if currency == "USD" else f"{value:,.2f} {currency}"
    return str(value)


def _add_named(draft: Draft, document: int, one: Extracted, found: Findings) -> None:
    span = found[one.field].span if one.field in found else None
    if span is None and one.item is not None:
        span = Span(path=f"/{one.field}/{one.item}")
    place = draft.claim(one.entity_type, one.name, {field: Found(value, span) for field, value in one.fields.items()})
    if one.relation == "PART_OF":
        draft.tie("PART_OF", place, document)
    else:
        draft.tie(one.relation, document, place)
