"""Where changed documents belong: in an office, if they lie in a root of it, else on the disk alone."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from engross.calls import DEFAULT_TENANT
from engross.surfaces.client import Client

from .doc_files import STDIN, Finding, replace
from .place import Place

WRITE = "documents.octave-write"


class Keeper:
    """Puts changed documents where they belong: through the office if they lie in a root of it, else on the disk."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._office: AbstractContextManager[Client] | None = None
        self._client: Client | None = None

    def put(self, path: str, before: bytes, after: bytes) -> list[Finding]:
        """Write a document; what hindered it."""
        if path == STDIN:
            sys.stdout.write(after.decode())
        elif root_of(self._place, path) is None:
            replace(path, after)
        else:
            return self._through_the_office(path, before, after)
        return []

    def _through_the_office(self, path: str, before: bytes, after: bytes) -> list[Finding]:
        from hashlib import sha256

        if self._client is None:
            self._office = self._place.client(may_make=True)
            self._client = self._office.__enter__()
        said = {"target_path": str(Path(path).absolute()), "content": after.decode()}
        answer = self._client.call(WRITE, {**said, "base_hash": sha256(before).hexdigest()})
        return [] if answer.ok else [Finding(answer.message_key, answer.message)]

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *details: Any) -> None:
        if self._office is not None:
            self._office.__exit__(*details)


def root_of(place: Place, path: str) -> Path | None:
    """The document root of the office that a file lies in."""
    if place.url is not None:
        return None
    settings = place.settings
    usual = (settings.data / "documents" / "{tenant}",)
    whole = Path(path).absolute()
    for root in settings.document_roots or usual:
        filled = Path(str(root).replace("{tenant}", place.tenant or DEFAULT_TENANT)).absolute()
        if whole.is_relative_to(filled) and settings.data.exists():
            return filled
    return None


def below_a_root(place: Place, path: str) -> str:
    """A path as the office takes it: one that leads from here into a root is made absolute."""
    return str(Path(path).absolute()) if root_of(place, path) is not None else path
