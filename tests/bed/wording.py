"""What the messages of replies say while a test runs: nothing, unless the test shows their words to people."""

from __future__ import annotations

from hashlib import sha256

from engross.replies import REGISTRY


class Wording:
    """Every message is a hash of its code, so that whoever branches on wording fails; or what people read."""

    def __init__(self) -> None:
        self._words = {entry.code: entry.template for entry in REGISTRY}
        self._in_words = True

    def speak(self, *, in_words: bool) -> None:
        """From now on, say it in words or in hashes."""
        if in_words != self._in_words:
            REGISTRY.rephrase(self._words.__getitem__ if in_words else _hashed)
            self._in_words = in_words


def _hashed(code: str) -> str:
    return sha256(code.encode()).hexdigest()
