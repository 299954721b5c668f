"""Reading documents: from the disk, or a version that the record has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer
from engross.ledger import Reader, Unit
from engross.store.confined import Found

from .checking import ROOM
from .places import Place, place_of
from .refusals import bad_input, bad_path
from .standing import kept, standing
from .undoing import no_version
from .versions import Version, head_of, version_of
from .ways import Ways


def document_at(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Answer:
    """A document's text, its hash, and how the record knows it."""
    place = place_of(ways, reader.context.tenant, arguments["path"])
    found, version = looked_up(ways, reader, place, arguments.get("version"))
    if found is None:
        raise bad_path(place.path, "there is no such file", "E_FILE")
    if len(found.content) > ROOM:
        problem = f"the document has {len(found.content):,} bytes, and an answer has room for {ROOM:,}"
        raise bad_input(problem, "path", "E_TOO_LARGE", path=place.path)
    try:
        text = found.content.decode()
    except UnicodeDecodeError:
        raise bad_input("the file is not UTF-8", "path", "E_ENCODING", path=place.path) from None
    recorded = None if version is None or version.digest != found.digest else version
    return Answer(
        {
            "path": place.path,
            "content": text,
            "hash": found.digest,
            "size": len(found.content),
            "version": None if recorded is None else recorded.version,
            "validation_status": "UNVALIDATED" if recorded is None else recorded.validation_status or "UNVALIDATED",
        }
    )


def looked_up(
    ways: Ways, reader: Reader, place: Place, version: int | None = None
) -> tuple[Found | None, Version | None]:
    """What a version held; without one, what lies there, or what a draft or an earlier position of the ledger has."""
    if version is not None:
        wanted = version_of(reader, place.subject, version)
        if wanted is None:
            raise no_version(place.subject, version)
        return kept(ways, reader, wanted), wanted
    head = head_of(reader, place.subject)
    drafted = isinstance(reader, Unit) and head is not None and head.position == reader.transaction.position
    if drafted or reader.context.as_of is not None:
        return kept(ways, reader, head), head
    return standing(ways, reader, place, head), head


def listed(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Answer:
    """The documents on the record, by path."""
    below, limit = arguments.get("below", ""), arguments["limit"]
    rows = reader.rows(
        "SELECT v.id, v.version, v.digest, v.size, v.name, v.validation_status FROM documents_versions v"
        " JOIN (SELECT id, max(version) AS version FROM documents_versions WHERE tenant = :tenant AND id > :after"
        " AND id >= :below AND id < :beyond AND position <= :as_of GROUP BY id) l"
        " ON l.id = v.id AND l.version = v.version"
        " WHERE v.tenant = :tenant AND v.digest IS NOT NULL ORDER BY v.id LIMIT :most",
        after=arguments.get("after", ""),
        below=below,
        beyond=f"{below}\U0010ffff",
        most=limit + 1,
    )
    shown = [{**row, "path": row.pop("id"), "hash": row.pop("digest")} for row in rows[:limit]]
    return Answer({"documents": shown, "next": shown[-1]["path"] if len(rows) > limit else None})
