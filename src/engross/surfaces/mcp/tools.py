"""Tools as clients see them: made from flows, each once, and no larger than they have to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.calls import Caller
from engross.flows import Flow, Tool

from .guide import guide_tools
from .window import Window

VALIDATE = "record.validate-write"

_REPLY = {"type": "object"}
"""`reply` without what the instructions explain once for all tools."""
BOUNDS = frozenset(
    (
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "maximum",
        "minimum",
    )
)
"""What a call is held to and told about when it oversteps; `describe_flow` shows it before."""
_LITTLE_WORDS = ("a", "an", "its", "the")
_TOLD_ONCE = ("commit_mode", "reason", "confirm_token")
"""Control fields whose names say enough together with the instructions, or with the answer that asks for them."""


class Tools:
    """What `tools/list` answers."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._guides = guide_tools(read_only=window.desk.office.settings.read_only)
        self._guide_names = {tool.name: tool for tool in self._guides}
        tip = window.desk.find(VALIDATE)
        self._tip = f" TIP: call {tip.name} first." if tip is not None else ""
        self._made: dict[str, tuple[Flow, dict[str, Any]]] = {}

    def listed(self, caller: Caller) -> list[dict[str, Any]]:
        """The tools for this caller: the three that reach everything, then those of the toolsets."""
        return self.wired([*self._guides, *self._window.desk.tools(caller, self._window.surface)])

    def wired(self, tools: Iterable[Tool]) -> list[dict[str, Any]]:
        """These tools, as they are sent."""
        return [self._wire(tool) for tool in tools]

    def _wire(self, tool: Tool) -> dict[str, Any]:
        held = self._made.get(tool.name)
        return held[1] if held is not None and held[0] is tool.flow else self._make(tool)

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """What a tool takes, for the SDK: without it, each call would list all tools."""
        tool = self._guide_names.get(name) or self._window.desk.find(name)
        return tool.flow.published if tool is not None else None

    def _make(self, tool: Tool) -> dict[str, Any]:
        made = {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description + (self._tip if self._needs_tip(tool) else ""),
            "inputSchema": lean_input(tool.flow),
            "outputSchema": lean_output(tool.flow),
            "annotations": {f"{name}Hint": value for name, value in tool.hints.items()},
        }
        self._made[tool.name] = (tool.flow, made)
        return made

    def _needs_tip(self, tool: Tool) -> bool:
        return tool.flow.writes and tool.name not in self._guide_names


def lean_input(flow: Flow) -> dict[str, Any]:
    """The schema of what a tool takes, without what would cost context in every tool and can be told when needed."""
    schema = _unbounded(flow.published)
    for name in _TOLD_ONCE:
        if name in flow.controls and name not in flow.own_fields:
            schema["properties"][name].pop("description", None)
    return schema


def _telling(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """A field without a description that only repeats its name."""
    said = field.get("description")
    if isinstance(said, str) and set(said.rstrip(".").casefold().split()) <= {*_LITTLE_WORDS, *name.split("_")}:
        return {word: value for word, value in field.items() if word != "description"}
    return field


def _unbounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        word: {name: _telling(name, _unbounded(field)) for name, field in value.items()}
        if word == "properties"
        else _unbounded(value)
        if word == "items"
        else value
        for word, value in schema.items()
        if word not in BOUNDS
    }


def lean_output(flow: Flow) -> dict[str, Any]:
    """The schema of the answers without what it says in every tool, or what is so anyway."""
    fields = {
        name: _REPLY if name == "reply" else _closed_nowhere(part)
        for name, part in flow.output["properties"].items()
        if not (flow.content and name == "content")
    }
    if list(fields) == ["reply"]:
        return {"type": "object", "required": ["reply"]}
    return {"type": "object", "properties": fields, "required": ["reply"]}


def _closed_nowhere(part: Any) -> Any:
    """A part of a schema that says nothing of additional properties, where all are welcome."""
    if isinstance(part, list):
        return [_closed_nowhere(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        word: _closed_nowhere(value)
        for word, value in part.items()
        if not (word == "additionalProperties" and value is True)
    }
