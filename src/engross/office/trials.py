"""Trying out the flows of documents: their examples, and what a run does step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from engross.flows import Example

from .capabilities import load_capabilities
from .settings import Settings

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
