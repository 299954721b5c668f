"""`engross why`: how something came to be what it is, back to whoever wanted and approved it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from engross.replies import Reply

from .answering import finish
from .place import AsJson, Place, at_office
from .printing import print_fields, say

WHY = "record.why"
SHOWN_OF_PAYLOAD = 12


@at_office
def why(
    place: Place,
    of: Annotated[str, typer.Argument(metavar="WHAT", help="An element or another subject, by its id or name.")],
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


def _show_one(found: Mapping[str, Any]) -> None:
    say(_heading(found), style="bold")
    for reason in found["reasons"]:
        _show_reason(reason)
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
    shown = next((value for value in found.values() if isinstance(value, Mapping) and "name" in value), None)
    gone = " (gone)" if found.get("is_deleted") else ""
    if shown is None:
        return f"{found['aggregate']} {found['subject']}{gone}"
    return f"{shown.get('type', found['aggregate'])} {shown['name']} ({found['subject']}){gone}"


def _show_reason(reason: Mapping[str, Any]) -> None:
    by = reason["by"]
    say(f"{reason['time'][:19].replace('T', ' ')}  {reason['fact']}  version {reason['version']}", style="cyan")
    payload = reason.get("payload") or {}
    shown = {name: payload.get(name) for name in list(reason["fields"])[:SHOWN_OF_PAYLOAD] if name in payload}
    print_fields({"erased": True} if reason.get("erased") else shown, depth=2)
    receipt = reason["receipt"]
    print_fields(
        _there(
            by=f"{by['id']} ({by['type']})",
            flow=reason["flow"],
            reason=reason.get("reason"),
            proposal=reason.get("proposal"),
            approved=", ".join(reason.get("approvers", ())) or None,
            receipt=f"position {receipt['position']}, facts {str(receipt['facts_digest'])[:16]}…",
        ),
        depth=1,
    )


def _there(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
