"""What a plan would change, in a form that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import orjson

from engross.calls import FactDraft

Change = Literal["add", "change", "remove"]
MARKS: Mapping[Change, str] = {"add": "+", "change": "~", "remove": "-"}
LONGEST_VALUE = 200
MOST_LINES = 400
MOST_FACTS = 1000
"""Nobody looks through more; and an answer has to be sent."""


def difference(facts: Sequence[FactDraft], unseen: int = 0) -> dict[str, Any]:
    """The difference as answers hold it. Of very many facts the first are shown, and how many more there are."""
    left = max(0, len(facts) - MOST_FACTS) + unseen
    few = facts[:MOST_FACTS]
    told: dict[str, Any] = {"diff": diff(few), "diff_text": diff_text(few)}
    if left:
        told["diff_text"] += f"\n… and {left} more facts"
        told["diff_left_out"] = left
    return told


def diff(facts: Iterable[FactDraft]) -> list[dict[str, Any]]:
    """One entry per fact: what kind of change, to what, and field by field from what to what."""
    return [_entry(fact) for fact in facts]


def diff_text(facts: Iterable[FactDraft]) -> str:
    """The same as lines of text."""
    return "\n".join(line for fact in facts for line in _lines(_entry(fact)))


def _entry(fact: FactDraft) -> dict[str, Any]:
    return {
        "change": _change(fact),
        "fact": f"{fact.aggregate}.{fact.type}",
        "subject": fact.subject,
        "version": {"from": fact.version - 1, "to": fact.version},
        "fields": _fields(fact),
    }


def _change(fact: FactDraft) -> Change:
    if fact.ends:
        return "remove"
    return "add" if fact.version == 1 else "change"


def _fields(fact: FactDraft) -> dict[str, Any]:
    before = fact.before or {}
    if fact.ends:
        return {name: {"from": value, "to": None} for name, value in before.items()}
    after = {name: value for name, value in fact.payload.items() if not fact.fields or name in fact.fields}
    return {
        name: {"from": before.get(name), "to": value}
        for name, value in after.items()
        if name not in before or before[name] != value
    }


def _lines(entry: Mapping[str, Any]) -> list[str]:
    mark = MARKS[entry["change"]]
    head = f"{mark} {entry['fact']} {entry['subject']} (version {entry['version']['from']} -> {entry['version']['to']})"
    return [head, *(line for name, change in entry["fields"].items() for line in _field(name, change, entry["change"]))]


def _field(name: str, change: Mapping[str, Any], kind: Change) -> list[str]:
    """One field in a line; a text of several lines, such as a difference, below it."""
    text = change["from" if kind == "remove" else "to"]
    if not isinstance(text, str) or "\n" not in text.rstrip("\n"):
        return [f"    {name}: {_shown(change, kind)}"]
    lines = text.rstrip("\n").split("\n")
    more = [f"        … {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return [f"    {name}:", *(f"        {line[:LONGEST_VALUE]}" for line in lines[:MOST_LINES]), *more]


def _shown(change: Mapping[str, Any], kind: Change) -> str:
    if kind == "add":
        return _value(change["to"])
    if kind == "remove":
        return _value(change["from"])
    return f"{_value(change['from'])} -> {_value(change['to'])}"


def _value(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
