"""From files to a document: the sections, what they import, and everything built of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from .attachments import attached, digest_of
from .consumed import bind, client
from .exposing import Around, exposes
from .fault import Faults, near
from .flowing import Calls, aggregate
from .grammar import DOCUMENT, SECTIONS, VERSIONS
from .model import Client, Document, Exposes, Info, Place
from .reading import LARGEST, read
from .shapes import Taken


class Entry(NamedTuple):
    """One entry of a section, wherever it was written."""

    namespace: str
    taken: Taken
    place: Place
    original: str
    """Its namespace in the file it comes from."""
    imported: bool = False


@dataclass
class Sources:
    """The files that were read, each once."""

    faults: Faults
    root: Path
    taken: dict[Path, Taken | None] = field(default_factory=dict)
    contents: dict[Path, bytes] = field(default_factory=dict)

    def open(self, file: Path) -> Taken | None:
        """A file taken apart; None, with faults, when that is not possible."""
        key = file.resolve()
        if key not in self.taken:
            self.taken[key] = None
            content = self._content(file)
            if content is not None:
                self.contents[key] = content
                node = read(content, str(file), self.faults)
                found = DOCUMENT.take(node, self.faults) if node is not None else None
                self.taken[key] = found if isinstance(found, Taken) else None
        return self.taken[key]

    def _content(self, file: Path) -> bytes | None:
        try:
            with file.open("rb") as stream:
                return stream.read(LARGEST + 1)
        except OSError as error:
            told = "There is no such file." if isinstance(error, FileNotFoundError) else "The file cannot be read."
            self.faults.error("V1", Place(str(file), 1, 1), told)
            return None

    def digest(self, attachments: bytes) -> str:
        """Over the bytes of all files: the document itself, what it imports, in that order, and what it attaches."""
        found = sha256(attachments)
        for file in sorted(self.contents, key=lambda one: one != self.root):
            found.update(sha256(self.contents[file]).digest())
        return found.hexdigest()


def load(file: Path, faults: Faults) -> Document | None:
    """The document in a file, built as far as it can be; None if there is nothing to build of."""
    sources = Sources(faults, file.resolve())
    taken = sources.open(file)
    if taken is None:
        return None
    _check_shape(taken, faults)
    whole = taken.get("capability") or taken
    sections = {name: _Section(name, whole, file, sources) for name in SECTIONS}
    if whole is not taken:
        sections["binds"] = _Section("binds", taken, file, sources, whole)
    entries = {name: section.entries() for name, section in sections.items()}
    consumed = {one.namespace: client(one.namespace, one.taken, faults) for one in entries["consumes"]}
    calls = _calls(consumed, entries["aggregates"])
    aggregates = {
        one.namespace: aggregate(one.namespace, one.taken, calls, faults, (one.original,))
        for one in entries["aggregates"]
    }
    binds = {one.namespace: bind(one.namespace, one.taken) for one in entries["binds"]}
    exposed = _exposed(entries["exposes"], Around(aggregates, calls), faults)
    files = attached(exposed.values(), faults)
    return Document(
        file=file,
        version=taken.get("ikanos", ""),
        digest=sources.digest(digest_of(files)),
        info=_info(taken.get("info")),
        binds=binds,
        consumes=consumed,
        aggregates=aggregates,
        exposes=exposed,
        sources=tuple(sources.contents),
        partial=whole is taken,
        files=files,
    )


def _calls(consumed: dict[str, Client], aggregates: list[Entry]) -> Calls:
    flows = (f"{one.namespace}.{name}" for one in aggregates for name in _flow_names(one))
    return Calls({namespace: one.operations.keys() for namespace, one in consumed.items()}, frozenset(flows))


def _flow_names(entry: Entry) -> Iterable[str]:
    flows = entry.taken.get("flows")
    return flows.values if flows is not None else ()


def _exposed(entries: list[Entry], around: Around, faults: Faults) -> dict[str, Exposes]:
    _check_ports(entries, faults)
    built = ((one.namespace, exposes(one.namespace, one.taken, around, faults)) for one in entries)
    return {namespace: found for namespace, found in built if found is not None}


def _check_ports(entries: list[Entry], faults: Faults) -> None:
    """V12: each port once, and control once."""
    ports: dict[int, Place] = {}
    controls: list[Place] = []
    for entry in entries:
        port = entry.taken.get("port")
        place = entry.taken.at("port")
        if port is not None and port in ports:
            faults.error("V12", place, f"The port {port} is taken in line {ports[port].line} already.")
        elif port is not None:
            ports[port] = place
        if entry.taken.get("type") == "control":
            controls.append(entry.taken.place)
    for place in controls[1:]:
        faults.error("V12", place, f"There is one control entry at the most: line {controls[0].line} has it already.")


def _check_shape(taken: Taken, faults: Faults) -> None:
    """V2: a capability, or a single section, of a version that is known."""
    sections = [name for name in SECTIONS if name in taken]
    if "capability" in taken:
        for name in sections:
            if name != "binds":
                told = f"Beside capability, {name} would not be read: move it into capability."
                faults.error("V2", taken.at(name), told)
        whole = taken.get("capability")
        if whole is not None and not {"exposes", "consumes", "aggregates"} & set(whole.places):
            faults.error("V2", whole.place, "A capability needs aggregates, consumes or exposes.")
    elif len(sections) != 1:
        there = f"has {' and '.join(sections)}" if sections else "has none of them"
        allowed = "capability, or exactly one of consumes, aggregates, exposes and binds"
        place = taken.at(sections[1]) if sections else taken.place
        faults.error("V2", place, f"A document has {allowed}; this one {there}.")
    version = taken.get("ikanos")
    if version is not None and version not in VERSIONS:
        told = f"The version {version} is not known: it is read as {VERSIONS[-1]}."
        faults.warning("V2", taken.at("ikanos"), told)


def _info(taken: Taken | None) -> Info | None:
    if taken is None:
        return None
    return Info(
        taken.get("display", ""),
        taken.get("description", ""),
        tuple(taken.get("tags", ())),
        taken.get("created"),
        taken.get("modified"),
        taken.get("version"),
        tuple(dict(one.items()) for one in taken.get("stakeholders", ())),
    )


class _Section:
    """The entries of one section: its own, and those it imports."""

    def __init__(self, name: str, whole: Taken, file: Path, sources: Sources, second: Taken | None = None) -> None:
        self.name = name
        self.file = file
        self.sources = sources
        self.faults = sources.faults
        self._wholes = [whole, *([second] if second is not None else [])]

    def entries(self) -> list[Entry]:
        """All of them, each namespace once."""
        found: dict[str, Entry] = {}
        for key, taken in self._written(self._wholes):
            entry = self._imported(key, taken) if "from" in taken else self._own(key, taken)
            if entry is None:
                continue
            first = found.get(entry.namespace)
            if not entry.namespace:
                found[str(entry.place)] = entry
            elif first is not None:
                self._complain_twice(entry, first)
            else:
                found[entry.namespace] = entry
        return list(found.values())

    def _written(self, wholes: list[Taken]) -> Iterator[tuple[str | None, Taken]]:
        for whole in wholes:
            section = whole.get(self.name)
            if isinstance(section, Taken):
                yield from section.items()
            else:
                yield from ((None, taken) for taken in section or ())

    def _own(self, key: str | None, taken: Taken) -> Entry | None:
        inner = taken.get("namespace")
        if key is not None and inner is not None and inner != key:
            told = f"The namespace {inner} is not the key {key}: leave one of them out."
            self.faults.error("V4", taken.at("namespace"), told)
        namespace = key or inner
        if namespace is None:
            if "namespace" in taken or self.name == "exposes":
                return self._without_namespace(taken)
            rule = "V4" if self.name == "aggregates" else "V3"
            self.faults.error(rule, taken.place, "In a list each entry needs a namespace.")
            return None
        place = taken.at("namespace") if inner is not None and key is None else taken.place
        return Entry(namespace, taken, place, namespace)

    def _without_namespace(self, taken: Taken) -> Entry | None:
        """Only the entry that controls an engine has none; it has no place here either."""
        return Entry("", taken, taken.place, "") if taken.get("type") == "control" else None

    def _imported(self, key: str | None, taken: Taken) -> Entry | None:
        origin, wanted = taken.get("from"), taken.get("import")
        if origin is None or wanted is None:
            return None
        named = taken.get("as")
        if key is not None and named is not None and key != named:
            self.faults.error("V13", taken.at("as"), f"The import is called {key} by its key and {named} by as.")
        source = self.file.parent / origin
        if not source.is_file():
            self.faults.error("V13", taken.at("from"), f"There is no file {origin} to import from.")
            return None
        whole = self.sources.open(source)
        if whole is None:
            self.faults.error("V13", taken.at("from"), f"{origin} cannot be read.")
            return None
        return self._found(whole, key or named or wanted, wanted, taken)

    def _found(self, whole: Taken, namespace: str, wanted: str, taken: Taken) -> Entry | None:
        inside = whole.get("capability")
        written = [*self._written([whole, *([inside] if inside is not None else [])])]
        known = {
            name: one for key, one in written if "from" not in one and (name := key or one.get("namespace")) is not None
        }
        if wanted in known:
            return Entry(namespace, known[wanted], taken.place, wanted, imported=True)
        origin = taken.get("from")
        if not known:
            self.faults.error("V13", taken.at("from"), f"{origin} has no {self.name} to import.")
        else:
            told = f"{origin} has no {wanted} among its {self.name}."
            self.faults.error("V13", taken.at("import"), told, near(wanted, known))
        return None

    def _complain_twice(self, entry: Entry, first: Entry) -> None:
        usual = "V4" if self.name == "aggregates" else "V5"
        rule = "V13" if entry.imported or first.imported else usual
        told = f"The namespace {entry.namespace} is there twice in {self.name}: {first.place} has it already."
        self.faults.error(rule, entry.place, told)
