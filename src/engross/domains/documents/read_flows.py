"""The flows that check documents and show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer
from engross.flows import Aggregate, Example
from engross.ledger import Reader
from engross.replies import codes

from .refusals import OF_PLACES, OF_TEXTS
from .samples import A_NOTE, NOTE, OTHER_NOTE, PATH, TYPED_BY_HAND, WRITE_REF
from .schemas import BLAME, COMPARE, EJECT, HISTORY, LIMITS, LIST, READ, VALIDATE, WHY
from .ways import Ways
from .write_flows import MORE

Arguments = Mapping[str, Any]
UNKNOWN = {"path": "notes/nowhere.oct.md"}
TWICE = (A_NOTE, (WRITE_REF, {"target_path": PATH, "content": OTHER_NOTE}))


def add_read_flows(documents: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that only look."""
    _add_checks(documents, ways)
    _add_files(documents, ways)
    _add_history(documents, ways)


def _add_checks(documents: Aggregate, ways: Ways) -> None:
    @documents.read(
        arguments=VALIDATE,
        answers=None,
        controls=(),
        limits=LIMITS,
        refuses=OF_TEXTS,
        examples=[
            Example("Repairs suggested", {"content": TYPED_BY_HAND, "schema": "META"}, reply="VALIDATION_DONE"),
            Example("Repairs made", {"content": TYPED_BY_HAND, "schema": "META", "fix": True}, reply="VALIDATION_DONE"),
            Example("Not OCTAVE", {"content": "OWNER: alice\n", "schema": "META"}, reply="VALIDATION_DONE"),
        ],
    )
    def octave_validate(reader: Reader, arguments: Arguments) -> Answer:
        """Check an OCTAVE document against a schema; nothing is written.
        The answer has errors, warnings, the canonical text, and repairs, made with fix=true and suggested otherwise."""
        from .checking import validated

        return validated(ways, arguments)

    @documents.read(
        arguments=EJECT,
        answers=None,
        controls=(),
        limits=LIMITS,
        refuses=OF_TEXTS,
        examples=[
            Example("As JSON", {"content": NOTE, "schema": "META", "format": "json"}),
            Example("What matters to executives", {"content": NOTE, "schema": "META", "mode": "executive"}),
            Example("A template", {"schema": "SESSION_LOG"}),
            Example("No such schema", {"schema": "NOTHING"}, reply="E_INPUT"),
        ],
    )
    def octave_eject(reader: Reader, arguments: Arguments) -> Answer:
        """Show an OCTAVE document in another format or from a point of view; without content, the schema's template.
        The answer says what was left out."""
        from .checking import ejected

        return ejected(ways, arguments)


def _add_files(documents: Aggregate, ways: Ways) -> None:
    @documents.read(
        arguments=READ,
        answers=None,
        controls=("proposal_id", "as_of"),
        state_at="hash",
        refuses=OF_PLACES,
        examples=[
            Example("What is there", {"path": PATH}, given=(A_NOTE,)),
            Example("What was there", {"path": PATH, "version": 1}, given=TWICE),
            Example("Nothing there", UNKNOWN, reply="E_PATH"),
        ],
    )
    def read_document(reader: Reader, arguments: Arguments) -> Answer:
        """Read a document and its hash: as it lies on the disk, or an earlier version from the record."""
        from .reading import document_at

        return document_at(ways, reader, arguments)

    @documents.read(arguments=LIST, answers=None, examples=[Example("All of them", {}, given=(A_NOTE,))])
    def list_documents(reader: Reader, arguments: Arguments) -> Answer:
        """List the documents that are on the record, by path."""
        from .reading import listed

        return listed(ways, reader, arguments)

    documents.resource(
        "octave://documents/{+path}",
        read_document,
        name="document",
        title="Document",
        description="A document's text. Subscribe to hear when it is written.",
        mime_type="text/markdown",
        text="content",
    )
    documents.expose(read_document, toolset=MORE)
    documents.expose(list_documents, toolset=MORE)


def _add_history(documents: Aggregate, ways: Ways) -> None:
    @documents.read(
        arguments=HISTORY,
        answers=None,
        controls=(),
        refuses=OF_PLACES,
        examples=[
            Example("All versions", {"path": PATH}, given=TWICE),
            Example("Never written", UNKNOWN, reply="RECORD_NOT_FOUND"),
        ],
    )
    def document_history(reader: Reader, arguments: Arguments) -> Answer:
        """Tell how a document came to be what it is: versions, who wrote them and why, who approved, receipts."""
        from .history import history_of

        return history_of(ways, reader, arguments)

    @documents.read(
        arguments=BLAME,
        answers=None,
        controls=(),
        refuses=(*OF_PLACES, codes.E_PARSE),
        examples=[
            Example("Every paragraph", {"path": PATH}, given=TWICE),
            Example("One field", {"path": PATH, "field": "STATUS"}, given=TWICE),
            Example("No such field", {"path": PATH, "field": "NOTHING"}, given=(A_NOTE,), reply="E_INPUT"),
        ],
    )
    def blame_document(reader: Reader, arguments: Arguments) -> Answer:
        """Tell for each paragraph of a document, or for one field or line, which write it comes from."""
        from .blame import blamed

        return blamed(ways, reader, arguments)

    @documents.read(
        arguments=COMPARE,
        answers=None,
        controls=(),
        refuses=OF_PLACES,
        examples=[
            Example("Two versions", {"path": PATH, "old": 1, "new": 2}, given=TWICE),
            Example("The last one and the file", {"path": PATH}, given=(A_NOTE,)),
        ],
    )
    def compare_versions(reader: Reader, arguments: Arguments) -> Answer:
        """Show what differs between two versions of a document, or between a version and the file."""
        from .history import compared

        return compared(ways, reader, arguments)

    @documents.read(
        arguments=WHY,
        answers=None,
        controls=(),
        refuses=(*OF_PLACES, codes.E_PARSE, codes.NEEDS_DISAMBIGUATION),
        examples=[
            Example("How it came to be", {"ref": PATH}, given=TWICE),
            Example("One field", {"ref": PATH, "field": "STATUS"}, given=TWICE),
            Example("Never written", {"ref": UNKNOWN["path"]}, reply="RECORD_NOT_FOUND"),
        ],
    )
    def why_document(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Tell how a document came to be what it is: the writes its paragraphs come from, who, approvers, receipts."""
        from .reasons import reasons

        return reasons(ways, reader, arguments)

    for flow in (document_history, blame_document, compare_versions, why_document):
        documents.expose(flow, toolset=MORE)
