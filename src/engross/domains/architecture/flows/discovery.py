"""The flows that tell what can be modelled, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Aggregate, Example, Flow
from engross.ledger import Reader

from ..schemas import ANY_ELEMENT_TYPE, LAYER, choice, flag, shape, text
from ..tidy import tidying
from .facets import reading

Arguments = Mapping[str, Any]
Answered = Mapping[str, Any]

ELEMENT_TYPES = shape((), layer=LAYER, include_aspect=flag("Say the aspect of each.", False))
WRITE_SCHEMA = shape(("operation",), operation=text("Name of a write.", 64))
RELATIONSHIP_TYPES = shape((), source_type=ANY_ELEMENT_TYPE, target_type=ANY_ELEMENT_TYPE)


def add_discovery_flows(architecture: Aggregate) -> None:
    """The types of elements and relationships, and the schemas of the writes, which must be there already."""

    @architecture.read(
        **reading(ELEMENT_TYPES, controls=()),
        examples=[Example("All of them", {}), Example("Of a layer", {"layer": "strategy"})],
    )
    def get_element_types(reader: Reader, arguments: Arguments) -> Answered:
        """List element types by layer, with what they mean."""
        from ..discovery import element_types

        return element_types(arguments.get("layer"), arguments.get("include_aspect", False))

    @architecture.read(
        **reading(RELATIONSHIP_TYPES, tidying(elements=["source_type", "target_type"]), controls=()),
        examples=[
            Example("Counts and examples", {}),
            Example("From a component", {"source_type": "ApplicationComponent"}),
            Example("Between two types", {"source_type": "Capability", "target_type": "ApplicationComponent"}),
            Example("No such type", {"source_type": "AppComponent"}, reply="INVALID_ELEMENT_TYPE"),
        ],
    )
    def get_relationship_types(reader: Reader, arguments: Arguments) -> Answered:
        """List relationship types; with types of ends, those that may join them, in both directions."""
        from ..discovery import relationship_types

        return relationship_types(arguments.get("source_type"), arguments.get("target_type"))

    writes = _writes_of(architecture)

    @architecture.read(
        **reading(WRITE_SCHEMA, controls=(), operation=choice("A write.", list(writes))),
        examples=[Example("How to create an element", {"operation": "createElement"})],
    )
    def get_write_schema(reader: Reader, arguments: Arguments) -> Answered:
        """Show a write's JSON Schema, examples and fields."""
        from ..discovery import write_schema

        return write_schema(writes[arguments["operation"]], arguments["operation"])


def _writes_of(architecture: Aggregate) -> dict[str, Flow]:
    """Every write of the aggregate by the name of its tool."""
    offered = {exposure.tool: architecture.flows[exposure.ref.partition(".")[2]] for exposure in architecture.exposures}
    return {tool: flow for tool, flow in offered.items() if flow.writes}
