"""Writes what follows from registry.toml: codes.py, rows.py, docs/reply-codes.md and the promises in tests.

Run `python -m engross.replies.generate` after editing the registry; with --check it only says what is due.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from pathlib import Path

from .entry import Entry, check, entry_of

ROOM = Path(__file__).parent
SOURCE = ROOM / "registry.toml"
PAGE = ROOM.parents[2] / "docs" / "reply-codes.md"
SNAPSHOT = ROOM.parents[2] / "tests" / "replies" / "registry.snapshot.json"
NOTICE = "Generated from registry.toml by `python -m engross.replies.generate`."
MEANINGS = {
    "S": "Success: done as asked. Carry on.",
    "I": "Invalid: cannot be carried out as stated. Correct the input and call again.",
    "D": "Denied: valid, but refused by policy. Escalate to a person; do not look for a way round.",
    "E": "Error: our failure. Stop and report the trace id.",
}


def read_entries(source: Path = SOURCE) -> list[Entry]:
    """The entries of a registry file, in its order."""
    entries = [entry_of(code, fields) for code, fields in tomllib.loads(source.read_text("utf-8")).items()]
    check(entries)
    return entries


def codes_module(entries: Iterable[Entry]) -> str:
    """codes.py: one constant per message key."""
    lines = [f'"""Reply codes by message key. {NOTICE}"""', "", "from typing import Final", ""]
    lines += [f'{entry.key}: Final = "{entry.code}"' for entry in entries]
    return "\n".join(lines) + "\n"


def rows_module(entries: Iterable[Entry]) -> str:
    """rows.py: the entries as plain tuples, in the order of Entry's fields."""
    lines = [f'"""The registry as Python data. {NOTICE}"""', "", "# ruff: noqa: E501", "# fmt: off"]
    lines += ["from typing import Any, Final", "", "ROWS: Final[tuple[tuple[Any, ...], ...]] = ("]
    lines += [f"    {astuple(entry)!r}," for entry in entries]
    return "\n".join([*lines, ")"]) + "\n"


def page(entries: Iterable[Entry]) -> str:
    """docs/reply-codes.md: every code with its advice, by type."""
    listed = list(entries)
    lines = [f"<!-- {NOTICE} -->", "", "# Reply codes", ""]
    lines += ["Branch on the type and the code, never on the message. How codes are made and who may use which"]
    lines += ["is told in [replies](replies.md)."]
    for kind, meaning in MEANINGS.items():
        lines += ["", f"## {kind}", "", meaning]
        for entry in listed:
            if entry.type == kind:
                lines += ["", *_section(entry)]
    return "\n".join(lines) + "\n"


def _section(entry: Entry) -> list[str]:
    facts = {
        "message": f"“{entry.template}”",
        "params": ", ".join(f"`{name}` ({kind})" for name, kind in entry.params.items()),
        "HTTP": str(entry.http),
        "retryable": "yes, by a runtime and with the same key" if entry.retryable else "",
        "status": "" if entry.status == "active" else entry.status,
        "replaced by": entry.replaced_by or "",
        "since": entry.since,
    }
    told = [f"- {name}: {value}" for name, value in facts.items() if value]
    return [f"### {entry.code} {entry.key}", "", f"**{entry.title}.** {entry.advice}", "", *told]


def promised(entry: Entry) -> dict[str, object]:
    """What callers rely on, and what may therefore never change for a code."""
    return {"type": entry.type, "message_key": entry.key, "params": dict(entry.params)}


def snapshot(entries: Iterable[Entry], earlier: Mapping[str, object]) -> str:
    """Every promise ever made: new codes are added, what was promised before stays as it was."""
    promises = {**{entry.code: promised(entry) for entry in entries}, **earlier}
    return json.dumps(dict(sorted(promises.items())), indent=1) + "\n"


def _earlier() -> dict[str, object]:
    return dict(json.loads(SNAPSHOT.read_text("utf-8"))) if SNAPSHOT.exists() else {}


def outputs(source: Path = SOURCE) -> Mapping[Path, str]:
    """Every generated file with the text it should have."""
    entries = read_entries(source)
    return {
        ROOM / "codes.py": codes_module(entries),
        ROOM / "rows.py": rows_module(entries),
        PAGE: page(entries),
        SNAPSHOT: snapshot(entries, _earlier()),
    }


def stale() -> list[Path]:
    """The generated files that do not say what the registry says."""
    return [path for path, text in outputs().items() if not path.exists() or path.read_text("utf-8") != text]


def main(arguments: list[str]) -> int:
    """Write the stale files, or with --check only name them."""
    due = stale()
    for path in due:
        print(f"{'stale' if '--check' in arguments else 'written'}: {path.name}")
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(outputs()[path], "utf-8")
    return 1 if due and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
