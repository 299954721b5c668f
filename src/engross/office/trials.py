"""Trying out the flows of documents: their examples, and what a run does step by step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from engross.flows import Example

from .capabilities import load_capabilities
from .office import Office
from .settings import PREFIX, Settings, known_variables

OF_DOCUMENTS = ("domains", "private_hosts")
"""The settings of an operator that decide what a document may name and whom it may call."""
_NO_SPANS = {"OTEL_SDK_DISABLED": "true"}
NOT_SAID = object()
"""The answer of an example that does not say what is answered."""


class Trial(NamedTuple):
    """An example of a flow, and what has to come of it."""

    flow: str
    example: Example
    answer: Any
    writes: bool

    @property
    def title(self) -> str:
        """What it shows."""
        return self.example.title


def settings_of_trial(folder: Path, capabilities: Iterable[Path]) -> Settings:
    """The settings of an office wholly of its own: of the operator's it has only those that documents go by.

    Otherwise what examples write would be on the record of the office that the environment speaks of.
    """
    operators = Settings.from_environment()
    kept = {name: getattr(operators, name) for name in OF_DOCUMENTS}
    return Settings(data=folder, capabilities=tuple(capabilities), upstreams="recorded", **kept)


def environment_of_trial(settings: Settings) -> dict[str, str]:
    """The same for another process: this environment, with what the settings of a trial say in place of all others."""
    told = {name: getattr(settings, name) for name in ("upstreams", *OF_DOCUMENTS)}
    others = {name: value for name, value in os.environ.items() if name not in known_variables()}
    return others | _NO_SPANS | {PREFIX + name.upper(): one for name, one in told.items() if one is not None}


def trials(file: Path, settings: Settings) -> Iterator[Trial]:
    """The examples of all flows that a document declares."""
    from engross.declared.model import MISSING

    for aggregate in load_capabilities([file], settings.data, settings):
        document = getattr(aggregate, "document", None)
        for flow in aggregate.flows.values():
            declared = document.flow(flow.ref) if document is not None else None
            answers = [one.answer for one in declared.examples] if declared is not None else []
            for number, example in enumerate(flow.examples):
                said = answers[number] if number < len(answers) else MISSING
                yield Trial(flow.ref, example, NOT_SAID if said is MISSING else said, flow.writes)


def recording_beside(file: Path) -> Path:
    """Where the answers of a document's upstreams are kept."""
    from engross.declared.outbound.upstreams import recording_of

    return recording_of(file)


def record_into(recording: Path, file: Path, office: Office) -> None:
    """Have the upstreams of a document recorded in another file than the one beside it."""
    for aggregate in office.catalogue.present:
        engine = getattr(aggregate, "engine", None)
        if engine is not None and engine.document.file == file:
            engine.ways = replace(engine.ways, recording=recording)


def traced() -> AbstractContextManager[list[dict[str, Any]]]:
    """Collects what the flows of documents do inside: each request, output and mapping."""
    from engross.declared.trace import traced as collected

    return collected()


def differences(expected: Any, found: Any, place: str = "answer") -> Iterator[str]:
    """Where an answer lacks what is expected of it. What it has besides does not matter."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name, part in expected.items():
            if name in found:
                yield from differences(part, found[name], f"{place}.{name}")
            else:
                yield f"{place}.{name} is not there"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (part, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(part, other, f"{place}.{number}")
    elif expected != found:
        yield f"{place} is {found!r}, not {expected!r}"
