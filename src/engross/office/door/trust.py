"""Which issuer's tokens are accepted, and what its claims mean."""

from __future__ import annotations

from typing import NamedTuple

from engross.office.settings import Settings
from engross.replies import Failed, codes

from .address import is_safe
from .fetching import Away, fetch
from .keys import Keys

DISCOVERY = "/.well-known/openid-configuration"


class Trust(NamedTuple):
    """An issuer, for whom its tokens must be meant, and in which claims they say what."""

    issuer: str
    audience: str
    jwks: str | None = None
    tenant_claim: str = "tenantId"
    type_claim: str = "principal_type"
    roles_claim: str = "roles"

    @classmethod
    def of(cls, settings: Settings) -> Trust | None:
        """What the settings say; None when tokens are the office's own only."""
        if settings.issuer is None:
            for name in ("audience", "jwks"):
                if getattr(settings, name) is not None:
                    raise _invalid(name, "it means nothing without an issuer")
            return None
        for name in ("issuer", "jwks"):
            address = getattr(settings, name)
            if address is not None and not is_safe(address):
                raise _invalid(name, "an address must begin with https://, or be on this machine")
        if not settings.audience:
            raise _invalid("audience", "an issuer writes tokens for others too: say which are meant for this office")
        for name in ("type_claim", "roles_claim"):
            if not getattr(settings, name):
                raise _invalid(name, "name a claim")
        return cls(
            settings.issuer,
            settings.audience,
            settings.jwks,
            settings.tenant_claim,
            settings.type_claim,
            settings.roles_claim,
        )

    def fetch_keys(self) -> Keys:
        """The issuer's keys as they are published now. Blocks; raises `Away`."""
        return Keys(fetch(self.jwks or self._discovered()))

    def _discovered(self) -> str:
        document = fetch(self.issuer.rstrip("/") + DISCOVERY)
        address = document.get("jwks_uri")
        if document.get("issuer") != self.issuer or not isinstance(address, str):
            raise Away("a configuration that is not this issuer's")
        return address


def _invalid(setting: str, problem: str) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data={"setting": setting, "problem": problem})
