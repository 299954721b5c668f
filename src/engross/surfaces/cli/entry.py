"""Where the program begins."""

from __future__ import annotations

import sys


def main() -> None:
    """The command line's entry."""
    # An agent waits for this one to start; it does without the libraries of the others.
    if sys.argv[1:2] == ["mcp"]:
        from engross.surfaces.collector import let_begin

        let_begin()
        from .stdio import run

        run(sys.argv[2:])
    else:
        from .commands import app

        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a character should show which one it was.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        app(prog_name="engross")
