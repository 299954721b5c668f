"""The versions of a document, as the record has them; from facts to rows, and from rows to what callers ask."""

from __future__ import annotations

from typing import Literal, NamedTuple

from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State

Kind = Literal["written", "found", "removed"]
NAMESPACE = "documents"
WRITTEN, FOUND, REMOVED = "DocumentWritten", "DocumentFound", "DocumentRemoved"
KINDS: dict[str, Kind] = {WRITTEN: "written", FOUND: "found", REMOVED: "removed"}
COLUMNS = "version, kind, digest, size, name, validation_status, position"


class Version(NamedTuple):
    """One version: written by a call, found as somebody left it outside of the office, or removed.

    `digest` is the SHA-256 of its bytes, which lie in the blobs; None when there was no file.
    """

    version: int
    kind: Kind
    digest: str | None
    size: int
    name: str | None
    validation_status: str | None
    position: int


def head_of(reader: Reader, subject: str) -> Version | None:
    """The latest version that the record has."""
    row = reader.row(
        f"SELECT {COLUMNS} FROM documents_versions WHERE tenant = :tenant AND id = :id AND position <= :as_of"
        " ORDER BY version DESC LIMIT 1",
        id=subject,
    )
    return None if row is None else Version(**row)


def version_of(reader: Reader, subject: str, version: int) -> Version | None:
    """One version."""
    row = reader.row(
        f"SELECT {COLUMNS} FROM documents_versions WHERE tenant = :tenant AND id = :id AND version = :version",
        id=subject,
        version=version,
    )
    return None if row is None else Version(**row)


def versions_of(reader: Reader, subject: str, *, most: int, before: int | None = None) -> list[Version]:
    """The last versions, the latest first."""
    rows = reader.rows(
        f"SELECT {COLUMNS} FROM documents_versions WHERE tenant = :tenant AND id = :id AND version < :before"
        " ORDER BY version DESC LIMIT :most",
        id=subject,
        before=2**62 if before is None else before,
        most=most,
    )
    return [Version(**row) for row in rows]


def has_digest(reader: Reader, subject: str, digest: str) -> bool:
    """Whether some version of the document had these bytes."""
    row = reader.row(
        "SELECT version FROM documents_versions WHERE tenant = :tenant AND id = :id AND digest = :digest LIMIT 1",
        id=subject,
        digest=digest,
    )
    return row is not None


def publication_id(subject: str, version: int) -> str:
    """What the effect that publishes a version is called."""
    return f"document/{subject}/{version}"


def add_appliers(documents: Aggregate) -> None:
    """Teach an aggregate what its facts mean."""
    for fact_type in KINDS:
        documents.applies(fact_type)(_version)
    documents.erases(_erased)


def _version(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    state.execute(
        f"INSERT INTO documents_versions (tenant, id, {COLUMNS}) VALUES (:tenant, :id, :version, :kind, :digest, :size,"
        " :name, :validation_status, :position)",
        id=fact.subject,
        version=fact.version,
        kind=KINDS[fact.type],
        digest=said.get("digest"),
        size=said.get("size", 0),
        name=said.get("name"),
        validation_status=said.get("validation_status"),
        position=fact.position,
    )


def _erased(state: State, fact: Fact) -> None:
    state.execute("DELETE FROM documents_versions WHERE tenant = :tenant AND id = :id", id=fact.subject)
