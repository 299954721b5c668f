"""What an interpreter is given."""

from __future__ import annotations

from typing import NamedTuple

LONGEST_NAME = 200


class Source(NamedTuple):
    """A file: its bytes, what they are, what it is called, and the digest of it all."""

    content: bytes
    media_type: str
    filename: str
    digest: str

    @property
    def fallback_name(self) -> str:
        """What a document is called that does not say so itself: never the same for two different files."""
        return f"{self.filename[:LONGEST_NAME] or 'file'} {self.digest[:8]}"
