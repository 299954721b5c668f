"""The flows about relationships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit
from engross.replies import Issue, codes

from .. import advice
from ..schemas import (
    ANY_RELATIONSHIP_TYPE,
    CURSOR,
    DESCRIPTION,
    EXPECTED_VERSION,
    IDENTIFIER,
    LIMIT,
    MODEL_ID,
    NAME,
    REF,
    RELATIONSHIP_TYPE,
    choice,
    shape,
    text,
)
from ..tidy import tidying
from ..ways import Ways
from .facets import GONE_RELATIONSHIP, NEW_RELATIONSHIP, NO_MODEL, changing, reading
from .samples import A_CAPABILITY, A_COMPONENT, A_SERVICE, REALIZES, RELATED

Arguments = Mapping[str, Any]

CREATE = shape(
    ("type",),
    type=RELATIONSHIP_TYPE,
    source_id=text("Id of the source.", 128),
    source_ref=REF,
    target_id=text("Id of the target.", 128),
    target_ref=REF,
    name=NAME,
    description=DESCRIPTION,
    access_type=choice("Of an Access.", ["Access", "Read", "Write", "ReadWrite"]),
    modifier=text("Of an Influence: +, -, 0 to 10.", 20),
    is_directed={"type": "boolean", "description": "Of an Association."},
    model_id=MODEL_ID,
)
DELETE = shape(("id",), id=IDENTIFIER, expected_version=EXPECTED_VERSION)
LIST = shape(
    (),
    model_id=MODEL_ID,
    type=ANY_RELATIONSHIP_TYPE,
    source_id=text("From here.", 128),
    target_id=text("To here.", 128),
    element_id=text("Either end.", 128),
    limit=LIMIT,
    cursor=CURSOR,
)


def add_relationship_flows(architecture: Aggregate, ways: Ways) -> None:
    """Relate things, take relationships away, and list them."""

    @architecture.record(
        effect="create",
        **changing(CREATE, tidying(relationships=["type"])),
        state_at="relationship.version",
        refuses=NEW_RELATIONSHIP,
        examples=[
            Example("A component realizes a service", REALIZES, given=(A_COMPONENT, A_SERVICE), reply="CREATED"),
            Example(
                "By name",
                {"type": "Realization", "source_ref": "OrderService", "target_ref": "ApplicationService/Ordering"},
                given=(A_COMPONENT, A_SERVICE),
                reply="CREATED",
            ),
            Example(
                "The wrong way round",
                {"type": "Realization", "source_id": "$1.capability.id", "target_id": "$0.element.id"},
                given=(A_COMPONENT, A_CAPABILITY),
                reply="INVALID_RELATIONSHIP",
            ),
        ],
    )
    def create_relationship(unit: Unit, arguments: Arguments) -> Answer:
        """Relate two elements of a model, each by id or by name."""
        from ..relationship_writes import create_relationship

        return create_relationship(unit, arguments, ways.habits(unit.context))

    @create_relationship.examine
    def _wrong_create_relationship(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..relationship_writes import relationship_issues

        return relationship_issues(unit, arguments, told)

    create_relationship.suggest(advice.after_relationship, alone=True)

    @architecture.record(
        effect="delete",
        **changing(DELETE),
        refuses=GONE_RELATIONSHIP,
        examples=[
            Example(
                "It must be confirmed",
                {"id": "$2.relationship.id"},
                given=(A_COMPONENT, A_SERVICE, RELATED),
                reply="CONFIRMATION_REQUIRED",
            ),
            Example("No such relationship", {"id": "rel_nowhere"}, reply="RELATIONSHIP_NOT_FOUND"),
        ],
    )
    def delete_relationship(unit: Unit, arguments: Arguments) -> Answer:
        """Delete a relationship."""
        from ..relationship_writes import delete_relationship

        return delete_relationship(unit, arguments, ways.habits(unit.context))

    @delete_relationship.examine
    def _wrong_delete_relationship(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..relationship_writes import ending_issues

        return ending_issues(unit, arguments)

    delete_relationship.suggest(advice.after_deletion, alone=True)

    @architecture.read(
        **reading(LIST, tidying(relationships=["type"])),
        refuses=[codes.ELEMENT_NOT_FOUND, codes.INVALID_RELATIONSHIP_TYPE, *NO_MODEL],
        examples=[Example("Of an element", {"element_id": "$0.element.id"}, given=(A_COMPONENT, A_SERVICE, RELATED))],
    )
    def list_relationships(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """List relationships by type and id, a page at a time."""
        from ..looking import some_relationships

        return some_relationships(reader, arguments)
