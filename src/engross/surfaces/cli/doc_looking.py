"""Looking at documents one by one: what is wrong with each, and what it would be in its canonical form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import typer

from .answering import FINDINGS
from .doc_files import STDIN, SUFFIXES, Finding, Looked, each, files_in, read, tell
from .printing import say

if TYPE_CHECKING:
    from engross.octave import Shelf

Put = Callable[[str, bytes, bytes], list[Finding]]
"""Writes a document in the place of what it was; says what hindered that."""


def validated(path: str, schema: str | None, fix: bool, shelf: Shelf, put: Put) -> Looked:
    """Hold a file against a schema, and mend it if that is asked for."""
    from engross.octave import OctaveError
    from engross.octave import validate as judge

    try:
        content = read(path)
        verdict = judge(content, schema, fix, shelf)
    except OctaveError as error:
        return Looked(path, [Finding.of(error)], {"status": "error", "validation_status": "UNVALIDATED"})
    wrong = [Finding.of(error) for error in verdict.errors]
    wrong += [Finding(one.code, f"{one.field} {one.message}", one.line or None) for one in verdict.violations]
    if schema is not None and verdict.validation_status == "PENDING_INFRASTRUCTURE":
        wrong.append(Finding("W_SCHEMA_MISSING", f"there is no schema {schema}"))
    more: dict[str, Any] = {"status": verdict.status, "validation_status": verdict.validation_status}
    more["repairs"] = [one.as_data() for one in verdict.repairs]
    more["warnings"] = [found.as_data() for found in verdict.warnings]
    if verdict.error_count > len(wrong):
        more["errors_in_all"] = verdict.error_count
    if fix and any(one.applied for one in verdict.repairs) and verdict.canonical:
        wrong += put(path, content, verdict.canonical.encode())
        more["changed"] = True
    return Looked(path, wrong, more)


def formatted(path: str, put: Put | None, *, diff: bool, wrong: bool) -> Looked:
    """Format a file; with nothing to put it, only say whether that would change it, and whether that is wrong."""
    from engross.octave import OctaveError, faithful, parse

    try:
        content = read(path)
        canonical = faithful(parse(content, lenient=True)).encode()
    except OctaveError as error:
        return Looked(path, [Finding.of(one) for one in (error, *error.others)], {"status": "error"})
    changed = canonical != content
    more: dict[str, Any] = {"status": "success", "changed": changed}
    if diff and changed:
        more["diff"] = difference(content.decode(errors="replace"), canonical.decode(), path, path)
    findings = [Finding("NOT_CANONICAL", "it is not in its canonical form", hint="engross doc fmt")] if wrong else []
    if not changed:
        findings = []
    if put is not None and (changed or path == STDIN):
        findings = put(path, content, canonical)
    return Looked(path, findings, more)


def report(
    paths: Sequence[str],
    look: Callable[[str], Looked],
    *,
    json: bool,
    quiet: bool,
    shown: Callable[[Sequence[Looked]], None],
) -> None:
    """Look at all files, tell what was found, and end with what it comes to."""
    files, refused = files_in(paths)
    looked = [*refused, *each(files, look)]
    bad = [one for one in looked if one.findings]
    if json:
        summary = {"files": len(looked), "with_errors": len(bad)}
        print_data({"summary": summary, "files": [one.as_data() for one in looked]})
    elif not looked:
        say(f"no documents: their names end in {' or '.join(SUFFIXES)}")
    else:
        tell(bad)
        if not quiet:
            shown(looked)
    if bad:
        raise typer.Exit(FINDINGS)


def difference(before: str, after: str, old: str, new: str) -> str:
    """The unified diff of two texts."""
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def print_data(data: Any) -> None:
    """Print data for programs."""
    sys.stdout.flush()
    sys.stdout.buffer.write(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
