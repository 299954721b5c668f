"""Documents: checked and formatted as files, written and traced back through an office."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from engross.replies import Invalid, Issue, Reply, codes
from engross.visible import visible

from .answering import FINDINGS, call_and_confirm, finish
from .arguments import read_json
from .doc_files import STDIN, Finding, Looked, read, schemas
from .doc_keeping import WRITE, Keeper, below_a_root
from .doc_looking import difference, formatted, print_data, report, validated
from .doc_shown import show_blame, show_formatted, show_log, show_schemas, show_validated, show_written
from .flow_command import DryRun, Yes
from .place import AsJson, Place, any_office, at_office, with_signature
from .printing import print_diff, print_fields, say

if TYPE_CHECKING:
    from engross.octave import OctaveError

UNDO, HISTORY = "documents.undo-document", "documents.document-history"
BLAME, COMPARE = "documents.blame-document", "documents.compare-versions"
DIALECT = "documents"

app = typer.Typer(no_args_is_help=True, help="Documents in OCTAVE: check, format, write, and trace them back.")
app.callback()(with_signature(any_office, ()))

Files = Annotated[list[str], typer.Argument(metavar="FILES...", help="Files, or folders of documents; - reads one.")]
OneFile = Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")]
OnePath = Annotated[str, typer.Argument(metavar="PATH", help="The document: a file, or a path below a root.")]
SchemaName = Annotated[str | None, typer.Option("--schema", help="The schema to hold it against.", metavar="NAME")]
Schemas = Annotated[
    Path | None,
    typer.Option("--schemas", help="A folder of schemas of your own, instead of the office's.", metavar="DIR"),
]
Check = Annotated[bool, typer.Option("--check", help="Change nothing, and say only what is wrong: for pre-commit.")]
BaseHash = Annotated[str | None, typer.Option("--base-hash", help="Only if the file still has this SHA-256.")]
Reason = Annotated[str | None, typer.Option("--reason", "-m", help="Why, for reviewers and auditors.")]


@app.command()
@at_office
def validate(
    place: Place,
    files: Files,
    schema: SchemaName = None,
    schemas_folder: Schemas = None,
    fix: Annotated[bool, typer.Option("--fix", help="Make the repairs in the files.")] = False,
    check: Check = False,
    json: AsJson = False,
) -> None:
    """Check documents: whether they can be read, and whether they keep to a schema."""
    shelf = schemas(schemas_folder, place)
    keeper = Keeper(place)

    def look(path: str) -> Looked:
        return validated(path, schema, fix and not check, shelf, keeper.put)

    with keeper:
        report(files, look, json=json, quiet=check, shown=partial(show_validated, fix=fix))


@app.command()
@at_office
def fmt(
    place: Place,
    files: Files,
    check: Check = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what changes, and change nothing.")] = False,
    json: AsJson = False,
) -> None:
    """Write documents in their canonical form. Those in a document root are written through the office."""
    keeper = Keeper(place)

    def look(path: str) -> Looked:
        return formatted(path, None if check or diff else keeper.put, diff=diff, wrong=check)

    with keeper:
        report(files, look, json=json, quiet=check and not diff, shown=show_formatted)


@app.command()
@at_office
def eject(
    place: Place,
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A file, or - for standard input.")] = None,
    schema: SchemaName = None,
    mode: Annotated[str, typer.Option(help="canonical, authoring, executive or developer.")] = "canonical",
    format: Annotated[str, typer.Option(help="octave, json, yaml or markdown.")] = "octave",
    schemas_folder: Schemas = None,
) -> None:
    """Print a document in another format or from a point of view; without a file, the schema's template."""
    from engross.octave import OctaveError
    from engross.octave import eject as ejected

    if file is None and schema is None:
        raise typer.BadParameter("give a file, or --schema for a template", param_hint="FILE")
    try:
        shown = ejected(None if file is None else read(file), schema, mode, format, schemas(schemas_folder, place))
    except OctaveError as error:
        _refuse(file or "template", error)
    sys.stdout.write(shown.output if shown.output.endswith("\n") else f"{shown.output}\n")
    for what, left in (("fields", shown.fields_omitted), ("besides", shown.left_out)):
        if left:
            say(f"left out, {what}: {visible(', '.join(left))}", style="yellow", stream=sys.stderr)


@app.command()
@at_office
def write(
    place: Place,
    path: OnePath,
    content: Annotated[
        str | None, typer.Option("--content", help="The whole document: a file, or - for standard input.")
    ] = None,
    changes: Annotated[
        str | None, typer.Option("--changes", help="Fields to change: JSON, @FILE, or - for standard input.")
    ] = None,
    mutations: Annotated[str | None, typer.Option("--mutations", help="Fields of META to set: JSON or @FILE.")] = None,
    base_hash: BaseHash = None,
    schema: SchemaName = None,
    reason: Reason = None,
    client_request_id: Annotated[
        str | None, typer.Option(help="Your id for this write; a repeat with it changes nothing twice.")
    ] = None,
    commit_mode: Annotated[str | None, typer.Option(help="draft, proposal or direct.")] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Write a document through the office: all of it, or some of its fields."""
    said = {
        "target_path": below_a_root(place, path),
        "content": None if content is None else _whole(content),
        "changes": None if changes is None else read_json(changes),
        "mutations": None if mutations is None else read_json(mutations),
        "base_hash": base_hash,
        "schema": schema,
        "reason": reason,
        "client_request_id": client_request_id,
        "commit_mode": commit_mode,
    }
    _call(place, WRITE, said, dry_run=dry_run, yes=yes, json=json, show=show_written)


@app.command()
@at_office
def undo(
    place: Place,
    path: OnePath,
    version: Annotated[int | None, typer.Option(help="Bring this version back, instead of the one before.")] = None,
    base_hash: BaseHash = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Take the last write of a document back, as a new version."""
    said = {"path": below_a_root(place, path), "version": version, "base_hash": base_hash, "reason": reason}
    _call(place, UNDO, said, dry_run=dry_run, yes=yes, json=json, show=show_written)


@app.command()
@at_office
def log(
    place: Place,
    path: OnePath,
    limit: Annotated[int | None, typer.Option(help="So many versions at the most.")] = None,
    before: Annotated[int | None, typer.Option(help="Only versions before this one.")] = None,
    json: AsJson = False,
) -> None:
    """List the versions of a document: who wrote them, when and why."""
    said = {"path": below_a_root(place, path), "limit": limit, "before": before}
    _call(place, HISTORY, said, json=json, show=show_log)


@app.command()
@at_office
def blame(
    place: Place,
    path: OnePath,
    field: Annotated[str | None, typer.Option(help="Only this field, by its dotted path.")] = None,
    line: Annotated[int | None, typer.Option(help="Only this line.")] = None,
    json: AsJson = False,
) -> None:
    """Show for each paragraph of a document which write it comes from."""
    said = {"path": below_a_root(place, path), "field": field, "line": line}
    _call(place, BLAME, said, json=json, show=show_blame)


@app.command()
@at_office
def diff(
    place: Place,
    file: OneFile,
    other: Annotated[str | None, typer.Argument(metavar="[OTHER]", help="Another file.")] = None,
    old: Annotated[int | None, typer.Option(help="A version on the record, to compare with.")] = None,
    new: Annotated[int | None, typer.Option(help="A later version; by default the file.")] = None,
    json: AsJson = False,
) -> None:
    """Show what differs: a file and its canonical form, two files, or versions on the record."""
    if old is not None or new is not None:
        said = {"path": below_a_root(place, file), "old": old, "new": new}
        answer = _call(place, COMPARE, said, json=json, show=lambda answer: print_diff(answer.data["diff"]))
        raise typer.Exit(FINDINGS if answer.data["diff"] else 0)
    before, after = (_text(file), _canonical(file)) if other is None else (_canonical(file), _canonical(other))
    shown = difference(before, after, file, other or file)
    if json:
        print_data({"old": file, "new": other or file, "diff": shown})
    elif shown:
        print_diff(shown)
    raise typer.Exit(FINDINGS if shown else 0)


@app.command("schemas")
@at_office
def schemas_(
    place: Place,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One schema, to describe.")] = None,
    schemas_folder: Schemas = None,
    json_schema: Annotated[bool, typer.Option("--json-schema", help="Print it as JSON Schema.")] = False,
    grammar: Annotated[bool, typer.Option("--grammar", help="Print it as a GBNF grammar.")] = False,
    json: AsJson = False,
) -> None:
    """List the schemas, or describe one."""
    from engross.octave import OctaveError, grammar_of, json_schema_of

    shelf = schemas(schemas_folder, place)
    if name is None:
        print_data({"schemas": shelf.listing()}) if json else show_schemas(shelf.listing())
        return
    try:
        schema = shelf.get(name)
    except OctaveError as error:
        _refuse(name, error, "name")
    if schema is None:
        raise typer.BadParameter(f"there is no schema {name}; there are {', '.join(shelf.names())}", param_hint="NAME")
    if grammar:
        sys.stdout.write(grammar_of(schema))
    elif json_schema or json:
        print_data(json_schema_of(schema) if json_schema else schema.as_data())
    else:
        print_fields(schema.as_data())


def _call(
    place: Place,
    flow: str,
    said: Mapping[str, Any],
    *,
    json: bool,
    show: Callable[[Reply], None],
    dry_run: bool = False,
    yes: bool = False,
) -> Reply:
    given = {name: value for name, value in said.items() if value is not None}
    with place.client(may_make=flow == WRITE) as client:
        answer = call_and_confirm(client, flow, given, dry_run=dry_run, yes=yes, json=json)
    return finish(answer, json=json, dialect=DIALECT, show=show)


def _whole(file: str) -> str:
    """The text of a document that is given as a file; whoever gave the text itself hears that."""
    if file != STDIN and not os.path.lexists(file):
        problem = "there is no such file"
        suggestions = {"hint": "Name a file that holds the document, or - to give its text on standard input."}
        raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field="content", suggestions=suggestions)
    return _text(file)


def _text(file: str) -> str:
    from engross.octave import OctaveError

    try:
        return read(file).decode()
    except UnicodeDecodeError:
        _refuse(file, OctaveError("E_ENCODING", "the text is not UTF-8"))
    except OctaveError as error:
        _refuse(file, error)


def _canonical(file: str) -> str:
    from engross.octave import OctaveError, faithful, parse

    try:
        return faithful(parse(read(file), lenient=True))
    except OctaveError as error:
        _refuse(file, error)


def _refuse(file: str, error: OctaveError, field: str = "file") -> NoReturn:
    """End with what is wrong with a file."""
    raise Invalid.many([_issue(file, Finding.of(one), field) for one in (error, *error.others)])


def _issue(file: str, finding: Finding, field: str) -> Issue:
    place = {"code": finding.code, "line": finding.line, "column": finding.column}
    told = {name: value for name, value in place.items() if value is not None}
    return Issue(codes.VALIDATION_ERROR, {"problem": finding.told(file).rstrip(".")}, f"/{field}", told)
