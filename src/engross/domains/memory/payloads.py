"""The id that a payload has by its content: equal payloads have equal ids, whoever submits them and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import dumps
from typing import Any

from .capabilities import Capability

PREFIX = "payload_"
LENGTH = 24


def payload_content_id(
    capability: Capability, body: Mapping[str, Any], source_refs: Sequence[str], extractor_version: str
) -> str:
    """Covers the fields that the capability includes, the sources and the extractor, and nothing else."""
    included = {field: normal(body[field]) for field in capability.included if field in body}
    content = {
        "capability": capability.id,
        "body": included,
        "source_refs": sorted(source_refs),
        "extractor_version": extractor_version,
    }
    return PREFIX + sha256(compact(content).encode()).hexdigest()[:LENGTH]


def normal(value: Any) -> Any:
    """A value without what makes no difference: case and blanks around texts, the order of lists."""
    if isinstance(value, str):
        return _trimmed(value).lower()
    if isinstance(value, list | tuple):
        return sorted((normal(item) for item in value), key=compact)
    if isinstance(value, Mapping):
        return {key: normal(item) for key, item in value.items()}
    return value


def compact(value: Any) -> str:
    """JSON without blanks, whose whole numbers are written without a point."""
    return dumps(_whole(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    return value


def _trimmed(text: str) -> str:
    # What the format's first implementation trims, and Python does not.
    return text.strip().strip("\ufeff").strip()
