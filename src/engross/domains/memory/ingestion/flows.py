"""The flows by which files and payloads get into memory. What does the work is imported when there is some."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engross.calls import Answer
from engross.flows import Aggregate, Determinism, Example, Limits, Semantics
from engross.ledger import Reader, Unit
from engross.replies import codes

from ..capabilities import CAPABILITIES
from ..ways import Ways
from .arguments import Ingest, Reinterpret, SubmitPayload

if TYPE_CHECKING:
    from .sources import Arrival, Rereading
    from .submitting import Submission

LIMITS = Limits(text=100_000_000, size=110_000_000)
"""A file of the largest size in base64, and somewhat more, so that the domain itself says that it is too large."""
SECONDS = 300.0
RATE = "100/minute"

AN_INVOICE = b"""Invoice Number: INV-001
Invoice Date: 2025-01-15
Vendor: Acme Corp
Bill To: Test Customer
Amount Due: $1,500.00
"""
INGESTED: Mapping[str, object] = {
    "file_content": b64encode(AN_INVOICE).decode(),
    "mime_type": "text/plain",
    "original_filename": "invoice.txt",
}
A_SOURCE = ("memory.ingest", INGESTED)
SUBMITTED: Mapping[str, object] = {
    "capability_id": "neotoma:store_invoice:v1",
    "body": {
        "invoice_number": "INV-001",
        "amount": 1500.00,
        "vendor_name": "Acme Corp",
        "customer_name": "Test Customer",
        "date": "2025-01-15",
    },
    "provenance": {
        "source_refs": [],
        "extracted_at": "2025-01-15T10:30:00Z",
        "extractor_version": "neotoma-mcp:v0.2.1",
        "agent_id": "claude-3-opus",
    },
}
_KINDS = ", ".join(one.entity_type for one in CAPABILITIES.values())


def add_ingestion_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that take files and payloads in."""
    _add_ingest(memory, ways)
    _add_submit_payload(memory)
    _add_reinterpret(memory, ways)


def _add_ingest(memory: Aggregate, ways: Ways) -> None:
    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        arguments=Ingest,
        owner_field="user_id",
        answers=None,
        semantics=Semantics(idempotent=True, destructive=False),
        limits=LIMITS,
        rate=RATE,
        timeout_seconds=SECONDS,
        refuses=[codes.FILE_TOO_LARGE, codes.RECORD_NOT_FOUND],
        examples=[
            Example("An invoice", INGESTED, reply="CREATED"),
            Example("The same file again", INGESTED, given=(A_SOURCE,), reply="NO_EFFECT"),
            Example("Only keep it", {**INGESTED, "interpret": False}, reply="CREATED"),
            Example("What is no file", {"file_content": "%%%", "mime_type": "text/plain"}, reply="VALIDATION_ERROR"),
            Example("What was never uploaded", {"content_hash": "0" * 64}, reply="RECORD_NOT_FOUND"),
        ],
        description=(
            "Ingest a raw file: text, Markdown, CSV, JSON, e-mail, vCard, iCalendar, PDF, images. It is kept by its"
            " SHA-256 and interpreted into entities.\n\nUse it for files. For data that is structured already use"
            " submit_payload if a capability fits it, else ingest_structured."
        ),
    )
    def ingest_(unit: Unit, arrival: Arrival) -> Answer:
        """Ingest a raw file."""
        from .sources import ingest

        return ingest(unit, arrival, ways)

    @ingest_.prepare
    def _look_at_it(reader: Reader, arguments: Mapping[str, Any]) -> Arrival:
        from .sources import prepare_ingest

        return prepare_ingest(reader, arguments, ways)


def _add_submit_payload(memory: Aggregate) -> None:
    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        arguments=SubmitPayload,
        owner_field="user_id",
        answers=None,
        semantics=Semantics(idempotent=True, destructive=False),
        rate=RATE,
        refuses=[codes.UNKNOWN_CAPABILITY],
        examples=[
            Example("An invoice", SUBMITTED, reply="CREATED"),
            Example("The same again", SUBMITTED, given=(("memory.submit-payload", SUBMITTED),), reply="NO_EFFECT"),
            Example(
                "No such capability",
                {**SUBMITTED, "capability_id": "neotoma:store_person:v1"},
                reply="UNKNOWN_CAPABILITY",
            ),
        ],
        description=(
            "Submit structured data under a registered capability, neotoma:store_X:v1, where X is one of "
            f"{_KINDS}.\n\nUse it if one of these fits your data: equal payloads are recognised, and entities in"
            " them extracted. If none fits, use ingest_structured; do not make up capabilities. For raw files use"
            " ingest."
        ),
    )
    def submit_payload(unit: Unit, submission: Submission) -> Answer:
        """Submit structured data of a registered kind."""
        from .submitting import submit

        return submit(unit, submission)

    @submit_payload.prepare
    def _take_it_apart(reader: Reader, arguments: Mapping[str, Any]) -> Submission:
        from .submitting import prepare_submission

        return prepare_submission(reader, arguments)


def _add_reinterpret(memory: Aggregate, ways: Ways) -> None:
    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        arguments=Reinterpret,
        answers=None,
        determinism=Determinism(False, "a model may answer otherwise; what it answered is recorded and replays"),
        rate=RATE,
        timeout_seconds=SECONDS,
        refuses=[codes.SOURCE_NOT_FOUND, codes.RECORD_NOT_FOUND, codes.QUOTA_EXCEEDED, codes.ANALYSIS_FAILED],
        examples=[
            Example(
                "By the rules of today",
                {"source_id": "$0.source_id", "interpretation_config": {}},
                given=(A_SOURCE,),
                reply="CREATED",
            ),
            Example("No such source", {"source_id": "nowhere", "interpretation_config": {}}, reply="SOURCE_NOT_FOUND"),
        ],
    )
    def reinterpret_(unit: Unit, rereading: Rereading) -> Answer:
        """Interpret a source once more: new observations are added, none is changed, corrections keep winning."""
        from .sources import reinterpret

        return reinterpret(unit, rereading, ways)

    @reinterpret_.prepare
    def _read_it_again(reader: Reader, arguments: Mapping[str, Any]) -> Rereading:
        from .sources import prepare_reinterpretation

        return prepare_reinterpretation(reader, arguments, ways)
