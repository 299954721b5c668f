"""The office under measurement: the plainest domain there is, and the rows that one of its writes leaves behind."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Fact, Reader, State, Unit
from engross.replies import Invalid, codes
from engross.store import Insert, Params, Statement, Transaction
from engross.surfaces.client import Client

TABLES = """
CREATE TABLE notes (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    author  $text NOT NULL,
    text    $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
"""

Statements = list[tuple[str, Params]]
_numbers = itertools.count(1)


class KeepNote(TypedDict):
    """A note."""

    text: Annotated[str, Described("What it says.", minLength=1, maxLength=1000)]
    author: Annotated[str, Described("Who says it.", minLength=1, maxLength=100)]


class OneNote(TypedDict):
    """Which note."""

    id: Annotated[str, Described("Its id.", maxLength=80)]


def notes() -> Aggregate:
    """Notes that are kept and read."""
    aggregate = Aggregate("notes", "Notes", tables=["notes"], migrations=[("notes", TABLES)])
    aggregate.record(effect="create")(keep_note)
    aggregate.read(inline=True)(get_note)
    aggregate.applies("NoteKept")(kept)
    return aggregate


def keep_note(unit: Unit, arguments: KeepNote) -> Mapping[str, Any]:
    """Keep a note."""
    identifier = unit.new_id("note_")
    unit.append("NoteKept", identifier, 0, arguments, fields=("text", "author"))
    return {"note": {"id": identifier, "version": 1, **arguments}}


def get_note(reader: Reader, arguments: OneNote) -> Mapping[str, Any]:
    """Show a note."""
    note = reader.row(
        "SELECT id, version, author, text FROM notes WHERE tenant = :tenant AND id = :id", id=arguments["id"]
    )
    if note is None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": arguments["id"]}, field="id")
    return {"note": note}


def kept(state: State, fact: Fact) -> None:
    """A row for the note."""
    note = fact.payload or {}
    state.execute(
        "INSERT INTO notes (tenant, id, version, author, text) VALUES (:tenant, :id, 1, :author, :text)",
        id=fact.subject,
        author=note["author"],
        text=note["text"],
    )


def note() -> dict[str, Any]:
    """A write that was never made before."""
    number = next(_numbers)
    return {
        "text": f"Note {number:09d}: somebody called about the roof and will call again.",
        "author": "Jane",
        "client_request_id": f"bench-{number:09d}",
    }


def written_rows(client: Client, kind: type[Transaction]) -> Statements:
    """The statements by which one call of keep-note changes the store."""
    seen: Statements = []
    execute, execute_all = kind.execute, kind.execute_all

    def watched(self: Transaction, sql: str, params: Params) -> int:
        changed = execute(self, sql, params)
        seen.append((sql, dict(params)))
        return changed

    def one_by_one(self: Transaction, statements: Iterable[Statement]) -> None:
        for statement in statements:
            assert not isinstance(statement, Insert)
            watched(self, *statement)

    kind.execute = watched  # type: ignore[method-assign]
    if client.office.store.engine == "sqlite":
        kind.execute_all = one_by_one  # type: ignore[method-assign]
    try:
        client.call("notes.keep-note", note())
        seen.clear()
        client.call("notes.keep-note", note())
    finally:
        kind.execute, kind.execute_all = execute, execute_all  # type: ignore[method-assign]
    return [(sql, {**params, "tenant": client.tenant}) for sql, params in seen]


def varied(statements: Statements, number: int) -> Statements:
    """The same rows under other keys."""
    return [(sql, {name: _other(name, value, number) for name, value in params.items()}) for sql, params in statements]


def _other(name: str, value: Any, number: int) -> Any:
    base, _, ordinal = name.rpartition("_")
    field = base if ordinal.isdigit() else name
    if field == "position":
        return 10_000_000 + number
    return f"{value[:-9]}{number:09d}" if field in ("id", "subject", "key") else value
