"""Entity tags: which state an answer shows its object in.

A flow says where in its answer that stands (a version, for one), and which argument of a write takes it. Such an
answer has a strong tag that begins with it, so that the tag can come back in If-Match. All other tags are weak. What
is read by GET also has a digest of its content in the tag: a record may stay at its version while something shown
beside it changes, and a client must not be told that nothing did. The form that it is sent in is part of the digest,
for whoever has the one has not the other. The envelope `reply` is different every time and no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

DIGITS = 16
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_STATE = re.compile(r"[0-9A-Za-z]{1,128}")
_NAMING = re.compile(rf'"({_STATE.pattern})(?:-[0-9a-f]+)?"')

State = int | str | None


def state_tag(state: State) -> str | None:
    """The tag of what was written, if its state can be named."""
    return f'"{state}"' if _can_be_named(state) else None


def content_tag(data: Mapping[str, Any], media_type: str, state: State = None) -> str:
    """The tag of what was read, as it is sent."""
    digest = sha256(media_type.encode() + b"\n" + orjson.dumps(data)).hexdigest()[:DIGITS]
    return f'"{state}-{digest}"' if _can_be_named(state) else f'W/"{digest}"'


def _can_be_named(state: State) -> bool:
    return state is not None and _STATE.fullmatch(str(state)) is not None


def state_in(if_match: str) -> str | None:
    """The state that an If-Match header asks for."""
    found = _NAMING.fullmatch(if_match)
    return None if found is None else found[1]


def is_known(tag: str, if_none_match: str) -> bool:
    """Does the client say that it has this already?"""
    if if_none_match == "*":
        return True
    opaque = tag.removeprefix("W/")[1:-1]
    return any(found[2] == opaque for found in _TAG.finditer(if_none_match))


def is_named(tag: str, if_match: str) -> bool:
    """Does the client ask for exactly this? What is weak names nothing exactly."""
    return if_match == "*" or any(found[0] == tag for found in _TAG.finditer(if_match))
