"""Architecture models from a shell: files in and out, what a model holds, whether it is sound, what differs."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from engross.replies import Reply, codes
from engross.surfaces.client import Client

from .answering import FINDINGS, finish, require_agreement
from .flow_command import Namespace
from .handing_out import put, refusing
from .place import AsJson, Place, any_office, at_office, with_signature
from .printing import print_counts, print_fields, print_refusal, print_table, say
from .progress import telling_progress

IMPORT, EXPORT = "architecture.import-model", "architecture.export-model"
DESCRIBE, CHECK, DIFF = "architecture.describe-model", "architecture.check-model", "architecture.diff-models"
GET_ELEMENT, LIST_RELATIONSHIPS = "architecture.get-element", "architecture.list-relationships"
DIALECT = "architecture"
LOOKED = ("model", "format", "counts", "changes", "problems", "invalid_relationships")
"""What a look at a file tells of it."""
STREAM = "-"
LARGEST_CONTENT = 1_000_000
"""Larger files are uploaded, and named by their hash."""
FORMATS = {".xml": "exchange_xml", ".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".csv": "archi_csv"}
MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}

app = typer.Typer(
    cls=Namespace, no_args_is_help=True, help="Architecture models: files in and out, what is in them, what differs."
)
app.callback()(with_signature(any_office, ()))

Model = Annotated[str | None, typer.Option("--model", help="The model, by id or name. By default yours.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="As things stood at this position of the ledger, or at this instant.")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Exchange XML, .archimate, or a folder with Archi's CSV files.")
]


@app.command("import")
@at_office
def import_(
    place: Place,
    file: File,
    model: Annotated[str | None, typer.Option("--model", help="Into this model. By default a new one.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the model, if not the file's own.")] = None,
    format: Annotated[str, typer.Option(help="exchange_xml, archimate or archi_csv, if it cannot be told.")] = "auto",
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave relationships out that the metamodel does not allow.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would bring.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    client_request_id: Annotated[
        str | None, typer.Option(help="Your id for this import; a repeat with it changes nothing twice.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Say what a file would bring, ask, and take it over as one commit."""
    with place.client(may_make=True) as client:
        asked = _given(
            **_content(client, file, json=json),
            format=format,
            model_id=model,
            model_name=name,
            on_invalid="skip" if skip_invalid else "refuse",
        )
        with telling_progress(json=json):
            looked = client.call(IMPORT, asked)
        if dry_run or not looked.ok or looked.data["would_be_refused"]:
            _finish_look(looked, json=json)
            return
        if not json:
            _show_look(looked)
        if not yes:
            told = {name: looked.data[name] for name in LOOKED if name in looked.data} if json else {}
            otherwise = "Add --yes to import what is shown."
            require_agreement("Import this?", json=json, otherwise=otherwise, shown=told, dialect=DIALECT)
        with telling_progress(json=json):
            answer = _commit(client, _given(**asked, mode="commit", client_request_id=client_request_id))
    finish(answer, json=json, dialect=DIALECT, show=_show_import)


@app.command()
@at_office
def export(
    place: Place,
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="Where to put it: a file, a folder for CSV, or - for standard output."),
    ] = STREAM,
    model: Model = None,
    format: Annotated[
        str | None,
        typer.Option(help="exchange_xml, archi_csv, mermaid or svg. By default as the target is called."),
    ] = None,
    view: Annotated[str | None, typer.Option(help="Only this view, by its id, as a picture.")] = None,
    as_of: AsOf = None,
    json: AsJson = False,
) -> None:
    """Write a model to a file, the same bytes for the same model."""
    chosen = format or _format_of(target)
    if target != STREAM and not Path(target).absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder for {target}", param_hint="TARGET")
    with place.client() as client:
        answer, texts = _exported(client, _given(model_id=model, format=chosen, view_id=view, as_of=as_of))
    if not answer.ok or json:
        finish(answer, json=json, dialect=DIALECT)
        return
    for warning in _warnings(answer):
        say(warning, style="yellow", stream=sys.stderr)
    if target == STREAM:
        _to_stream(texts)
        return
    for path in _to_files(Path(target), texts):
        say(f"wrote {path}")


@app.command()
@at_office
def show(
    place: Place,
    element: Annotated[
        str | None, typer.Argument(metavar="[ELEMENT]", help="One element, by id, name or Type/Name.")
    ] = None,
    model: Model = None,
    as_of: AsOf = None,
    json: AsJson = False,
) -> None:
    """Show what is in a model, or one element of it with all that it is related to."""
    with place.client() as client:
        if element is None:
            answer = client.call(DESCRIBE, _given(model_id=model, as_of=as_of))
            finish(answer, json=json, dialect=DIALECT, show=_show_model)
            return
        answer = client.call(GET_ELEMENT, _given(ref=element, model_id=model, as_of=as_of))
        finish(answer, json=json, dialect=DIALECT, show=lambda found: print_fields(found.data["element"]))
        if not json:
            _show_relationships(client, answer.data["element"], as_of)


@app.command()
@at_office
def check(
    place: Place,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file to check, instead of a model of the office.")
    ] = None,
    model: Model = None,
    limit: Annotated[int, typer.Option(help="So many of a kind are listed.", min=1, max=1000)] = 20,
    as_of: AsOf = None,
    json: AsJson = False,
) -> None:
    """Say what is wrong with a model or a file; exit code 1 if anything is."""
    with place.client(may_make=file is not None) as client:
        if file is not None:
            with telling_progress(json=json):
                looked = client.call(IMPORT, _content(client, file, json=json))
            _finish_look(looked, json=json)
            return
        answer = client.call(CHECK, _given(model_id=model, limit=limit, as_of=as_of))
    finish(answer, json=json, dialect=DIALECT, show=_show_check)
    if not answer.data["sound"]:
        raise typer.Exit(FINDINGS)


@app.command()
@at_office
def diff(
    place: Place,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[OTHER]",
            help="Another model by id or name, or a file. With --other-as-of, by default the same model.",
        ),
    ] = None,
    model: Model = None,
    as_of: AsOf = None,
    other_as_of: Annotated[
        str | None, typer.Option("--other-as-of", help="The other one as of this position or instant.")
    ] = None,
    limit: Annotated[int, typer.Option(help="So many of a kind are listed.", min=1, max=1000)] = 100,
    json: AsJson = False,
) -> None:
    """Say what differs between a model and another one, a file, or itself at another time."""
    if other is None and other_as_of is None:
        raise typer.BadParameter(
            "name a model or a file, or an earlier position with --other-as-of", param_hint="OTHER"
        )
    asked = _given(model_id=model, as_of=as_of, other_as_of=other_as_of, limit=limit)
    with place.client() as client:
        if other is not None and Path(other).exists():
            asked |= _content(client, Path(other), json=json)
        elif other is not None:
            asked["other_model_id"] = other
        answer = client.call(DIFF, asked)
    finish(answer, json=json, dialect=DIALECT, show=_show_diff)


def _content(client: Client, file: Path, *, json: bool) -> dict[str, Any]:
    """The file as an argument: itself, its three tables, or what it was uploaded as."""
    if file.is_dir():
        found = {one.name: _table(one) for one in sorted(file.glob("*.csv"))}
        if not found:
            raise typer.BadParameter(f"there is no CSV file in {file}", param_hint="FILE")
        return {"files": found}
    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}", param_hint="FILE")
    if file.stat().st_size > LARGEST_CONTENT:
        return _uploaded(client, file, json=json)
    content = file.read_bytes()
    if content.startswith(b"PK"):
        return {"content": b64encode(content).decode()}
    if file.suffix.lower() == ".csv":
        return {"files": {file.name: _table(file)}}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # XML may be in an encoding of its own, which only its bytes tell.
        return _uploaded(client, file, json=json)
    return {"content": text}


def _uploaded(client: Client, file: Path, *, json: bool) -> dict[str, Any]:
    kept = client.upload(file)
    if not kept.ok:
        finish(kept, json=json)
    return {"content_hash": kept.data["blob"]["content_hash"]}


def _table(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} is not in UTF-8", param_hint="FILE") from None


def _commit(client: Client, asked: dict[str, Any]) -> Reply:
    """Whoever was shown what it brings has confirmed it."""
    answer = client.call(IMPORT, asked)
    token = answer.data.get("confirm_token")
    if answer.code != codes.CONFIRMATION_REQUIRED or token is None:
        return answer
    return client.call(IMPORT, {**asked, "confirm_token": token})


def _finish_look(looked: Reply, *, json: bool) -> None:
    finish(looked, json=json, dialect=DIALECT, show=_show_look)
    if looked.data["would_be_refused"]:
        raise typer.Exit(FINDINGS)


def _show_look(looked: Reply) -> None:
    data = looked.data
    style = "bold red" if data["would_be_refused"] else "bold green"
    verdict = "would be refused" if data["would_be_refused"] else "can be imported"
    say(f"{data['model']['name']} ({data['format']}) {verdict}", style=style)
    told = {"counts": data["counts"], "changes": data.get("changes") if data["model"]["id"] else None}
    told["problems"] = [problem["message"] for problem in data["problems"]]
    told["invalid relationships"] = [_illegal(one) for one in data["invalid_relationships"]]
    told["warnings"] = [*_warnings(looked)]
    print_fields({name: value for name, value in told.items() if value})


def _warnings(answer: Reply) -> Iterator[str]:
    told = [one["message"] for one in answer.data.get("warnings", ()) if one["code"] != "DRY_RUN"]
    yield from told
    if (in_all := answer.data.get("warnings_in_all", 0)) > len(told):
        yield f"and {in_all - len(told)} more"


def _illegal(one: Mapping[str, Any]) -> str:
    instead = ", ".join(one["valid_relationships"]) or "nothing"
    return f"{one['id']}: {one['type']} from {one['source_type']} to {one['target_type']} (allowed: {instead})"


def _show_import(answer: Reply) -> None:
    say(f"{answer.message_key} {answer.message}", style="bold green")
    shown = ("model", "status", "proposal", "counts", "position")
    print_fields({name: answer.data[name] for name in shown if answer.data.get(name) is not None})
    if told := [*_warnings(answer)]:
        print_fields({"warnings": told})


def _format_of(target: str) -> str:
    path = Path(target)
    if target != STREAM and path.is_dir():
        return "archi_csv"
    return FORMATS.get(path.suffix.lower(), "exchange_xml")


def _exported(client: Client, asked: dict[str, Any]) -> tuple[Reply, dict[str, str]]:
    """The first answer, and the whole of what it begins: a long file comes in parts."""
    answer = client.call(EXPORT, asked)
    if not answer.ok or "files" in answer.data:
        return answer, dict(answer.data.get("files", {}))
    texts = [answer.data["text"]]
    for part in range(2, answer.data.get("parts", 1) + 1):
        # What is written meanwhile must not end up in the later parts alone.
        more = client.call(EXPORT, {**asked, "part": part})
        if not more.ok:
            return more, {}
        texts.append(more.data["text"])
    return answer, {"": "".join(texts)}


def _to_stream(texts: Mapping[str, str]) -> None:
    if set(texts) != {""}:
        raise typer.BadParameter("several files go into a folder: name one", param_hint="TARGET")
    sys.stdout.flush()
    sys.stdout.buffer.write(texts[""].encode())
    sys.stdout.buffer.flush()


def _to_files(target: Path, texts: Mapping[str, str]) -> Iterator[Path]:
    if set(texts) != {""}:
        target.mkdir(exist_ok=True)
    for name, text in texts.items():
        path = target / name if name else target
        with refusing(path, "TARGET"):
            put(path, [text.encode()])
        yield path


def _show_model(answer: Reply) -> None:
    data = answer.data
    say(f"{data['model']['name']} ({data['model']['id']}, version {data['model']['version']})", style="bold")
    if data["model"].get("description"):
        say(data["model"]["description"])
    print_fields({"elements": data["counts"]["elements"]})
    for layer, types in data["elements"].items():
        print_fields({layer: _counted(types)}, depth=1)
    print_fields({"relationships": data["counts"]["relationships"]})
    print_fields(data["relationships"], depth=1)
    if data["views"]:
        print_fields({"views": [f"{view['name']} ({view['id']})" for view in data["views"]]})


def _counted(types: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in types.items())


def _show_relationships(client: Client, element: Mapping[str, Any], as_of: str | None) -> None:
    asked = _given(element_id=element["id"], model_id=element["model_id"], as_of=as_of)
    listed = client.call(LIST_RELATIONSHIPS, asked)
    if not listed.ok:
        print_refusal(listed)
        return
    rows = [_seen_from(element["id"], one) for one in listed.data["relationships"]]
    if rows:
        say("")
        print_table(_with_names(client, rows, as_of), ("relationship", "direction", "other", "id"))
    if listed.data["next_cursor"]:
        say(f"and more: engross architecture list-relationships --element-id {element['id']}")


def _seen_from(here: str, one: Mapping[str, Any]) -> dict[str, Any]:
    outwards = one["source_id"] == here
    other = one["target_id"] if outwards else one["source_id"]
    return {"relationship": one["type"], "direction": "to" if outwards else "from", "other": other, "id": one["id"]}


def _with_names(client: Client, rows: Iterable[dict[str, Any]], as_of: str | None) -> Iterator[dict[str, Any]]:
    for row in rows:
        found = client.call(GET_ELEMENT, _given(id=row["other"], as_of=as_of))
        element = found.data.get("element") if found.ok else None
        yield {**row, "other": f"{element['type']}/{element['name']}" if element else row["other"]}


def _show_check(answer: Reply) -> None:
    data = answer.data
    print_counts(data["counts"])
    for problem in data["problems"]:
        told = _illegal(problem) if "valid_relationships" in problem else f"{problem['id']}: {problem.get('field', '')}"
        say(f"{problem['code']} {told}", style="red")
    for code, remark in data["remarks"].items():
        say(f"{code} {remark['count']}", style="yellow")
        for one in remark["some"]:
            say(f"  {one['type']}/{one['name']} ({one['id']})")
    say("sound" if data["sound"] else "NOT sound", style="bold green" if data["sound"] else "bold red")


def _show_diff(answer: Reply) -> None:
    data = answer.data
    for kind in ("elements", "relationships"):
        for change, found in data[kind].items():
            for one in found:
                _show_change(change, one)
            left = data["counts"][kind][change] - len(found)
            if left:
                say(f"{MARKS[change][0]} and {left} more {kind}", style=MARKS[change][1])
    say("no difference" if data["same"] else _summary(data["counts"]))


def _show_change(change: str, one: Mapping[str, Any]) -> None:
    mark, style = MARKS[change]
    told = one.get("name") or ("" if "source" in one else one["id"])
    joined = f"{one['source']} -> {one['target']}" if "source" in one else ""
    say(" ".join(filter(None, (mark, one["type"], told, joined))), style=style)
    for name, moved in one.get("fields", {}).items():
        print_fields({name: f"{_short(moved['from'])} -> {_short(moved['to'])}"}, depth=2)


def _short(value: Any) -> str:
    text = "-" if value is None else str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _summary(counts: Mapping[str, Mapping[str, int]]) -> str:
    return "; ".join(
        f"{kind}: {', '.join(f'{count} {change}' for change, count in changes.items())}"
        for kind, changes in counts.items()
    )


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
