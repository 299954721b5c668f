"""Taking a write back: an earlier version's bytes become the latest version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid, codes
from engross.store.confined import Found

from .places import Place, place_of
from .versions import Version, version_of
from .ways import Ways
from .writing import Prepared, Result, Wish, changed_meanwhile, prepared, refuse_other_base


def prepare_undo(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Prepared:
    """Find the version to bring back."""
    place = place_of(ways, reader.context.tenant, arguments["path"])
    return prepared(ways, reader, place, _undoing(ways, place, arguments))


def no_version(path: str, version: int | None = None) -> Invalid:
    """The record does not have it."""
    kind = "document" if version is None else "version"
    identifier = path if version is None else str(version)
    field = "path" if version is None else "version"
    return Invalid(codes.RECORD_NOT_FOUND, {"kind": kind, "id": identifier[:200]}, field=field)


def _undoing(ways: Ways, place: Place, arguments: Mapping[str, Any]) -> Wish:
    wanted, base_hash = arguments.get("version"), arguments.get("base_hash")

    def wish(reader: Reader, base: Found | None, head: Version | None) -> Result:
        refuse_other_base(ways, reader, place, base, base_hash)
        if head is None:
            raise no_version(place.subject)
        if base_hash is None and base is not None and base.digest != head.digest:
            # What somebody wrote without the office would be lost unseen.
            raise changed_meanwhile(ways, reader, place, base, head.digest)
        target = head.version - 1 if wanted is None else wanted
        digest, name = _earlier(reader, place, target, allow_none=wanted is None)
        content = None if digest is None else ways.blobs(reader.context.tenant).get(digest)
        said = {"name": name, "validation_status": "UNVALIDATED", "mode": "undo", "restores": target}
        told: dict[str, Any] = {"restores": target, "validation_status": "UNVALIDATED", "corrections": [], "errors": []}
        return Result(content, said, told)

    return wish


def _earlier(reader: Reader, place: Place, version: int, *, allow_none: bool) -> tuple[str | None, str | None]:
    """What a version held; before the first one there was nothing."""
    if version == 0 and allow_none:
        return None, None
    found = version_of(reader, place.subject, version)
    if found is None:
        raise no_version(place.subject, version)
    return found.digest, found.name
