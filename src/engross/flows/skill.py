"""A skill: an entry of a catalogue that tells agents what they can do with other exposures. It never runs anything."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple


class SkillTool(NamedTuple):
    """A tool that a skill tells of: derived from an exposure, or instructions to read."""

    name: str
    description: str
    namespace: str | None = None
    action: str | None = None
    mode: Literal["mcp", "rest"] | None = None
    instruction: str | None = None


class Skill(NamedTuple):
    """Data: what it is for, its tools and its files, as they were when the office opened."""

    namespace: str
    name: str
    description: str
    about: Mapping[str, object] = MappingProxyType({})
    """License, compatibility and whatever else is told as it is."""
    tools: tuple[SkillTool, ...] = ()
    files: Mapping[str, bytes] | None = None
    """By path below its folder; None for a skill without a folder."""
