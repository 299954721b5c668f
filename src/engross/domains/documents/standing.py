"""What stands at a place: the file, or what is about to be there."""

from __future__ import annotations

from engross.ledger import Reader
from engross.store import states_of_effects
from engross.store.confined import Found

from .places import Place
from .versions import Version, publication_id
from .ways import Ways


def standing(ways: Ways, reader: Reader, place: Place, head: Version | None) -> Found | None:
    """The file; while the latest version is on its way to the disk, that one."""
    return kept(ways, reader, head) if _is_on_its_way(reader, place, head) else place.read()


def kept(ways: Ways, reader: Reader, version: Version | None) -> Found | None:
    """The bytes of a version."""
    if version is None or version.digest is None:
        return None
    return Found(ways.blobs(reader.context.tenant).get(version.digest), version.digest)


def _is_on_its_way(reader: Reader, place: Place, head: Version | None) -> bool:
    if head is None:
        return False
    identifier = publication_id(place.subject, head.version)
    return states_of_effects(reader.reading, [identifier]).get(identifier) == "pending"
