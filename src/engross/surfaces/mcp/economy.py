"""What a desk costs a model's context before the first call."""

from __future__ import annotations

import orjson

from engross.calls import Caller, Surface
from engross.surfaces.desk import Desk

from .guide import guide_tools
from .instructions import instructions
from .tools import Tools
from .window import Window


def tool_bytes(desk: Desk, caller: Caller, surface: Surface) -> dict[str, int]:
    """The bytes of `tools/list` by toolset, in all, and of the instructions."""
    tools = Tools(Window(desk, lambda: caller, surface))
    by_toolset = {"guide": guide_tools(read_only=desk.office.settings.read_only)}
    for tool in desk.tools(caller, surface):
        by_toolset.setdefault(tool.exposure.toolset, []).append(tool)
    sizes = {toolset: len(orjson.dumps(tools.wired(offered))) for toolset, offered in by_toolset.items()}
    told = {"tools/list": len(orjson.dumps({"tools": tools.listed(caller)})), "instructions": 0}
    return {**sizes, **told, "instructions": len(instructions(desk).encode())}
