"""The flows about elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit
from engross.replies import Issue, codes

from .. import advice
from ..schemas import (
    ANY_ELEMENT_TYPE,
    ANY_LAYER,
    CURSOR,
    DESCRIPTION,
    ELEMENT_TYPE,
    EXPECTED_VERSION,
    IDENTIFIER,
    LIMIT,
    MODEL_ID,
    NAME,
    OPEN_PROFILE,
    PROPERTIES,
    REF,
    flag,
    shape,
    text,
)
from ..tidy import tidying
from ..ways import Ways
from .facets import BY_NAME, CHANGED_ELEMENT, GONE_ELEMENT, NEW_ELEMENT, NO_MODEL, changing, reading
from .samples import A_COMPONENT, A_SERVICE, ORDERS, RELATED

Arguments = Mapping[str, Any]

CREATE = shape(
    ("type", "name"),
    type=ELEMENT_TYPE,
    name=NAME,
    description=DESCRIPTION,
    properties=PROPERTIES,
    profile=OPEN_PROFILE,
    model_id=MODEL_ID,
    parent_id=text("Element composed of it.", 128),
)
UPDATE = shape(
    ("id",),
    id=IDENTIFIER,
    name=NAME,
    description={**DESCRIPTION, "description": "null empties it."},
    properties={"type": "object", "description": 'To set; {"$op":"DELETE"} removes one.'},
    profile=OPEN_PROFILE,
    expected_version=EXPECTED_VERSION,
)
DELETE = shape(
    ("id",),
    id=IDENTIFIER,
    cascade=flag("Its relationships too.", True),
    expected_version=EXPECTED_VERSION,
)
GET = shape((), id=IDENTIFIER, ref=REF, model_id=MODEL_ID)
LIST = shape(
    (),
    model_id=MODEL_ID,
    type=ANY_ELEMENT_TYPE,
    layer=ANY_LAYER,
    name_starts_with=text("Only such names.", 255),
    limit=LIMIT,
    cursor=CURSOR,
)


def add_element_flows(architecture: Aggregate, ways: Ways) -> None:
    """Create, change and delete elements; look one up, and list them."""
    _add_writes(architecture, ways)
    _add_reads(architecture)


def _add_writes(architecture: Aggregate, ways: Ways) -> None:
    @architecture.record(
        effect="create",
        **changing(CREATE, tidying(elements=["type"])),
        state_at="element.version",
        refuses=NEW_ELEMENT,
        examples=[
            Example("Create an application component", ORDERS, reply="CREATED"),
            Example(
                "Create with parent",
                {"type": "ApplicationComponent", "name": "OrderAPI", "parent_id": "$0.element.id"},
                given=(A_COMPONENT,),
                reply="CREATED",
            ),
            Example(
                "A parent that cannot hold it",
                {"type": "Capability", "name": "Ordering", "parent_id": "$0.element.id"},
                given=(A_COMPONENT,),
                reply="INVALID_PARENT",
            ),
        ],
    )
    def create_element(unit: Unit, arguments: Arguments) -> Answer:
        """Create an ArchiMate element; layer and id follow by themselves."""
        from ..element_writes import create_element

        return create_element(unit, arguments, ways.habits(unit.context))

    @create_element.examine
    def _wrong_create_element(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..element_writes import element_issues

        return element_issues(unit, arguments, ways.habits(unit.context))

    create_element.suggest(advice.after_element, alone=True)

    @architecture.record(
        effect="update",
        **changing(UPDATE, tidying(null=["name"]), type={}, model_id={}),
        state_at="element.version",
        refuses=CHANGED_ELEMENT,
        examples=[
            Example(
                "Describe it",
                {"id": "$0.element.id", "description": "Takes and tracks orders", "properties": {"team": "Orders"}},
                given=(A_COMPONENT,),
                reply="UPDATED",
            ),
            Example(
                "Empty the description and take a property away",
                {"id": "$0.element.id", "description": "", "properties": {"team": {"$op": "DELETE"}}},
                given=(A_COMPONENT,),
                reply="UPDATED",
            ),
            Example(
                "Rename it, if nobody changed it meanwhile",
                {"id": "$0.element.id", "name": "Order service", "expected_version": 1},
                given=(A_COMPONENT,),
                reply="UPDATED",
            ),
            Example(
                "The name that it has: nothing changes",
                {"id": "$0.element.id", "name": "OrderService"},
                given=(A_COMPONENT,),
                reply="NO_EFFECT",
            ),
            Example("Nothing to change", {"id": "$0.element.id"}, given=(A_COMPONENT,), reply="NO_CHANGES"),
            Example("No such element", {"id": "el_nowhere", "name": "X"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def update_element(unit: Unit, arguments: Arguments) -> Answer:
        """Change an element. What is absent stays; properties are merged; the type cannot change."""
        from ..element_writes import update_element

        return update_element(unit, arguments, ways.habits(unit.context))

    @update_element.examine
    def _wrong_update_element(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..element_writes import update_issues

        return update_issues(unit, arguments, ways.habits(unit.context), told)

    update_element.suggest(advice.after_update, alone=True)
    update_element.assess(_risk_of_update)

    @architecture.record(
        effect="delete",
        **changing(DELETE),
        refuses=GONE_ELEMENT,
        examples=[
            Example(
                "It must be confirmed", {"id": "$0.element.id"}, given=(A_COMPONENT,), reply="CONFIRMATION_REQUIRED"
            ),
            Example(
                "It is still in use",
                {"id": "$0.element.id", "cascade": False},
                given=(A_COMPONENT, A_SERVICE, RELATED),
                reply="ELEMENT_HAS_RELATIONSHIPS",
            ),
        ],
    )
    def delete_element(unit: Unit, arguments: Arguments) -> Answer:
        """Delete an element and the relationships it is an end of."""
        from ..element_writes import delete_element

        return delete_element(unit, arguments, ways.habits(unit.context))

    @delete_element.examine
    def _wrong_delete_element(unit: Unit, arguments: Arguments, told: frozenset[str]) -> list[Issue]:
        from ..element_writes import deletion_issues

        return deletion_issues(unit, arguments)

    delete_element.suggest(advice.after_deletion, alone=True)


def _add_reads(architecture: Aggregate) -> None:
    @architecture.read(
        inline=True,
        **reading(GET),
        state_at="element.version",
        refuses=BY_NAME,
        examples=[
            Example("By id", {"id": "$0.element.id"}, given=(A_COMPONENT,)),
            Example("By name", {"ref": "ApplicationComponent/OrderService"}, given=(A_COMPONENT,)),
            Example("No such element", {"id": "el_nowhere"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def get_element(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Show an element, by id or name."""
        from ..looking import one_element

        return one_element(reader, arguments)

    architecture.resource(
        "architecture://elements/{id}",
        get_element,
        name="element",
        title="Element",
        description="An element. Subscribe to hear when it changes.",
    )

    @architecture.read(
        **reading(LIST, tidying(elements=["type"])),
        refuses=[codes.INVALID_ELEMENT_TYPE, *NO_MODEL],
        examples=[
            Example("A layer", {"layer": "application"}, given=(A_COMPONENT,)),
            Example("No such type", {"type": "AppComponent"}, reply="INVALID_ELEMENT_TYPE"),
        ],
    )
    def list_elements(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """List elements by type and name, a page at a time."""
        from ..looking import some_elements

        return some_elements(reader, arguments)


def _risk_of_update(arguments: Arguments, facts: tuple[FactDraft, ...]) -> int:
    """A rename is seen by everybody who knows the name; the rest is a remark."""
    return 2 if any("name" in fact.fields for fact in facts) else 1
