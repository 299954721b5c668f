"""Entity tags: which version an answer shows.

An answer with a version has a strong tag that begins with it, so that the tag can come back in If-Match. What is read
by GET also has a digest of its content in the tag: a record may stay at its version while something shown beside it
changes, and a client must not be told that nothing did. The form that it is sent in is part of the digest, for whoever
has the one has not the other. The envelope `reply` is different every time and no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

DIGITS = 16
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_VERSIONED = re.compile(r'"([0-9]+)(?:-[0-9a-f]+)?"')


def version_tag(data: Mapping[str, Any]) -> str | None:
    """The tag of what was written, if it has a version."""
    version = version_of(data)
    return None if version is None else f'"{version}"'


def content_tag(data: Mapping[str, Any], media_type: str) -> str:
    """The tag of what was read, as it is sent."""
    digest = sha256(media_type.encode() + b"\n" + orjson.dumps(data)).hexdigest()[:DIGITS]
    version = version_of(data)
    return f'W/"{digest}"' if version is None else f'"{version}-{digest}"'


def version_of(data: Mapping[str, Any]) -> int | None:
    """The version of the record that an answer is about."""
    version = data.get("version")
    if version is None:
        version = _record_in(data).get("version")
    return version if type(version) is int else None


def _record_in(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first part that has both an id and a version. What is shown alone needs no id to be told from others."""
    parts = []
    for part in data.values():
        if isinstance(part, dict):
            if "id" in part and "version" in part:
                return part
            parts.append(part)
    return parts[0] if len(parts) == 1 else {}


def version_in(if_match: str) -> str | None:
    """The version that an If-Match header asks for."""
    found = _VERSIONED.fullmatch(if_match)
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
