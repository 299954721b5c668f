"""An office with the documents domain, and the people and agents who write there."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from engross.domains.documents import Ways, documents
from engross.domains.documents.samples import NOTE
from engross.flows import Aggregate
from engross.replies import Reply, structured
from engross.store import Blobs
from engross.surfaces.client import Client
from tests.bed.offices import Offices

PLAN = NOTE


def ways_of(data: Path, **ways: Any) -> Ways:
    """What the domain asks of an office with that data folder."""
    return Ways(home=data / "documents", blobs=lambda tenant: Blobs(data / "blobs", tenant), **ways)


def domain(data: Path, **ways: Any) -> Aggregate:
    """The domain for an office with that data folder."""
    return documents(ways_of(data, **ways))


class Archive:
    """One office with documents: Clara curates, Scout is an agent."""

    def __init__(self, offices: Offices, *, settings: Mapping[str, Any] | None = None, **ways: Any) -> None:
        self.folder = offices.folder
        self.root: Path = ways["roots"][0] if "roots" in ways else offices.folder / "documents" / "main"
        self.clara = offices.open(domain(offices.folder, **ways), **(settings or {}))
        self.scout = self.clara.as_("scout", "agent", ["agent"])

    def write(self, path: str = "plan.oct.md", client: Client | None = None, **arguments: Any) -> Reply:
        """Call octave_write."""
        return (client or self.clara).documents.octave_write(target_path=path, **arguments)

    def written(self, path: str = "plan.oct.md", content: str = PLAN, **arguments: Any) -> dict[str, Any]:
        """A document that is there now."""
        return dict(done(self.write(path, content=content, **arguments)).data)

    def file(self, path: str = "plan.oct.md") -> Path:
        """Where a document lies."""
        return self.root / path

    def text(self, path: str = "plan.oct.md") -> str:
        """What a document says on the disk."""
        return self.file(path).read_bytes().decode()

    def outside(self, text: str | bytes, path: str = "plan.oct.md") -> Path:
        """A file that somebody wrote without the office."""
        file = self.file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def history(self, path: str = "plan.oct.md") -> list[dict[str, Any]]:
        """The versions of a document, the latest first."""
        return [dict(one) for one in done(self.clara.documents.document_history(path=path)).data["versions"]]


def done(answer: Reply) -> Reply:
    """The answer, which must be a success."""
    assert answer.ok, (answer.message_key, answer.data)
    return answer


def envelope(answer: Reply) -> dict[str, Any]:
    """The answer as a tool gives it."""
    return structured(answer, "documents")


def refused(answer: Reply) -> list[tuple[str, str | None]]:
    """The codes of a refusal, each with the finer one."""
    told = envelope(answer)
    assert told["status"] == "error", told
    return [(error["code"], error.get("spec_code")) for error in told["errors"]]


def digest(content: str | bytes) -> str:
    """The hash of a content."""
    return sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()
