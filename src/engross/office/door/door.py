"""The door: a credential comes in, a caller goes on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

from engross.calls import DEFAULT_TENANT, Caller, Principal, PrincipalType, parse_instant, present
from engross.ledger import OfficeKey
from engross.office.settings import Settings
from engross.pipeline import Fittings, Request
from engross.pipeline.steps import Look
from engross.replies import Denied, Failed, Invalid, Reply, codes

from .issuer import Issuer
from .local import (
    LocalTokens,
    agent_principal,
    owner_principal,
    read_token,
    stdio_principal,
    token_folder,
    write_token,
)
from .refused import Refused
from .text import ID_PREFIX, PREFIX, TokenTexts
from .tokens import JWT_PREFIX, NAMESPACE, jwt_subject, look
from .trust import Trust

_log = logging.getLogger("engross.door")
LONGEST = 16_384
MOST_TEXTS = 1024


class Door:
    """Lets callers in. Who somebody is comes from the credential, and from nothing else they send.

    The text of a token is never kept, and every admission looks into the store: a token that was revoked, by whatever
    process, is refused from then on.
    """

    def __init__(
        self,
        settings: Settings,
        trust: Trust | None,
        key: OfficeKey,
        fittings: Fittings,
        call: Callable[[Request], Reply],
    ) -> None:
        self._settings = settings
        self._texts = TokenTexts(key.secret("door token"))
        # A text stays what it is; only what it stands for may change.
        self._read_text = lru_cache(maxsize=MOST_TEXTS)(self._texts.read)
        self._fittings = fittings
        self._call = call
        self._issuer = Issuer(trust, fittings.workers, fittings.clock) if trust else None

    async def admit(self, credential: str | None) -> Caller:
        """Who a credential (the bearer token alone) stands for; Invalid, and no word on why, if it is not good."""
        if not credential:
            raise Invalid(codes.AUTH_REQUIRED)
        try:
            return await self._admitted(credential)
        except Refused as refused:
            _log.warning("a credential was refused: %s", refused)
        raise Invalid(codes.AUTH_INVALID)

    def text_of(self, tenant: str, token_id: str) -> str:
        """The secret text of a token, for whoever holds the office; `door.create-token` gives the id."""
        return self._texts.write(tenant, token_id)

    def metadata(self, resource: str) -> dict[str, Any]:
        """The OAuth 2.0 protected resource metadata (RFC 9728) for what is at an address; empty lists are left out.

        A client asks the issuer for a token that is meant for the resource it finds here, so with an issuer that is
        the audience whose tokens are accepted, at whichever address somebody asks.
        """
        trust = self._issuer.trust if self._issuer else None
        told = {
            "resource": trust.audience if trust else resource,
            "authorization_servers": [trust.issuer] if trust else [],
            "scopes_supported": (self._settings.scopes or "").split(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Engross",
        }
        return {name: value for name, value in told.items() if value}

    def local_tokens(self, folder: Path | None = None, *, tenant: str = DEFAULT_TENANT) -> LocalTokens:
        """The operating system user's token files in the data folder, made where there is none that is good. Blocks."""
        with token_folder(folder or self._settings.data) as tokens:
            return LocalTokens(
                owner=self._token_file(tokens / "owner.token", tenant, owner_principal()),
                agent=self._token_file(tokens / "agent.token", tenant, agent_principal()),
            )

    def stdio_caller(self, role: str, folder: Path | None = None, *, tenant: str = DEFAULT_TENANT) -> Caller:
        """Who calls over standard input and output: always an agent, with the role that may be given to it."""
        return Caller(tenant, stdio_principal(role, folder or self._settings.data), "stdio")

    async def is_good(self, caller: Caller) -> bool:
        """Whether the credential that a caller came in with would still let them in."""
        _, subject = self.revocation(caller)
        if caller.until is not None and caller.until <= self._fittings.clock().timestamp():
            return False
        if not subject.startswith((ID_PREFIX, JWT_PREFIX)):
            return True
        row = await self._look(caller.tenant, subject).wait()
        return row is None if subject.startswith(JWT_PREFIX) else row is not None and row["revoked_at"] is None

    def revocation(self, caller: Caller) -> tuple[str, str]:
        """Whose facts tell that a caller's credential was taken away: aggregate and subject."""
        kind, _, jti = caller.credential.partition(":")
        if kind == "jti" and self._issuer is not None:
            return NAMESPACE, jwt_subject(self._issuer.trust.issuer, jti)
        return NAMESPACE, caller.credential

    async def _admitted(self, credential: str) -> Caller:
        if len(credential) > LONGEST or not credential.isascii():
            raise Refused("it is too long, or no token at all")
        if credential.startswith(PREFIX):
            tenant, token_id = self._place(credential)
            return self._standing(tenant, token_id, await self._look(tenant, token_id).wait())
        if self._issuer is None:
            raise Refused("it is not a token of this office, which has no issuer")
        claims = await self._issuer.claims(credential)
        if claims.jti is not None:
            subject = jwt_subject(self._issuer.trust.issuer, claims.jti)
            if await self._look(claims.caller.tenant, subject).wait() is not None:
                raise Refused(f"{subject} was revoked")
        return claims.caller

    def _place(self, credential: str) -> tuple[str, str]:
        place = self._read_text(credential)
        if place is None:
            raise Refused("this office did not write it")
        return place

    def _standing(self, tenant: str, token_id: str, row: dict[str, Any] | None) -> Caller:
        """The caller that a token's row names, if it is good now."""
        if row is None:
            raise Refused(f"there is no {token_id}")
        if row["revoked_at"] is not None:
            raise Refused(f"{token_id} was revoked")
        if row["expires_at"] is not None and row["expires_at"] <= present(self._fittings.clock):
            raise Refused(f"{token_id} has expired")
        return _caller(
            tenant, token_id, *(row[name] for name in ("principal", "type", "roles", "scopes", "expires_at"))
        )

    def _look(self, tenant: str, token_id: str) -> Look:
        fittings = self._fittings
        deadline = time.monotonic() + fittings.call_seconds
        return Look(fittings.store, tenant, partial(look, token_id=token_id), fittings.workers, deadline)

    def _token_file(self, path: Path, tenant: str, principal: Principal) -> Path:
        if not self._is_good(read_token(path), tenant, principal):
            write_token(path, self.text_of(tenant, self._made(tenant, principal, path.name)))
        return path

    def _is_good(self, text: str | None, tenant: str, principal: Principal) -> bool:
        """Whether a text lets in somebody like that. Files may have been mixed up."""
        try:
            place = self._place(text or "")
            caller = self._standing(*place, self._look(*place).block())
        except Refused:
            return False
        found = caller.principal
        return (caller.tenant, found.type, found.roles) == (tenant, principal.type, principal.roles)

    def _made(self, tenant: str, principal: Principal, name: str) -> str:
        """A new token, made by the user: whoever can open the data folder owns the office."""
        arguments = {
            "principal": principal.id,
            "type": principal.type,
            "roles": sorted(principal.roles),
            "note": f"made for the file {name}",
        }
        made = self._call(Request(f"{NAMESPACE}.create-token", arguments, tenant, owner_principal()))
        if not made.ok:
            raise _refusal(made)
        token_id: str = made.data["token"]["id"]
        return token_id


@lru_cache(maxsize=4096)
def _caller(
    tenant: str, token_id: str, principal: str, kind: str, roles: str, scopes: str, expires_at: str | None
) -> Caller:
    who = Principal(principal, cast(PrincipalType, kind), frozenset(roles.split()), frozenset(scopes.split()))
    return Caller(tenant, who, token_id, None if expires_at is None else parse_instant(expires_at).timestamp())


def _refusal(answer: Reply) -> Invalid | Denied | Failed:
    kinds: dict[str, type[Invalid] | type[Denied] | type[Failed]] = {"I": Invalid, "D": Denied}
    return kinds.get(answer.reply_type, Failed)(answer.code, answer.params, data=answer.data)
