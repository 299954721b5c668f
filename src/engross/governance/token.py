"""The plan token: proof that what happens now is what was shown before.

A token carries what it was made for, signed, so that drift can be named and not only noticed. Its reader is
often a language model that has to repeat it, and the field it comes back in is short, so it must stay
small. What grows is the base: the versions of everything that a plan touches. A small base is carried
whole. A larger one is carried with marks (short digests) in place of the subjects, which the check
recognises again. A huge one is carried as one digest, and then drift only says that the base moved.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as signature
from typing import Any, Literal, NamedTuple

import orjson

from engross.calls import instant, parse_instant
from engross.replies import Failed, Invalid, codes

Purpose = Literal["confirm", "approve"]

# The field confirm_token takes no more than this.
LONGEST = 2048
SHORTEST_SECRET = 16
_SIGNED_AS = b"engross plan token 1\n"
_SIGNATURE_BYTES = 32
_MARK_LETTERS = 8
_FIELDS: Mapping[Purpose, str] = {"confirm": "confirm_token", "approve": "approval_token"}
_FRESH: Mapping[Purpose, str] = {
    "confirm": "Make the same call without confirm_token, and repeat it unchanged with the one in the answer.",
    "approve": "Read the proposal with getProposal and send the approval_token it shows.",
}


class Binding(NamedTuple):
    """What a token is bound to: whose plan, of which flows, with what arguments, policy and base versions."""

    tenant: str
    principal: str
    flows: Mapping[str, str]
    arguments: str
    policy: str
    base: Mapping[str, int]


class PlanTokens:
    """Makes and checks plan tokens with one secret."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < SHORTEST_SECRET:
            raise Failed(codes.CONFIG_INVALID, {"setting": "plan token secret"})
        self._secret = secret

    def make(self, purpose: Purpose, binding: Binding, expires_at: str, *, made_by: str | None = None) -> str:
        """A token for this purpose that ends at that moment.

        `made_by` is the call that asked for it, where each asking has to give a token of its own.
        """
        until = instant(parse_instant(expires_at))
        call = {} if made_by is None else {"made_by": made_by}
        token = ""
        for base in _forms(binding.base):
            token = self._sealed({**_content(purpose, binding, base, until), **call})
            if len(token) <= LONGEST:
                break
        return token

    def check(self, token: str, purpose: Purpose, binding: Binding, now: str) -> None:
        """Refuse a token that is not ours, not for this, or no longer true; the last says what moved."""
        content = self._opened(token)
        if (
            content is None
            or not _is_meant(content, purpose, binding)
            or content["until"] <= instant(parse_instant(now))
        ):
            raise token_refused(purpose)
        moved = list(_moves(content, binding))
        if moved:
            raise Invalid(
                codes.PLAN_DRIFT, field=_FIELDS[purpose], suggestions={"hint": _FRESH[purpose]}, data={"moved": moved}
            )

    def _sealed(self, content: Mapping[str, Any]) -> str:
        packed = zlib.compress(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), 9)
        return urlsafe_b64encode(self._sign(packed) + packed).rstrip(b"=").decode()

    def _opened(self, token: str) -> dict[str, Any] | None:
        packed = _unwrapped(token)
        signed, packed = packed[:_SIGNATURE_BYTES], packed[_SIGNATURE_BYTES:]
        if not compare_digest(signed, self._sign(packed)):
            return None
        # Only what we signed is ever unpacked.
        content: dict[str, Any] = orjson.loads(zlib.decompress(packed))
        return content

    def _sign(self, packed: bytes) -> bytes:
        return signature(self._secret, _SIGNED_AS + packed, "sha256")


def token_refused(purpose: Purpose) -> Invalid:
    """The token is missing, or good for nothing here; with where to get a good one."""
    return Invalid(codes.TOKEN_INVALID, field=_FIELDS[purpose], suggestions={"hint": _FRESH[purpose]})


def _unwrapped(token: str) -> bytes:
    """The bytes of a token, none if it is not one; of all the spellings that decode alike only our own is taken."""
    try:
        letters = token.encode("ascii")
        packed = b64decode(letters + b"=" * (-len(letters) % 4), altchars=b"-_", validate=True)
    except (AttributeError, ValueError):
        return b""
    return packed if urlsafe_b64encode(packed).rstrip(b"=") == letters else b""


def _content(purpose: Purpose, binding: Binding, base: Mapping[str, Any], until: str) -> dict[str, Any]:
    return {
        "for": purpose,
        "tenant": binding.tenant,
        "principal": binding.principal,
        "flows": dict(binding.flows),
        "arguments": binding.arguments,
        "policy": binding.policy,
        "until": until,
        **base,
    }


def _is_meant(content: Mapping[str, Any], purpose: Purpose, binding: Binding) -> bool:
    meant = (content["for"], content["tenant"], content["principal"])
    return meant == (purpose, binding.tenant, binding.principal)


def _moves(content: Mapping[str, Any], binding: Binding) -> Iterator[dict[str, Any]]:
    for ref, before, now in _differences(content["flows"], binding.flows):
        yield {"what": "flow", "flow": ref, "from": before, "to": now}
    if content["arguments"] != binding.arguments:
        yield {"what": "arguments"}
    if content["policy"] != binding.policy:
        yield {"what": "policy", "from": content["policy"], "to": binding.policy}
    yield from _moves_of_base(content, binding.base)


def _moves_of_base(content: Mapping[str, Any], base: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    if "base_digest" in content:
        if content["base_digest"] != _digest(base):
            yield {"what": "base", "subject": None, "from": None, "to": None}
        return
    carried = content["base"] if "base" in content else _recognised(content["base_marks"], base)
    for subject, before, now in _differences(carried, base):
        yield {"what": "base", "subject": subject, "from": before, "to": now}


def _differences(carried: Mapping[Any, Any], current: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    for name in sorted(carried.keys() | current.keys(), key=lambda name: name or ""):
        if carried.get(name) != current.get(name):
            yield name, carried.get(name), current.get(name)


def _forms(base: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The base in ever shorter forms."""
    yield {"base": dict(base)}
    marks = {_mark(subject): version for subject, version in base.items()}
    if len(marks) == len(base):
        yield {"base_marks": marks}
    yield {"base_digest": _digest(base)}


def _recognised(marks: Mapping[str, int], base: Mapping[str, int]) -> dict[str | None, int]:
    """The carried base with its subjects' names back; one that is no longer touched has none."""
    known: dict[str, str] = {_mark(subject): subject for subject in base}
    return {known.get(mark): version for mark, version in marks.items()}


def _mark(subject: str) -> str:
    return sha256(subject.encode()).hexdigest()[:_MARK_LETTERS]


def _digest(base: Mapping[str, int]) -> str:
    return sha256(orjson.dumps(dict(base), option=orjson.OPT_SORT_KEYS)).hexdigest()
