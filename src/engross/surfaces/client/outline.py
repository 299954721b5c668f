"""A flow as its callers see it, wherever the office is."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engross.flows import Catalogue, Flow, Schema, Tool


@dataclass(frozen=True)
class Outline:
    """What there is to know about a flow before calling it."""

    ref: str
    title: str
    description: str
    kind: str
    version: str = "1.0.0"
    dialect: str = "plain"
    hints: Mapping[str, bool] = field(default_factory=dict)
    tool: str | None = None
    toolset: str | None = None
    people_only: bool = False
    deprecated_since: str | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    schema: Callable[[], Schema] = dict
    """Makes the published schema of the arguments, which costs something."""

    @property
    def namespace(self) -> str:
        """The aggregate that it belongs to."""
        return self.ref.partition(".")[0]

    @property
    def name(self) -> str:
        """Its name within the aggregate."""
        return self.ref.partition(".")[2]

    @cached_property
    def arguments(self) -> Schema:
        """The published schema of its arguments."""
        return self.schema()

    def as_data(self) -> dict[str, Any]:
        """The outline as JSON."""
        return {**self.summary(), "arguments": self.arguments, "examples": list(self.examples)}

    def summary(self) -> dict[str, Any]:
        """The outline without what makes it long."""
        return {
            "flow": self.ref,
            "title": self.title,
            "description": self.description,
            "kind": self.kind,
            "version": self.version,
            "dialect": self.dialect,
            "hints": dict(self.hints),
            "tool": self.tool,
            "toolset": self.toolset,
            "people_only": self.people_only,
            "deprecated_since": self.deprecated_since,
        }


def outlines_of(catalogue: Catalogue, hidden: Container[str] = ()) -> dict[str, Outline]:
    """Every flow of a catalogue that is not hidden, by ref."""
    # The flow's own tool comes before those that others offer it by, and those in their order.
    every = sorted(catalogue.tools(), key=lambda tool: tool.exposure.toolset != tool.flow.aggregate.namespace)
    tools = {tool.flow.ref: tool for tool in reversed(every)}
    return {flow.ref: _outlined(flow, tools.get(flow.ref)) for flow in catalogue if flow.ref not in hidden}


def _outlined(flow: Flow, tool: Tool | None) -> Outline:
    return Outline(
        ref=flow.ref,
        title=flow.title,
        description=flow.description,
        kind=flow.kind,
        version=flow.version,
        dialect=flow.dialect,
        hints=flow.hints(),
        tool=tool.name if tool else None,
        toolset=tool.exposure.toolset if tool else None,
        people_only=flow.people_only,
        deprecated_since=flow.deprecated_since,
        examples=tuple(
            {
                "title": example.title,
                "arguments": example.arguments,
                "given": [list(before) for before in example.given],
                "reply": example.reply,
            }
            for example in flow.examples
        ),
        schema=lambda: flow.published,
    )
