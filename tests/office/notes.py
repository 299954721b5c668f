"""A small aggregate that tests can bend: its version, its tiers, and an applier that breaks when told."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Fact, Reader, State, Unit
from engross.replies import Invalid, codes

TABLE = """
CREATE TABLE notes (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    text    $text NOT NULL,
    label   $text,
    PRIMARY KEY (tenant, id)
)$clustered;
"""

NoteId = Annotated[str, Described("The note's id.", maxLength=80)]
Text = Annotated[str, Described("What it says.", minLength=1, maxLength=200)]
Label = Annotated[str, Described("What it is about.", minLength=1, maxLength=200)]


class AddNote(TypedDict):
    """A new note."""

    text: Text
    label: NotRequired[Label]


class ChangeNote(TypedDict):
    """What to change."""

    id: NoteId
    text: NotRequired[Text]
    label: NotRequired[Label]


class OneNote(TypedDict):
    """A note."""

    id: NoteId


class ManyNotes(TypedDict):
    """Several notes."""

    lines: Annotated[str, Described("One note a line.", maxLength=10_000)]


class Bench:
    """The aggregate, and what a test may change about it while the office is open."""

    def __init__(self, *, version: str = "1.0.0", change_tier: int = 2) -> None:
        self.applier_breaks = False
        self.while_applying: Callable[[str], object] = lambda text: None
        self.longest = 200
        self.prepared: list[str] = []
        self.notes = self._aggregate(version, change_tier)

    def _aggregate(self, version: str, change_tier: int) -> Aggregate:
        notes = Aggregate("notes", "Notes", tables=["notes"], migrations=[("notes", TABLE)])

        @notes.record(effect="create", version=version)
        def add_note(unit: Unit, arguments: AddNote) -> Mapping[str, Any]:
            """Write a note down, with the reason the caller gave."""
            self._refuse_long(arguments["text"])
            note = {"text": arguments["text"], "label": arguments.get("label"), "reason": unit.context.reason}
            identifier = unit.new_id("note_")
            unit.append("NoteAdded", identifier, 0, note, fields=["text", "label"])
            return {"note": {"id": identifier, "version": 1, **note}}

        @notes.record(effect="update", tier=change_tier)
        def change_note(unit: Unit, arguments: ChangeNote) -> Mapping[str, Any]:
            """Change a note."""
            return self._change(unit, arguments)

        @notes.record(effect="update", tier=4)
        def rule_note(unit: Unit, arguments: ChangeNote) -> Mapping[str, Any]:
            """Change a note that everybody is bound by."""
            return self._change(unit, arguments)

        @notes.record(effect="delete", tier=3)
        def drop_note(unit: Unit, arguments: OneNote) -> Mapping[str, Any]:
            """Throw a note away."""
            note = find_note(unit, arguments["id"])
            unit.append("NoteDropped", note["id"], note["version"], {}, before=note, ends=True)
            return {"dropped": note}

        @notes.record(effect="create", arguments=ManyNotes)
        def add_notes(unit: Unit, lines: list[str]) -> Mapping[str, Any]:
            """Write several notes down."""
            made = [unit.new_id("note_") for _ in lines]
            for identifier, line in zip(made, lines, strict=True):
                unit.append("NoteAdded", identifier, 0, {"text": line, "label": None}, fields=["text"])
            return {"ids": made}

        @add_notes.prepare
        def split(reader: Reader, arguments: ManyNotes) -> list[str]:
            self.prepared.append(reader.context.principal.id)
            lines = arguments["lines"].splitlines()
            for line in lines:
                self._refuse_long(line)
            return lines

        @notes.read
        def get_note(reader: Reader, arguments: OneNote) -> Mapping[str, Any]:
            """Show a note."""
            return {"note": find_note(reader, arguments["id"])}

        @notes.applies("NoteAdded")
        def added(state: State, fact: Fact) -> None:
            self._write(state, fact, fact.payload or {})

        @notes.applies("NoteChanged")
        def changed(state: State, fact: Fact) -> None:
            before = find_note(state, fact.subject)
            state.execute("DELETE FROM notes WHERE tenant = :tenant AND id = :id", id=fact.subject)
            self._write(state, fact, {**before, **(fact.payload or {})})

        @notes.applies("NoteDropped")
        def dropped(state: State, fact: Fact) -> None:
            state.execute("DELETE FROM notes WHERE tenant = :tenant AND id = :id", id=fact.subject)

        return notes

    def _change(self, unit: Unit, arguments: ChangeNote) -> Mapping[str, Any]:
        note = find_note(unit, arguments["id"])
        wanted = {name: value for name, value in arguments.items() if name != "id"}
        changes = {name: value for name, value in wanted.items() if note[name] != value}
        if changes:
            unit.append("NoteChanged", note["id"], note["version"], changes, before=note, fields=changes)
        return {"note": {**note, **changes, "version": note["version"] + bool(changes)}}

    def _write(self, state: State, fact: Fact, note: Mapping[str, Any]) -> None:
        self.while_applying(note["text"])
        if self.applier_breaks and note["text"] == "fragile":
            raise RuntimeError("the applier broke")
        state.execute(
            "INSERT INTO notes (tenant, id, version, text, label) VALUES (:tenant, :id, :version, :text, :label)",
            id=fact.subject,
            version=fact.version,
            text=note["text"],
            label=note["label"],
        )

    def _refuse_long(self, text: str) -> None:
        if len(text) > self.longest:
            raise Invalid(codes.LIMIT_EXCEEDED, {"what": "The text", "limit": self.longest}, field="text")


def find_note(reader: Reader, note_id: str) -> dict[str, Any]:
    """The note, or Invalid."""
    note = reader.row("SELECT id, version, text, label FROM notes WHERE tenant = :tenant AND id = :id", id=note_id)
    if note is None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": note_id}, field="id")
    return note
