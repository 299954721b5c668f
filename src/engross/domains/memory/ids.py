"""Ids that follow from what they stand for: the same input has the same id, in every store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

from .names import COMPANIES, normalise

NAMESPACE = "memory"
ENTITY_ID = re.compile(r"ent_[A-Za-z0-9_]{1,120}")
RECORD_ID = re.compile(r"[A-Za-z0-9_\-]{1,128}")


def entity_id(entity_type: str, name: str) -> str:
    """The id of the entity with this type and name.

    A canonical name is normalised once more, as it always was. That changes nothing but for companies, which may lose
    another legal form.
    """
    canonical = normalise(entity_type, name)
    if entity_type in COMPANIES:
        canonical = normalise(entity_type, canonical)
    return "ent_" + _hashed(f"{entity_type}:{canonical}")


def observation_id(unit: str, entity: str, fields: Mapping[str, Any], ordinal: int) -> str:
    """The id of what a unit says about an entity, in the place where it says it."""
    said = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()
    return "obs_" + _hashed(f"{unit}:{entity}:{said}:{ordinal}")


def event_id(record: str, field: str, iso: str) -> str:
    """The id of the event that a date field of a record stands for."""
    return "evt_" + _hashed(f"{record}:{field}:{iso}")


def record_id(owner: str, content_hash: str) -> str:
    """The id of the record that a user keeps of some content."""
    return _uuid(f"{owner}:{content_hash}")


def relationship_id(owner: str, kind: str, source: str, target: str) -> str:
    """The id of a user's relationship between two entities."""
    return _uuid(f"{owner}:{kind}:{source}:{target}")


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:24]


def _uuid(text: str) -> str:
    """A UUID of version 8, which is the one for ids that are made by a rule of one's own."""
    digest = sha256(text.encode()).hexdigest()
    variant = "89ab"[int(digest[15], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[12:15]}-{variant}{digest[16:19]}-{digest[19:31]}"
