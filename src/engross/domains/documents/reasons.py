"""Why a document says what it says: the write that each paragraph comes from, who wanted and who approved it.

Also of one whose file is gone, by what it said last, and of one that was erased, of which only the bare facts are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader, facts_about
from engross.ledger.facts import envelopes_about
from engross.ledger.reasons import reasons_of
from engross.replies import Invalid, codes
from engross.store.confined import Found

from .blame import MOST_VERSIONS, OUTSIDE, Traced, trace, writes_of
from .places import SUFFIXES, Place, place_of
from .standing import kept, standing
from .versions import FOUND, NAMESPACE, Version, head_of, versions_of
from .ways import Ways

MOST_CANDIDATES = 20
NOT_TOLD = ("diff",)
"""Of what a fact says. The paragraphs are told instead."""


class Known(NamedTuple):
    """A document that the record knows. Its place is None where no root leads to it any more."""

    subject: str
    place: Place | None


def reasons(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The reasons of a document, or of one of its fields."""
    known, limit = _meant(ways, reader, arguments["ref"]), arguments["limit"]
    current, versions = _current(ways, reader, known), versions_of(reader, known.subject, most=MOST_VERSIONS)
    traced, wanted = _traced(ways, reader, known.subject, current, versions, arguments)
    if not versions:
        wanted = {fact.version for fact in envelopes_about(reader.reading, NAMESPACE, known.subject)}
    found = writes_of(reader, known.subject, sorted(wanted)[-limit:])
    return {
        "document": {"name": known.subject, "type": "document"},
        "subject": known.subject,
        "path": None if known.place is None else known.place.path,
        "hash": None if current is None else current.digest,
        "is_deleted": current is None,
        "is_recorded": traced.is_recorded,
        "reasons": [_told(one, traced) for one in reasons_of(reader.reading, found)],
        "reasons_in_all": len(wanted),
        "unrecorded": _paragraphs(traced, OUTSIDE),
    }


def _traced(
    ways: Ways,
    reader: Reader,
    subject: str,
    current: Found | None,
    versions: Sequence[Version],
    arguments: Mapping[str, Any],
) -> tuple[Traced, set[int]]:
    """The paragraphs of the file, and the versions to tell of; once it is gone, also those after its last text."""
    if current is not None:
        traced = trace(ways, reader, subject, current.content, arguments)
        return traced, traced.versions
    last = next((version for version in versions if version.digest is not None), None)
    text = kept(ways, reader, last)
    if last is None or text is None:
        return Traced([], True), {version.version for version in versions}
    traced = trace(ways, reader, subject, text.content, arguments, before=last.version + 1)
    return traced, traced.versions | {one.version for one in versions if one.version > last.version}


def _meant(ways: Ways, reader: Reader, reference: str) -> Known:
    """The document of a path; else the only one whose path ends so."""
    place = _place(ways, reader, reference)
    for subject in dict.fromkeys([reference] if place is None else [place.subject, reference]):
        if facts_about(reader.reading, NAMESPACE, subject, after_version=0, most=1):
            return Known(subject, place if place and place.subject == subject else _place(ways, reader, subject))
    found = _ending(reader, reference)
    if not found:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "document", "id": reference[:200]}, field="ref")
    if len(found) > 1:
        suggestions = {"candidates": [{"id": one} for one in found], "hint": "Give the whole path of one of them."}
        told = {"reference": reference[:80]}
        raise Invalid(codes.NEEDS_DISAMBIGUATION, told, field="ref", suggestions=suggestions)
    return Known(found[0], _place(ways, reader, found[0]))


def _place(ways: Ways, reader: Reader, path: str) -> Place | None:
    try:
        return place_of(ways, reader.context.tenant, path)
    except Invalid as refused:
        if refused.code != codes.E_PATH:
            raise
        return None


def _ending(reader: Reader, reference: str) -> list[str]:
    """The documents whose path ends so, by the first few."""
    ending = "/" + reference.lstrip("/")
    if not ending.endswith(SUFFIXES):
        return []
    rows = reader.rows(
        # Not LIKE: the engines differ in whether it tells capitals apart.
        "SELECT DISTINCT id FROM documents_versions WHERE tenant = :tenant"
        " AND substr(id, length(id) - :length + 1) = :ending ORDER BY id LIMIT :most",
        length=len(ending),
        ending=ending,
        most=MOST_CANDIDATES,
    )
    return [row["id"] for row in rows]


def _current(ways: Ways, reader: Reader, known: Known) -> Found | None:
    head: Version | None = head_of(reader, known.subject)
    return None if known.place is None or head is None else standing(ways, reader, known.place, head)


def _told(reason: dict[str, Any], traced: Traced) -> dict[str, Any]:
    """A write with the paragraphs that come from it. Of what was found on the disk, only who noticed it is known."""
    told = dict(reason)
    if "payload" in told:
        told["payload"] = {name: value for name, value in told["payload"].items() if name not in NOT_TOLD}
    told["fields"] = [name for name in told["fields"] if name not in NOT_TOLD]
    if told["fact"] == FOUND:
        told["noticed_by"] = told.pop("by")
    if paragraphs := _paragraphs(traced, told["version"]):
        told["paragraphs"] = paragraphs
    return told


def _paragraphs(traced: Traced, version: int) -> list[dict[str, Any]]:
    return [
        {name: one[name] for name in ("first_line", "last_line", "text")}
        for one in traced.paragraphs
        if one["version"] == version
    ]
