"""Capabilities: files that define aggregates, named by the operator or lying in the data folder.

A capability is code of the office's own, so whoever may write one may do whatever the office may do. Files that
everybody may write are therefore refused where the office looks for them by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NoReturn

from engross.calls import Clock, now
from engross.flows import Aggregate, Catalogue, Flow, FlowDefinitionError, Semantics
from engross.plainfile import stands_at
from engross.replies import Failed, codes

from .built_in import Surroundings, built_in
from .declared import SUFFIXES, Others, accept_loaded, by_document, is_capability, join, load_document
from .office import Office, own_aggregates, read_knobs
from .settings import Settings

FOLDER = "capabilities"
WRITABLE_BY_ALL = 0o002
NO_ISSUER = None
"""Flows are the same with any issuer: to look at them, its settings need not make sense."""

Loader = Callable[[Path, Settings, Mapping[str, Semantics]], Iterable[Aggregate]]
"""Reads a file, for an office with these settings and these other flows."""


def open_office(
    settings: Settings, *aggregates: Aggregate, clock: Clock = now, accept_documents: bool = False
) -> Office:
    """An office with these aggregates and the capabilities that its settings and its data folder name.

    Who starts an office for others accepts the documents that it starts with.
    """
    found = load_capabilities(settings.capabilities, settings.data, settings, aggregates)
    with _usable():
        office = Office(settings, (*aggregates, *found), clock=clock)
    if by_document(found):
        join(office, found)
        if accept_documents:
            accept_loaded(settings, found)
        _watch(office, found)
    return office


def _watch(office: Office, found: Iterable[Aggregate]) -> None:
    """Keep an eye on what is accepted of documents."""
    from .watch import Watch

    def others(file: Path) -> Mapping[str, Semantics]:
        own = {one.namespace for one in by_document(found).get(file, ())}
        return Others(lambda: (flow for flow in office.catalogue if flow.aggregate.namespace not in own), lambda: ())

    office.takes_up_documents = True
    watch = Watch(office, found, others)
    office.before_closing(watch.stop)
    watch.start()


def catalogue_of(settings: Settings) -> Catalogue:
    """All flows of the office that the settings describe, without opening it."""
    found = load_capabilities(settings.capabilities, settings.data, settings)
    with _usable():
        return _catalogue(settings, found)


def _catalogue(settings: Settings, found: Iterable[Aggregate]) -> Catalogue:
    own = own_aggregates(NO_ISSUER, _no_office, _no_office)
    given = (*own, *found)
    return Catalogue(given, built_in(_surroundings(settings), given))


def _surroundings(settings: Settings) -> Surroundings:
    return Surroundings(settings, read_knobs(settings), lambda tenant: _no_office(), settings.schema_folder)


def load_capabilities(
    files: Iterable[Path], data: Path, settings: Settings | None = None, given: Iterable[Aggregate] = ()
) -> tuple[Aggregate, ...]:
    """The aggregates of these files, then those of the files in the data folder's `capabilities`.

    Documents come last: their flows may call those of everything else.
    """
    return _aggregates([*files, *_lying_in(data / FOLDER)], settings or Settings(data=data), given)


def _aggregates(files: Iterable[Path], settings: Settings, given: Iterable[Aggregate] = ()) -> tuple[Aggregate, ...]:
    homes: dict[str, Path] = {}
    found: dict[int, Aggregate] = {}
    others = Others(lambda: _own_flows(settings), lambda: (*given, *found.values()))
    for file in sorted(_each_once(files), key=_is_document):
        for aggregate in _loaded(file, settings, others):
            if id(aggregate) in found:
                continue
            if aggregate.namespace in homes:
                there = homes[aggregate.namespace].name
                raise _unusable(file, f"it defines the aggregate {aggregate.namespace}, and so does {there}")
            homes[aggregate.namespace] = file
            found[id(aggregate)] = aggregate
    return tuple(found.values())


def known_flows(settings: Settings) -> Mapping[str, Semantics]:
    """What documents may name besides their own: the flows of the office, and of the Python files it has.

    Documents are left out: the one that is looked at may be among them, and another may have faults of its own.
    """

    @cache
    def loaded() -> tuple[Aggregate, ...]:
        files = (*settings.capabilities, *_lying_in(settings.data / FOLDER))
        return _aggregates([file for file in files if not _is_document(file)], settings)

    return Others(lambda: _own_flows(settings), loaded)


def _is_document(file: Path) -> bool:
    return file.suffix in SUFFIXES


def _own_flows(settings: Settings) -> Iterator[Flow]:
    """All flows that the office has without any capability."""
    domains = (later.make() for later in built_in(_surroundings(settings)))
    every = (*own_aggregates(NO_ISSUER, _no_office, _no_office), *domains)
    return (flow for aggregate in every for flow in aggregate.flows.values())


def _no_office() -> NoReturn:
    raise RuntimeError("these flows are for looking at: open the office to call them")


@contextmanager
def _usable() -> Iterator[None]:
    """What does not fit together is for whoever set the office up to mend."""
    try:
        yield
    except FlowDefinitionError as error:
        raise Failed(codes.CONFIG_INVALID, {"setting": FOLDER}, data={"problem": str(error)}) from error


def _each_once(files: Iterable[Path]) -> Iterator[Path]:
    return iter({file.resolve(): file for file in files}.values())


def _lying_in(folder: Path) -> list[Path]:
    """The capabilities in a folder, by name. Other files may lie beside them."""
    try:
        listed = sorted(folder.iterdir()) if stands_at(folder) else []
        files = [file for file in listed if file.suffix in LOADERS and not file.name.startswith((".", "_"))]
        for place in [folder, *files] if files else []:
            if place.stat().st_mode & WRITABLE_BY_ALL:
                raise _unusable(place, "everybody may write it: take that right away (chmod o-w)")
        return [file for file in files if not _is_document(file) or is_capability(file)]
    except OSError as error:
        place = Path(error.filename or folder)
        raise _unusable(place, f"it cannot be read ({type(error).__name__})") from error


def _loaded(file: Path, settings: Settings, others: Mapping[str, Semantics]) -> list[Aggregate]:
    if not file.is_file():
        raise _unusable(file, "it is a folder: name the files in it" if file.is_dir() else "there is no such file")
    load = LOADERS.get(file.suffix)
    if load is None:
        raise _unusable(file, "this kind of file is not known", allowed=sorted(LOADERS))
    found = list(load(file, settings, others))
    if not found:
        raise _unusable(file, "it defines no Aggregate at module level")
    return found


def _load_python(file: Path, _: Settings, __: Mapping[str, Semantics]) -> Iterator[Aggregate]:
    """The aggregates that a Python file defines, or imports, at module level."""
    whole = file.resolve()
    found = whole.stat()
    # Types are looked up by the name of their module. As long as a file stays as it is, it is run once.
    identity = sha256(f"{whole}\0{found.st_mtime_ns}\0{found.st_size}".encode()).hexdigest()
    name = f"engross_capability_{identity[:16]}"
    module = sys.modules.get(name) or _run(whole, name)
    return (value for value in vars(module).values() if isinstance(value, Aggregate))


def _run(file: Path, name: str) -> ModuleType:
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        # Standard output may be somebody's protocol.
        with redirect_stdout(_Aside()):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _unusable(file, _told(error), **_place(error, file)) from error
    return module


class _Aside:
    """Standard error in place of standard output. A file that closes it leaves us something to speak with."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def close(self) -> None:
        pass


def _told(error: BaseException) -> str:
    return str(error) if isinstance(error, FlowDefinitionError) else f"{type(error).__name__}: {error}"


def _place(error: BaseException, file: Path) -> dict[str, int]:
    """The line of the file where it went wrong."""
    from traceback import extract_tb

    if isinstance(error, SyntaxError) and error.lineno is not None:
        return {"line": error.lineno}
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(file)]
    return {"line": lines[-1]} if lines and lines[-1] is not None else {}


def _unusable(place: Path, problem: str, **more: Any) -> Failed:
    told = {"file": str(place), "problem": problem, **more}
    return Failed(codes.CONFIG_INVALID, {"setting": f"capability {place.name}"}, data=told)


LOADERS: Mapping[str, Loader] = MappingProxyType({".py": _load_python, **dict.fromkeys(SUFFIXES, load_document)})
"""How each kind of file is read. Add a line to add a kind."""
