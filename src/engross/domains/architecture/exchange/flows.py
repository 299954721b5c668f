"""The flows that take a model in and hand one out."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.calls import Answer, FactDraft, report
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit
from engross.replies import Invalid

from .. import advice
from ..drawing import mermaid, svg
from ..graphs import drawn, of_types
from ..metamodel import metamodel
from ..models import effective_model, find_model, no_such_model
from ..refusals import malformed, raise_all, warning
from ..schemas import MODEL_ID, choice, number, shape, taking, text
from ..tidy import tidying
from ..ways import Ways
from ..write_flows import A_COMPONENT, A_SERVICE, RELATED
from ..writing import Arguments
from .archi import NAMESPACE as ARCHI
from .archi import ZIPPED, read_archi
from .archi_csv import read_csv
from .checking import Findings, check
from .exchange_xml import read_exchange
from .exporting import Handout, part_of
from .importing import Takeover
from .parcel import Parcel

LARGEST_TEXT = 8 * 1024 * 1024
ZIPPED_TEXT = "UEsDB"
FORMATS = ["auto", "exchange_xml", "archimate", "archi_csv"]
SHOWN = 20
PICTURES = ("mermaid", "svg")
MOST_PICTURED = 500
IMPORT = shape(
    (),
    mode=choice("dry_run only reports.", ["dry_run", "commit"], default="dry_run"),
    format=choice("Its format.", FORMATS, default="auto"),
    content=text("The file; a zip in base64.", LARGEST_TEXT),
    content_hash=text("Or of an uploaded file.", 64),
    files={"type": "object", "description": "Or Archi's CSV files by name."},
    model_id=text("Into this model; a new one by default.", 128),
    model_name=text("Name of the model.", 255),
    on_invalid=choice("Illegal relationships.", ["refuse", "skip"], default="refuse"),
)
EXPORT = shape(
    (),
    model_id=MODEL_ID,
    format=choice("Its format.", ["exchange_xml", "archi_csv", "mermaid", "svg"], default="exchange_xml"),
    view_id=text("Only this view, as a picture.", 128),
    part=number("Which part of a long file.", 1, 100_000, 1),
)
SMALL = (
    '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m1"><name>Shop</name><elements>'
    '<element identifier="e1" xsi:type="ApplicationComponent"><name>Orders</name></element>'
    '<element identifier="e2" xsi:type="ApplicationService"><name>Ordering</name></element></elements>'
    '<relationships><relationship identifier="r1" source="e1" target="e2" xsi:type="Realization"/>'
    "</relationships></model>"
)


class Arrived(NamedTuple):
    """A parcel that was looked over."""

    arguments: Arguments
    parcel: Parcel
    findings: Findings


def add_exchange_flows(architecture: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that take a model in and hand one out."""

    @architecture.record(
        effect="create",
        **taking(IMPORT),
        normaliser=tidying(),
        answers=None,
        timeout_seconds=600.0,
        examples=[
            Example("See what it would bring", {"content": SMALL}, reply="NO_EFFECT"),
            Example("Take it over", {"content": SMALL, "mode": "commit"}, reply="CREATED"),
            Example("What is no model", {"content": "<html/>"}, reply="IMPORT_UNREADABLE"),
            Example(
                "What could do harm",
                {"content": "<!DOCTYPE m [<!ENTITY a 'b'>]><m>&a;</m>", "format": "exchange_xml"},
                reply="IMPORT_UNSAFE",
            ),
        ],
    )
    def import_model(unit: Unit, arrived: Arrived) -> Answer:
        """Import a model file: exchange XML, .archimate or Archi's CSV. A dry run unless mode is commit."""
        return _imported(unit, arrived)

    @import_model.prepare
    def _read(reader: Reader, arguments: Arguments) -> Arrived:
        report(0, 3, "Reading the file")
        parcel = _parcel(reader, arguments, ways)
        report(1, 3, f"Checking {len(parcel.elements)} elements and {len(parcel.relationships)} relationships")
        findings = check(parcel)
        report(2, 3, "Writing")
        return Arrived(arguments, parcel, findings)

    import_model.suggest(advice.after_import)
    import_model.assess(_risk)

    @architecture.read(
        **taking(EXPORT),
        normaliser=tidying(),
        controls=("proposal_id", "as_of"),
        answers=None,
        timeout_seconds=120.0,
        examples=[
            Example("As exchange XML", {}, given=(A_COMPONENT, A_SERVICE, RELATED)),
            Example("As Archi's CSV", {"format": "archi_csv"}, given=(A_COMPONENT,)),
            Example("As a picture", {"format": "mermaid"}, given=(A_COMPONENT, A_SERVICE, RELATED)),
            Example("No such model", {"model_id": "model_nowhere"}, reply="MODEL_NOT_FOUND"),
        ],
    )
    def export_model(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Export a model: exchange XML, Archi's CSV, or a picture of it or of a view."""
        return _exported(reader, arguments)


def _parcel(reader: Reader, arguments: Arguments, ways: Ways) -> Parcel:
    given = [name for name in ("content", "content_hash", "files") if name in arguments]
    if len(given) != 1:
        raise Invalid.many([malformed("/content", "give one of content, content_hash and files")])
    if "files" in arguments:
        return read_csv(_texts(arguments["files"]))
    if "content_hash" in arguments:
        if ways.content is None:
            raise Invalid.many([malformed("/content_hash", "this office keeps no files", "Send the content itself.")])
        content = ways.content(reader.context.tenant, arguments["content_hash"])
    else:
        content = _bytes(arguments["content"])
    return _read_as(arguments.get("format", "auto"), content)


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


def _imported(unit: Unit, arrived: Arrived) -> Answer:
    arguments, parcel, findings = arrived
    model_id = arguments.get("model_id")
    if model_id is not None and find_model(unit, model_id) is None:
        raise no_such_model(unit, model_id, "model_id")
    skips = arguments.get("on_invalid") == "skip"
    if arguments.get("mode", "dry_run") == "dry_run":
        return _report(arrived, skips)
    raise_all([*findings.issues, *([] if skips else findings.illegal_issues)])
    takeover = Takeover(unit, parcel, {one["id"] for one in findings.illegal})
    model = takeover.into(model_id, arguments.get("model_name"))
    data = {
        "model": model,
        "format": parcel.format,
        "counts": takeover.counts,
        "invalid_relationships": findings.illegal[:SHOWN],
        "metamodel": metamodel().stamp,
    }
    return Answer(data, warnings=tuple(findings.warnings[:SHOWN]))


def _report(arrived: Arrived, skips: bool) -> Answer:
    _, parcel, findings = arrived
    refused = bool(findings.issues) or (bool(findings.illegal) and not skips)
    data = {
        "dry_run": True,
        "would_be_refused": refused,
        "model": {"id": arrived.arguments.get("model_id"), "name": parcel.name},
        "format": parcel.format,
        "counts": {
            "elements": len(parcel.elements),
            "relationships": len(parcel.relationships),
            "views": len(parcel.views),
            "invalid_relationships": len(findings.illegal),
            "problems": len(findings.issues),
        },
        "problems": [issue.as_data() for issue in findings.issues[:SHOWN]],
        "invalid_relationships": findings.illegal[:SHOWN],
        "metamodel": metamodel().stamp,
    }
    told = [*findings.warnings[:SHOWN]]
    told.append(warning("DRY_RUN", "Nothing was imported.", "mode", "Call again with mode commit."))
    return Answer(data, warnings=tuple(told))


def _risk(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """Going over what is there already is of high risk; a new model beside it is not."""
    return 3 if any(fact.type.endswith("Updated") for fact in facts) else 2


def _exported(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    model_id = effective_model(reader, arguments.get("model_id"))
    if arguments.get("format") in PICTURES:
        return _pictured(reader, model_id, arguments)
    if "view_id" in arguments:
        raise Invalid.many([malformed("/view_id", "a view goes out as a picture", "Choose format mermaid or svg.")])
    handout = Handout(reader, model_id)
    told: dict[str, Any] = {
        "model": {name: handout.model[name] for name in ("id", "name", "version")},
        "format": arguments.get("format", "exchange_xml"),
        "counts": {
            "elements": len(handout.elements),
            "relationships": len(handout.relationships),
            "views": len(handout.views),
        },
        "metamodel": metamodel().stamp,
    }
    if told["format"] == "archi_csv":
        return {**told, "files": handout.csv()}
    shown, parts = part_of(handout.exchange(), arguments.get("part", 1))
    return {**told, "text": shown, "part": arguments.get("part", 1), "parts": parts}


def _pictured(reader: Reader, model_id: str, arguments: Arguments) -> dict[str, Any]:
    if "view_id" in arguments:
        view, graph = drawn(reader, arguments["view_id"])
        title, model_id = view["name"], view["model_id"]
    else:
        title, graph = "Model", of_types(reader, model_id, None, limit=MOST_PICTURED)
    text = svg(graph, title) if arguments["format"] == "svg" else mermaid(graph)
    return {
        "model": {"id": model_id},
        "format": arguments["format"],
        "counts": {"elements": len(graph.elements), "relationships": len(graph.relationships)},
        "truncated": graph.truncated,
        "text": text,
    }
