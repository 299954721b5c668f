"""A board of notes whose code does what a test tells it to: raise, hang, answer nonsense, wait for a signal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Fact, Reader, State, Unit
from engross.replies import Invalid, codes

NOTES = """
CREATE TABLE notes (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    text    $text NOT NULL,
    colour  $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
"""


class PinNote(TypedDict):
    """A new note."""

    text: Annotated[str, Described("What it says.", minLength=1, maxLength=100_000)]
    colour: NotRequired[Annotated[str, Described("Its colour.", maxLength=40, default="yellow")]]


class PaintNote(TypedDict):
    """Another colour for a note."""

    id: Annotated[str, Described("The note's id.", minLength=1, maxLength=80)]
    colour: Annotated[str, Described("Its new colour.", maxLength=40)]


class ReadNotes(TypedDict):
    """All notes."""


def nothing(*_: Any) -> None:
    """Do no more than the flow does by itself."""


@dataclass
class Conduct:
    """What each piece of the board's code does besides its work; what it returns, if anything, is the answer."""

    read: Callable[[Reader], Any] = nothing
    normalise: Callable[[dict[str, Any]], Any] = nothing
    prepare: Callable[[Reader], Any] = nothing
    perform: Callable[[Unit], Any] = nothing
    finish: Callable[[Unit], Any] = nothing
    apply: Callable[[State], Any] = nothing
    assess: Callable[[Any], Any] = nothing
    suggest: Callable[[Reader], Any] = nothing


def board(conduct: Conduct | None = None, *, version: str = "1.0.0") -> Aggregate:
    """A board that behaves like this."""
    acts = conduct or Conduct()
    aggregate = Aggregate("board", "A board of notes", tables=["notes"], migrations=[("notes", NOTES)])

    @aggregate.record(effect="create", posture="direct", version=version)
    def pin_note(unit: Unit, arguments: PinNote) -> Mapping[str, Any]:
        """Pin a note to the board."""
        said = acts.perform(unit)
        if said is not None:
            return said
        note: dict[str, Any] = {"id": unit.new_id("note_"), "version": 1, **arguments}
        unit.append("NotePinned", note["id"], 0, dict(arguments), fields=("text", "colour"))
        finished = acts.finish(unit)
        return {"note": note} if finished is None else finished

    @pin_note.normalise
    def tidy(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        acts.normalise(arguments)
        return arguments, []

    @pin_note.prepare
    def look_around(reader: Reader, arguments: PinNote) -> PinNote:
        acts.prepare(reader)
        return arguments

    @pin_note.assess
    def how_risky(arguments: Mapping[str, Any], facts: object) -> int:
        said = acts.assess(arguments)
        return 2 if said is None else said

    @pin_note.suggest
    def what_next(reader: Reader, answer: Mapping[str, Any]) -> list[Any]:
        said = acts.suggest(reader)
        return [f"Paint {answer['note']['id']}."] if said is None else said

    @aggregate.record(effect="update", tier=1)
    def paint_note(unit: Unit, arguments: PaintNote) -> Mapping[str, Any]:
        """Give a note another colour."""
        note = find_note(unit, arguments["id"])
        if note["colour"] == arguments["colour"]:
            return {"note": note}
        payload = {"colour": arguments["colour"]}
        unit.append("NotePainted", note["id"], note["version"], payload, before=note, fields=("colour",))
        return {"note": {**note, **payload, "version": note["version"] + 1}}

    @aggregate.record(effect="delete", tier=2)
    def take_down(unit: Unit, arguments: TakeDown) -> Mapping[str, Any]:
        """Take a note down."""
        note = find_note(unit, arguments["id"])
        unit.append("NoteTakenDown", note["id"], note["version"], {}, before=note, ends=True)
        return {"note": note}

    @aggregate.read
    def read_notes(reader: Reader, arguments: ReadNotes) -> Mapping[str, Any]:
        """Read all notes."""
        said = acts.read(reader)
        notes = reader.rows("SELECT id, version, text, colour FROM notes WHERE tenant = :tenant ORDER BY id")
        return {"notes": notes} if said is None else said

    @aggregate.applies("NotePinned")
    def pinned(state: State, fact: Fact) -> None:
        acts.apply(state)
        note = fact.payload or {}
        state.execute(
            "INSERT INTO notes (tenant, id, version, text, colour) VALUES (:tenant, :id, :version, :text, :colour)",
            id=fact.subject,
            version=fact.version,
            text=note["text"],
            colour=note["colour"],
        )

    @aggregate.applies("NotePainted")
    def painted(state: State, fact: Fact) -> None:
        state.execute(
            "UPDATE notes SET colour = :colour, version = :version WHERE tenant = :tenant AND id = :id",
            id=fact.subject,
            version=fact.version,
            colour=(fact.payload or {})["colour"],
        )

    @aggregate.applies("NoteTakenDown")
    def taken_down(state: State, fact: Fact) -> None:
        state.execute("DELETE FROM notes WHERE tenant = :tenant AND id = :id", id=fact.subject)

    @aggregate.erases
    def forgotten(state: State, fact: Fact) -> None:
        state.execute("DELETE FROM notes WHERE tenant = :tenant AND id = :id", id=fact.subject)

    return aggregate


class TakeDown(TypedDict):
    """A note to take down."""

    id: Annotated[str, Described("The note's id.", minLength=1, maxLength=80)]


def find_note(reader: Reader, note_id: str) -> dict[str, Any]:
    """The note, or Invalid."""
    note = reader.row("SELECT id, version, text, colour FROM notes WHERE tenant = :tenant AND id = :id", id=note_id)
    if note is None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": note_id}, field="id")
    return note
