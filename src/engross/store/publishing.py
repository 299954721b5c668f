"""Files on disk as published copies of blobs.

    stage      the new content is written beside the target and synced            (before the transaction)
    intend     an effect row says: this blob belongs at that path                 (inside the transaction)
    publish    rename over the target, sync the folder, mark the effect done      (after COMMIT)

A crash between any two leaves either nothing to do or a pending effect, and recovery rolls it forward from the
blob. Before it renames, it looks at the target: content that is neither what the effect replaces nor what it, or a
later pending one, publishes was written by somebody else, and is left alone; the effect is marked `conflict`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson

from .blobs import Blobs, make_folder, put_in_place, stage
from .failures import disk_failure
from .port import Store, Transaction

Outcome = Literal["done", "conflict"]


@dataclass(frozen=True, slots=True)
class Publication:
    """A blob that belongs at a path, and the content it takes the place of (None: no file)."""

    id: str
    path: str
    digest: str
    replaces: str | None
    mode: int = 0o644

    def intend(self, transaction: Transaction) -> None:
        """Write the intent down, in the transaction that makes it true."""
        body = {"path": self.path, "digest": self.digest, "replaces": self.replaces, "mode": self.mode}
        transaction.execute(
            "INSERT INTO effects (tenant, id, kind, body, state)"
            " VALUES (:tenant, :id, 'publish', :body, 'pending')",
            {"id": self.id, "body": orjson.dumps(body).decode()},
        )

    def carry_out(self, blobs: Blobs, *, later: Collection[str] = ()) -> Outcome:
        """Bring the file to what it should be. Doing it twice is doing it once.

        `later` holds what publications behind this one put at the same path.
        """
        target = Path(self.path)
        current = file_digest(target)
        if current == self.digest or current in later:
            return "done"
        if current != self.replaces:
            return "conflict"
        make_folder(target.parent)
        staged = stage(target, blobs.get(self.digest))
        os.chmod(staged, self.mode)
        put_in_place(staged, target)
        return "done"


def file_digest(path: Path) -> str | None:
    """The SHA-256 of a file's bytes; None when there is no file."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def pending_publications(store: Store, tenant: str) -> list[Publication]:
    """What was intended and is not yet known to be done."""
    rows = store.read(
        tenant,
        lambda reading: reading.rows(
            "SELECT id, body FROM effects"
            " WHERE tenant = :tenant AND state = 'pending' AND kind = 'publish' ORDER BY id",
            {},
        ),
    )
    return [Publication(id=row["id"], **orjson.loads(row["body"])) for row in rows]


def publish(store: Store, tenant: str, blobs: Blobs) -> dict[str, Outcome]:
    """Carry out everything that is pending, and mark it. This is also recovery.

    What the disk refuses stays pending, keeps nothing else from being carried out, and is told at the end.
    """
    pending = pending_publications(store, tenant)
    outcomes: dict[str, Outcome] = {}
    failure: OSError | None = None
    for number, publication in enumerate(pending):
        later = {other.digest for other in pending[number + 1 :] if other.path == publication.path}
        try:
            outcomes[publication.id] = publication.carry_out(blobs, later=later)
        except OSError as error:
            failure = error
    if outcomes:
        store.write(tenant, lambda transaction: _mark(transaction, outcomes))
    if failure is not None:
        raise disk_failure(failure) from failure
    return outcomes


def _mark(transaction: Transaction, outcomes: dict[str, Outcome]) -> None:
    for identifier, outcome in outcomes.items():
        transaction.execute(
            "UPDATE effects SET state = :state WHERE tenant = :tenant AND id = :id",
            {"state": outcome, "id": identifier},
        )
