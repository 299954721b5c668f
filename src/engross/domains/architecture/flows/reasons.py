"""The flow that tells why an element is what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Aggregate, Example
from engross.ledger import Reader
from engross.replies import codes

from ..schemas import IDENTIFIER, MODEL_ID, REF, number, shape, text
from .facets import BY_NAME, reading
from .samples import A_COMPONENT

WHY = shape(
    (),
    id=IDENTIFIER,
    ref=REF,
    field=text("Only what set this.", 300),
    model_id=MODEL_ID,
    limit=number("Most facts.", 1, 500, 50),
)


def add_reason_flows(architecture: Aggregate) -> None:
    """The history of an element, from its facts back to whoever wanted and approved them."""

    @architecture.read(
        **reading(WHY, controls=()),
        refuses=(*BY_NAME, codes.FIELD_NOT_FOUND),
        examples=[
            Example("How it came to be", {"ref": "OrderService"}, given=(A_COMPONENT,)),
            Example("No such element", {"id": "el_nowhere"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def why_element(reader: Reader, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tell how an element came to be what it is: facts, who, which proposal, who approved, receipts."""
        from ..reasons import reasons

        return reasons(reader, arguments)
