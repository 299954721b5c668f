"""Who a credential stands for."""

from __future__ import annotations

from msgspec import Struct

from .principal import Principal

DEFAULT_TENANT = "main"
"""Where callers are when nobody says otherwise."""


class Caller(Struct, frozen=True, gc=False):
    """A principal in a tenant, as the door made them out of a credential; never out of what they say themselves."""

    tenant: str
    principal: Principal
    credential: str = ""
    """Which credential it was, for logs and revocation: an id, never the secret."""
    until: float | None = None
    """When the credential ends, in seconds of the epoch; None if it does not."""
