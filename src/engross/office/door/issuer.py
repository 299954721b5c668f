"""Tokens that an OpenID Connect issuer signed (JWT)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from engross.calls import Clock
from engross.pipeline import Workers

from .claims import Claims, claims_of
from .keyring import Keyring
from .keys import ALGORITHMS
from .refused import Refused
from .trust import Trust

if TYPE_CHECKING:
    from jwt import PyJWK

REMEMBERED = 4096
KINDS = (None, "jwt", "at+jwt", "application/at+jwt")


class Verified(NamedTuple):
    """A token that was checked, and the key that it was checked with."""

    kid: str | None
    algorithm: str
    key: PyJWK
    claims: Claims


class Issuer:
    """Accepts the tokens of one issuer. A signature is checked once for every token and key."""

    def __init__(self, trust: Trust, workers: Workers, clock: Clock) -> None:
        self.trust = trust
        self._clock = clock
        self._keyring = Keyring(trust.fetch_keys, workers, clock)
        self._verified: dict[bytes, Verified] = {}

    async def claims(self, token: str) -> Claims:
        """What a token says, if it is good now. Whether it was revoked is not known here."""
        digest = sha256(token.encode()).digest()
        known = self._verified.get(digest)
        kid, algorithm = (known.kid, known.algorithm) if known else _header(token)
        key = await self._keyring.find(kid, algorithm)
        if key is None:
            raise Refused("it names a key that the issuer does not have")
        if known is None or known.key is not key:
            payload = self._payload(token, algorithm, key)
            known = Verified(kid, algorithm, key, claims_of(payload, self.trust, digest.hex()))
            self._remember(digest, known)
        known.claims.require_time(self._clock().timestamp())
        return known.claims

    def _payload(self, token: str, algorithm: str, key: PyJWK) -> Mapping[str, Any]:
        from jwt import PyJWTError, decode

        try:
            return decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self.trust.audience,
                issuer=self.trust.issuer,
                options={
                    "require": ["exp", "iss", "aud", "sub"],
                    "enforce_minimum_key_length": True,
                    # These ask the machine's clock; the office has its own.
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except (PyJWTError, ValueError, TypeError) as error:
            raise Refused(type(error).__name__) from None

    def _remember(self, digest: bytes, verified: Verified) -> None:
        if len(self._verified) >= REMEMBERED:
            self._verified.clear()
        self._verified[digest] = verified


def _header(token: str) -> tuple[str | None, str]:
    """The key and the algorithm that a token names, before anything about it is proven."""
    from jwt import PyJWTError, get_unverified_header

    try:
        header = get_unverified_header(token)
    except (PyJWTError, ValueError, TypeError) as error:
        raise Refused(type(error).__name__) from None
    kind, algorithm = header.get("typ"), header.get("alg")
    if (kind.lower() if isinstance(kind, str) else kind) not in KINDS:
        raise Refused("it is another kind of token")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise Refused("its algorithm is not accepted")
    return header.get("kid"), algorithm
