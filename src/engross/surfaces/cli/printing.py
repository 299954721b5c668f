"""Replies on a terminal: in colour and in tables for people, as plain lines for pipes, as JSON for programs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import orjson

from engross.replies import Reply, Trace, codes, crash_log, structured
from engross.visible import visible

from .looks import is_fancy

if TYPE_CHECKING:
    from rich.console import Console

INDENT = "  "
READING = """python3 -c 'import json; print(json.loads(input())["stack"])'"""
KEPT_WHOLE = 40
"""Columns of so many characters are not broken up in a table, and others are not narrower than the next number."""
NARROWEST = 12
DIFF_STYLES = {"+": "green", "-": "red", "~": "yellow"}
_FOR_PROGRAMS = ("facts",)
"""What a write says of itself. The facts that a read shows are what was asked for."""
_ONLY_IF_ANY = ("warnings", "suggestions", "idempotent_replay")
_SAID_ELSEWHERE = ("retryable",)
_TOLD_WITH_EACH = ("field", "suggestions", "details")
_FOR_PROGRAMS_IN_AN_ERROR = ("reply_code", "pointer")
Row = tuple[str, str, str]
"""A line of an answer: how far in, the name, the value."""


def print_json(answer: Reply, dialect: str = "plain", *, in_one_line: bool = False) -> None:
    """The Reply as every other surface sends it: always with a trace, even if no call came of it."""
    told = answer if answer.trace is not None else answer.traced(Trace.new())
    option = orjson.OPT_APPEND_NEWLINE | (0 if in_one_line else orjson.OPT_INDENT_2)
    sys.stdout.flush()
    sys.stdout.buffer.write(orjson.dumps(structured(told, dialect), option=option))
    sys.stdout.buffer.flush()


def print_answer(answer: Reply) -> None:
    """What came of a call: for a write that it was made, then the fields of the answer."""
    is_read = answer.entry.area == "READ"
    if not is_read:
        again = " This is the answer of the first time." if answer.data.get("idempotent_replay") else ""
        say(f"{answer.message_key} {answer.message}{again}", style="bold green")
    told = {name: value for name, value in answer.data.items() if value or name not in _ONLY_IF_ANY}
    difference = told.pop("diff_text", None)
    for name in (*(() if is_read else _FOR_PROGRAMS), *(() if difference is None else ("diff",))):
        told.pop(name, None)
    print_fields(told)
    if difference:
        print_diff(difference)


def print_refusal(answer: Reply) -> None:
    """What went wrong, by its code, and what would help."""
    say(f"{answer.message_key} {answer.message}", style="bold red", stream=sys.stderr)
    told = {name: value for name, value in answer.data.items() if value and name not in _SAID_ELSEWHERE}
    errors = told.pop("errors", ())
    difference = told.pop("diff_text", None)
    for error in errors:
        if len(errors) > 1:
            say(f"{INDENT}{error.get('field') or 'the whole'}: {error['message']}", stream=sys.stderr)
            print_fields(_readable(error.get("details")), stream=sys.stderr, depth=2)
            print_fields(error.get("suggestions") or {}, stream=sys.stderr, depth=2)
    if len(errors) > 1:
        told = _without(told, _TOLD_WITH_EACH)
    elif details := _readable(told.pop("details", None)):
        print_fields({"details": details}, stream=sys.stderr, depth=1)
    if len(errors) > 1 or difference:
        told = _without(told, ("suggestions", "diff"))
    if answer.reply_type == "E" and answer.trace_id:
        told["trace_id"] = answer.trace_id
    if answer.code == codes.SYS_CRASH:
        told |= _where_the_stack_lies(answer)
    print_fields(told, stream=sys.stderr, depth=1)
    if difference:
        print_diff(difference, stream=sys.stderr)


def _readable(details: object) -> Mapping[str, Any]:
    """What is known besides what the message says; where that are errors of their own, each as people read it."""
    if not isinstance(details, Mapping) or "rule" in details:
        return {}
    inside = details.get("errors")
    if not isinstance(inside, list | tuple) or not all(isinstance(error, Mapping) for error in inside):
        return details
    errors = [_without(error, _FOR_PROGRAMS_IN_AN_ERROR) for error in inside]
    return {**_without(details, _TOLD_WITH_EACH), "errors": errors}


def _without(told: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in names}


def _where_the_stack_lies(answer: Reply) -> dict[str, str]:
    """In the log of this process, with a line that shows it, or else in that of the office that answered."""
    log = crash_log()
    if answer.trace_id is None or not log.holds(answer.trace_id):
        return {
            "hint": "The stack is under this trace id in logs/crashes.jsonl of the office's data folder, where it runs."
        }
    found = f"grep {answer.trace_id} {shlex.quote(str(log.path.absolute()))}"
    return {"hint": f"The stack is under this trace id in {log.path}.", "to_read_it": f"{found} | {READING}"}


def print_fields(data: Mapping[str, Any], *, stream: IO[str] | None = None, depth: int = 0) -> None:
    """The fields of an answer, one a line; what is inside others, further in."""
    stream = stream or sys.stdout
    for pad, name, value in _rows(data, depth):
        if is_fancy(stream):
            from rich.text import Text

            _console(stream).print(Text.assemble(pad, (name, "cyan"), " " if name and value else "", value))
        else:
            print(f"{pad}{name}{' ' if name and value else ''}{value}", file=stream)


def print_diff(text: str, *, stream: IO[str] | None = None) -> None:
    """What a write would change, or changed."""
    style = "white"
    for line in visible(text).splitlines():
        style = DIFF_STYLES.get(line[:1], style)
        say(line, style=style, stream=stream)


def print_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """One line for each row."""
    cells = [[visible(_told(row.get(column))) for column in columns] for row in rows]
    headings = [column.replace("_", " ") for column in columns]
    widths = [max(len(line[place]) for line in [headings, *cells]) for place in range(len(columns))]
    if is_fancy(sys.stdout):
        _print_fancy_table(headings, cells, widths)
        return
    for line in [headings, *cells]:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


def _print_fancy_table(headings: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int]) -> None:
    """Codes and numbers stay whole, longer texts go on in the next line; nothing is left out in a narrow window."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading, width in zip(headings, widths, strict=True):
        table.add_column(heading, no_wrap=width <= KEPT_WHOLE, overflow="fold")
    for line in cells:
        table.add_row(*map(Text, line))
    console = _console(sys.stdout)
    console.width = max(console.width, sum(len(INDENT) + (w if w <= KEPT_WHOLE else NARROWEST) for w in widths))
    console.print(table, soft_wrap=False)


def print_report(data: Mapping[str, Any]) -> None:
    """What a verification found, counted and could not know."""
    print_counts(data["counts"])
    for tenant, chain in data["tenants"].items():
        for tenure in chain["keys"] if len(chain["keys"]) > 1 else ():
            say(f"{tenant}: seals {tenure['first']} to {tenure['last']} by the key {tenure['public_key']}")
    for finding in data["findings"]:
        say(f"FOUND {finding['kind']}{_place_of(finding)}: {finding['what']}", style="red")
    for unknown in data["unknown"]:
        say(f"not known: {unknown['what']}")
    say("verified" if data["verified"] else "NOT verified", style="bold green" if data["verified"] else "bold red")


def _place_of(finding: Mapping[str, Any]) -> str:
    """Where a finding was made, as far as it is at a place."""
    tenant, position, seal = finding["tenant"], finding["position"], finding["seal"]
    at = position if seal is None else f"seal {seal}"
    return ("" if tenant is None else f" in {tenant}") + ("" if at is None else f" at {at}")


def print_counts(counts: Mapping[str, int]) -> None:
    """How many there are of what is named in the plural."""
    say(", ".join(f"{count} {name.removesuffix('s') if count == 1 else name}" for name, count in counts.items()))


def say(text: str, *, style: str = "", stream: IO[str] | None = None) -> None:
    """A line of text."""
    stream = stream or sys.stdout
    if style and is_fancy(stream):
        from rich.text import Text

        _console(stream).print(Text(visible(text), style))
    else:
        print(visible(text), file=stream)


def _rows(data: Mapping[str, Any], depth: int) -> Iterator[Row]:
    for name, value in data.items():
        yield from _named_rows(f"{visible(str(name))}:", value, depth)


def _named_rows(name: str, value: Any, depth: int) -> Iterator[Row]:
    pad = INDENT * depth
    if isinstance(value, Mapping) and value:
        yield pad, name, ""
        yield from _rows(value, depth + 1)
    elif isinstance(value, list | tuple) and value:
        yield pad, name, ""
        for item in value:
            yield from _item_rows(item, depth + 1)
    elif isinstance(value, str) and "\n" in value:
        yield pad, name, ""
        yield from ((f"{pad}{INDENT}", "", visible(line)) for line in value.splitlines())
    else:
        yield pad, name, visible(_told(value))


def _item_rows(item: Any, depth: int) -> Iterator[Row]:
    """An item of a list: behind a dash, its further lines below each other."""
    if not isinstance(item, Mapping) or not item:
        yield INDENT * depth, "-", visible(_told(item))
        return
    for number, (pad, name, value) in enumerate(_rows(item, depth + 1)):
        yield (f"{INDENT * depth}- " if number == 0 else pad), name, value


def _told(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "-" if value is None else orjson.dumps(value).decode()


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, soft_wrap=True)
