"""The flow that tells why an entity is what it is."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader
from engross.replies import codes

from .arguments import ACME_ID, GIVEN_ACME, Answered, FieldName


class WhyEntity(TypedDict):
    """Whom to account for."""

    ref: Annotated[str, Described("Entity id, name or another identifier, or type/name.", minLength=1, maxLength=400)]
    field: NotRequired[FieldName]
    limit: NotRequired[Annotated[int, Described("Most facts.", minimum=1, maximum=500, default=50)]]


def add_reason_flows(memory: Aggregate) -> None:
    """Give an aggregate the flow that leads from an entity to whoever brought in and approved what is known."""

    @memory.read(
        controls=(),
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.FIELD_NOT_FOUND, codes.NEEDS_DISAMBIGUATION],
        examples=[
            Example("By its name", {"ref": "Acme Corp"}, given=GIVEN_ACME),
            Example("One field", {"ref": ACME_ID, "field": "domain"}, given=GIVEN_ACME),
            Example("Nobody", {"ref": "ent_nobody"}, reply="ENTITY_NOT_FOUND"),
            Example("No such field", {"ref": ACME_ID, "field": "dommain"}, given=GIVEN_ACME, reply="FIELD_NOT_FOUND"),
        ],
    )
    def why_entity(reader: Reader, arguments: WhyEntity) -> Answered:
        """Tell how an entity came to be what it is: what decides each field, its source, who, approvers, receipts."""
        from .reasons import reasons

        return reasons(reader, arguments)
