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
        _run_a_command()


def _run_a_command() -> None:
    from .streams import UNTAKEN, Untaken, take_streams

    # How help looks depends on the streams, and is settled when the commands are read.
    take_streams()
    from .commands import app

    try:
        try:
            app(prog_name="engross")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        sys.exit(1)
    except Untaken as untaken:
        print(f"standard output cannot be written: {untaken.strerror}. What was done is done.", file=sys.stderr)
        sys.exit(UNTAKEN)
