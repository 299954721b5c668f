"""A write of a document: prepared beside the writer, made on it, and concluded when its file is there.

The record and the disk may differ: somebody edited the file with another program. What lies on the disk counts, so what
was found there enters the record first, as a version of its own, and nothing of it is lost.

Two writes of one document that meet are told apart by the record's version: the later one is prepared again on what the
earlier one left. Whoever changes the file without the office is noticed when it is to be replaced, under a lock: it is
left alone then, and the call ends in E_HASH.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from engross.calls import Answer, Overtaken
from engross.ledger import Reader, Unit, last_version
from engross.replies import Invalid, codes
from engross.store import Publication, are_here_to_stay
from engross.store.confined import Found

from .comparison import unified
from .drafting import Arguments, drafted, refuse_both_or_neither
from .places import Place, place_of, ready
from .refusals import bad_path, moved_on
from .standing import standing
from .versions import FOUND, REMOVED, WRITTEN, Version, has_digest, head_of, publication_id
from .ways import Ways

MOST_IN_A_FACT = 20_000
"""Characters of the difference that a fact carries for whoever reviews it."""


class Result(NamedTuple):
    """What a document becomes (None: there is none any more), what the fact says of it, and what the caller is told."""

    content: bytes | None
    said: Mapping[str, Any]
    told: Mapping[str, Any]


Wish = Callable[[Reader, "Found | None", "Version | None"], Result]
"""What a call makes of what lies there and of the record's latest version."""


class Prepared(NamedTuple):
    """A write that is ready to be made, on the ground on which it was prepared; `diff` is what it would change.

    A refusal in the place of a result counts only if the ground is still the same when the write is to be made: what
    a draft holds before it is seen no sooner.
    """

    place: Place
    base: Found | None
    head: Version | None
    wish: Wish
    result: Result | Invalid
    diff: str = ""


def prepare_write(ways: Ways, reader: Reader, arguments: Arguments) -> Prepared:
    """Read what is there, and work out what it becomes."""
    refuse_both_or_neither(arguments)
    place = place_of(ways, reader.context.tenant, arguments["target_path"])
    return prepared(ways, reader, place, _writing(ways, place, arguments))


def prepared(ways: Ways, reader: Reader, place: Place, wish: Wish) -> Prepared:
    """A wish worked out on what lies at a place now."""
    context, head = reader.context, head_of(reader, place.subject)
    base = standing(ways, reader, place, head)
    try:
        write = _worked_out(reader, place, base, head, wish)
    except Invalid as refusal:
        if context.proposal_id is None and context.causation_id is None:
            raise
        return Prepared(place, base, head, wish, refusal)
    if not context.dry_run:
        _keep(ways, reader, write)
    return write


def perform_write(ways: Ways, unit: Unit, write: Prepared) -> Answer:
    """State what changes, and have the file published once that is durable."""
    write = _on_this_ground(ways, unit, write)
    base, result, subject = write.base, write.result, write.place.subject
    if isinstance(result, Invalid):
        raise result
    version = last_version(unit, "documents", subject) if write.head is None else write.head.version
    digest = _sha256(result.content)
    _require_bytes(ways, unit, write, digest)
    if _differs(base, write.head):
        unit.append(FOUND, subject, version, _found(base, write.head), before=_digest(write.head), fields=["digest"])
        version += 1
    before = None if base is None else base.digest
    told = {"path": write.place.path, "canonical_hash": digest or "", "previous_hash": before, **result.told}
    if digest == before:
        return Answer({**told, "version": version or None, "created": False, "diff": ""})
    said = {
        "digest": digest,
        "replaces": before,
        "size": len(result.content or b""),
        "diff": _shortened(write.diff),
        **result.said,
    }
    unit.append(
        WRITTEN if digest else REMOVED,
        subject,
        version,
        said,
        before=None if before is None else {"digest": before},
        fields=["digest", "diff"],
        ends=not digest,
    )
    unit.publish(
        Publication(publication_id(subject, version + 1), write.place.path, digest, before, root=str(write.place.root))
    )
    data = {**told, "version": version + 1, "created": before is None, "diff": write.diff}
    return Answer(data, _outcome(before, digest))


def _require_bytes(ways: Ways, unit: Unit, write: Prepared, digest: str | None) -> None:
    """The bytes that will be named may have been erased, with another document, since they were kept."""
    if unit.context.dry_run:
        return
    base = None if write.base is None else write.base.digest
    named = [one for one in (base,) if one and _differs(write.base, write.head)]
    named += [one for one in (digest,) if one and one != base]
    blobs = ways.blobs(unit.context.tenant)
    if not all(are_here_to_stay(unit.reading, blobs, one) for one in named):
        raise moved_on(Overtaken, base, base, "", write.place.path)


def _outcome(before: str | None, digest: str | None) -> str | None:
    """What became of the document; None for the usual: it was changed."""
    if before is None:
        return codes.CREATED  # reply-lint: L7 because only the write itself knows whether there was a document
    if digest is None:
        return codes.DELETED  # reply-lint: L7 because only the write itself knows whether there still is one
    return None


def conclude_write(ways: Ways, reader: Reader, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Whether the file is there. One that somebody else changed meanwhile was left alone."""
    states = set(answer["published"].values())
    if "conflict" in states:
        place = place_of(ways, reader.context.tenant, answer["path"])
        raise changed_meanwhile(ways, reader, place, place.read(), answer["previous_hash"])
    if "pending" in states:
        waits = {
            "code": "FILE_PENDING",
            "message": "The write is on the record; the disk does not take the file yet, and it will be tried again.",
        }
        return {"warnings": [*answer["warnings"], waits]}
    return None


def changed_meanwhile(
    ways: Ways,
    reader: Reader,
    place: Place,
    current: Found | None,
    base_hash: str | None,
) -> Invalid:
    """The document is not what the caller took it for: what it is by now, and what changed as far as that is known."""
    known = content_at(ways, reader, place.subject, base_hash)
    content = None if current is None else current.content
    diff = unified(known, content, place.name) if known is not None or base_hash is None else ""
    return moved_on(Invalid, None if current is None else current.digest, base_hash, diff, place.path)


def content_at(ways: Ways, reader: Reader, subject: str, digest: str | None) -> bytes | None:
    """The bytes that some version of a document had; nothing that was never one."""
    if digest is None or not has_digest(reader, subject, digest):
        return None
    blobs = ways.blobs(reader.context.tenant)
    return blobs.get(digest) if blobs.has(digest) else None


def refuse_other_base(ways: Ways, reader: Reader, place: Place, base: Found | None, base_hash: str | None) -> None:
    """Refuse to build on anything but what the caller has seen."""
    if base_hash is not None and (base is None or base.digest != base_hash):
        raise changed_meanwhile(ways, reader, place, base, base_hash)


def _writing(ways: Ways, place: Place, arguments: Arguments) -> Wish:
    def wish(reader: Reader, base: Found | None, head: Version | None) -> Result:
        refuse_other_base(ways, reader, place, base, arguments.get("base_hash"))
        if base is None and arguments.get("changes") is not None:
            raise bad_path(place.path, "there is no such file to change; give content to make one", "E_FILE")
        draft = drafted(ways, None if base is None else base.content, arguments, place.path)
        mode = "changes" if arguments.get("changes") is not None else "content"
        about = {"name": draft.name, "validation_status": draft.validation_status}
        schema = {"schema": arguments["schema"]} if arguments.get("schema") is not None else {}
        return Result(draft.content, {**about, "mode": mode, **schema}, {**draft.told, **about, "errors": []})

    return wish


def _on_this_ground(ways: Ways, unit: Unit, write: Prepared) -> Prepared:
    """The write on what the record has by now. What this very unit did before it is the ground to build on."""
    head = head_of(unit, write.place.subject)
    if head == write.head:
        return write
    if head is None or head.position != unit.transaction.position:
        # Somebody was quicker. Prepared again, it builds on what they left.
        seen = None if write.base is None else write.base.digest
        raise moved_on(Overtaken, _digest(head)["digest"], seen, "", write.place.path)
    blobs = ways.blobs(unit.context.tenant)
    base = None if head.digest is None else Found(blobs.get(head.digest), head.digest)
    again = _worked_out(unit, write.place, base, head, write.wish)
    if not isinstance(again.result, Invalid) and again.result.content is not None:
        blobs.put(again.result.content)
    return again


def _worked_out(reader: Reader, place: Place, base: Found | None, head: Version | None, wish: Wish) -> Prepared:
    result = wish(reader, base, head)
    diff = unified(None if base is None else base.content, result.content, place.name)
    return Prepared(place, base, head, wish, result, diff)


def _keep(ways: Ways, reader: Reader, write: Prepared) -> None:
    """Keep every content before any row names it, and refuse what the disk would not take."""
    tenant = reader.context.tenant
    blobs = ways.blobs(tenant)
    if write.base is not None and _differs(write.base, write.head):
        blobs.put(write.base.content)
    content = None if isinstance(write.result, Invalid) else write.result.content
    if content is None or (write.base is not None and write.base.content == content):
        return
    ready(ways, tenant, write.place)
    write.place.try_out(len(content))
    blobs.put(content)


def _differs(base: Found | None, head: Version | None) -> bool:
    return (None if base is None else base.digest) != (None if head is None else head.digest)


def _found(base: Found | None, head: Version | None) -> dict[str, Any]:
    return {
        "digest": None if base is None else base.digest,
        "replaces": _digest(head)["digest"],
        "size": 0 if base is None else len(base.content),
    }


def _digest(head: Version | None) -> dict[str, Any]:
    return {"digest": None if head is None else head.digest}


def _shortened(diff: str) -> str:
    return diff if len(diff) <= MOST_IN_A_FACT else f"{diff[:MOST_IN_A_FACT]}\n..."


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()
