"""How a document came to be what it is: its versions, each with who wrote it, why, and who approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.calls import Answer
from engross.ledger import Fact, Reader, facts_about
from engross.ledger.reasons import Stated, proof, responsibility, told_reasons
from engross.store import states_of_effects

from .comparison import unified
from .places import place_of
from .reading import looked_up
from .standing import kept, standing
from .undoing import no_version
from .versions import FOUND, KINDS, NAMESPACE, head_of, publication_id
from .ways import Ways


def history_of(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Answer:
    """The versions, the latest first."""
    place = place_of(ways, reader.context.tenant, arguments["path"])
    head = head_of(reader, place.subject)
    if head is None:
        raise no_version(place.subject)
    end = min(arguments.get("before") or head.version + 1, head.version + 1)
    start = max(0, end - 1 - arguments["limit"])
    found = facts_about(reader.reading, NAMESPACE, place.subject, after_version=start, most=end - 1 - start)
    states = states_of_effects(reader.reading, [publication_id(place.subject, fact.version) for fact, _ in found])
    told = entries(reader, found)
    for entry in told:
        state = states.get(publication_id(place.subject, entry["version"]))
        if state is not None:
            entry["published"] = state
    current = standing(ways, reader, place, head)
    return Answer(
        {
            "path": place.path,
            "versions": told[::-1],
            "next": start + 1 if start else None,
            "current_hash": None if current is None else current.digest,
            "is_recorded": (None if current is None else current.digest) == head.digest,
        }
    )


def compared(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Answer:
    """What differs between two versions; the newer one is the file itself unless it is named."""
    place = place_of(ways, reader.context.tenant, arguments["path"])
    head = head_of(reader, place.subject)
    if head is None:
        raise no_version(place.subject)
    asked = arguments.get("old")
    old = kept(ways, reader, head) if asked is None else looked_up(ways, reader, place, asked)[0]
    new, _ = looked_up(ways, reader, place, arguments.get("new"))
    before, after = (None if one is None else one.content for one in (old, new))
    return Answer(
        {
            "path": place.path,
            "old_hash": None if old is None else old.digest,
            "new_hash": None if new is None else new.digest,
            "diff": unified(before, after, place.name),
        }
    )


def entries(reader: Reader, found: Sequence[Stated]) -> list[dict[str, Any]]:
    """Versions as callers are told about them, in order."""
    wishes = told_reasons(reader.reading, (receipt for _, receipt in found))
    return [_entry(fact, receipt, wishes) for fact, receipt in found if fact.type in KINDS]


def _entry(fact: Fact, receipt: Mapping[str, Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    said = fact.payload or {}
    told = {
        "version": fact.version,
        "kind": KINDS[fact.type],
        "hash": said.get("digest"),
        "size": said.get("size"),
        "mode": said.get("mode"),
        "restores": said.get("restores"),
        "validation_status": said.get("validation_status"),
        "fact_id": fact.id,
        "position": fact.position,
        "time": fact.time,
        "receipt": proof(fact, receipt),
        **_responsible(fact, receipt, wishes),
    }
    return {name: value for name, value in told.items() if value is not None}


def _responsible(fact: Fact, receipt: Mapping[str, Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    """Who wrote it, why, and who approved. Of what was found on the disk nobody knows more than who noticed it."""
    told = responsibility(receipt, wishes)
    return {"noticed_by": told["by"]} if fact.type == FOUND else told
