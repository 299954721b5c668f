"""Capability documents in an office: checked, made into aggregates, and joined to the office they belong to."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from engross.flows import Aggregate, Flow, Semantics
from engross.pipeline import Request
from engross.plainfile import only_plain
from engross.replies import Failed, Reply, codes

from .acceptance import Acceptances, difference, told_of
from .built_in import chosen_domains
from .settings import Settings

if TYPE_CHECKING:
    from engross.calls import Context
    from engross.declared.fault import Fault
    from engross.declared.model import Document

    from .office import Office

SUFFIXES = (".yaml", ".yml")
_CAPABILITY = re.compile(rb"^[\"']?capability[\"']?[ \t]*:", re.MULTILINE)
_LOOKED_AT = 2 * 1024 * 1024
_log = logging.getLogger("engross.declared")


class Others(Mapping[str, Semantics]):
    """The flows that a document may name besides its own, and what they promise. Most documents never ask for them."""

    def __init__(self, office: Callable[[], Iterable[Flow]], loaded: Callable[[], Iterable[Aggregate]]) -> None:
        """Those of the office are looked up when somebody asks; other files may be loaded meanwhile."""
        self._office = office
        self._loaded = loaded
        self._found: dict[str, Semantics] | None = None

    def _promises(self) -> dict[str, Semantics]:
        if self._found is None:
            self._found = {flow.ref: flow.semantics for flow in self._office()}
        return self._found | {flow.ref: flow.semantics for one in self._loaded() for flow in one.flows.values()}

    def __getitem__(self, ref: str) -> Semantics:
        return self._promises()[ref]

    def __iter__(self) -> Iterator[str]:
        return iter(self._promises())

    def __len__(self) -> int:
        return len(self._promises())


def is_capability(file: Path) -> bool:
    """Is this a document to be used by itself? Sections that others import, and files of secrets, lie beside those."""
    with open(file, "rb", opener=only_plain) as content:
        return _CAPABILITY.search(content.read(_LOOKED_AT)) is not None


def load_document(file: Path, settings: Settings, others: Mapping[str, Semantics]) -> tuple[Aggregate, ...]:
    """The aggregates that a document declares."""
    return _made(file, settings, others, bound=True)


def _made(file: Path, settings: Settings, others: Mapping[str, Semantics], *, bound: bool) -> tuple[Aggregate, ...]:
    from engross.declared.bearing_out import Bearing
    from engross.declared.checking import checked
    from engross.declared.compiling import compiled
    from engross.declared.engine import Engine
    from engross.declared.fault import BadDocument
    from engross.declared.ways import Ways

    try:
        found = checked(file, others, bound=bound)
        assert found.document is not None
        ways = Ways.of(private_hosts=settings.private_hosts, upstreams=settings.upstreams)
        bearing = Bearing(found.document, others)
        made = compiled(Engine(bearing.document(), found.binds, ways), bearing)
    except BadDocument as bad:
        raise _unusable(file, bad.faults) from None
    _refuse_domains(file, made, settings)
    return made


def _refuse_domains(file: Path, aggregates: Iterable[Aggregate], settings: Settings) -> None:
    """A document adds to the office; it does not take the place of a part of it."""
    taken = set(chosen_domains(settings))
    for one in aggregates:
        if one.namespace in taken:
            problem = f"{one.namespace} is a domain of the office itself: choose another namespace"
            told = {"file": str(file), "problem": problem}
            raise Failed(codes.CONFIG_INVALID, {"setting": f"capability {file.name}"}, data=told)


def _unusable(file: Path, faults: Iterable[Fault]) -> Failed:
    errors = [fault for fault in faults if fault.severity == "error"]
    first = errors[0]
    told: dict[str, Any] = {
        "file": first.place.file,
        "line": first.place.line,
        "column": first.place.column,
        "rule": first.rule,
        "problem": first.told,
    }
    if len(errors) > 1:
        told["findings"] = [str(fault) for fault in errors[:20]]
    return Failed(codes.CONFIG_INVALID, {"setting": f"capability {file.name}"}, data=told)


def join(office: Office, aggregates: Iterable[Aggregate]) -> None:
    """Let the flows of documents call the flows of the office."""
    for aggregate in aggregates:
        engine = getattr(aggregate, "engine", None)
        if engine is not None and hasattr(engine, "office"):
            engine.office = _Caller(office)


class _Caller:
    """Calls flows of the office from inside other calls."""

    def __init__(self, office: Office) -> None:
        self._office = office

    async def __call__(self, ref: str, arguments: Mapping[str, Any], context: Context, key: str | None) -> Reply:
        """An inner call is a call like any other, by the same caller, caused by the outer one."""
        given = dict(arguments)
        flow = self._office.catalogue.flow(ref)
        if key is not None and flow.writes and "client_request_id" in flow.published["properties"]:
            given["client_request_id"] = key
        left = None if context.deadline is None else max(0.001, context.deadline - time.monotonic())
        caused = {"causation_id": context.message_id, "timeout": left, "dry_run": context.dry_run}
        # What a document names is offered by whoever wrote it, whatever else is hidden.
        return await self._office.acall(replace(Request.within(context, ref, given, **caused), hidden=()))

    def allow(self, ref: str, context: Context) -> None:
        """Refuse a flow to whoever may not call it by itself."""
        self._office.require_call(context, self._office.catalogue.flow(ref))

    def fields(self, ref: str) -> Collection[str]:
        """The names of what a flow takes, besides the fields that steer a call."""
        return self._office.catalogue.flow(ref).own_fields


def check_document(file: Path, others: Mapping[str, Semantics], *, bound: bool = True) -> list[dict[str, Any]]:
    """What is to be said about a document, in the order of its lines."""
    from engross.declared.checking import check

    return [
        {
            "file": fault.place.file,
            "line": fault.place.line,
            "column": fault.place.column,
            "rule": fault.rule,
            "severity": fault.severity,
            "message": fault.message,
            "did_you_mean": list(fault.did_you_mean),
        }
        for fault in check(file, others, bound=bound).faults
    ]


def document_schema() -> dict[str, Any]:
    """The JSON Schema of the format, for editors."""
    from engross.declared.json_schema import json_schema

    return json_schema()


def new_document(namespace: str, base_uri: str | None = None) -> str:
    """The text of a document to begin with."""
    from engross.declared.starting import starter

    return starter(namespace, base_uri)


class Offered(NamedTuple):
    """What a document would bring: its digest, what callers would be told, and what of that is new."""

    digest: str
    told: Mapping[str, Any]
    difference: str
    known: bool
    """Was any state of it accepted before?"""

    @property
    def changed(self) -> bool:
        """Would callers be told anything else?"""
        return bool(self.difference)


def offered(file: Path, settings: Settings, others: Mapping[str, Semantics]) -> Offered:
    """Look at a document as it is now, beside the state that was accepted."""
    aggregates = _made(file, settings, others, bound=False)
    told = told_of(aggregates)
    before = Acceptances(settings.data).get(file)
    return Offered(digest_of(aggregates), told, difference(before.told if before else None, told), before is not None)


def accept(file: Path, settings: Settings, offer: Offered) -> None:
    """Take a document as it was looked at. An office that runs with it takes it up soon after."""
    Acceptances(settings.data).put(file, offer.digest, offer.told)


def accept_loaded(settings: Settings, aggregates: Iterable[Aggregate]) -> None:
    """A start accepts the documents that it starts with."""
    acceptances = Acceptances(settings.data)
    for file, its in by_document(aggregates).items():
        before = acceptances.get(file)
        digest = digest_of(its)
        if before is None or before.digest != digest:
            told = told_of(its)
            if before is not None and (changes := difference(before.told, told)):
                _log.warning("%s is not what it was when it was last accepted:\n%s", file, changes)
            acceptances.put(file, digest, told)


def by_document(aggregates: Iterable[Aggregate]) -> dict[Path, list[Aggregate]]:
    """The aggregates that come from documents, by file."""
    found: dict[Path, list[Aggregate]] = {}
    for aggregate in aggregates:
        document = _document(aggregate)
        if document is not None:
            found.setdefault(document.file, []).append(aggregate)
    return found


def digest_of(aggregates: Iterable[Aggregate]) -> str:
    """The digest of the document that these come from."""
    return next(document.digest for one in aggregates if (document := _document(one)) is not None)


def sources_of(aggregates: Iterable[Aggregate]) -> tuple[Path, ...]:
    """The files that the document of these is made of."""
    return next(document.sources for one in aggregates if (document := _document(one)) is not None)


def _document(aggregate: Aggregate) -> Document | None:
    """The document that declares an aggregate, if one does. Nobody imports the room of documents to find out."""
    return getattr(aggregate, "document", None)
