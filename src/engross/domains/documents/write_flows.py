"""The flows that change documents: write, and take back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Example, Semantics
from engross.ledger import Reader, Unit
from engross.replies import codes

from .refusals import OF_PLACES, OF_WRITES
from .samples import A_NOTE, NOTE, OTHER_NOTE, PATH, WRITE_REF
from .schemas import LIMITS, UNDO, WRITE
from .versions import REMOVED
from .ways import Ways

REPEATABLE = Semantics(idempotent=True, destructive=True)
STATE, BASE = "canonical_hash", "base_hash"
"""A document has a version only where the record knows it; what it is at, whoever wrote it, is its hash."""
MORE = "documents-more"
REMOVAL_TIER = 3


def add_write_flows(documents: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that change documents."""
    _add_write(documents, ways)
    _add_undo(documents, ways)


def _add_write(documents: Aggregate, ways: Ways) -> None:
    @documents.record(
        effect="update",
        posture="direct",
        semantics=REPEATABLE,
        arguments=WRITE,
        answers=None,
        state_at=STATE,
        expects=BASE,
        limits=LIMITS,
        refuses=OF_WRITES,
        examples=[
            Example("A new document", {"target_path": PATH, "content": NOTE, "schema": "META"}, reply="CREATED"),
            Example(
                "Some fields of it",
                {
                    "target_path": PATH,
                    "changes": {"STATUS": "DONE", "OWNER": None, "SERVER.HOST": {"$op": "DELETE"}},
                    "mutations": {"VERSION": "2.0"},
                    "base_hash": "$0.canonical_hash",
                },
                given=(A_NOTE,),
                reply="UPDATED",
            ),
            Example("As it was", {"target_path": PATH, "content": NOTE}, given=(A_NOTE,), reply="NO_EFFECT"),
            Example(
                "Somebody was quicker",
                {"target_path": PATH, "changes": {"STATUS": "DONE"}, "base_hash": "$0.canonical_hash"},
                given=(A_NOTE, (WRITE_REF, {"target_path": PATH, "content": OTHER_NOTE})),
                reply="E_HASH",
            ),
            Example("Both at once", {"target_path": PATH, "content": NOTE, "changes": {"A": 1}}, reply="E_INPUT"),
            Example("Nothing to change", {"target_path": PATH, "changes": {"A": 1}}, reply="E_PATH"),
            Example("Outside", {"target_path": "../elsewhere.oct.md", "content": NOTE}, reply="E_PATH"),
            Example("Not OCTAVE", {"target_path": PATH, "content": "===D===\nOWNER: alice\n"}, reply="E_PARSE"),
        ],
    )
    def octave_write(unit: Unit, prepared: Any) -> Answer:
        """Write an OCTAVE document: all of it (content) or some fields (changes).
        It becomes canonical; the answer has the diff and every correction. base_hash guards against overwriting what
        somebody else wrote."""
        from .writing import perform_write

        return perform_write(ways, unit, prepared)

    prepare_and_conclude(octave_write, ways)


def prepare_and_conclude(flow: Any, ways: Ways) -> None:
    """The two other parts of a flow that writes a document."""

    @flow.prepare  # type: ignore[untyped-decorator]
    def prepare(reader: Reader, arguments: Mapping[str, Any]) -> Any:
        from .writing import prepare_write

        return prepare_write(ways, reader, arguments)

    conclude_with_file(flow, ways)


def conclude_with_file(flow: Any, ways: Ways) -> None:
    """Say what became of the file."""

    @flow.conclude  # type: ignore[untyped-decorator]
    def conclude(reader: Reader, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        from .writing import conclude_write

        return conclude_write(ways, reader, answer)


def _add_undo(documents: Aggregate, ways: Ways) -> None:
    @documents.record(
        effect="update",
        posture="direct",
        semantics=Semantics(destructive=True),
        arguments=UNDO,
        answers=None,
        state_at=STATE,
        expects=BASE,
        refuses=(*OF_PLACES, codes.E_HASH, codes.E_WRITE),
        examples=[
            Example(
                "Take the last write back",
                {"path": PATH},
                given=(A_NOTE, (WRITE_REF, {"target_path": PATH, "content": OTHER_NOTE})),
                reply="UPDATED",
            ),
            Example("The only one there is", {"path": PATH}, given=(A_NOTE,), reply="CONFIRMATION_REQUIRED"),
            Example("No such version", {"path": PATH, "version": 9}, given=(A_NOTE,), reply="RECORD_NOT_FOUND"),
            Example("Never written", {"path": PATH}, reply="RECORD_NOT_FOUND"),
        ],
    )
    def undo_document(unit: Unit, prepared: Any) -> Answer:
        """Take the last write of a document back, or bring a version back, as a new version of it."""
        from .writing import perform_write

        return perform_write(ways, unit, prepared)

    @undo_document.prepare
    def prepare(reader: Reader, arguments: Mapping[str, Any]) -> Any:
        from .undoing import prepare_undo

        return prepare_undo(ways, reader, arguments)

    undo_document.assess(_risk_of_undoing)
    conclude_with_file(undo_document, ways)
    documents.expose(undo_document, toolset=MORE)


def _risk_of_undoing(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """A document that was made by what is taken back is gone afterwards."""
    return REMOVAL_TIER if any(fact.type == REMOVED for fact in facts) else 2
