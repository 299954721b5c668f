"""Under which name, and in which set of tools, a flow is offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, cast

if TYPE_CHECKING:
    from .flow import Flow


class Overrides(TypedDict, total=False):
    """What a tool may say differently from its flow. What it leaves out, it inherits."""

    title: str
    description: str
    hints: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True, order=True)
class Exposure:
    """Data: toolset, tool name, the flow it stands for, and what it says differently."""

    toolset: str
    tool: str
    ref: str
    overrides: Overrides = field(default_factory=lambda: cast(Overrides, MappingProxyType({})), compare=False)


class Listener(NamedTuple):
    """A port that an exposure asks to have to itself."""

    namespace: str
    kind: Literal["mcp", "rest", "skill"]
    address: str
    port: int


class Tool(NamedTuple):
    """An exposure together with its flow: everything a surface needs to offer it."""

    exposure: Exposure
    flow: Flow

    @property
    def name(self) -> str:
        """The name that clients call."""
        return self.exposure.tool

    @property
    def title(self) -> str:
        """A heading for people."""
        return self.exposure.overrides.get("title") or self.flow.title

    @property
    def description(self) -> str:
        """What the tool does, for whoever chooses among tools."""
        return self.exposure.overrides.get("description") or self.flow.description

    @property
    def hints(self) -> dict[str, bool]:
        """The flow's hints, with those of the exposure on top."""
        return self.flow.hints(self.exposure.overrides.get("hints"))

    @classmethod
    def unnamed(cls, flow: Flow) -> Tool:
        """A flow that no exposure names: in no toolset, without a name to call, reached by its ref."""
        return cls(Exposure("", "", flow.ref), flow)
