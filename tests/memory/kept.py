"""Offices with memory, whose ways a test chooses."""

from __future__ import annotations

from base64 import b64encode
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

from engross.domains.memory import Ways, memory
from engross.flows import Aggregate
from engross.office.kept_files import KeptFiles
from engross.replies import Reply
from engross.store import Blobs
from engross.surfaces.client import Client
from tests.bed.offices import Offices


def memory_at(folder: Path, **ways: Any) -> Aggregate:
    """The memory domain of an office in this folder."""
    files = KeptFiles(partial(Blobs, folder / "blobs"))
    return memory(Ways(**{"files": files, "tesseract": None, **ways}))


class Library:
    """An office with memory: Clara curates, and has an agent; Vera is somebody else."""

    def __init__(self, offices: Offices, ways: dict[str, Any] | None = None, **settings: Any) -> None:
        self.offices = offices
        self._take(offices.open(memory_at(offices.folder, **(ways or {})), **settings), "main")

    def at(self, tenant: str) -> Library:
        """The same office for another tenant, where nothing is known yet."""
        other = copy(self)
        other._take(self.clara.as_("clara", "human", ["curator"], tenant=tenant), tenant)
        return other

    def _take(self, clara: Client, tenant: str) -> None:
        self.tenant = tenant
        self.clara = clara
        self.agent = clara.as_("agent:clara", "agent", ["agent"])
        self.vera = clara.as_("vera", "human", ["contributor"])

    def ingest(self, content: bytes, mime_type: str = "text/plain", name: str = "file.txt", **more: Any) -> Reply:
        """Ingest a file as Clara."""
        return ingest(self.clara, content, mime_type, name, **more)

    def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        """What the tables hold, for Clara's tenant."""
        return self.clara.office.store.read(self.tenant, lambda reading: reading.rows(sql, params))


def ingest(client: Client, content: bytes, mime_type: str = "text/plain", name: str = "file.txt", **more: Any) -> Reply:
    """Ingest a file."""
    encoded = b64encode(content).decode()
    return client.call(
        "memory.ingest", {"file_content": encoded, "mime_type": mime_type, "original_filename": name, **more}
    )


def done(answer: Reply) -> dict[str, Any]:
    """What a successful answer says."""
    assert answer.ok, (answer.message_key, answer.data)
    return dict(answer.data)


def warned(answer: Reply) -> list[str]:
    """The codes of all warnings."""
    return [warning["code"] for warning in answer.data.get("warnings", ())]
