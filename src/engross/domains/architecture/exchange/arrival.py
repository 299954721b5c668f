"""A file that arrives: read, looked over, and reported on or taken over."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from engross.calls import CONVERSATION, Answer, report
from engross.ledger import Reader, Unit
from engross.replies import Invalid

from ..metamodel import metamodel
from ..models import require_model
from ..notices import notice
from ..refusals import malformed, raise_all
from .archi import NAMESPACE as ARCHI
from .archi import ZIPPED, read_archi
from .archi_csv import read_csv
from .checking import Findings, check
from .exchange_xml import read_exchange
from .importing import Takeover
from .parcel import Parcel

Arguments = Mapping[str, Any]
Content = Callable[[str, str], bytes]

ZIPPED_TEXT = "UEsDB"
SHOWN = 20


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
    skips = arguments.get("on_invalid") == "skip"
    if arguments.get("mode", "dry_run") == "dry_run":
        return _report(arrived, model_id, skips)
    raise_all([*findings.issues, *([] if skips else findings.illegal_issues)])
    takeover = Takeover(unit, parcel, {one["id"] for one in findings.illegal}, tell)
    model = takeover.into(model_id, arguments.get("model_name"))
    data = {
        "model": model,
        "format": parcel.format,
        "counts": takeover.counts,
        "invalid_relationships": findings.illegal[:SHOWN],
        "metamodel": metamodel().stamp,
    }
    return Answer(data, warnings=tuple(findings.warnings[:SHOWN]))


def sent(reader: Reader, arguments: Arguments, content: Content | None) -> Parcel:
    """What is in the file that was sent along, or uploaded before."""
    given = [name for name in ("content", "content_hash", "files") if name in arguments]
    if len(given) != 1:
        raise Invalid.many([malformed("/content", "give one of content, content_hash and files")])
    if "files" in arguments:
        return read_csv(_texts(arguments["files"]))
    if "content" in arguments:
        return _read_as(arguments.get("format", "auto"), _bytes(arguments["content"]))
    if content is None:
        raise Invalid.many([malformed("/content_hash", "this office keeps no files", "Send the content itself.")])
    return _read_as(arguments.get("format", "auto"), content(reader.context.tenant, arguments["content_hash"]))


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


def _report(arrived: Arrived, model_id: str | None, skips: bool) -> Answer:
    parcel, findings = arrived.parcel, arrived.findings
    data = {
        "dry_run": True,
        "would_be_refused": bool(findings.issues) or (bool(findings.illegal) and not skips),
        "model": {"id": model_id, "name": parcel.name},
        "format": parcel.format,
        "counts": {
            "elements": len(parcel.elements),
            "relationships": len(parcel.relationships),
            "views": len(parcel.views),
            "invalid_relationships": len(findings.illegal),
            "problems": findings.problems,
        },
        "problems": [issue.as_data() for issue in findings.issues[:SHOWN]],
        "invalid_relationships": findings.illegal[:SHOWN],
        "metamodel": metamodel().stamp,
    }
    told = [*findings.warnings[:SHOWN]]
    told.append(notice("DRY_RUN", "Nothing was imported.", "mode", "Call again with mode commit."))
    return Answer(data, warnings=tuple(told))
