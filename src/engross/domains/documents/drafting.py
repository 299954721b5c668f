"""From what a call asks for to the document as it would be: canonical, read again, and held against its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .refusals import bad_input, broken_schema, octave_refusal, refuse_octave
from .ways import LONGEST, Ways

if TYPE_CHECKING:
    from engross.octave import Document, Receipt, Shelf, Verdict

MOST_TOLD = 1000
"""Corrections in one answer; how many there were in all is told beside them."""

LONGEST_TOLD = 500
"""Characters of a text that a correction shows."""

Arguments = Mapping[str, Any]


class Draft(NamedTuple):
    """A document ready to be written, and what there is to say about it."""

    content: bytes
    name: str
    validation_status: str
    told: Mapping[str, Any]


def shelf_of(ways: Ways) -> Shelf:
    """All schemas that there are."""
    from engross.octave import Shelf

    return Shelf() if ways.schemas_folder is None else Shelf(ways.schemas_folder)


def drafted(ways: Ways, base: bytes | None, arguments: Arguments, path: str) -> Draft:
    """What a call of `octave_write` makes of the document that is there."""
    whole = arguments.get("changes") is None
    document = _given(arguments, path) if whole else _changed(base, arguments, path)
    source = arguments["content"] if whole and not arguments.get("mutations") else None
    verdict = _judged(_mutated(document, arguments), arguments.get("schema"), ways, source)
    violations = [found.as_data() for found in verdict.violations]
    if violations and ways.refuse_invalid:
        raise broken_schema(violations, verdict.error_count, path)
    assert verdict.document is not None
    content = verdict.canonical.encode()
    _refuse_too_large(len(content), "the canonical text")
    told = {
        **corrections(verdict.receipts),
        "validation_errors": violations,
        "repairs": [one.as_data() for one in verdict.repairs[:MOST_TOLD]],
        "advice": [found.as_data() for found in verdict.warnings],
    }
    if verdict.error_count > len(violations):
        told["validation_errors_in_all"] = verdict.error_count
    return Draft(content, verdict.document.name, verdict.validation_status, told)


def corrections(receipts: list[Receipt]) -> dict[str, Any]:
    """What was spelled differently, as an answer tells it."""
    if len(receipts) <= MOST_TOLD:
        return {"corrections": [_correction(receipt) for receipt in receipts]}
    # Of too many, those that somebody should look at come first.
    first = sorted(receipts, key=lambda receipt: receipt.safe)[:MOST_TOLD]
    return {"corrections": [_correction(receipt) for receipt in first], "corrections_in_all": len(receipts)}


def _correction(receipt: Receipt) -> dict[str, Any]:
    """A receipt with a code in any case: those of the format's five, or one made of its kind."""
    told = {**receipt.as_data(), "code": receipt.code or f"W_{receipt.kind.upper()}"}
    return {**told, "before": _shortened(receipt.before), "after": _shortened(receipt.after)}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]}… ({len(text):,} characters)"


def refuse_both_or_neither(arguments: Arguments) -> None:
    """Strictly one of content and changes."""
    given = [name for name in ("content", "changes") if arguments.get(name) is not None]
    if len(given) == 2:
        raise bad_input("content and changes exclude each other: give one of them", "changes")
    if not given:
        raise bad_input("give content for the whole document, or changes for some of its fields", "content")


def _given(arguments: Arguments, path: str) -> Document:
    from engross.octave import RESERVED, OctaveError, parse, refuse_reserved

    content = arguments["content"]
    _refuse_too_large(len(content), "the content")
    try:
        document = parse(content)
        if RESERVED in content:
            refuse_reserved(document)
    except OctaveError as error:
        raise _unreadable(error, "content", path) from None
    return document


def _changed(base: bytes | None, arguments: Arguments, path: str) -> Document:
    from engross.octave import OctaveError, apply_changes, parse

    try:
        document = parse(base or b"", lenient=True)
    except OctaveError as error:
        raise _unreadable(error, "target_path", path) from None
    try:
        edited = apply_changes(document, arguments["changes"]).document
    except OctaveError as error:
        refuse_octave(error, "changes", path=path)
    edited.receipts = document.receipts
    return edited


def _mutated(document: Document, arguments: Arguments) -> Document:
    from engross.octave import OctaveError, apply_mutations

    mutations = arguments.get("mutations")
    if not mutations:
        return document
    try:
        return apply_mutations(document, mutations).document
    except OctaveError as error:
        refuse_octave(error, "mutations")


def _judged(document: Document, schema: str | None, ways: Ways, source: str | None) -> Verdict:
    from engross.octave import OctaveError, validate

    try:
        return validate(document, schema, shelf=shelf_of(ways), source=source)
    except OctaveError as error:
        refuse_octave(error, "schema" if error.code == "E_SCHEMA" else "content")


def _unreadable(error: Any, field: str, path: str) -> Exception:
    from engross.octave.repair import text_repairs

    repairs = [one.as_data() for one in text_repairs(error)[:MOST_TOLD]]
    return octave_refusal(error, field, path=path, repairs=repairs)


def _refuse_too_large(size: int, what: str) -> None:
    if size > LONGEST:
        raise bad_input(f"{what} has {size:,} characters, {LONGEST:,} are the limit", "content", "E_TOO_LARGE")
