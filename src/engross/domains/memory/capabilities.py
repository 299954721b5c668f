"""The registered ways of submitting a payload: what counts for its identity, and which entities are in it.

A capability's version is part of its name: another one is another capability, and what was submitted under this one
keeps its ids.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

PREFIX = "neotoma:store_"
NATURAL_KEYS = (
    *("invoice_number", "transaction_id", "receipt_number", "contract_number", "id", "session_id", "decision"),
)


class Extraction(NamedTuple):
    """Entities that lie in a field: one that its text names, or one for each item of a list."""

    kind: Literal["field_value", "array_items"]
    field: str
    entity_type: str
    relation: Literal["REFERS_TO", "DEPENDS_ON", "PART_OF"] = "REFERS_TO"
    """From what was submitted to what was extracted; a part points the other way."""


class Capability(NamedTuple):
    """What `submit_payload` knows about one kind of payload."""

    id: str
    entity_type: str
    included: tuple[str, ...]
    """The fields that make two payloads the same, in the order in which they are hashed."""
    extractions: tuple[Extraction, ...] = ()
    named_by: tuple[str, ...] = ()
    """The fields that together tell which entity it is, where that is not a title, a name or a number."""


def _company(field: str) -> Extraction:
    return Extraction("field_value", field, "company")


def _capability(
    entity_type: str, included: str, *extractions: Extraction, named_by: str = ""
) -> tuple[str, Capability]:
    identifier = f"{PREFIX}{entity_type}:v1"
    fields, naming = tuple(included.split()), tuple(named_by.split())
    return identifier, Capability(identifier, entity_type, fields, extractions, naming)


CAPABILITIES: dict[str, Capability] = dict(
    (
        _capability(
            "invoice",
            "invoice_number amount vendor_name customer_name date",
            _company("vendor_name"),
            _company("customer_name"),
        ),
        _capability(
            "transaction",
            "transaction_id amount merchant_name counterparty date",
            _company("merchant_name"),
            _company("counterparty"),
        ),
        _capability("receipt", "receipt_number amount vendor_name date", _company("vendor_name")),
        _capability(
            "contract",
            "contract_number parties start_date end_date",
            Extraction("array_items", "parties", "company"),
        ),
        _capability("note", "title content tasks", Extraction("array_items", "tasks", "task", "PART_OF")),
        _capability(
            "feature_unit",
            "id description status dependencies risk_level updated_at",
            Extraction("array_items", "dependencies", "feature_unit", "DEPENDS_ON"),
            named_by="id",
        ),
        _capability(
            "release",
            "id version status feature_units acceptance_criteria updated_at",
            Extraction("array_items", "feature_units", "feature_unit", "PART_OF"),
            named_by="id",
        ),
        _capability("agent_decision", "decision rationale timestamp agent_id", named_by="decision timestamp"),
        _capability("agent_session", "session_id started_at ended_at outcomes", named_by="session_id"),
        _capability(
            "validation_result",
            "validation_type status target timestamp",
            named_by="validation_type target timestamp",
        ),
        _capability("codebase_entity", "name type path updated_at", named_by="type entity_type name"),
        _capability("architectural_decision", "decision rationale status timestamp", named_by="decision timestamp"),
    )
)
"""By id, in the order in which they are told."""
