"""`engross why`: how something came to be what it is, back to whoever wanted and approved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeGuard

import typer

from engross.replies import Reply

from .answering import finish
from .place import AsJson, Place, at_office
from .printing import print_fields, say

WHY = "record.why"
SHOWN_OF_PAYLOAD = 12
FACT_BY_FIELD = "fields"
"""What an account tells of each field, so that the names in it are those of fields."""


@at_office
def why(
    place: Place,
    of: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="An element, an entity or a document by its id, name or path; anything else by its id."
        ),
    ],
    field: Annotated[str | None, typer.Option(help="Only what set this field.")] = None,
    aggregate: Annotated[str | None, typer.Option(help="Only ask this aggregate.")] = None,
    json: AsJson = False,
) -> None:
    """Tell why something is what it is: its facts, who wanted and who approved them, receipts, open proposals."""
    asked = {"of": of, "field": field, "aggregate": aggregate}
    with place.client() as client:
        answer = client.call(WHY, {name: value for name, value in asked.items() if value is not None})
    finish(answer, json=json, show=_show)


def _show(answer: Reply) -> None:
    for number, found in enumerate(answer.data["found"]):
        if number:
            say("")
        _show_one(found)
    if others := answer.data.get("ambiguous"):
        say("")
        say(f"{answer.data['of']} could also mean", style="bold")
        for other in others:
            say(f"  {other['aggregate']} {other.get('type', '')} {other['id']}".replace("  ", " "), style="yellow")


def _show_one(found: Mapping[str, Any]) -> None:
    say(_heading(found), style="bold")
    told, in_all = len(found["reasons"]), found.get("reasons_in_all", 0)
    if told < in_all:
        say(f"the last {told} of {in_all} facts", style="yellow")
    for reason in found["reasons"]:
        _show_reason(reason)
    if outside := found.get("unrecorded"):
        say("not on the record: written without the office", style="yellow")
        print_fields(_lines(outside), depth=2)
    for proposal in found["proposals"]:
        author = proposal["proposed_by"]
        say(f"{proposal['status']}: {proposal['summary']}", style="yellow")
        print_fields(
            _there(
                proposal=proposal["id"],
                by=f"{author['actor_id']} ({author['actor_type']})",
                reason=proposal.get("reason"),
                since=proposal["created_at"],
            ),
            depth=1,
        )


def _heading(found: Mapping[str, Any]) -> str:
    """What it is, as far as its domain says so."""
    shown = next((value for key, value in found.items() if key != FACT_BY_FIELD and _is_named(value)), None)
    gone = " (gone)" if found.get("is_deleted") else " (only proposed)" if found.get("is_proposed") else ""
    if shown is None:
        return f"{found['aggregate']} {found['subject']}{gone}"
    subject = "" if found["subject"] == shown["name"] else f" ({found['subject']})"
    return f"{shown.get('type', found['aggregate'])} {shown['name']}{subject}{gone}"


def _is_named(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping) and "name" in value


def _show_reason(reason: Mapping[str, Any]) -> None:
    say(f"{reason['time'][:19].replace('T', ' ')}  {reason['fact']}  version {reason['version']}", style="cyan")
    print_fields({"erased": True} if reason.get("erased") else _said(reason), depth=2)
    receipt = reason["receipt"]
    print_fields(
        _there(
            by=_somebody(reason.get("by")),
            noticed_by=_somebody(reason.get("noticed_by")),
            flow=_flow(reason["flow"], reason.get("flow_version")),
            planned=", ".join(_flow(plan["flow"], plan["version"]) for plan in reason.get("plans", ())) or None,
            reason=reason.get("reason"),
            source=_source(reason),
            read_at={name: _span(span) for name, span in reason.get("spans", {}).items()} or None,
            withdrawn=reason.get("withdrawn_at"),
            proposal=reason.get("proposal"),
            approved=", ".join(reason.get("approvers", ())) or None,
            committed=reason.get("committed_at"),
            receipt=f"position {receipt['position']}, facts {str(receipt['facts_digest'])[:16]}…",
        ),
        depth=1,
    )


def _said(reason: Mapping[str, Any]) -> dict[str, Any]:
    """What the fact says: the lines that come from it, or the values of its fields."""
    if "paragraphs" in reason:
        return _lines(reason["paragraphs"])
    payload = reason.get("payload") or {}
    return {name: payload.get(name) for name in list(reason["fields"])[:SHOWN_OF_PAYLOAD] if name in payload}


def _lines(paragraphs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {_place(one): _shortened(one["text"]) for one in paragraphs}


def _place(paragraph: Mapping[str, Any]) -> str:
    first, last = paragraph["first_line"], paragraph["last_line"]
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _shortened(text: str) -> str:
    lines = text.splitlines()
    return text if len(lines) <= SHOWN_OF_PAYLOAD else "\n".join([*lines[:SHOWN_OF_PAYLOAD], "…"])


def _flow(ref: str, version: str | None) -> str:
    return ref if version is None else f"{ref} {version}"


def _somebody(who: Mapping[str, Any] | None) -> str | None:
    return None if who is None else f"{who['id']} ({who['type']})"


def _source(reason: Mapping[str, Any]) -> str | None:
    """What it was read from: the file by its name, or the record."""
    record = reason.get("source_record")
    if record is None:
        return None
    return " ".join(part for part in (record.get("name"), record["type"], record["id"]) if part)


def _span(span: Mapping[str, Any]) -> str:
    """The place in a source, as `139 to 148, page 2`."""
    told = [f"{span['start']} to {span['end']}"] if {"start", "end"} <= span.keys() else []
    return ", ".join([*told, *(f"{name} {value}" for name, value in span.items() if name not in ("start", "end"))])


def _there(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
