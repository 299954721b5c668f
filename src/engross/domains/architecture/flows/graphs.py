"""The flows that show a part of a model as a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Aggregate, Example
from engross.ledger import Reader
from engross.replies import codes

from ..schemas import IDENTIFIER, MODEL_ID, Schema, choice, number, shape, text
from ..tidy import tidying
from .facets import NO_MODEL, NO_VIEW, reading
from .samples import A_CAPABILITY, A_COMPONENT, A_SERVICE, RELATED

Arguments = Mapping[str, Any]
Answered = Mapping[str, Any]


def _types(description: str, most: int) -> Schema:
    return {
        "type": "array",
        "description": description,
        "items": {"type": "string", "maxLength": 40},
        "maxItems": most,
    }


MOST_ELEMENTS = number("Most elements.", 1, 500, 100)
NEIGHBOURHOOD = shape(
    ("id",),
    id=IDENTIFIER,
    hops=number("Steps.", 1, 5, 1),
    relationship_types=_types("Only along these.", 11),
    limit=MOST_ELEMENTS,
)
VIEW = shape(
    (),
    view_id=text("An imported view, or its name.", 255),
    element_id=text("Around this element.", 128),
    capability_id=text("Or a Capability, or its name.", 255),
    hops=number("Steps around.", 1, 5, 2),
    types=_types("Or of these types.", 60),
    model_id=MODEL_ID,
    format=choice("How to show it.", ["graph", "mermaid", "svg"], default="graph"),
    limit=MOST_ELEMENTS,
)


def add_graph_flows(architecture: Aggregate) -> None:
    """The neighbourhood of an element; views, generated or imported."""

    @architecture.read(
        **reading(NEIGHBOURHOOD, tidying(relationships=["relationship_types"])),
        refuses=[codes.ELEMENT_NOT_FOUND, codes.INVALID_RELATIONSHIP_TYPE],
        examples=[Example("One step", {"id": "$0.element.id"}, given=(A_COMPONENT, A_SERVICE, RELATED))],
    )
    def get_neighborhood(reader: Reader, arguments: Arguments) -> Answered:
        """Show what is related to an element, some steps far."""
        from ..looking import around

        return around(reader, arguments)

    @architecture.read(
        **reading(VIEW, tidying(elements=["types"])),
        refuses=[*NO_VIEW, codes.ELEMENT_NOT_FOUND, codes.INVALID_ELEMENT_TYPE, *NO_MODEL],
        examples=[
            Example(
                "Around a capability", {"element_id": "$0.capability.id", "format": "mermaid"}, given=(A_CAPABILITY,)
            ),
            Example("Of a capability", {"capability_id": "Fulfillment"}, given=(A_CAPABILITY,)),
            Example("Of some types", {"types": ["ApplicationComponent", "ApplicationService"]}, given=(A_COMPONENT,)),
        ],
    )
    def get_view(reader: Reader, arguments: Arguments) -> Answered:
        """Draw a part of a model: as a graph, Mermaid or SVG."""
        from ..views import one_view

        return one_view(reader, arguments)

    @architecture.read(
        **reading(shape((), model_id=MODEL_ID)),
        refuses=NO_MODEL,
        exposed=False,
        examples=[Example("Those that were imported", {})],
    )
    def list_views(reader: Reader, arguments: Arguments) -> Answered:
        """List the views that came with imported models."""
        from ..views import stored_views

        return stored_views(reader, arguments)
