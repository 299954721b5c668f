"""What happens at a door again and again."""

from __future__ import annotations

import asyncio
from typing import Any

from engross.calls import Caller
from engross.replies import Coded
from engross.surfaces.client import Client


def admit(client: Client, credential: str | None) -> Caller:
    """Come to the door with a credential."""
    return asyncio.run(client.office.door.admit(credential))


def outcome(client: Client, credential: str | None) -> str:
    """`admitted`, or the key of the refusal."""
    from engross.replies import REGISTRY

    try:
        admit(client, credential)
    except Coded as refusal:
        return REGISTRY.entry(refusal.code).key
    return "admitted"


def ada(client: Client, *, tenant: str = "main") -> Client:
    """The admin Ada, who looks after tokens."""
    return client.as_("ada", "human", ["admin"], tenant=tenant)


def make_token(client: Client, principal: str = "scout", type: str = "agent", *roles: str, **more: Any) -> str:
    """The id of a new token."""
    made = client.door.create_token(principal=principal, type=type, roles=list(roles or ["agent"]), **more)
    assert made.message_key == "CREATED", made
    token_id: str = made.data["token"]["id"]
    return token_id


def text(client: Client, token_id: str) -> str:
    """The text of a token."""
    return client.office.door.text_of(client.tenant, token_id)
