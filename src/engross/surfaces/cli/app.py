"""`engross`: what an operator does from a shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from engross.office import Settings
from engross.replies import Coded, Reply, exit_code, reply_of

from .printing import print_json, print_refusal, print_report, print_rows

FINDINGS = 1

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Agents draft; Engross makes it the record.",
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path | None, typer.Option("--data", help="The office's data folder [default: engross-data, or ENGROSS_DATA].")
]
Store = Annotated[
    str | None, typer.Option("--store", help="A PostgreSQL address, if the rows are not in the data folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


@app.command()
def verify(
    export: Annotated[Path | None, typer.Argument(help="A backup or export to verify, instead of a store.")] = None,
    data: Data = None,
    store: Store = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A checkpoint kept elsewhere: shows whether anything was cut off.")
    ] = None,
    save_checkpoint: Annotated[Path | None, typer.Option(help="Keep a checkpoint of what verified.")] = None,
    public_key: Annotated[str | None, typer.Option(help="The key that seals must be signed with, in hex.")] = None,
    json: AsJson = False,
) -> None:
    """Check every receipt, fact and seal of an office, or of an export, offline. Exit code 1: something was found."""
    from engross.office.maintenance import verify_ledger

    def work() -> Reply:
        source = export or _settings(data, store)
        return verify_ledger(source, checkpoint=checkpoint, public_key=public_key, save_checkpoint=save_checkpoint)

    found = _done(work, json=json, show=print_report)
    if not found.data["verified"]:
        raise typer.Exit(FINDINGS)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write.")],
    data: Data = None,
    store: Store = None,
    tenant: Annotated[str | None, typer.Option(help="Export only this tenant, without any keys.")] = None,
    without_keys: Annotated[bool, typer.Option("--without-keys", help="Leave the office's own key out.")] = False,
    json: AsJson = False,
) -> None:
    """Back an office up while it is in use."""
    from engross.office.maintenance import back_up_office

    def work() -> Reply:
        return back_up_office(_settings(data, store), target, tenant=tenant, with_keys=not without_keys)

    _done(work, json=json, show=print_rows)


@app.command()
def restore(
    archive: Annotated[Path, typer.Argument(help="A backup.")],
    data: Data = None,
    store: Store = None,
    json: AsJson = False,
) -> None:
    """Make an office of a backup, in a folder that has none, on either engine."""
    from engross.office.maintenance import restore_office

    def work() -> Reply:
        return restore_office(_settings(data, store), archive)

    _done(work, json=json, show=print_rows)


@app.command()
def migrate(
    data: Data = None,
    store: Store = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: AsJson = False,
) -> None:
    """Bring an office's tables up to date."""
    from engross.office.maintenance import migrate_office

    def work() -> Reply:
        return migrate_office(_settings(data, store), dry_run=dry_run)

    _done(work, json=json, show=print_rows)


def main() -> None:
    """The command line's entry."""
    app()


def _settings(data: Path | None, store: str | None) -> Settings:
    return Settings.from_environment(data=data, store=store)


def _done(
    work: Callable[[], Reply],
    *,
    json: bool,
    show: Callable[[Mapping[str, Any]], None],
) -> Reply:
    """Do the work and print the Reply; a refusal ends the program with its exit code."""
    try:
        answer = work()
    except Coded as refusal:
        answer = reply_of(refusal)
    if json:
        print_json(answer)
    elif answer.ok:
        show(answer.data)
    else:
        print_refusal(answer)
    if not answer.ok:
        raise typer.Exit(exit_code(answer))
    return answer
