"""Flows that are declared in documents: begin one, check it, accept what changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from engross.flows.names import is_kebab
from engross.replies import Reply, codes, reply

from . import flow_run, flow_test
from .answering import attempt, finish, require_agreement
from .place import AsJson, Capability, Data, settings_at
from .printing import print_diff, print_json, say

INVALID = 2
"""The exit code when a document has errors."""
ADDRESS = re.compile(r"https?://[^\s\"'{}]+")
STYLES = {"error": "red", "warning": "yellow"}

app = typer.Typer(no_args_is_help=True, help="Work on documents that declare flows.")
app.command("run")(flow_run.run)
app.command("test")(flow_test.try_out)

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Documents.")]


@app.command()
def check(
    files: Files,
    data: Data = None,
    capability: Capability = None,
    without_binds: Annotated[
        bool, typer.Option("--without-binds", help="Do not look up what is bound: secrets may be missing here.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
    json: AsJson = False,
) -> None:
    """Hold documents to all rules. Exit code 2: something has to be mended."""
    from engross.office.capabilities import known_flows
    from engross.office.declared import check_document

    def work() -> Reply:
        others = known_flows(settings_at(data, None, capability))
        findings = [one for file in files for one in check_document(file, others, bound=not without_binds)]
        told = {"files": [str(file) for file in files], "findings": findings}
        wrong = [one for one in findings if strict or one["severity"] == "error"]
        if not wrong:
            return reply(codes.SYS_OK, data={**told, "valid": True})
        first = wrong[0]
        problem = f"{first['file']}:{first['line']}:{first['column']}: {first['message'].rstrip('.')}"
        return reply(codes.VALIDATION_ERROR, {"problem": problem}, {**told, "valid": False})

    answer = attempt(work)
    if json or "findings" not in answer.data:
        finish(answer, json=json)
        return
    _show_findings(answer.data["findings"], len(files))
    if not answer.data["valid"]:
        raise typer.Exit(INVALID)


@app.command()
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The document to write, as weather.yaml.")],
    namespace: Annotated[
        str | None, typer.Option(help="The namespace of its flows. By default the name of the file.")
    ] = None,
    base_uri: Annotated[
        str | None, typer.Option(help="The address of a system to call, as https://api.example.net/v1.")
    ] = None,
) -> None:
    """Write a document to begin with."""
    from engross.office.declared import new_document

    name = namespace or file.stem.lower().replace("_", "-").replace(" ", "-")
    if file.suffix not in (".yaml", ".yml"):
        raise typer.BadParameter("a document ends in .yaml or .yml", param_hint="FILE")
    if not is_kebab(name):
        raise typer.BadParameter(
            f"{name} is no namespace: use lower-case words joined by hyphens", param_hint="--namespace"
        )
    if base_uri is not None and not ADDRESS.fullmatch(base_uri):
        raise typer.BadParameter("an address begins with http:// or https://", param_hint="--base-uri")
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(new_document(name, base_uri))
    except FileExistsError:
        raise typer.BadParameter(f"{file} is there already", param_hint="FILE") from None
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written ({error.strerror})", param_hint="FILE") from None
    say(f"wrote {file}")
    say(f"check it: engross flow check {file}")
    say(f"serve it: engross serve --capability {file}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of documents, for editors."""
    import sys

    import orjson

    from engross.office.declared import document_schema

    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    sys.stdout.buffer.write(orjson.dumps(document_schema(), option=option))


@app.command()
def accept(
    files: Files,
    data: Data = None,
    capability: Capability = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: AsJson = False,
) -> None:
    """Show what documents change for those who call them, ask, and take them. A running office takes them up."""
    from engross.office import declared
    from engross.office.capabilities import known_flows

    settings = settings_at(data, None, capability)
    others = known_flows(settings)
    found = [(file, declared.offered(file, settings, others)) for file in files]
    if not json:
        for file, offer in found:
            _show_offer(file, offer)
    if any(offer.changed for _, offer in found) and not yes:
        require_agreement("Accept this?", json=json, otherwise="Add --yes to accept what is shown.")
    for file, offer in found:
        declared.accept(file, settings, offer)
    told = [{"file": str(file), "digest": offer.digest, "diff_text": offer.difference} for file, offer in found]
    if json:
        print_json(reply(codes.SYS_OK, data={"accepted": told}))
    else:
        say(f"accepted {len(found)} document{'' if len(found) == 1 else 's'}", style="bold green")


def _show_offer(file: Path, offer: Any) -> None:
    state = "" if offer.known else " (never accepted before)"
    say(f"{file}{state}: {offer.digest[:12]}", style="bold")
    if offer.changed:
        print_diff(offer.difference)
    else:
        say("nothing changes for those who call it")


def _show_findings(findings: Sequence[Any], files: int) -> None:
    for one in findings:
        hint = f" Did you mean {one['did_you_mean'][0]}?" if one["did_you_mean"] else ""
        place = f"{one['file']}:{one['line']}:{one['column']}"
        say(f"{place}: {one['severity']} {one['rule']}: {one['message']}{hint}", style=STYLES[one["severity"]])
    counted = Counter(one["severity"] for one in findings)
    summary = ", ".join(f"{counted[kind]} {kind}{'' if counted[kind] == 1 else 's'}" for kind in STYLES)
    say(f"{files} document{'' if files == 1 else 's'}: {summary if findings else 'nothing to mend'}")
