"""The tools as clients see them."""

from pathlib import Path

import pytest

from engross.calls import Caller, Principal
from engross.domains.architecture import architecture
from engross.surfaces.client import connect
from engross.surfaces.desk import Desk
from engross.surfaces.mcp.economy import tool_bytes
from engross.surfaces.mcp.tools import Tools
from engross.surfaces.mcp.window import Window

SCOUT = Caller(tenant="main", principal=Principal("scout", "agent", frozenset({"agent"})))
MOST_BYTES = 22_600
"""Half of it is what every tool has: control fields, hints, the shape of answers."""
NAMES = {
    *("getElementTypes", "getRelationshipTypes", "getWriteSchema", "createElement", "updateElement", "deleteElement"),
    *("createRelationship", "deleteRelationship", "createCapability", "createCapabilityStructure"),
    *("addComponentToCapability", "applyChanges", "createModel", "setContext", "listModels", "getElement"),
    *("listElements", "listRelationships", "getNeighborhood", "getView", "semanticSearch", "importModel"),
    *("exportModel", "whyElement"),
}


@pytest.mark.requirement("ARCH-13", "ARCH-36")
def test_the_tools_their_tips_and_what_they_cost(tmp_path: Path) -> None:
    with connect(tmp_path, architecture()) as office:
        desk = Desk(office.office)
        tools = Tools(Window(desk, lambda: SCOUT, "mcp-stdio"))
        listed = {tool.name: tool for tool in desk.tools(SCOUT, "mcp-stdio") if tool.exposure.toolset == "architecture"}
        assert set(listed) == NAMES
        for name, tool in listed.items():
            (wired,) = tools.wired([tool])
            assert wired["description"].count("validateWrite") == int(tool.flow.writes), name
            assert wired["annotations"]["readOnlyHint"] is not tool.flow.writes
            assert wired["annotations"]["destructiveHint"] is (name.startswith(("delete", "update")) or name in BOTH)
            assert wired["annotations"]["openWorldHint"] is False
        assert tool_bytes(desk, SCOUT, "mcp-stdio")["architecture"] < MOST_BYTES


BOTH = ("applyChanges", "setContext")
"""They change, and may delete or overwrite."""


HINTS = ("readOnly", "destructive", "idempotent", "openWorld")
READS = (True, False, True, False)
ADDS = (False, False, False, False)
OVERWRITES = (False, True, False, False)
REMOVES = (False, True, True, False)
MOVES = (False, False, True, False)
# What the tools of the write pipeline are to promise, whatever their flows say.
AGREED = {
    **dict.fromkeys(("getElementTypes", "getRelationshipTypes", "getWriteSchema", "validateWrite"), READS),
    **dict.fromkeys(("getProposal", "listProposals"), READS),
    **dict.fromkeys(("createElement", "createRelationship", "createCapability"), ADDS),
    **dict.fromkeys(("createCapabilityStructure", "addComponentToCapability"), ADDS),
    "updateElement": OVERWRITES,
    # A bulk may hold what deletes.
    "applyChanges": OVERWRITES,
    **dict.fromkeys(("deleteElement", "deleteRelationship"), REMOVES),
    **dict.fromkeys(("submitProposal", "withdrawProposal", "rebaseProposal"), MOVES),
    # Rejecting destroys nothing, but an approval commits, and a hint is about all that a tool may do.
    "reviewProposal": REMOVES,
}


@pytest.mark.requirement("ARCH-36")
@pytest.mark.parametrize("name", AGREED)
def test_a_tool_of_the_write_pipeline_hints_at_what_it_does(tmp_path: Path, name: str) -> None:
    with connect(tmp_path, architecture()) as office:
        tool = office.office.catalogue.tool(name)
        assert tool is not None
        assert tool.hints == dict(zip(HINTS, AGREED[name], strict=True))
