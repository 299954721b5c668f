"""From a Reply to the end of a command: what is printed, and with which exit code it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import typer

from engross.replies import Coded, Reply, Trace, codes, exit_code, record_crash, reply, reply_of
from engross.surfaces.client import Client

from .printing import print_answer, print_diff, print_json, print_refusal

FINDINGS = 1
"""The exit code of a command that looked for something bad and found it."""

NOTHING: Mapping[str, Any] = MappingProxyType({})

Show = Callable[[Reply], None]


def finish(answer: Reply, *, json: bool, dialect: str = "plain", show: Show = print_answer) -> Reply:
    """Print the Reply; one that is no success ends the program with its exit code."""
    if json:
        print_json(answer, dialect)
    elif answer.ok:
        show(answer)
    else:
        print_refusal(answer)
    if not answer.ok:
        raise typer.Exit(exit_code(answer))
    return answer


def attempt(work: Callable[[], Reply]) -> Reply:
    """The Reply of some work, or what it was refused with; what lies behind a failure goes to the crash log."""
    try:
        return work()
    except Coded as refusal:
        answer, trace = reply_of(refusal), Trace.new()
        if refusal.__cause__ is not None:
            record_crash(trace.trace_id, refusal)
            answer = answer.traced(trace)
        return answer


def call_and_confirm(
    client: Client, flow: str, arguments: Mapping[str, Any], *, dry_run: bool = False, yes: bool = False, json: bool
) -> Reply:
    """Call a flow. What has to be confirmed is shown, and done if the person at the terminal says so."""
    answer = client.call(flow, arguments, dry_run=dry_run)
    token = answer.data.get("confirm_token")
    if answer.code != codes.CONFIRMATION_REQUIRED or token is None or not (yes or (can_ask() and not json)):
        return answer
    if not yes and not _agreed(answer):
        return _declined()
    return client.call(flow, {**arguments, "confirm_token": token})


def can_ask() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_agreed(question: str) -> bool:
    """Ask the person; whatever is no yes is a no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def require_agreement(
    question: str, *, json: bool, otherwise: str, shown: Mapping[str, Any] = NOTHING, dialect: str = "plain"
) -> None:
    """Go on if the person says yes. Else the command ends here; `otherwise` is what helps where nobody can be asked."""
    if json or not can_ask():
        code = codes.CONFIRMATION_REQUIRED  # reply-lint: L7 because a person would be asked here
        told = reply(code, data={**shown, "hint": f"Nobody can be asked here. {otherwise}"})
        finish(told, json=json, dialect=dialect)
    if not is_agreed(question):
        finish(_declined(), json=json)


def _declined() -> Reply:
    return reply(codes.CONFIRMATION_DECLINED)  # reply-lint: L7 because the person was asked here


def _agreed(answer: Reply) -> bool:
    print_diff(str(answer.data.get("diff_text", "")), stream=sys.stderr)
    return is_agreed(f"{answer.message} Do it?")
