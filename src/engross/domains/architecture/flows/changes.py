"""The flow that makes many changes at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit

from .. import advice
from ..schemas import choice, shape, text
from ..ways import Ways
from .facets import ANY_CHANGE, changing

if TYPE_CHECKING:
    from ..changes import Item, Operation

Arguments = Mapping[str, Any]

OPERATIONS = (
    "createElement",
    "createRelationship",
    "updateElement",
    "deleteElement",
    "deleteRelationship",
    "createCapability",
    "createCapabilityStructure",
    "addComponentToCapability",
)
APPLY = shape(
    ("operations",),
    operations={
        "type": "array",
        "description": 'Up to 100, in order. Where an id goes, "#0" is what operation 0 made.',
        "minItems": 1,
        "maxItems": 10_000,
        "items": shape(
            ("operation", "payload"),
            operation=choice("Tool name.", OPERATIONS),
            payload={"type": "object", "description": "Its input."},
            client_request_id=text("Own key, per_item only.", 255, minLength=8, pattern=r"^[A-Za-z0-9._:\-]+$"),
        ),
    },
    mode=choice("atomic: all or none.", ["atomic", "per_item"], default="atomic"),
)
A_SERVER: Mapping[str, object] = {"operation": "createElement", "payload": {"type": "Node", "name": "Server"}}
A_RACK: Mapping[str, object] = {"operation": "createElement", "payload": {"type": "Device", "name": "Rack"}}
JOINED: Mapping[str, object] = {
    "operation": "createRelationship",
    "payload": {"type": "Composition", "source_id": "#0", "target_id": "#1"},
}
NONE_SUCH: Mapping[str, object] = {"operation": "deleteElement", "payload": {"id": "el_nowhere"}}


def add_change_flows(architecture: Aggregate, ways: Ways) -> None:
    """Many of the other writes in one call; they must be there already."""

    @cache
    def operations() -> dict[str, Operation]:
        from ..changes import operations_of

        return operations_of(architecture, OPERATIONS)

    @architecture.record(
        effect="update",
        **changing(APPLY),
        refuses=ANY_CHANGE,
        timeout_seconds=60.0,
        examples=[
            Example("Two elements and what relates them", {"operations": [A_SERVER, A_RACK, JOINED]}, reply="UPDATED"),
            Example(
                "One that cannot be made refuses them all",
                {"operations": [A_SERVER, NONE_SUCH]},
                reply="ELEMENT_NOT_FOUND",
            ),
        ],
    )
    def apply_changes(unit: Unit, prepared: tuple[str, list[Item]]) -> Answer:
        """Make up to 100 mixed changes in one call; later ones may refer to earlier ones."""
        from ..changes import apply_changes

        mode, items = prepared
        return apply_changes(unit, items, mode, operations(), ways.habits(unit.context))

    @apply_changes.prepare
    def _checked(reader: Reader, arguments: Arguments) -> tuple[str, list[Item]]:
        from ..changes import checked_items

        return arguments["mode"], checked_items(operations(), arguments["operations"])

    apply_changes.suggest(advice.after_changes, alone=True)
    apply_changes.assess(_risk)


def _risk(arguments: Arguments, facts: tuple[FactDraft, ...]) -> int:
    return 3 if any(fact.ends for fact in facts) else 2
