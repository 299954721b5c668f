"""The bytes of files that domains read and keep: blobs of the tenant's, some of which somebody uploaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from engross.store import Blobs, are_here_to_stay

from .blob_flows import not_found, own_blob

if TYPE_CHECKING:
    from engross.domains.memory import Uploaded
    from engross.ledger import Reader


class KeptFiles(NamedTuple):
    """What domains ask of the office about files."""

    blobs: Callable[[str], Blobs]

    def keep(self, tenant: str, content: bytes) -> str:
        """Keep bytes; their SHA-256."""
        return self.blobs(tenant).put(content)

    def content(self, tenant: str, content_hash: str) -> bytes:
        """The bytes that are kept under a hash."""
        return self.blobs(tenant).get(content_hash)

    def are_here_to_stay(self, reader: Reader, content_hash: str) -> bool:
        """Whether bytes that were kept are not being erased, for whoever is about to name them on the record."""
        return are_here_to_stay(reader.reading, self.blobs(reader.context.tenant), content_hash)

    def uploaded(self, reader: Reader, content_hash: str) -> Uploaded | None:
        """What is on the record about an upload of the caller's, if there is one."""
        from engross.domains.memory import Uploaded

        row = own_blob(reader, content_hash)
        return Uploaded(row["name"], row["media_type"], row["size"]) if row else None

    def own(self, reader: Reader, content_hash: str) -> bytes:
        """The bytes of an upload of the caller's."""
        if own_blob(reader, content_hash) is None:
            raise not_found(content_hash)
        return self.content(reader.context.tenant, content_hash)
