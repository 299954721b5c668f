"""Checkpoints: how far each tenant's chain of seals had come, kept where nobody who holds the store can reach it.

A store can show that what it holds is whole, but not that nothing was cut off its end. A checkpoint can.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson

from engross.plainfile import plain_target
from engross.replies import Invalid, codes
from engross.store.blobs import put_in_place, stage


class Pin(NamedTuple):
    """One tenant's last seal, how many receipts were sealed by then, and the key that signed them."""

    seal: int
    digest: str
    receipts: int
    public_key: str


class Checkpoint(NamedTuple):
    """A pin for each tenant that had a seal."""

    pins: Mapping[str, Pin]

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """The checkpoint in a file."""
        try:
            return cls.from_json(path.read_bytes())
        except OSError as error:
            raise _none_there() from error

    @classmethod
    def from_json(cls, text: bytes) -> Checkpoint:
        """The checkpoint that `as_json` wrote."""
        try:
            pins = {tenant: Pin(**pin) for tenant, pin in orjson.loads(text).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise _none_there() from error
        return cls(MappingProxyType(pins))

    def as_json(self) -> bytes:
        """The checkpoint as it is kept in a file."""
        data = {tenant: pin._asdict() for tenant, pin in self.pins.items()}
        return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def save(self, path: Path) -> None:
        """Write the checkpoint, whole or not at all."""
        target = plain_target(path)
        staged = stage(target, self.as_json())
        os.chmod(staged, 0o644)
        put_in_place(staged, target)


def _none_there() -> Invalid:
    return Invalid(codes.BACKUP_INVALID, {"problem": "the file holds no checkpoint"})
