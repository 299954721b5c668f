"""Files on disk as published copies of blobs.

    keep       the new content is a blob, synced                                  (before the transaction)
    intend     an effect row says: this blob belongs at that path                 (inside the transaction)
    publish    stage beside the target and sync, rename over it, sync the folder, mark the effect done
                                                                                  (after COMMIT)

A publication below a root walks from there without following links, holds a lock on the folder while it looks and
renames, and may also take a file away.

A crash between any two leaves either nothing to do or a pending effect, and recovery rolls it forward from
the blob, in the order in which the effects became true. Before it renames, it looks at the target: content that
is neither what the effect replaces nor what it, or a later pending one, publishes was written by somebody else,
and is left alone; the effect is marked `conflict`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from engross.replies import Coded

from .blobs import Blobs, drop_staged, make_folder, put_in_place, stage
from .confined import Astray, Folder, descend
from .effects import intend, mark_effects, pending_effects
from .failures import disk_failure, translated
from .port import Store, Transaction

Outcome = Literal["done", "conflict"]


class Publication(NamedTuple):
    """A blob that belongs at a path (None: nothing does), and the content it takes the place of (None: no file).

    Below a `root`, a file keeps the mode that it has, and a new one has what the umask leaves.
    """

    id: str
    path: str
    digest: str | None
    replaces: str | None
    mode: int = 0o644
    root: str | None = None

    def intend(self, transaction: Transaction, ordinal: int = 0) -> None:
        """Write the intent down in the transaction that makes it true, as the n-th of that transaction."""
        body = {
            "path": self.path,
            "digest": self.digest,
            "replaces": self.replaces,
            "mode": self.mode,
            "root": self.root,
            "place": [transaction.position, ordinal],
        }
        intend(transaction, "publish", self.id, body)

    def carry_out(self, blobs: Blobs, *, later: Collection[str] = ()) -> Outcome:
        """Bring the file to what it should be. Doing it twice is doing it once.

        `later` holds what publications behind this one put at the same path.
        """
        if self.root is not None:
            return self._below(Path(self.root), blobs, later)
        target = Path(self.path)
        drop_staged(target)
        current = file_digest(target)
        if current == self.digest or current in later:
            return "done"
        if current != self.replaces:
            return "conflict"
        if self.digest is None:
            target.unlink(missing_ok=True)
            return "done"
        make_folder(target.parent)
        staged = stage(target, blobs.get(self.digest))
        os.chmod(staged, self.mode)
        put_in_place(staged, target)
        return "done"

    def _below(self, root: Path, blobs: Blobs, later: Collection[str]) -> Outcome:
        *folders, name = Path(self.path).relative_to(root).parts
        content = None if self.digest is None else blobs.get(self.digest)
        try:
            # A folder is made only for a file that is new: where one should be, its folder should be too.
            with descend(root, folders, make=content is not None and self.replaces is None) as folder:
                if folder is None:
                    return "done" if self.digest is None else "conflict"
                with folder.locked():
                    return self._in(folder, name, content, later)
        except Astray:
            return "conflict"

    def _in(self, folder: Folder, name: str, content: bytes | None, later: Collection[str]) -> Outcome:
        folder.drop_staged(name)
        current = folder.digest(name)
        if current == self.digest or current in later:
            return "done"
        if current != self.replaces:
            return "conflict"
        if content is None:
            folder.remove(name)
        else:
            folder.replace(name, content)
        return "done"


def file_digest(path: Path) -> str | None:
    """The SHA-256 of a file's bytes; None when there is no file."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def pending_publications(store: Store, tenant: str) -> list[Publication]:
    """What was intended and is not yet known to be done, in the order in which it became true."""
    bodies = pending_effects(store, tenant, "publish")
    places = {identifier: body.pop("place") for identifier, body in bodies.items()}
    return [Publication(id=each, **bodies[each]) for each in sorted(bodies, key=places.__getitem__)]


def publish(store: Store, tenant: str, blobs: Blobs) -> dict[str, Outcome]:
    """Carry out everything that is pending, and mark it. This is also recovery.

    One at a time, however many processes share the store: an earlier content must not overtake a later one.
    What the disk refuses stays pending, keeps nothing but its own path waiting, and is told at the end.
    """
    if not pending_publications(store, tenant):
        return {}
    with translated(disk_failure), blobs.one_publisher():
        return _publish(store, tenant, blobs, pending_publications(store, tenant))


def _publish(store: Store, tenant: str, blobs: Blobs, pending: Sequence[Publication]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    refused: dict[str, Exception] = {}
    for number, publication in enumerate(pending):
        if publication.path in refused:
            continue
        later = {other.digest for other in pending[number + 1 :] if other.path == publication.path and other.digest}
        try:
            outcomes[publication.id] = publication.carry_out(blobs, later=later)
        except (OSError, Coded) as error:
            refused[publication.path] = error
    if outcomes:
        store.write(tenant, lambda transaction: mark_effects(transaction, outcomes))
    for failure in refused.values():
        raise failure
    return outcomes
