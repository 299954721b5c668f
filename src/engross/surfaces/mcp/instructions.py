"""What a model is told about the office before its first call, in less than two kilobytes."""

from __future__ import annotations

from engross.surfaces.desk import Desk

MOST_BYTES = 2048
MOST_NAMED = 12

TEXT = """\
Engross keeps a record that people can trust. Agents draft; where policy says so a person decides; what is committed \
is kept with its author, its reason and a receipt.

Every answer has `reply`: branch on reply.reply_type and reply.code, never on the message.
S: done. If status is "proposed", a person has to approve it: give them the proposal's id and do not repeat the call.
I: the call does not fit. Mend it with errors, did_you_mean and allowed_values, and call again.
D: not allowed, or to be confirmed first. Do not look for a way around it; tell the person. CONFIRMATION_REQUIRED \
shows what would change: if the person agrees, repeat the call with its confirm_token.
E: our failure. Stop and report reply.trace_id. Repeat only if retryable, with the same client_request_id.

Writing: call {validate} first; it finds all errors and changes nothing. Make up one client_request_id per intended \
change, and send the same one whenever you repeat it: nothing is done twice. Say why in `reason`. With `proposal_id` a \
call sees and extends an open proposal; commit_mode "draft" collects changes until submitProposal, which run_flow \
reaches. Approving is for people, elsewhere.

Not every call is listed as a tool: find_flow finds them by words, describe_flow shows what one takes, run_flow runs it.
Here: {toolsets}.
Resources: subscribe to engross://proposals/{{proposal_id}} to hear the decision, and to \
engross://facts/{{aggregate}}/{{subject}} to hear of changes. Identity comes from your credential; do not send it."""


def instructions(desk: Desk) -> str:
    """The instructions for this desk."""
    tool = desk.find("record.validate-write")
    named = [f"{name} ({_outlined(desk, name)})" for name in desk.toolsets]
    validate = tool.name if tool is not None else "the write with dry_run"
    told = TEXT.format(validate=validate, toolsets="; ".join(named[:MOST_NAMED]))
    return told if len(told.encode()) < MOST_BYTES else TEXT.format(validate=validate, toolsets=_brief(desk))


def _outlined(desk: Desk, toolset: str) -> str:
    display = {one.namespace: one.display for one in desk.catalogue.aggregates}.get(toolset)
    count = len(desk.catalogue.tools([toolset]))
    calls = "1 call" if count == 1 else f"{count} calls"
    return f"{display}, {calls}" if display else calls


def _brief(desk: Desk) -> str:
    return ", ".join(desk.toolsets[:MOST_NAMED])
