"""The keys that an issuer signs with, as it publishes them (a JWK set)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jwt import PyJWK

# The kind of key, and the curve if it has one, that an algorithm takes. What is not here is not accepted: with a secret
# shared by both sides (HS256), whoever can check a token could write one.
ALGORITHMS: Mapping[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "RS384": ("RSA", None),
    "RS512": ("RSA", None),
    "PS256": ("RSA", None),
    "PS384": ("RSA", None),
    "PS512": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
PUBLIC = ("kty", "kid", "alg", "n", "e", "crv", "x", "y")
MOST = 100


class Keys:
    """One set of keys, as it was published at one time."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        listed = document.get("keys")
        signing = [one for one in listed if _signs(one)][:MOST] if isinstance(listed, list) else []
        self._listed = [{name: one[name] for name in PUBLIC if name in one} for one in signing]
        self._known: dict[tuple[str | None, str], PyJWK] = {}

    def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """The key of that name for that algorithm. A token that names none gets the one that it must be, if it is."""
        known = self._known.get((kid, algorithm))
        if known is None:
            fitting = [one for one in self._listed if _fits(one, algorithm) and kid in (None, one.get("kid"))]
            if not fitting or (kid is None and len(fitting) > 1):
                return None
            known = _key(fitting[0], algorithm)
            if known is not None:
                self._known[kid, algorithm] = known
        return known


def _signs(one: object) -> bool:
    """Whether a key is meant for signatures, or for anything."""
    if not isinstance(one, dict) or one.get("use") not in (None, "sig"):
        return False
    uses = one.get("key_ops")
    return uses is None or (isinstance(uses, list) and "verify" in uses)


def _fits(one: Mapping[str, Any], algorithm: str) -> bool:
    kind, curve = ALGORITHMS[algorithm]
    return one.get("kty") == kind and one.get("alg") in (None, algorithm) and (curve is None or one.get("crv") == curve)


def _key(one: Mapping[str, Any], algorithm: str) -> PyJWK | None:
    from jwt import PyJWK, PyJWTError

    try:
        return PyJWK(dict(one), algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
