"""Calling flows, looking them up, and reading what came of them."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import orjson
import typer

from engross.replies import Coded, Reply, codes, reply, reply_of
from engross.surfaces.client import Client

from .answering import attempt, call_and_confirm, finish
from .arguments import read_json
from .dialect import PLAIN, dialect_of
from .flow_command import DryRun, Output, Yes
from .flow_run import found
from .place import AsJson, Place, at_office
from .printing import print_fields, print_json, print_table, say

READ_FACTS = "record.read-facts"
COMMITS_AT_ONCE = 100


@at_office
def call(
    place: Place,
    flow: Annotated[
        str, typer.Argument(metavar="AGGREGATE.FLOW", help="The flow, or its tool, as `engross flows` lists it.")
    ],
    misplaced: Annotated[str | None, typer.Argument(hidden=True, metavar="--json ARGS")] = None,
    json: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="ARGS",
            help="The arguments: JSON, @FILE, or - for standard input. The answer is JSON then, too.",
        ),
    ] = None,
    as_json: Output = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Call a flow by its ref, or by the name of its tool."""
    if misplaced is not None:
        raise typer.BadParameter("arguments come behind it", param_hint="--json")
    answers_json = json is not None if as_json is None else as_json
    ref = flow
    try:
        arguments = {} if json is None else read_json(json)
        with place.client(may_make=True) as client:
            if "." not in flow:
                ref = found(flow, client.outlines())
            answer = call_and_confirm(client, ref, arguments, dry_run=dry_run, yes=yes, json=answers_json)
            dialect = dialect_of(ref, client.outlines) if answers_json else PLAIN
    except Coded as refusal:
        answer = reply_of(refusal)
        dialect = dialect_of(ref, place.outlines) if answers_json else PLAIN
    finish(answer, json=answers_json, dialect=dialect)


@at_office
def flows(
    place: Place,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="An aggregate to list, or a flow to describe, as `engross flow run` takes it."
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """List what an office can do, or describe one flow."""

    def work() -> Reply:
        outlines = place.outlines()
        chosen = [one for one in outlines.values() if name in (None, one.namespace)]
        if name is None or chosen:
            return reply(codes.SYS_OK, data={"flows": [one.summary() for one in chosen]})
        aggregates = {one.namespace for one in outlines.values()}
        return reply(codes.SYS_OK, data={"flow": outlines[found(name, outlines, aggregates)].as_data()})

    finish(attempt(work), json=json, show=_show_flows)


@at_office
def facts(
    place: Place,
    after: Annotated[int, typer.Option(help="Only what is behind this position of the ledger.", min=0)] = 0,
    limit: Annotated[int | None, typer.Option(help="So many commits at the most.", min=1)] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more, until interrupted.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks, when following.", min=0.05)] = 1.0,
    json: AsJson = False,
) -> None:
    """Print what was recorded, fact by fact. With --json the first page as a Reply, or one a line when following."""
    found = False
    with place.client() as client:
        for page in _pages(client, after, limit, every if follow else None):
            if not (json and follow and page.ok):
                finish(page, json=json, show=_show_facts)
            elif page.data["facts"]:
                print_json(page, in_one_line=True)
            if json and not follow:
                break
            found = found or bool(page.data["facts"])
    if not (found or json):
        say("no facts")


def _pages(client: Client, after: int, limit: int | None, every: float | None) -> Iterator[Reply]:
    left = limit
    while left is None or left > 0:
        page = client.call(READ_FACTS, {"after": after, "limit": min(left or COMMITS_AT_ONCE, COMMITS_AT_ONCE)})
        yield page
        commits = {fact["position"] for fact in page.data["facts"]}
        after = page.data["next"]
        left = None if left is None else left - len(commits)
        if not commits:
            if every is None:
                return
            time.sleep(every)


def _show_facts(page: Reply) -> None:
    for fact in page.data["facts"]:
        kind = fact["type"].partition(".fact.")[2] or fact["type"]
        source = fact["source"].rpartition(":")[2]
        say(f"{fact['position']}  {fact['time']}  {source}.{kind}  {fact['subject']}", style="cyan")
        payload = fact["data"]["payload"]
        print_fields({"erased": True} if payload is None else payload, depth=2)


def _show_flows(answer: Reply) -> None:
    listed = [answer.data["flow"]] if "flow" in answer.data else answer.data["flows"]
    if "flow" in answer.data:
        _show_flow(answer.data["flow"])
    else:
        rows = [{**flow, "description": _first_line(flow["description"])} for flow in listed]
        print_table(rows, ("flow", "kind", "tool", "description"))
    _tell_what_is_shadowed(dict.fromkeys(flow["flow"].partition(".")[0] for flow in listed))


def _tell_what_is_shadowed(namespaces: Iterable[str]) -> None:
    from .commands import shadowed

    for name in shadowed(namespaces):
        told = f"`engross {name}` is another command: the flows of {name} are called by `engross call {name}.FLOW`."
        say(told, style="yellow", stream=sys.stderr)


def _show_flow(flow: Mapping[str, Any]) -> None:
    say(f"{flow['flow']} {flow['version']} ({flow['kind']})", style="bold")
    say(flow["description"].strip())
    arguments = flow["arguments"]
    needed = arguments.get("required", ())
    rows = [
        {
            "argument": name,
            "type": _type(part),
            "needed": "yes" if name in needed else "",
            "description": part.get("description", ""),
        }
        for name, part in arguments.get("properties", {}).items()
    ]
    if rows:
        say("")
        print_table(rows, ("argument", "type", "needed", "description"))
    for example in flow["examples"]:
        say("")
        say(f"{example['title']} -> {example['reply']}", style="bold")
        lines = [_command(*one) for one in (*example["given"], (flow["flow"], example["arguments"]))]
        for number, line in enumerate(lines):
            say(f"  {line}")
            if any(f'"${number}.' in later for later in lines[number + 1 :]):
                say(f"  # ${number}.… stands for what is at that place of its answer")


def _command(ref: str, arguments: Mapping[str, Any]) -> str:
    return f"engross call {ref} --json {shlex.quote(orjson.dumps(arguments).decode())}"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return "|".join(kind) if isinstance(kind, list) else str(kind)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
