"""Entities for tests, and short words for what tests do with them."""

from __future__ import annotations

from typing import Any

from engross.domains.memory.ids import entity_id
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.memory.kept import done

ACME = {"entity_type": "company", "name": "Acme Corp", "domain": "acme.com", "tax_id": "12-3456789"}
JOHN = {"entity_type": "person", "name": "John Doe", "email": "john@example.com", "phone": "+1-555-0123"}
ACME_ID = "ent_af939bedafbd1838b259772a"
JOHN_ID = entity_id("person", "John Doe")


def tell(client: Client, *entities: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Have entities taken in; the answer."""
    return done(client.call("memory.ingest-structured", {"entities": list(entities), **more}))


def person(client: Client, name: str, **fields: Any) -> str:
    """A person whom the memory knows; the id."""
    tell(client, {"entity_type": "person", "name": name, **fields})
    return entity_id("person", name)


def snapshot(client: Client, identifier: str, **when: str) -> dict[str, Any]:
    """What is held to be true."""
    return done(client.call("memory.get-entity-snapshot", {"entity_id": identifier, **when}))


def fields(client: Client, identifier: str, **when: str) -> dict[str, Any]:
    """The fields that are held to be true."""
    found: dict[str, Any] = snapshot(client, identifier, **when)["snapshot"]
    return found


def correct(client: Client, identifier: str, field: str, value: Any, entity_type: str = "person") -> dict[str, Any]:
    """Put a field right."""
    wish = {"entity_id": identifier, "entity_type": entity_type, "field": field, "value": value}
    return done(client.call("memory.correct", wish))


def confirmed(client: Client, flow: str, arguments: dict[str, Any]) -> Reply:
    """Make a call that asks for a confirmation, and confirm it."""
    asked = client.call(flow, arguments)
    assert asked.message_key == "CONFIRMATION_REQUIRED", (asked.message_key, asked.data)
    return client.call(flow, {**arguments, "confirm_token": asked.data["confirm_token"]})


def merge(client: Client, source: str, target: str, **more: Any) -> dict[str, Any]:
    """Merge one entity into another."""
    wish = {"from_entity_id": source, "to_entity_id": target, **more}
    return done(confirmed(client, "memory.merge-entities", wish))


def unmerge(client: Client, identifier: str) -> dict[str, Any]:
    """Undo a merge."""
    return done(confirmed(client, "memory.unmerge-entities", {"entity_id": identifier}))


def retract(client: Client, source: str) -> dict[str, Any]:
    """Withdraw a source."""
    return done(confirmed(client, "memory.retract-source", {"source_id": source}))


def relate(client: Client, kind: str, source: str, target: str, **metadata: Any) -> Reply:
    """Relate two entities."""
    wish = {"relationship_type": kind, "source_entity_id": source, "target_entity_id": target, "metadata": metadata}
    return client.call("memory.create-relationship", wish)


def listed(client: Client, identifier: str, **more: Any) -> list[dict[str, Any]]:
    """The relationships of an entity."""
    answer = done(client.call("memory.list-relationships", {"entity_id": identifier, **more}))
    found: list[dict[str, Any]] = answer["relationships"]
    return found


def approve(client: Client, proposal: str) -> dict[str, Any]:
    """Approve a proposal, as shown."""
    token = done(client.call("proposals.get-proposal", {"proposal_id": proposal}))["approval_token"]
    wish = {"proposal_id": proposal, "decision": "approve", "approval_token": token}
    return done(client.call("proposals.review-proposal", wish))
