"""Proposals before a person: what waits, what it would change, and the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from engross.replies import Reply

from .answering import finish, require_agreement
from .flow_command import Namespace
from .place import AsJson, Place, any_office, at_office, with_signature
from .printing import print_diff, print_fields, say

GET, LIST, REVIEW = "proposals.get-proposal", "proposals.list-proposals", "proposals.review-proposal"
EVERY_STATE = "all"
NOBODY_TO_ASK = "Look at the proposal; then add --yes, or --approval-token to approve what was shown."

app = typer.Typer(cls=Namespace, no_args_is_help=True, help="Look at what was proposed, and decide.")
app.callback()(with_signature(any_office, ()))

ProposalId = Annotated[str, typer.Argument(metavar="ID", help="The proposal.")]
Rationale = Annotated[str | None, typer.Option("--rationale", "-m", help="Why; needed for everything but approving.")]


@app.command("list")
@at_office
def list_(
    place: Place,
    status: Annotated[str, typer.Option(help="Only those in this state, or `all`.")] = "proposed",
    author: Annotated[str | None, typer.Option(help="Only those by this principal.")] = None,
    target: Annotated[str | None, typer.Option(help="Only those that touch AGGREGATE/SUBJECT.")] = None,
    limit: Annotated[int | None, typer.Option(help="So many at the most.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    json: AsJson = False,
) -> None:
    """List proposals, by default those that wait for a decision."""
    asked = {"author": author, "target": target, "limit": limit, "cursor": cursor}
    asked["status"] = None if status == EVERY_STATE else status
    with place.client() as client:
        answer = client.call(LIST, _given(asked))
    finish(answer, json=json, show=_show_page)


@app.command()
@at_office
def show(place: Place, proposal: ProposalId, json: AsJson = False) -> None:
    """Show a proposal: what it would change, on what it builds, who decided what."""
    with place.client() as client:
        answer = client.call(GET, {"proposal_id": proposal})
    finish(answer, json=json, show=_show_whole)


@app.command()
@at_office
def approve(
    place: Place,
    proposal: ProposalId,
    rationale: Rationale = None,
    operation: Annotated[
        list[int] | None, typer.Option(help="Only this operation, by its number; may be repeated.")
    ] = None,
    approval_token: Annotated[
        str | None, typer.Option(help="Approve what was shown with this token, and nothing that came after, unasked.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: AsJson = False,
) -> None:
    """Show what a proposal would change, ask, and commit exactly that."""
    with place.client() as client:
        shown = client.call(GET, {"proposal_id": proposal})
        if not shown.ok:
            finish(shown, json=json)
        if not json:
            _show_whole(shown)
        token = approval_token or shown.data.get("approval_token")
        # Without a token there is nothing to agree to: the office says why. One that was brought is a word given.
        if token is not None and approval_token is None and not yes:
            # People have seen the rest already, above.
            told = shown.data if json else {"approval_token": token}
            require_agreement("Approve and commit this?", json=json, shown=told, otherwise=NOBODY_TO_ASK)
        decided = {"proposal_id": proposal, "decision": "approve", "approval_token": token}
        answer = client.call(REVIEW, _given({**decided, "rationale": rationale, "operations": operation or None}))
    finish(answer, json=json, show=_show_decision)


@app.command()
@at_office
def reject(
    place: Place,
    proposal: ProposalId,
    rationale: Rationale = None,
    request_changes: Annotated[
        bool, typer.Option("--request-changes", help="Hand it back to its author instead of ending it.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Refuse a proposal, or hand it back, and say why."""
    decision = "request_changes" if request_changes else "reject"
    with place.client() as client:
        answer = client.call(REVIEW, _given({"proposal_id": proposal, "decision": decision, "rationale": rationale}))
    finish(answer, json=json, show=_show_decision)


def _show_page(answer: Reply) -> None:
    for proposal in answer.data["proposals"]:
        since = proposal["created_at"][:16].replace("T", " ")
        about = (proposal["id"], proposal["status"], since, f"risk {proposal['risk_tier']}", _author(proposal))
        say("  ".join(about), style="bold")
        say(f"    {proposal['summary']}")
    if not answer.data["proposals"]:
        say("no proposals")
    if answer.data["next_cursor"]:
        say(f"more: --cursor {answer.data['next_cursor']}")


def _show_whole(answer: Reply) -> None:
    proposal = answer.data["proposal"]
    say(f"{proposal['id']} ({proposal['status']}): {proposal['summary']}", style="bold")
    told = {
        "by": _author(proposal),
        "reason": proposal["reason"],
        "risk tier": proposal["risk_tier"],
        "approvals": f"{len(proposal['approvals'])} of {proposal['approvals_required']}",
        "since": proposal["created_at"],
        "until": proposal["expires_at"],
        "operations": [f"{one['ordinal']} {one['operation']} {one['version']}" for one in proposal["operations"]],
        "warnings": [warning for one in proposal["operations"] for warning in one.get("warnings", ())],
        "decisions": [
            {name: value for name, value in one.items() if value is not None} for one in proposal["decisions"]
        ],
        "carried out": [one["carried_out"] for one in proposal["operations"] if "carried_out" in one],
        "moved since": proposal["moved"],
    }
    print_fields({name: value for name, value in told.items() if value not in (None, [])})
    say("")
    print_diff(answer.data["diff_text"])
    # What has no preview calls another system: nothing of ours will differ, so the arguments are what there is to see.
    print_fields({one["operation"]: one["arguments"] for one in proposal["operations"] if not one["preview"]})
    if missing := [one["flow"] for one in proposal["moved"] if one.get("what") == "flow" and one["to"] is None]:
        say(f"This office was opened without {', '.join(missing)}.", style="yellow")
    elif proposal["stale"]:
        say("What it builds on has changed: bring it up to date with rebase-proposal.", style="yellow")


def _show_decision(answer: Reply) -> None:
    say(f"{answer.message_key} {answer.message}", style="bold green")
    told = {
        "results": [one for one in answer.data.get("results", ()) if one["answer"] is not None],
        "carried out": [
            {"operation": one["operation"], "reply": one["message_key"], "answer": one["data"]}
            for one in answer.data.get("carried_out", ())
        ],
        **{name: answer.data.get(name) for name in ("position", "left_out")},
    }
    print_fields({name: value for name, value in told.items() if value})


def _author(proposal: Mapping[str, Any]) -> str:
    return f"{proposal['proposed_by']['actor_id']} ({proposal['proposed_by']['actor_type']})"


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
