"""What came of looking at documents, or of writing them, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.replies import Reply, codes
from engross.visible import visible

from .doc_files import STDIN, Looked
from .printing import print_diff, print_fields, print_table, say

WIDTH = 40


def show_validated(looked: Sequence[Looked], *, fix: bool) -> None:
    """Repairs, and how many documents came out how."""
    for one in looked:
        for repair in one.more.get("repairs", ()):
            mended = f"{repair['rule_id']} {repair['before']!r} -> {repair['after']!r}"
            say(visible(f"{one.path}:{repair['line']}: {mended}, {_done(repair, fix)}"))
    counts: dict[str, int] = {}
    for one in looked:
        status = "with errors" if one.findings else one.more["validation_status"]
        counts[status] = counts.get(status, 0) + 1
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    say(f"{len(looked)} document{'' if len(looked) == 1 else 's'}: {told}")


def show_schemas(listing: Sequence[Mapping[str, Any]]) -> None:
    """Schemas, one a line; of one that cannot be used, why."""
    rows = [{**one, "purpose": one.get("problem") or one.get("purpose") or ""} for one in listing]
    print_table(rows, ("name", "version", "fields", "purpose"))


def show_formatted(looked: Sequence[Looked]) -> None:
    """Which files were changed, or how."""
    for one in looked:
        if one.more.get("diff"):
            print_diff(one.more["diff"])
        elif one.more.get("changed") and one.path != STDIN:
            say(visible(one.path))


def show_written(answer: Reply) -> None:
    """A write: where it is now, what was corrected, what changed."""
    told = answer.data["answer"] if answer.code == codes.VALIDATION_DONE else answer.data
    say(f"{answer.message_key} {answer.message}", style="bold green")
    about = {name: told.get(name) for name in ("path", "version", "canonical_hash", "validation_status")}
    if "proposal" in answer.data:
        about["proposal"] = answer.data["proposal"]["id"]
    print_fields({name: value for name, value in about.items() if value is not None})
    for one in told.get("corrections", ()):
        say(visible(f"  {one['line']}:{one['column']} {one['code']} {one['message']}"), style="yellow")
    for one in told.get("validation_errors", ()):
        say(visible(f"  {one['code']} {one['field']} {one['message']}"), style="red")
    for one in answer.data["warnings"]:
        say(visible(f"  {one['code']} {one['message']}"), style="yellow")
    if told.get("diff"):
        print_diff(told["diff"])


def show_log(answer: Reply) -> None:
    """Versions, one a line."""
    rows = [
        {
            **one,
            "time": one["time"][:16].replace("T", " "),
            "how": f"back to {one['restores']}" if "restores" in one else one.get("mode", ""),
            "by": _author(one),
            "hash": (one.get("hash") or "-")[:12],
            "reason": one.get("reason") or "",
            "approved": ", ".join(one.get("approvers", ())),
            "file": one.get("published") or "",
        }
        for one in answer.data["versions"]
    ]
    print_table(rows, ("version", "kind", "how", "time", "by", "hash", "file", "approved", "reason"))
    if answer.data["next"]:
        say(f"more: --before {answer.data['next']}")
    if not answer.data["is_recorded"]:
        say("The file was changed outside of the office since.", style="yellow")


def show_blame(answer: Reply) -> None:
    """Every line, with the write it comes from."""
    writes = {one["version"]: one for one in answer.data["writes"]}
    for paragraph in answer.data["paragraphs"]:
        write = writes.get(paragraph["version"])
        who = "outside of the office" if write is None else _who(write)
        for number, line in enumerate(paragraph["text"].split("\n"), paragraph["first_line"]):
            say(visible(f"{who[:WIDTH]:<{WIDTH}} {number:>5}  {line}"))


def _done(repair: Mapping[str, Any], fix: bool) -> str:
    if repair["applied"]:
        return "mended"
    return "not mended, since the rest cannot be read" if fix else "could be mended with --fix"


def _who(write: Mapping[str, Any]) -> str:
    return f"{write['version']:>4} {write['time'][:10]} {_author(write)} ({write['kind']})"


def _author(write: Mapping[str, Any]) -> str:
    """Who wrote it; of what was found nobody knows."""
    return str(write["by"]["id"]) if "by" in write else "somebody"
