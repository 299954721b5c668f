"""Who asks."""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import Struct

PrincipalType = Literal["human", "agent", "service"]
Role = Literal["viewer", "agent", "contributor", "curator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
AGENT_OF = "agent:"
"""What the id of a person's agent begins with."""


class Principal(Struct, frozen=True, gc=False, cache_hash=True):
    """The person, agent or service that a credential stands for, with the rights it carries."""

    id: str
    type: PrincipalType = "human"
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    purpose: str | None = None

    @property
    def stands_for(self) -> str:
        """The person or service whose work it is: an agent's credential names the one it was given by."""
        return self.id.removeprefix(AGENT_OF) if self.type == "agent" else self.id

    @property
    def likes(self) -> tuple[str, ...]:
        """The ids of all whose work is the same person's: its own, the person's, and that of the person's agent."""
        return tuple(dict.fromkeys((self.id, self.stands_for, f"{AGENT_OF}{self.stands_for}")))

    def as_data(self) -> dict[str, Any]:
        """The principal as receipts and proposals keep it."""
        data: dict[str, Any] = {"id": self.id, "type": self.type, "roles": sorted(self.roles)}
        if self.scopes:
            data["scopes"] = sorted(self.scopes)
        if self.purpose is not None:
            data["purpose"] = self.purpose
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Principal:
        """The principal that `as_data` wrote down."""
        return cls(
            id=data["id"],
            type=data["type"],
            roles=frozenset(data["roles"]),
            scopes=frozenset(data.get("scopes", ())),
            purpose=data.get("purpose"),
        )
