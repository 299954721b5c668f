"""Replies on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from rich.console import Console

from engross.replies import Reply, structured

_out = Console(highlight=False, soft_wrap=True)
_err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(answer: Reply) -> None:
    """The Reply as every other surface sends it."""
    _out.out(orjson.dumps(structured(answer, "plain"), option=orjson.OPT_INDENT_2).decode())


def print_refusal(answer: Reply) -> None:
    """What went wrong, by its code, and what would help."""
    _err.print(f"[bold red]{answer.message_key}[/] {answer.message}", markup=True)
    errors = answer.data.get("errors", ())
    for name, value in answer.data.items():
        if value and name not in ("field", "retryable") and not (name == "errors" and len(errors) == 1):
            _err.out(f"  {name}: {orjson.dumps(value).decode()}")


def print_rows(data: Mapping[str, Any]) -> None:
    """Plain facts, one a line."""
    for name, value in data.items():
        shown = value if isinstance(value, str) else orjson.dumps(value).decode()
        _out.out(f"{name.replace('_', ' ')}: {shown}")


def print_report(data: Mapping[str, Any]) -> None:
    """What a verification found, counted and could not know."""
    counts = data["counts"]
    _out.out(", ".join(f"{value} {name}" for name, value in counts.items()))
    for finding in data["findings"]:
        place = finding["position"] if finding["seal"] is None else f"seal {finding['seal']}"
        _out.out(f"FOUND {finding['kind']} in {finding['tenant']} at {place}: {finding['what']}")
    for unknown in data["unknown"]:
        _out.out(f"not known: {unknown['what']}")
    _out.out("verified" if data["verified"] else "NOT verified")
