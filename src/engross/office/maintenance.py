"""What an operator does with a whole office: verify it, back it up, restore it, bring its tables up to date."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engross.ledger import RESTORED, OfficeKey
from engross.ledger.checkpoint import Checkpoint
from engross.ledger.keyring import restored_in
from engross.ledger.source import DATABASE
from engross.ledger.verify import verify
from engross.plainfile import NoPlainFile, plain_target, stands_at
from engross.replies import Invalid, Reply, codes, reply
from engross.store import Migration
from engross.store.archive import KEYS, Archive, Manifest, back_up, restore
from engross.store.opening import bring_up_to_date, engine_at

from .capabilities import catalogue_of
from .office import migrations
from .presence import require_store
from .settings import Settings

if TYPE_CHECKING:
    from engross.store.postgres import PostgresStore
    from engross.store.sqlite import SqliteStore


HINT_LEDGER = "Name a file that `engross backup` wrote, or an office's data folder."
HINT_CHECKPOINT = "Name a file that `engross verify --save-checkpoint` wrote."
PUBLIC_KEY = re.compile(r"[0-9a-fA-F]{64}")


def verify_ledger(
    source: Settings | Path, *, checkpoint: Path | None, public_key: Collection[str], save_checkpoint: Path | None
) -> Reply:
    """Verify a store or a backup, offline, and keep a checkpoint of what verified."""
    if isinstance(source, Path) and not _holds_a_ledger(source):
        raise _no_file("office or backup at", source, HINT_LEDGER)
    if isinstance(source, Settings):
        existing_store(source)
    if not all(map(PUBLIC_KEY.fullmatch, public_key)):
        raise Invalid(codes.VALIDATION_ERROR, {"problem": "a public key has 64 hex digits"}, field="public_key")
    if checkpoint is not None and not checkpoint.exists():
        raise _no_file("checkpoint at", checkpoint, HINT_CHECKPOINT, field="checkpoint")
    if save_checkpoint is not None:
        _require_place(save_checkpoint, "save_checkpoint")
    known = Checkpoint.load(checkpoint) if checkpoint else None
    if isinstance(source, Path):
        report = verify(source, public_key=public_key, checkpoint=known)
    else:
        where = source.store or source.data
        report = verify(where, public_key=public_key, checkpoint=known, keys=source.data / "keys")
    if save_checkpoint is not None and report.ok and report.public_key is not None:
        report.checkpoint().save(save_checkpoint)
    return reply(codes.VERIFIED, data=report.as_data())


def back_up_office(settings: Settings, target: Path, *, tenant: str | None = None, with_keys: bool = True) -> Reply:
    """Write a backup of an office, or the export of one tenant, while others go on working."""
    _require_place(target, "target")
    store = existing_store(settings)
    public_key = _signer(settings, with_keys=with_keys and tenant is None)
    made = back_up(store, settings.data, target, tenant=tenant, with_keys=with_keys, public_key=public_key)
    return reply(codes.SYS_OK, data={"file": str(target), **_contents(made)})


def restore_office(settings: Settings, archive: Path) -> Reply:
    """Make an office of a backup. If its key is not in it, the office may take over with one of its own."""
    made = restore(archive, settings.location, settings.data, beside_key=lambda: _handed_over(archive))
    return reply(codes.SYS_OK, data={"data": str(settings.data), **_contents(made)})


def migrate_office(settings: Settings, *, dry_run: bool = False) -> Reply:
    """Bring the tables up to date; with `dry_run`, only say what would be done."""
    known, read_only = known_migrations(settings), settings.read_only
    steps = bring_up_to_date(existing_store(settings), known, dry_run=dry_run, read_only=read_only)
    told = [{"room": step.room, "number": step.number, "name": step.name} for step in steps]
    return reply(codes.SYS_OK, data={"would_run" if dry_run else "ran": told})


def known_migrations(settings: Settings) -> list[Migration]:
    """Every step that the office needs for all it has, domains that nobody used yet included."""
    return migrations(catalogue_of(settings).aggregates)


def existing_store(settings: Settings) -> SqliteStore | PostgresStore:
    """The office's store, which must be there already."""
    require_store(settings)
    return engine_at(settings.location)


def _no_file(kind: str, path: Path, hint: str, *, field: str | None = None) -> Invalid:
    told = {"kind": kind, "id": str(path)}
    return Invalid(codes.RECORD_NOT_FOUND, told, field=field, suggestions={"hint": hint})


def _holds_a_ledger(source: Path) -> bool:
    return stands_at(source / DATABASE) if source.is_dir() else stands_at(source)


def _signer(settings: Settings, *, with_keys: bool) -> str | None:
    """The key that a backup's seals are by. Where it took over from others, that is for what lies beside it to say."""
    keys = settings.data / "keys"
    if not stands_at(keys / "office.key") or (restored_in(keys) and not with_keys):
        return None
    return OfficeKey.at(keys / "office.key").public


def _handed_over(archive: Path) -> Mapping[str, bytes]:
    """What the next key needs to take over from the one that is not in the backup: how far that one's seals go."""
    with Archive(archive) as opened:
        if any(name.startswith(f"{KEYS}/") for name in opened.manifest.files):
            return {}
    report = verify(archive)
    if not report.total.seals:
        return {}
    # From seals that do not hold, no key takes over: the office gets one all the same, which seals nothing behind them.
    return {RESTORED: report.checkpoint().as_json()} if report.ok else {"office.key": os.urandom(32)}


def _require_place(target: Path, field: str) -> None:
    """Invalid where nobody could write a file of that name."""
    try:
        folder = plain_target(target).parent
    except OSError as error:
        problem = str(error.strerror) if isinstance(error, NoPlainFile) else "nothing can be written there"
        raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field=field) from error
    if not folder.is_dir():
        raise Invalid(codes.VALIDATION_ERROR, {"problem": "there is no folder to put it into"}, field=field)


def _contents(manifest: Manifest) -> dict[str, Any]:
    return {
        "tenants": list(manifest.tenants),
        "position": manifest.position,
        "rows": sum(part.rows or 0 for part in manifest.files.values()),
        "files": len(manifest.files),
        "time": manifest.time,
    }
