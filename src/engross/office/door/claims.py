"""What an issuer's token says about its bearer. What is not said gives no rights; what makes no sense is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard, get_args

from engross.calls import DEFAULT_TENANT, ROLES, Caller, Principal, PrincipalType
from engross.store.tenancy import TENANT_NAME

from .refused import Refused
from .trust import Trust

LEEWAY = 30
"""Seconds by which an issuer's clock may differ from ours."""
LATEST = 2.0**53
"""Beyond this, in either direction, a number is no time."""
LONGEST = 255


class Claims(NamedTuple):
    """A verified token: for whom it stands, from when and until when, and by which id it can be revoked."""

    caller: Caller
    jti: str | None
    not_before: float
    expires: float

    def require_time(self, now: float) -> None:
        """Refuse a token whose time has not come, or is over."""
        if now >= self.expires + LEEWAY:
            raise Refused("the token has expired")
        if now < self.not_before - LEEWAY:
            raise Refused("the token is not valid yet")


def claims_of(payload: Mapping[str, Any], trust: Trust, digest: str) -> Claims:
    """The claims of a token whose signature, issuer and audience are right; one without a jti goes by its digest."""
    jti = payload.get("jti")
    if jti is not None and not _is_fit(jti):
        raise Refused("the jti is none")
    expires = _moment(payload, "exp")
    credential = f"jti:{jti}" if jti else f"sha256:{digest}"
    caller = Caller(_tenant(payload, trust), _principal(payload, trust), credential, expires + LEEWAY)
    return Claims(caller, jti, _moment(payload, "nbf", 0.0), expires)


def _principal(payload: Mapping[str, Any], trust: Trust) -> Principal:
    kind = _type(payload, trust)
    subject = payload.get("sub")
    if not _is_fit(subject) or " " in subject:
        raise Refused("the sub is no name")
    purpose = payload.get("purpose")
    if purpose is not None and not _is_fit(purpose):
        raise Refused("the purpose is none")
    return Principal(
        # An agent bears a token that a person got for it: it must not pass for that person, who may approve its work.
        id=f"agent:{subject}" if kind == "agent" else subject,
        type=kind,
        roles=_roles(payload, trust),
        scopes=frozenset(_words(payload.get("scope", payload.get("scp")), "scope")),
        purpose=purpose,
    )


def _tenant(payload: Mapping[str, Any], trust: Trust) -> str:
    if not trust.tenant_claim:
        return DEFAULT_TENANT
    tenant = _claim(payload, trust.tenant_claim)
    if not isinstance(tenant, str) or not TENANT_NAME.fullmatch(tenant):
        raise Refused("the claim of the tenant names none")
    return tenant


def _type(payload: Mapping[str, Any], trust: Trust) -> PrincipalType:
    """What the bearer is. Whoever does not say is an agent, who may do least."""
    said = _claim(payload, trust.type_claim)
    if said is None:
        return "agent"
    for known in get_args(PrincipalType):
        if said == known:
            kind: PrincipalType = known
            return kind
    raise Refused("the claim of the type names none")


def _roles(payload: Mapping[str, Any], trust: Trust) -> frozenset[str]:
    roles = frozenset(_words(_claim(payload, trust.roles_claim), "roles"))
    if not roles <= set(ROLES):
        raise Refused("the claim of the roles names one that is none")
    return roles


def _words(said: object, what: str) -> list[str]:
    """Words that are listed, or stand in one text with blanks between them."""
    words = said.split() if isinstance(said, str) else [] if said is None else said
    if not isinstance(words, list) or not all(_is_fit(word) and " " not in word for word in words):
        raise Refused(f"the claim of the {what} holds no words")
    return words


def _is_fit(said: object) -> TypeGuard[str]:
    """Whether this is a text that can be stored and shown: not empty, not long, nothing invisible in it."""
    return isinstance(said, str) and 0 < len(said) <= LONGEST and said.isprintable()


def _claim(payload: Mapping[str, Any], name: str) -> object:
    """A claim by its name, or by its path (`realm_access.roles`) where there is none of that very name."""
    if name in payload:
        return payload[name]
    found: object = payload
    for step in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found


def _moment(payload: Mapping[str, Any], name: str, default: float | None = None) -> float:
    said = payload.get(name, default)
    if isinstance(said, bool) or not isinstance(said, int | float) or not -LATEST < said < LATEST:
        raise Refused(f"{name} is no time")
    return said
