"""The flows that change a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Example, Flow
from engross.ledger import Reader, Unit, last_version
from engross.replies import Invalid, codes

from . import advice
from .changes import Item, Operation, apply_changes, checked_items
from .metamodel import metamodel
from .models import CONTEXT, EVERYONE, chosen_model, contextual, find_model, model_named, no_such_model
from .schemas import (
    DESCRIPTION,
    ELEMENT_TYPE,
    EXPECTED_VERSION,
    IDENTIFIER,
    MODEL_ID,
    NAME,
    OPEN_PROFILE,
    PROFILE,
    PROPERTIES,
    RELATIONSHIP_TYPE,
    Schema,
    choice,
    enforced,
    flag,
    lean,
    names,
    shape,
    taking,
    text,
)
from .templates import add_component_to_capability, create_capability_structure
from .tidy import tidying
from .ways import Ways
from .writing import (
    NAMESPACE,
    Arguments,
    Write,
    create_capability,
    create_element,
    create_relationship,
    delete_element,
    delete_relationship,
    update_element,
)

CREATE_ELEMENT = shape(
    ("type", "name"),
    type=ELEMENT_TYPE,
    name=NAME,
    description=DESCRIPTION,
    properties=PROPERTIES,
    profile=OPEN_PROFILE,
    model_id=MODEL_ID,
    parent_id=text("Element that is to be composed of it.", 128),
)
CREATE_RELATIONSHIP = shape(
    ("type",),
    type=RELATIONSHIP_TYPE,
    source_id=text("Id of the source.", 128),
    source_ref=text("Or its Name, or Type/Name.", 400),
    target_id=text("Id of the target.", 128),
    target_ref=text("Or its Name, or Type/Name.", 400),
    name=NAME,
    description=DESCRIPTION,
    access_type=choice("Of an Access.", ["Access", "Read", "Write", "ReadWrite"]),
    modifier=text("Of an Influence: +, -, 0 to 10.", 20),
    is_directed={"type": "boolean", "description": "Of an Association."},
    model_id=MODEL_ID,
)
UPDATE_ELEMENT = shape(
    ("id",),
    id=IDENTIFIER,
    name=NAME,
    description=DESCRIPTION,
    properties={"type": "object", "description": 'Properties to set; {"$op":"DELETE"} removes one.'},
    profile=OPEN_PROFILE,
    expected_version=EXPECTED_VERSION,
)
DELETE_ELEMENT = shape(
    ("id",),
    id=IDENTIFIER,
    cascade=flag("Its relationships go too.", True),
    expected_version=EXPECTED_VERSION,
)
DELETE_RELATIONSHIP = shape(("id",), id=IDENTIFIER, expected_version=EXPECTED_VERSION)
CREATE_CAPABILITY = shape(
    ("name", "profile"),
    name=NAME,
    description=DESCRIPTION,
    profile={**PROFILE, "required": list(metamodel().profiles["Capability"]["required"])},
    model_id=MODEL_ID,
    parent_id=text("Capability that is to be composed of it.", 128),
)
CAPABILITY_STRUCTURE = shape(
    ("name",),
    name=NAME,
    description=DESCRIPTION,
    profile=OPEN_PROFILE,
    value_streams=names("Value streams that it serves."),
    sub_capabilities=names("Capabilities that it is composed of."),
    model_id=MODEL_ID,
)
ADD_COMPONENT = shape(
    ("capability_id", "component_name"),
    capability_id=text("Capability to realize.", 128),
    component_name=NAME,
    component_description=DESCRIPTION,
    services=names("Application services that it realizes."),
)
CREATE_MODEL = shape(("name",), name=NAME, description=DESCRIPTION)
SET_CONTEXT = shape(
    (),
    model_id=text("Model to pin; null unpins.", 128),
    scope=choice("For whom.", ["me", "everyone"], default="me"),
)
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
APPLY_CHANGES = shape(
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

PROFILED = {"owner": "Supply Chain", "criticality": "High", "lifecycle": "Active"}
ORDERS: Mapping[str, object] = {"type": "ApplicationComponent", "name": "OrderService", "description": "Takes orders"}
A_COMPONENT = ("architecture.create-element", ORDERS)
A_SERVICE = ("architecture.create-element", {"type": "ApplicationService", "name": "Ordering"})
A_CAPABILITY = (
    "architecture.create-capability",
    {"name": "Fulfillment", "description": "Ability to fulfill customer orders", "profile": PROFILED},
)
RELATED = (
    "architecture.create-relationship",
    {"type": "Realization", "source_id": "$0.element.id", "target_id": "$1.element.id"},
)


def add_write_flows(architecture: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that change a model."""
    _add_element_flows(architecture, ways)
    _add_relationship_flows(architecture, ways)
    _add_templates(architecture, ways)
    _add_model_flows(architecture)
    _add_changes(architecture, ways)


def _add_element_flows(architecture: Aggregate, ways: Ways) -> None:
    @architecture.record(
        effect="create",
        **taking(CREATE_ELEMENT),
        normaliser=tidying(elements=["type"]),
        answers=None,
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
    def create_element_(unit: Unit, arguments: Arguments) -> Answer:
        """Create an ArchiMate element; layer and id follow by themselves."""
        return create_element(unit, arguments, ways.habits(unit.context))

    create_element_.suggest(advice.after_element)

    @architecture.record(
        effect="update",
        tier=2,
        **taking(UPDATE_ELEMENT, type={}, model_id={}),
        normaliser=tidying(),
        answers=None,
        examples=[
            Example(
                "Describe it",
                {"id": "$0.element.id", "description": "Takes and tracks orders", "properties": {"team": "Orders"}},
                given=(A_COMPONENT,),
                reply="UPDATED",
            ),
            Example(
                "As it was", {"id": "$0.element.id", "name": "OrderService"}, given=(A_COMPONENT,), reply="NO_EFFECT"
            ),
            Example("Nothing to change", {"id": "$0.element.id"}, given=(A_COMPONENT,), reply="NO_CHANGES"),
            Example("No such element", {"id": "el_nowhere", "name": "X"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def update_element_(unit: Unit, arguments: Arguments) -> Answer:
        """Change an element. What is absent stays; properties are merged; the type cannot change."""
        return update_element(unit, arguments, ways.habits(unit.context))

    update_element_.suggest(advice.after_update)
    update_element_.assess(_risk_of_update)

    @architecture.record(
        effect="delete",
        **taking(DELETE_ELEMENT),
        normaliser=tidying(),
        answers=None,
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
    def delete_element_(unit: Unit, arguments: Arguments) -> Answer:
        """Delete an element and the relationships it is an end of."""
        return delete_element(unit, arguments, ways.habits(unit.context))

    delete_element_.suggest(advice.after_deletion)


def _add_relationship_flows(architecture: Aggregate, ways: Ways) -> None:
    @architecture.record(
        effect="create",
        **taking(CREATE_RELATIONSHIP),
        normaliser=tidying(relationships=["type"]),
        answers=None,
        examples=[
            Example(
                "A component realizes a service",
                RELATED[1],
                given=(A_COMPONENT, A_SERVICE),
                reply="CREATED",
            ),
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
    def create_relationship_(unit: Unit, arguments: Arguments) -> Answer:
        """Relate two elements of a model, each by id or by name."""
        return create_relationship(unit, arguments, ways.habits(unit.context))

    create_relationship_.suggest(advice.after_relationship)

    @architecture.record(
        effect="delete",
        **taking(DELETE_RELATIONSHIP),
        normaliser=tidying(),
        answers=None,
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
    def delete_relationship_(unit: Unit, arguments: Arguments) -> Answer:
        """Delete a relationship."""
        return delete_relationship(unit, arguments, ways.habits(unit.context))

    delete_relationship_.suggest(advice.after_deletion)


def _add_templates(architecture: Aggregate, ways: Ways) -> None:
    @architecture.record(
        effect="create",
        arguments=lean(CREATE_CAPABILITY),
        enforced={**enforced(CREATE_CAPABILITY), "required": ["name"]},
        normaliser=tidying(),
        answers=None,
        examples=[
            Example("A capability with its profile", A_CAPABILITY[1], reply="CREATED"),
        ],
    )
    def create_capability_(unit: Unit, arguments: Arguments) -> Answer:
        """Create a Capability with its profile."""
        return create_capability(unit, arguments, ways.habits(unit.context))

    create_capability_.suggest(advice.after_element)

    @architecture.record(
        effect="create",
        **taking(CAPABILITY_STRUCTURE),
        normaliser=tidying(),
        answers=None,
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
    def create_capability_structure_(unit: Unit, arguments: Arguments) -> Answer:
        """Create a Capability with its parts and the value streams it serves, all at once."""
        return create_capability_structure(unit, arguments, ways.habits(unit.context))

    create_capability_structure_.suggest(advice.after_structure)

    @architecture.record(
        effect="create",
        **taking(ADD_COMPONENT),
        normaliser=tidying(null=["component_description"]),
        answers=None,
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
    def add_component_to_capability_(unit: Unit, arguments: Arguments) -> Answer:
        """Add an ApplicationComponent that realizes a Capability, with its services, all at once."""
        return add_component_to_capability(unit, arguments, ways.habits(unit.context))

    add_component_to_capability_.suggest(advice.after_structure)


def _add_model_flows(architecture: Aggregate) -> None:
    @architecture.record(
        effect="create",
        **taking(CREATE_MODEL),
        normaliser=tidying(),
        answers=None,
        examples=[
            Example("Another model", {"name": "Target 2030"}, reply="CREATED"),
            Example("One that is there already", {"name": "default"}, reply="DUPLICATE_NAME"),
        ],
    )
    def create_model(unit: Unit, arguments: Arguments) -> Answer:
        """Create a model to keep elements in."""
        existing = model_named(unit, arguments["name"])
        if existing is not None:
            shown = {"id": existing["id"], "name": existing["name"]}
            raise Invalid(
                codes.DUPLICATE_NAME,
                {"kind": "model"},
                field="name",
                suggestions={"existing_model": shown, "hint": "Use the existing model, or choose another name."},
            )
        said = {name: arguments[name] for name in ("name", "description") if arguments.get(name)}
        identifier = unit.new_id("model_")
        unit.append("ModelCreated", identifier, 0, said, fields=said)
        return Answer({"model": {"id": identifier, "version": 1, **said}, "version": 1})

    create_model.suggest(advice.after_model)

    @architecture.record(
        effect="update",
        tier=1,
        posture="direct",
        arguments=lean(SET_CONTEXT),
        enforced=_nullable(SET_CONTEXT, "model_id"),
        answers=None,
        examples=[
            Example(
                "Work in a model",
                {"model_id": "$0.model.id"},
                given=(("architecture.create-model", {"name": "Target 2030"}),),
                reply="UPDATED",
            ),
            Example("No such model", {"model_id": "model_nowhere"}, reply="MODEL_NOT_FOUND"),
        ],
    )
    def set_context(unit: Unit, arguments: Arguments) -> Answer:
        """Pin the model that your calls are about when they name none."""
        model_id = arguments.get("model_id")
        if model_id is not None and find_model(unit, model_id) is None:
            raise no_such_model(unit, model_id, "model_id")
        whole = arguments.get("scope", "me") == "everyone"
        owner = EVERYONE if whole else contextual(unit.context.principal.id)
        kept = unit.row(
            "SELECT version, model_id FROM architecture_contexts WHERE tenant = :tenant AND principal = :owner",
            owner=owner,
        )
        if kept is None or kept["model_id"] != model_id:
            subject = CONTEXT + owner
            follows = last_version(unit, NAMESPACE, subject) if kept is None else kept["version"]
            before = {"model_id": kept["model_id"] if kept else None}
            said = {"principal": owner, "model_id": model_id}
            unit.append("ContextSet", subject, follows, said, before=before, fields=["model_id"])
        effective = chosen_model(unit)
        return Answer({"context": {"model_id": effective, "scope": "everyone" if whole else "me"}})

    set_context.suggest(advice.after_context)
    set_context.assess(_risk_of_context)


def _add_changes(architecture: Aggregate, ways: Ways) -> None:
    writes: tuple[Write, ...] = (
        create_element,
        create_relationship,
        update_element,
        delete_element,
        delete_relationship,
        create_capability,
        create_capability_structure,
        add_component_to_capability,
    )
    operations = {
        name: Operation(architecture.flows[write.__name__.replace("_", "-")], write)
        for name, write in zip(OPERATIONS, writes, strict=True)
    }

    @architecture.record(
        effect="update",
        **taking(APPLY_CHANGES),
        answers=None,
        timeout_seconds=60.0,
        examples=[
            Example(
                "Two elements and what relates them",
                {
                    "operations": [
                        {"operation": "createElement", "payload": {"type": "Node", "name": "Server"}},
                        {"operation": "createElement", "payload": {"type": "Device", "name": "Rack"}},
                        {
                            "operation": "createRelationship",
                            "payload": {"type": "Composition", "source_id": "#0", "target_id": "#1"},
                        },
                    ]
                },
                reply="UPDATED",
            ),
            Example(
                "One that cannot be made refuses them all",
                {
                    "operations": [
                        {"operation": "createElement", "payload": {"type": "Node", "name": "Server"}},
                        {"operation": "deleteElement", "payload": {"id": "el_nowhere"}},
                    ]
                },
                reply="ELEMENT_NOT_FOUND",
            ),
        ],
    )
    def apply_changes_(unit: Unit, prepared: tuple[str, list[Item]]) -> Answer:
        """Make up to 100 mixed changes in one call; later ones may refer to earlier ones."""
        mode, items = prepared
        return apply_changes(unit, items, mode, operations, ways.habits(unit.context))

    @apply_changes_.prepare
    def _checked(reader: Reader, arguments: Arguments) -> tuple[str, list[Item]]:
        return arguments["mode"], checked_items(operations, arguments["operations"])

    apply_changes_.suggest(advice.after_changes)
    apply_changes_.assess(_risk_of_changes)


def writes_of(architecture: Aggregate) -> dict[str, Flow]:
    """Every write of the aggregate by the name of its tool."""
    return {
        exposure.tool: architecture.flows[exposure.ref.partition(".")[2]]
        for exposure in architecture.exposures
        if architecture.flows[exposure.ref.partition(".")[2]].writes
    }


def _risk_of_update(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """A rename is seen by everybody who knows the name; the rest is a remark."""
    return 2 if any("name" in fact.fields for fact in facts) else 1


def _risk_of_changes(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    return 3 if any(fact.ends for fact in facts) else 2


def _risk_of_context(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """One's own context is a preference; everybody's is not."""
    return 3 if arguments.get("scope") == "everyone" else 1


def _nullable(schema: Schema, *fields: str) -> Schema:
    loosened = {name: {**schema["properties"][name], "type": ["string", "null"]} for name in fields}
    return {**schema, "properties": {**schema["properties"], **loosened}}
