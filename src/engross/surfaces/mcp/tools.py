"""Tools as clients see them: made from flows, each once, and no larger than they have to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.calls import Caller
from engross.flows import Flow, Tool

from .guide import guide_tools
from .window import Window

VALIDATE = "record.validate-write"

_REPLY = {"type": "object", "required": ["reply_type", "code"]}
"""`reply` without what the instructions explain once for all tools."""


class Tools:
    """What `tools/list` answers."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._guides = guide_tools(read_only=window.desk.office.settings.read_only)
        self._guide_names = {tool.name: tool for tool in self._guides}
        tip = window.desk.find(VALIDATE)
        self._tip = f" TIP: call {tip.name} first." if tip is not None else ""
        self._made: dict[str, dict[str, Any]] = {}

    def listed(self, caller: Caller) -> list[dict[str, Any]]:
        """The tools for this caller: the three that reach everything, then those of the toolsets."""
        return self.wired([*self._guides, *self._window.desk.tools(caller, self._window.surface)])

    def wired(self, tools: Iterable[Tool]) -> list[dict[str, Any]]:
        """These tools, as they are sent."""
        return [self._made.get(tool.name) or self._make(tool) for tool in tools]

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """What a tool takes, for the SDK: without it, each call would list all tools."""
        tool = self._guide_names.get(name) or self._window.desk.find(name)
        return tool.flow.published if tool is not None else None

    def _make(self, tool: Tool) -> dict[str, Any]:
        made = self._made[tool.name] = {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description + (self._tip if self._needs_tip(tool) else ""),
            "inputSchema": tool.flow.published,
            "outputSchema": lean_output(tool.flow),
            "annotations": {f"{name}Hint": value for name, value in tool.hints.items()},
        }
        return made

    def _needs_tip(self, tool: Tool) -> bool:
        return tool.flow.writes and tool.name not in self._guide_names


def lean_output(flow: Flow) -> dict[str, Any]:
    """The schema of the answers without what it says in every tool, or what is so anyway."""
    fields = {
        name: _REPLY if name == "reply" else _closed_nowhere(part)
        for name, part in flow.output["properties"].items()
        if not (flow.content and name == "content")
    }
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
