"""A file that arrives: read, looked over, and reported on or taken over."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engross.calls import CONVERSATION, Answer, report
from engross.ledger import Reader, Unit
from engross.replies import Invalid, Issue, codes

from ..metamodel import metamodel
from ..models import require_model
from ..notices import notice
from ..refusals import malformed, raise_all
from .archi import NAMESPACE as ARCHI
from .archi import ZIPPED, read_archi
from .archi_csv import read_csv
from .checking import Findings, at_odds_with, check
from .doubles import doubles
from .exchange_xml import read_exchange
from .importing import Rehearsal, Takeover
from .naming import called
from .parcel import Parcel
from .remarks import not_kept, remarks
from .standing import Standing, changed_types

Arguments = Mapping[str, Any]
Content = Callable[[Reader, str], bytes]

WAYS_TO_SEND = ("content", "content_hash", "files")
ZIPPED_TEXT = "UEsDB"
SHOWN = 20
MEND_FIRST = "Mend the file first; relationships that are not allowed are left out with on_invalid skip."


class Arrived(NamedTuple):
    """A parcel that was looked over."""

    arguments: Arguments
    parcel: Parcel
    findings: Findings
    tell: Callable[[float, float | None, str | None], None] | None = None
    """Whoever waits for it, also while it is written: from another thread."""


def arrived(reader: Reader, arguments: Arguments, content: Content | None) -> Arrived:
    """Read what was sent, and look it over."""
    report(0, 3, "Reading the file")
    parcel = sent(reader, arguments, content)
    report(1, 3, f"Checking {len(parcel.elements)} elements and {len(parcel.relationships)} relationships")
    findings = check(parcel)
    report(2, 3, "Writing")
    listener = CONVERSATION.get()
    return Arrived(arguments, parcel, findings, listener.report if listener else None)


def taken_over(unit: Unit, arrived: Arrived) -> Answer:
    """Take the parcel over, or only tell what that would bring."""
    arguments, parcel, findings, tell = arrived
    model_id = require_model(unit, arguments["model_id"]) if "model_id" in arguments else None
    standing = Standing.of(unit, model_id, parcel)
    if not findings.issues:
        more = at_odds_with(parcel, standing, {one["id"] for one in findings.illegal})
        findings = findings._replace(illegal=[*findings.illegal, *more])
        arrived = arrived._replace(findings=findings)
    issues = [*findings.issues, *changed_types(parcel, standing.elements)]
    hindrances = issues if arguments.get("on_invalid") == "skip" else [*issues, *findings.illegal_issues]
    name, told = called(unit, model_id, arguments.get("model_name"), parcel.name)
    warnings = [*told, *remarks(parcel), *doubles(parcel, standing)]
    skipped = {one["id"] for one in findings.illegal}
    if arguments.get("mode", "dry_run") == "dry_run":
        takeover = None if hindrances else Takeover(Rehearsal(unit), parcel, standing, skipped)
        if takeover is not None:
            takeover.into(model_id, name)
        data = _report(arrived, issues, takeover)
        data |= {"would_be_refused": bool(hindrances), "model": {"id": model_id, "name": name}}
        code, advice = codes.VALIDATION_DONE, MEND_FIRST if hindrances else "Call again with mode commit."
        last = [notice("DRY_RUN", "Nothing was imported.", "mode", advice)]
    else:
        raise_all(hindrances)
        code, takeover, last = None, Takeover(unit, parcel, standing, skipped, tell), []
        data = {"model": takeover.into(model_id, name), "counts": takeover.counts}
    return Answer({**data, **_told(arrived, len(warnings))}, code, warnings=(*warnings[:SHOWN], *last))


def _report(arrived: Arrived, issues: Sequence[Issue], takeover: Takeover | None) -> dict[str, Any]:
    """What is in the file, what is wrong with it, and what would come of it."""
    parcel, findings = arrived.parcel, arrived.findings
    counts = {
        "elements": len(parcel.elements),
        "relationships": len(parcel.relationships),
        "views": len(parcel.views),
        "invalid_relationships": len(findings.illegal),
        "problems": findings.problems + len(issues) - len(findings.issues),
    }
    told = {"dry_run": True, "counts": counts, "problems": [issue.as_data() for issue in issues[:SHOWN]]}
    return told if takeover is None else {**told, "changes": takeover.counts}


def _told(arrived: Arrived, warnings: int) -> dict[str, Any]:
    """What an import tells in any case."""
    told: dict[str, Any] = {
        "format": arrived.parcel.format,
        "invalid_relationships": arrived.findings.illegal[:SHOWN],
        "metamodel": metamodel().stamp,
    }
    if lost := not_kept(arrived.parcel):
        told["not_kept"] = lost
    return {**told, "warnings_in_all": warnings} if warnings > SHOWN else told


def sent(reader: Reader, arguments: Arguments, content: Content | None) -> Parcel:
    """What is in the file that was sent along, or uploaded before."""
    given = [name for name in WAYS_TO_SEND if name in arguments]
    if len(given) != 1:
        raise Invalid.many([malformed("/content", "give one of content, content_hash and files")])
    try:
        parcel = _read(reader, arguments, content)
    except Invalid as refused:
        raise Invalid.many(_at(given[0], refused.issues), data=refused.data) from None
    parcel.sent_as, parcel.issues = given[0], _at(given[0], parcel.issues)
    return parcel


def _at(argument: str, issues: Iterable[Issue]) -> list[Issue]:
    """What is wrong with a file is wrong with the argument that it came in; readers do not know which that was."""
    return [issue._replace(pointer=f"/{argument}") for issue in issues]


def _read(reader: Reader, arguments: Arguments, content: Content | None) -> Parcel:
    if "files" in arguments:
        return read_csv(_texts(arguments["files"]))
    if "content" in arguments:
        return _read_as(arguments.get("format", "auto"), _bytes(arguments["content"]))
    if content is None:
        raise Invalid.many([malformed("/content_hash", "this office keeps no files", "Send the content itself.")])
    return _read_as(arguments.get("format", "auto"), content(reader, arguments["content_hash"]))


def _texts(files: Mapping[str, Any]) -> dict[str, str]:
    strange = [name for name, content in files.items() if not isinstance(content, str)]
    raise_all([malformed("/files", f"{name[:80]} is no text") for name in strange])
    return dict(files)


def _bytes(content: str) -> bytes:
    if not content.startswith(ZIPPED_TEXT):
        return content.encode("utf-8", "replace")
    try:
        return b64decode(content, validate=True)
    except NotBase64:
        raise Invalid.many([malformed("/content", "this is not base64")]) from None


def _read_as(format: str, content: bytes) -> Parcel:
    if format == "archi_csv":
        return read_csv({"elements.csv": content.decode("utf-8", "replace")})
    looks_like_archi = content.startswith(ZIPPED) or ARCHI.encode() in content[:4000]
    if format == "archimate" or (format == "auto" and looks_like_archi):
        return read_archi(content)
    return read_exchange(content)
