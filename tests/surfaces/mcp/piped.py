"""The program behind `piped`: serves an office over standard input and output, as the command does."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import orjson

from engross.calls import Caller, Principal
from engross.office import Office, Settings
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import Ending, serve_stdio
from tests.bed.offices import shelf
from tests.surfaces.mcp.talkative import talkative


def main(wish: str) -> None:
    """Serve, as wished."""
    asked = orjson.loads(wish)
    settings = Settings(data=Path(asked["folder"]), store=asked["store"], read_only=asked.get("read_only", False))
    principal = Principal(
        asked.get("name", "scout"), asked.get("type", "agent"), frozenset([asked.get("role", "agent")])
    )
    print("a line that does not belong to the protocol", file=sys.stderr)
    office = Office(settings, [shelf(), talkative()])
    try:
        caller = Caller(asked.get("tenant", "main"), principal, "stdio")
        ending = Ending()
        if asked.get("told"):
            ending.tell()
        asyncio.run(serve_stdio(Desk(office, toolsets=asked.get("toolsets")), caller, ending))
    finally:
        office.close()


if __name__ == "__main__":
    main(sys.argv[1])
