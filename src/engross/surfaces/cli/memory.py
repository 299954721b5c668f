"""Memory from a shell: files and folders in, what is known about somebody, why, since when, and all of it out again."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import orjson
import typer

from engross.replies import Invalid, Reply, codes, exit_code, reply_of, structured
from engross.surfaces.client import Client

from .answering import finish
from .flow_command import Instead, Manner, Namespace
from .handing_out import written
from .place import AsJson, Place, any_office, at_office, with_signature
from .printing import print_fields, print_refusal, print_table, say
from .taking_in import each_ingested, files_in

DIALECT = "memory"
BYTES = frozenset({"file_content", "content_hash"})
OF_ONE_FILE = frozenset({"original_filename", "mime_type", "client_request_id", "confirm_token"})

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Files, and folders with files: a call for each."),
]
Provider = Annotated[
    str | None, typer.Option("--provider", help="Who reads them: rule_based, or model if the office has one.")
]


def _ingest(place: Place, said: dict[str, Any], more: Mapping[str, Any], manner: Manner) -> bool:
    """Remember files: what is in a folder goes in one by one, and what is known already changes nothing."""
    if more["provider"] is not None:
        said.setdefault("interpretation_config", {"provider": more["provider"]})
    if not more["paths"]:
        if not said.keys() & BYTES:
            raise typer.BadParameter("name a file, or give one by --file-content or --content-hash", param_hint="PATH")
        return False
    files = list(files_in(more["paths"]))
    _refuse_what_fits_no_files(files, said)
    worst = 0
    told: list[dict[str, Any]] = []
    with place.client(may_make=True) as client:
        for file, answer in each_ingested(client, files, said, manner):
            worst = max(worst, exit_code(answer))
            told.append(_line(file, answer))
            if manner.json:
                _print_line({"file": str(file), **structured(answer, DIALECT)})
    if not manner.json:
        _show_ingested(told)
    if worst:
        raise typer.Exit(worst)
    return True


def _refuse_what_fits_no_files(files: Sequence[Path], said: Mapping[str, Any]) -> None:
    if not files:
        raise typer.BadParameter("there are no files in it", param_hint="PATH")
    for name in BYTES & said.keys():
        raise typer.BadParameter("the file says that already", param_hint=f"--{name.replace('_', '-')}")
    for name in OF_ONE_FILE & said.keys() if len(files) > 1 else ():
        raise typer.BadParameter("that can be said of one file only", param_hint=f"--{name.replace('_', '-')}")


class _Commands(Namespace):
    instead = MappingProxyType(
        {
            "ingest": Instead(
                (
                    inspect.Parameter("paths", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Paths),
                    inspect.Parameter("provider", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Provider),
                ),
                _ingest,
            )
        }
    )


app = typer.Typer(cls=_Commands, no_args_is_help=True, help="Remember files, and look up what is known.")
app.callback()(with_signature(any_office, ()))

EntityName = Annotated[str, typer.Argument(metavar="ENTITY", help="Its id, or what it is known by: name, e-mail.")]
OfType = Annotated[str | None, typer.Option("--type", help="Only of this type, as person.")]


@app.command()
@at_office
def show(
    place: Place,
    entity: EntityName,
    type: OfType = None,
    at: Annotated[str | None, typer.Option(help="As observed up to then, ISO 8601.")] = None,
    at_ingested: Annotated[str | None, typer.Option(help="As known then, ISO 8601.")] = None,
    json: AsJson = False,
) -> None:
    """Show what is true about an entity, and which observation says so."""
    with place.client() as client:
        asked = {"entity_id": _identified(client, entity, type, json=json), "at": at, "at_ingested": at_ingested}
        answer = client.call("memory.get-entity-snapshot", _given(asked))
    finish(answer, json=json, dialect=DIALECT, show=_show_snapshot)


@app.command()
@at_office
def why(
    place: Place,
    entity: EntityName,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="Which field.")],
    type: OfType = None,
    json: AsJson = False,
) -> None:
    """Tell why a field has its value: who said it, where, who was overruled, and by which rule."""
    with place.client() as client:
        asked = {"entity_id": _identified(client, entity, type, json=json), "field": field}
        answer = client.call("memory.explain-field", asked)
    finish(answer, json=json, dialect=DIALECT, show=_show_reasons)


@app.command()
@at_office
def history(
    place: Place,
    entity: EntityName,
    type: OfType = None,
    limit: Annotated[int | None, typer.Option(help="So many at the most.")] = None,
    offset: Annotated[int | None, typer.Option(help="Leave out so many.")] = None,
    json: AsJson = False,
) -> None:
    """List what was said about an entity, newest first."""
    with place.client() as client:
        asked = {"entity_id": _identified(client, entity, type, json=json), "limit": limit, "offset": offset}
        answer = client.call("memory.list-observations", _given(asked))
    finish(answer, json=json, dialect=DIALECT, show=_show_history)


@app.command()
@at_office
def search(
    place: Place,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What to look for.")],
    type: OfType = None,
    limit: Annotated[int | None, typer.Option(help="So many at the most.")] = None,
    json: AsJson = False,
) -> None:
    """Search by what is said about entities, misspelled or not."""
    with place.client() as client:
        asked = {"query": " ".join(words), "entity_type": type, "limit": limit}
        answer = client.call("memory.search-memory", _given(asked))
    finish(answer, json=json, dialect=DIALECT, show=_show_found)


@app.command()
@at_office
def export(
    place: Place,
    format: Annotated[str, typer.Option(help="prov_jsonld, markdown, csv or parquet.")] = "prov_jsonld",
    table: Annotated[
        str | None,
        typer.Option(help="Of csv and parquet: facts, entities, observations, relationships, events, records."),
    ] = None,
    type: OfType = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; for parquet a folder. By default standard output."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Hand memory out, with where everything comes from."""
    if output is None and format == "parquet":
        raise typer.BadParameter("parquet goes into a folder: say which", param_hint="--output")
    with place.client() as client:
        pages = _pages(client, _given({"format": format, "table": table, "entity_type": type}), json=json)
        count = written(format, table or "facts", pages, output)
    if output is not None:
        _told_written(output, count, json=json)


def _line(file: Path, answer: Reply) -> dict[str, Any]:
    interpretation = answer.data.get("interpretation") or {}
    return {
        "file": str(file),
        "outcome": answer.message_key,
        "as": answer.data.get("record_type"),
        "entities": interpretation.get("entities_created"),
        "observations": interpretation.get("observations_created"),
        "notes": _notes(answer) if answer.ok else answer.message,
    }


def _notes(answer: Reply) -> str | None:
    return ", ".join(dict.fromkeys(warning["code"] for warning in answer.data.get("warnings", ()))) or None


def _show_ingested(told: Sequence[Mapping[str, Any]]) -> None:
    print_table(told, ("file", "outcome", "as", "entities", "observations", "notes"))
    made = sum(one["entities"] or 0 for one in told if one["outcome"] == "CREATED")
    say(f"{_counted(len(told), 'file')}, new entities: {made}", style="bold green")


def _print_line(data: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def _identified(client: Client, entity: str, type: str | None, *, json: bool) -> str:
    """The id of the entity that somebody means; several, or none, end the program."""
    if entity.startswith("ent_"):
        return entity
    answer = client.call("memory.get-entity-by-identifier", _given({"identifier": entity, "entity_type": type}))
    found: Sequence[Mapping[str, Any]] = answer.data["entities"] if answer.ok else ()
    if answer.ok and len(found) != 1:
        answer = reply_of(_unidentified(found))
    if not answer.ok:
        finish(answer, json=json, dialect=DIALECT)
    return str(found[0]["id"])


def _unidentified(found: Sequence[Mapping[str, Any]]) -> Invalid:
    """What the office says to a name that it does not know, or not alone: as there, without the name."""
    if not found:
        told = {"id": "of that name"}
        return Invalid(codes.ENTITY_NOT_FOUND, told, field="entity")  # reply-lint: L7 because names are looked up here
    columns = ("id", "entity_type", "canonical_name")
    candidates = [{name: one[name] for name in columns} for one in found]
    suggestions = {"candidates": candidates, "hint": "Name one by its id, or say its --type."}
    code = codes.NEEDS_DISAMBIGUATION  # reply-lint: L7 because names are looked up here
    return Invalid(code, {"reference": "The name"}, field="entity", suggestions=suggestions)


def _show_snapshot(answer: Reply) -> None:
    told = answer.data
    say(f"{told['entity_id']} ({told['entity_type']})", style="bold")
    rows = [
        {"field": field, "value": value, "observation": told["provenance"].get(field)}
        for field, value in told["snapshot"].items()
    ]
    print_table(rows, ("field", "value", "observation"))
    say(f"{_counted(told['observation_count'], 'observation')}, the last of {told['last_observation_at'] or 'never'}")


def _show_reasons(answer: Reply) -> None:
    told = answer.data
    print_fields({told["field"]: told["value"]})
    print_fields({name: told[name] for name in ("winner", "rule", "losers", "changes") if told.get(name)}, depth=1)


def _show_history(answer: Reply) -> None:
    rows = [
        {**one, "source": one["source_record_id"] or "correction", "priority": one["source_priority"]}
        for one in answer.data["observations"]
    ]
    print_table(rows, ("observed_at", "id", "source", "priority", "fields"))
    say(f"{len(rows)} of {answer.data['total']}")


def _show_found(answer: Reply) -> None:
    if not answer.data["results"]:
        say("nothing found")
        return
    print_table(answer.data["results"], ("id", "entity_type", "canonical_name", "score"))


def _pages(client: Client, asked: dict[str, Any], *, json: bool) -> Iterator[Mapping[str, Any]]:
    """Every page of an export; a failure ends the program."""
    cursor: str | None = None
    while True:
        answer = client.call("memory.export-memory", _given({**asked, "cursor": cursor}))
        if not answer.ok:
            finish(answer, json=json, dialect=DIALECT, show=print_refusal)
        yield answer.data
        cursor = answer.data["next_cursor"]
        if cursor is None:
            return


def _told_written(output: Path, count: int, *, json: bool) -> None:
    if json:
        _print_line({"output": str(output), "files": count})
    else:
        say(f"written to {output}" + (f", {_counted(count, 'file')}" if count > 1 else ""), style="bold green")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
