"""The flow that makes many changes at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Checker, Example
from engross.ledger import Reader, Unit
from engross.replies import Issue

from .. import advice
from ..schemas import Schema, choice, shape, text
from ..ways import Habits, Ways
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
ITEM = shape(
    ("operation", "payload"),
    operation=choice("Tool name.", OPERATIONS),
    payload={"type": "object", "description": "Its input."},
    client_request_id=text("Own key, per_item only.", 255, minLength=8, pattern=r"^[A-Za-z0-9._:\-]+$"),
)
LISTED: Schema = {
    "type": "array",
    "description": 'Up to 100, in order. Where an id goes, "#0" is what operation 0 made.',
    "minItems": 1,
    "maxItems": Habits().max_bulk,
    "items": ITEM,
}
APPLY = shape(
    ("operations",),
    operations=LISTED,
    mode=choice("atomic: all or none.", ["atomic", "per_item"], default="atomic"),
)
# Each item is held to its own schema later: what is wrong with one must not hide what is wrong with the others. How
# many there may be is a knob.
ANY_LISTED: Schema = {**LISTED, "maxItems": 10_000, "items": {}}
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

    @cache
    def checker() -> Checker:
        return Checker(ITEM, samples=A_SERVER, subject="an operation")

    @architecture.record(
        effect="update",
        **changing(APPLY, operations=ANY_LISTED),
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

        mode = arguments["mode"]
        return mode, checked_items(operations(), checker(), arguments["operations"], mode)

    @apply_changes.examine
    def _wrong(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..changes import changes_issues, checked_items

        # Of a mode that nobody knows, it cannot be said whether keys go with it.
        mode = "per_item" if "mode" in told else arguments["mode"]
        items = checked_items(operations(), checker(), arguments.get("operations", ()), mode)
        if mode != arguments["mode"] or mode == "atomic":
            return changes_issues(unit, items, operations(), ways.habits(unit.context))
        return []

    apply_changes.suggest(advice.after_changes, alone=True)
    apply_changes.assess(_risk)


def _risk(arguments: Arguments, facts: tuple[FactDraft, ...]) -> int:
    return 3 if any(fact.ends for fact in facts) else 2
