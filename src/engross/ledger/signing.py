"""The office's own key: it signs seals, and the secret of plan tokens is derived from it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path

from engross.plainfile import only_plain, stands_at
from engross.replies import Failed, codes
from engross.store.blobs import stage, sync_folder
from engross.store.failures import disk_failure, translated

SEED_BYTES = 32
OF_ANOTHER_KEY = "the seals in the store are by another key than this folder's"
HOW_TO_SEAL = (
    "Name the folder of the office whose store it is, or put its `keys` into this one. If its key is lost, another one"
    " takes over, on the record, once `engross verify --save-checkpoint` has written restored.json into `keys` here."
)
WHERE_KEYS_COME_FROM = "Put the office's own key back, from a backup for instance: its seals are signed with that one."


class OfficeKey:
    """An Ed25519 key in a file that only its owner may read."""

    def __init__(self, seed: bytes) -> None:
        _require_seed(seed)
        self._seed = seed
        self._public: str | None = None

    @classmethod
    def at(cls, path: Path) -> OfficeKey:
        """The key in a file, made if there is none."""
        with translated(partial(disk_failure, file=str(path))):
            seed = cls._seed_at(path)
        _require_seed(seed, file=str(path))
        return cls(seed)

    @staticmethod
    def _seed_at(path: Path) -> bytes:
        if not stands_at(path):
            # The key gets its name once it is whole: nobody ever reads half a key, and of two makers one wins.
            staged = stage(path, os.urandom(32))
            try:
                with suppress(FileExistsError):
                    os.link(staged, path)
            finally:
                os.unlink(staged)
            sync_folder(path.parent)
        try:
            with open(path, "rb", opener=only_plain) as file:
                return file.read()
        except OSError as error:
            raise _unfit(file=str(path), problem=f"it cannot be read ({type(error).__name__})") from error

    @property
    def public(self) -> str:
        """The key that verifies, in hex."""
        if self._public is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            key = Ed25519PrivateKey.from_private_bytes(self._seed)
            self._public = key.public_key().public_bytes_raw().hex()
        return self._public

    def secret(self, purpose: str) -> bytes:
        """A secret for one purpose, of no use for any other."""
        return sha256(b"engross/" + purpose.encode() + b"/" + self._seed).digest()

    def sign(self, text: bytes) -> str:
        """A signature, in hex."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._seed).sign(text).hex()


def _require_seed(seed: bytes, **where: str) -> None:
    if len(seed) != SEED_BYTES:
        raise _unfit(**where, problem=f"it has {len(seed)} bytes, and a key has {SEED_BYTES}")


def _unfit(**told: object) -> Failed:
    return _refused(**told, hint=WHERE_KEYS_COME_FROM)


def of_another_key(**told: object) -> Failed:
    """The refusal to sign behind seals of another key, from which this one was never said to take over."""
    return _refused(**told, problem=OF_ANOTHER_KEY, hint=HOW_TO_SEAL)


def _refused(**told: object) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": "office key"}, data=told)


def signed_by(public: str, text: bytes, signature: str) -> bool:
    """Whether the holder of a key signed a text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return True
