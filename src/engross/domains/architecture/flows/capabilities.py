"""The flows that make capabilities, and the structures around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer
from engross.flows import Aggregate, Example
from engross.ledger import Unit
from engross.replies import Issue

from .. import advice
from ..schemas import DESCRIPTION, MODEL_ID, NAME, OPEN_PROFILE, WHOLE_PROFILE, names, shape, text
from ..tidy import tidying
from ..ways import Ways
from .facets import NEW_CAPABILITY, NEW_COMPONENT, NEW_STRUCTURE, changing
from .samples import A_CAPABILITY, FULFILLMENT

Arguments = Mapping[str, Any]

CREATE = shape(
    ("name", "profile"),
    name=NAME,
    description=DESCRIPTION,
    profile=WHOLE_PROFILE,
    model_id=MODEL_ID,
    parent_id=text("Capability composed of it.", 128),
)
STRUCTURE = shape(
    ("name",),
    name=NAME,
    description=DESCRIPTION,
    profile=OPEN_PROFILE,
    value_streams=names("Value streams it serves."),
    sub_capabilities=names("Capabilities it is composed of."),
    model_id=MODEL_ID,
)
COMPONENT = shape(
    ("capability_id", "component_name"),
    capability_id=text("Capability to realize.", 128),
    component_name=NAME,
    component_description=DESCRIPTION,
    services=names("Services it realizes."),
)


def add_capability_flows(architecture: Aggregate, ways: Ways) -> None:
    """A capability with its profile, and the two templates."""
    taken = changing(CREATE)
    # The domain itself tells that a profile is missing, and which keys it needs.
    taken["enforced"] = {**taken["enforced"], "required": ["name"]}

    @architecture.record(
        effect="create",
        **taken,
        state_at="capability.version",
        refuses=NEW_CAPABILITY,
        examples=[Example("A capability with its profile", FULFILLMENT, reply="CREATED")],
    )
    def create_capability(unit: Unit, arguments: Arguments) -> Answer:
        """Create a Capability with its profile."""
        from ..element_writes import create_capability

        return create_capability(unit, arguments, ways.habits(unit.context))

    @create_capability.examine
    def _wrong_create_capability(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..element_writes import capability_issues

        return capability_issues(unit, arguments, ways.habits(unit.context))

    create_capability.suggest(advice.after_element, alone=True)

    @architecture.record(
        effect="create",
        **changing(STRUCTURE),
        refuses=NEW_STRUCTURE,
        examples=[
            Example(
                "A capability, its parts and a value stream",
                {
                    "name": "Fulfillment",
                    "description": "Ability to fulfill customer orders",
                    "value_streams": ["Order to cash"],
                    "sub_capabilities": ["Picking", "Packing"],
                },
                reply="CREATED",
            ),
            Example(
                "The same part twice",
                {"name": "Fulfillment", "sub_capabilities": ["Picking", "picking"]},
                reply="VALIDATION_ERROR",
            ),
        ],
    )
    def create_capability_structure(unit: Unit, arguments: Arguments) -> Answer:
        """Create a Capability with its parts and the value streams it serves, all at once."""
        from ..templates import create_capability_structure

        return create_capability_structure(unit, arguments, ways.habits(unit.context))

    @create_capability_structure.examine
    def _wrong_create_capability_structure(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..templates import structure_issues

        return structure_issues(unit, arguments, ways.habits(unit.context))

    create_capability_structure.suggest(advice.after_structure, alone=True)

    @architecture.record(
        effect="create",
        **changing(COMPONENT, tidying(null=["component_description"])),
        refuses=NEW_COMPONENT,
        examples=[
            Example(
                "A component and its services",
                {
                    "capability_id": "$0.capability.id",
                    "component_name": "Warehouse",
                    "component_description": "Knows what lies where",
                    "services": ["Stock keeping"],
                },
                given=(A_CAPABILITY,),
                reply="CREATED",
            ),
        ],
    )
    def add_component_to_capability(unit: Unit, arguments: Arguments) -> Answer:
        """Add an ApplicationComponent that realizes a Capability, with its services, all at once."""
        from ..templates import add_component_to_capability

        return add_component_to_capability(unit, arguments, ways.habits(unit.context))

    @add_component_to_capability.examine
    def _wrong_add_component_to_capability(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..templates import component_issues

        return component_issues(unit, arguments, ways.habits(unit.context))

    add_component_to_capability.suggest(advice.after_structure, alone=True)
