"""What is done with a whole office: verify it, back it up, restore it, bring its tables up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engross.replies import Reply

from .answering import FINDINGS, attempt, finish
from .place import AsJson, Capability, Data, Store, settings_at
from .printing import print_fields, print_report, say


def verify(
    export: Annotated[Path | None, typer.Argument(help="A backup or export to verify, instead of a store.")] = None,
    data: Data = None,
    store: Store = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A checkpoint kept elsewhere: shows whether anything was cut off.")
    ] = None,
    save_checkpoint: Annotated[Path | None, typer.Option(help="Keep a checkpoint of what verified.")] = None,
    public_key: Annotated[
        list[str] | None,
        typer.Option(help="The key that seals must be signed with, in hex; repeated, if one took over from another."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Check every receipt, fact and seal of an office, or of an export, offline. Exit code 1: something was found."""
    from engross.office.maintenance import verify_ledger

    def work() -> Reply:
        source = export or settings_at(data, store)
        keys = public_key or ()
        return verify_ledger(source, checkpoint=checkpoint, public_key=keys, save_checkpoint=save_checkpoint)

    found = finish(attempt(work), json=json, show=lambda answer: print_report(answer.data))
    if not found.data["verified"]:
        raise typer.Exit(FINDINGS)


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
        return back_up_office(settings_at(data, store), target, tenant=tenant, with_keys=not without_keys)

    finish(attempt(work), json=json, show=_print_data)


def restore(
    archive: Annotated[Path, typer.Argument(help="A backup.")],
    data: Data = None,
    store: Store = None,
    json: AsJson = False,
) -> None:
    """Make an office of a backup, in a folder that has none, on either engine."""
    from engross.office.maintenance import restore_office

    def work() -> Reply:
        return restore_office(settings_at(data, store), archive)

    finish(attempt(work), json=json, show=_print_data)


def migrate(
    data: Data = None,
    store: Store = None,
    capability: Capability = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: AsJson = False,
) -> None:
    """Bring an office's tables up to date, those of its capabilities too."""
    from engross.office.maintenance import migrate_office

    def work() -> Reply:
        return migrate_office(settings_at(data, store, capability), dry_run=dry_run)

    finish(attempt(work), json=json, show=_show_steps)


def _show_steps(answer: Reply) -> None:
    if any(answer.data.values()):
        _print_data(answer)
    else:
        say("the tables are up to date")


def _print_data(answer: Reply) -> None:
    print_fields(answer.data)
