"""The office's own key: it signs seals, and the secret of plan tokens is derived from it."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from engross.plainfile import only_plain, stands_at
from engross.replies import Failed, codes
from engross.store.blobs import stage, sync_folder
from engross.store.failures import disk_failure, translated


class OfficeKey:
    """An Ed25519 key in a file that only its owner may read."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != 32:
            raise Failed(codes.CONFIG_INVALID, {"setting": "office key"})
        self._seed = seed
        self._public: str | None = None

    @classmethod
    def at(cls, path: Path) -> OfficeKey:
        """The key in a file, made if there is none."""
        with translated(disk_failure):
            return cls(cls._seed_at(path))

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
            told = {"file": str(path), "problem": f"it cannot be read ({type(error).__name__})"}
            raise Failed(codes.CONFIG_INVALID, {"setting": "office key"}, data=told) from error

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


def signed_by(public: str, text: bytes, signature: str) -> bool:
    """Whether the holder of a key signed a text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return True
