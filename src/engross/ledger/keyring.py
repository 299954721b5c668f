"""What a folder or a backup says about the keys of its seals.

A store that was restored without a key has seals of another office's. Restoring leaves a checkpoint of them beside the
key that the office is going to have: from there, and from nowhere else, its own key takes over.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engross.replies import Failed, Invalid

from .checkpoint import Checkpoint
from .seals import RESTORED
from .signing import OfficeKey

KEY = "office.key"


class Keyring(NamedTuple):
    """`own` may have signed nothing yet; `signer` is the key that a backup's maker says its seals are by."""

    own: str | None = None
    signer: str | None = None
    restored: Checkpoint | None = None


def keyring_in(folder: Path) -> Keyring:
    """The keyring of an office, as far as it is there and may be read."""
    return Keyring(own=_own_key(folder / KEY), restored=restored_in(folder))


def restored_in(folder: Path) -> Checkpoint | None:
    """How far the chains had come that the office was restored with, if it was and had no key then."""
    try:
        return Checkpoint.load(folder / RESTORED)
    except Invalid:
        return None


def _own_key(path: Path) -> str | None:
    try:
        return OfficeKey(path.read_bytes()).public
    except (OSError, Failed):
        return None
