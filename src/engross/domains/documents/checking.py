"""Checking and showing documents: what `octave_validate` and `octave_eject` answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engross.calls import Answer
from engross.replies import codes

from .drafting import MOST_TOLD, corrections, shelf_of
from .refusals import bad_input, octave_refusal, refuse_octave, told_error
from .ways import Ways

if TYPE_CHECKING:
    from engross.octave import Verdict

ROOM = 3_500_000
"""Bytes of a document that an answer has room for."""


def validated(ways: Ways, arguments: Mapping[str, Any]) -> Answer:
    """Hold a document against a schema, and make or suggest repairs."""
    from engross.octave import OctaveError, validate

    try:
        verdict = validate(arguments["content"], arguments["schema"], arguments["fix"], shelf_of(ways))
    except OctaveError as error:
        refuse_octave(error, "schema" if error.code == "E_SCHEMA" else "content")
    _refuse_large(verdict.canonical, "the canonical text")
    data = {
        "status": verdict.status,
        "canonical": verdict.canonical,
        "repairs": [one.as_data() for one in verdict.repairs[:MOST_TOLD]],
        **corrections(verdict.receipts),
        "warnings": [],
        "errors": _errors(verdict),
        "validation_status": verdict.validation_status,
    }
    if verdict.error_count > len(data["errors"]):
        data["errors_in_all"] = verdict.error_count
    return Answer(data, codes.VALIDATION_DONE, warnings=tuple(found.as_data() for found in verdict.warnings))


def ejected(ways: Ways, arguments: Mapping[str, Any]) -> Answer:
    """Show a document in another format or from another point of view; without one, the schema's template."""
    from engross.octave import OctaveError, eject

    content = arguments.get("content")
    try:
        shown = eject(content, arguments["schema"], arguments["mode"], arguments["format"], shelf_of(ways))
    except OctaveError as error:
        raise octave_refusal(error, "schema" if content is None or error.code == "E_SCHEMA" else "content") from None
    _refuse_large(shown.output, "the output")
    return Answer(
        {
            "output": shown.output,
            "name": shown.name,
            "lossy": shown.lossy,
            "fields_omitted": shown.fields_omitted,
            "left_out": shown.left_out,
            "errors": [],
            "validation_status": shown.validation_status,
        }
    )


def _errors(verdict: Verdict) -> list[dict[str, Any]]:
    unread = [told_error(error) for error in verdict.errors]
    return [*unread, *({**found.as_data(), "spec_code": found.code} for found in verdict.violations)]


def _refuse_large(text: str, what: str) -> None:
    size = len(text) if text.isascii() else len(text.encode())
    if size > ROOM:
        problem = f"{what} has {size:,} bytes, and an answer has room for {ROOM:,}"
        raise bad_input(problem, "content", "E_TOO_LARGE")
