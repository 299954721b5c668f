"""Running one flow and looking at what it does inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from engross.flows import unknown_flow
from engross.replies import Reply, reply, reply_of
from engross.replies.coded import Coded
from engross.surfaces.client import Outline

from .answering import call_and_confirm, finish
from .arguments import read_json
from .dialect import PLAIN, dialect_of
from .flow_command import WHERE_FLOWS_COME_FROM, DryRun, Yes
from .place import AsJson, Place, at_office
from .printing import print_answer, print_fields, print_refusal, say

Trace = Annotated[
    bool, typer.Option("--trace", help="Show each step's request, output and mapping. For flows of documents.")
]


@at_office
def run(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A flow: AGGREGATE.FLOW, its name alone, or its tool.")],
    arguments: Annotated[
        str, typer.Option("--arguments", "-a", metavar="ARGS", help="The arguments: JSON, @FILE, or - for stdin.")
    ] = "{}",
    trace: Trace = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Run a flow, and show what it does step by step."""
    from engross.office.trials import traced

    if place.url is not None and trace:
        raise typer.BadParameter("what a flow does inside is seen where it runs", param_hint="--trace")
    steps: Sequence[Mapping[str, Any]] = ()
    ref = name
    try:
        given = read_json(arguments)
        with place.client(may_make=True) as client, traced() as steps:
            ref = found(name, client.outlines())
            answer = call_and_confirm(client, ref, given, dry_run=dry_run, yes=yes, json=json)
    except Coded as refusal:
        answer = reply_of(refusal)
    if trace and json:
        answer = _with_trace(answer, steps)
    elif trace:
        show_steps(steps)
    dialect = dialect_of(ref, place.outlines) if json else PLAIN
    finish(answer, json=json, dialect=dialect, show=print_answer if answer.ok else print_refusal)


def found(name: str, outlines: Mapping[str, Outline], besides: Iterable[str] = ()) -> str:
    """The flow that somebody means: by its ref, by its name if no other has it, by its tool.

    `besides` are other names that would have been found; the nearest of all is suggested.
    """
    if name in outlines:
        return name
    meant = [ref for ref, one in outlines.items() if name in (one.name, one.tool)]
    if len(meant) == 1:
        return meant[0]
    tools = {one.tool: ref for ref, one in outlines.items() if one.tool}
    raise unknown_flow(name, [*besides, *outlines], tools, hint=WHERE_FLOWS_COME_FROM)


def show_steps(steps: Sequence[Mapping[str, Any]]) -> None:
    """What was done, for people."""
    for number, step in enumerate(steps, 1):
        told = dict(step)
        heading = f"{number}. {told.pop('step')} ({told.pop('type')})"
        say(heading, style="bold")
        print_fields(told, depth=1)
    if steps:
        say("")


def _with_trace(answer: Reply, steps: Sequence[Mapping[str, Any]]) -> Reply:
    told = reply(answer.code, answer.params, {**answer.data, "steps": list(steps)})
    return told if answer.trace is None else told.traced(answer.trace, answer.tool, answer.duration_ms)
