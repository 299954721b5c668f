"""What the house decides for the domain: limits that an operator sets, and ports to what lies outside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from engross.ledger import Reader

if TYPE_CHECKING:
    from engross.searching.meaning import Embedder


class Uploaded(NamedTuple):
    """What is on the record about an uploaded file."""

    name: str
    media_type: str
    size: int


class Files(Protocol):
    """Where the bytes of sources lie."""

    def keep(self, tenant: str, content: bytes) -> str:
        """Keep bytes; their SHA-256."""

    def content(self, tenant: str, content_hash: str) -> bytes:
        """The bytes that are kept under a hash."""

    def are_here_to_stay(self, reader: Reader, content_hash: str) -> bool:
        """Whether bytes that were kept are not being erased, for whoever is about to name them on the record."""

    def uploaded(self, reader: Reader, content_hash: str) -> Uploaded | None:
        """What is on the record about an upload, if it is there."""


class ModelAccess(NamedTuple):
    """A model behind an OpenAI-compatible address."""

    base_url: str
    model: str
    key: str | None = None
    timeout: float = 30.0


class Ways(NamedTuple):
    """Everything that the domain asks of the house around it. The defaults do for a house without any of it."""

    files: Files | None = None
    embedder: Embedder | None = None
    model: ModelAccess | None = None
    tesseract: str | None = "tesseract"
    quota_runs: int = 100
    quota_days: int = 30
    most_file_bytes: int = 52_428_800
    most_entities: int = 10_000
    """How many entities one call may bring: it holds the writer for as long as they take."""


USUAL_WAYS = Ways()
