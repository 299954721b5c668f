"""The process behind `Served`: opens an office with the shelf and serves it, as the command does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

from engross.office import Settings
from engross.surfaces.serving import Address, Patience, serve
from tests.bed.offices import shelf
from tests.bed.rig import rig


def say(told: dict[str, Any]) -> None:
    """Let whoever started the process know."""
    sys.stdout.write(orjson.dumps(told, default=str).decode() + "\n")
    sys.stdout.flush()


def main(wish: str) -> None:
    """Serve, as wished."""
    asked = orjson.loads(wish)
    if asked["unix_socket"] is not None:
        asked["unix_socket"] = Path(asked["unix_socket"])
    settings = Settings.from_environment(**asked.pop("settings"))
    patience = Patience(**asked.pop("patience"))

    def told(address: Address) -> None:
        say({**address._asdict(), "mcp": address.mcp, "docs": address.docs})

    serve(settings, [shelf(), rig], told=told, patience=patience, **asked)


if __name__ == "__main__":
    main(sys.argv[1])
