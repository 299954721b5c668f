"""`engross mcp`: an office for one agent, over standard input and output.

An MCP client starts this program and waits for it, so it has a small parser of its own: the libraries behind the other
commands would cost a tenth of the time to the first answer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engross.replies import Coded, Reply, exit_code, reply_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from engross.surfaces.mcp import Ending

INTERRUPTED = 130
OPTIONS: Sequence[tuple[str, dict[str, object]]] = (
    ("--data", {"type": Path, "metavar": "DIR", "help": "the office's data folder (engross-data, or ENGROSS_DATA)"}),
    ("--store", {"metavar": "ADDRESS", "help": "a PostgreSQL address, if the rows are not in the data folder"}),
    ("--role", {"default": "agent", "help": "the agent's role; only the folder's owner may name another than agent"}),
    ("--tenant", {"help": "for this tenant (main)"}),
    ("--toolsets", {"metavar": "A,B", "help": "toolsets to list, separated by commas"}),
    ("--read-only", {"action": "store_true", "help": "refuse every write; wins over everything"}),
    (
        "--root",
        {"action": "append", "type": Path, "metavar": "DIR", "help": "a folder that documents may lie in; repeatable"},
    ),
    (
        "--capability",
        {"action": "append", "type": Path, "metavar": "FILE", "help": "a file that defines aggregates; repeatable"},
    ),
    ("--log-level", {"metavar": "LEVEL", "help": "log calls to standard error: debug, info, warning or error"}),
)


def run(arguments: Sequence[str]) -> None:
    """Serve until the client goes away, or says so with SIGTERM, and ending as told is no failure.

    Standard output belongs to the protocol, so refusals go to the other one.
    """
    try:
        options = parser().parse_args(list(arguments))
        if sys.stdout is None:
            parser().error("standard output is closed, and it is where the protocol goes")
        _serve(options, _ending_by_signal())
    except Coded as refusal:
        _tell(reply_of(refusal))
        sys.exit(exit_code(reply_of(refusal)))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def parser() -> ArgumentParser:
    """Reads the options."""
    from argparse import ArgumentParser

    made = ArgumentParser(
        "engross mcp", description="Serve an office to one agent over standard input and output.", allow_abbrev=False
    )
    for name, facets in OPTIONS:
        made.add_argument(name, **facets)  # type: ignore[arg-type]
    return made


def split_toolsets(given: str | None) -> frozenset[str] | None:
    """Names separated by commas."""
    return None if given is None else frozenset(name.strip() for name in given.split(",") if name.strip())


def _ending_by_signal() -> Ending:
    """Told by SIGTERM, from now until the process is gone: what was done may take its time to be written down."""
    import os
    import signal

    from engross.surfaces.mcp import Ending

    ending = Ending()
    # Nothing ends the wait for a person's next line.
    if not os.isatty(0):
        signal.signal(signal.SIGTERM, lambda number, frame: ending.tell())
    return ending


def _serve(options: Namespace, ending: Ending) -> None:
    from asyncio import run as run_loop
    from contextlib import ExitStack

    from engross.calls import DEFAULT_TENANT
    from engross.office import Settings
    from engross.office.capabilities import open_office
    from engross.office.presence import has_office, made_new
    from engross.surfaces.collector import spare_what_stays
    from engross.surfaces.desk import Desk
    from engross.surfaces.mcp import serve_stdio
    from engross.surfaces.watching import Daybook
    from engross.surfaces.watching.reading import have_piped_calls_read

    settings = Settings.from_environment(
        data=options.data,
        store=options.store,
        capabilities=options.capability,
        document_roots=options.root,
        read_only=options.read_only or None,
    )
    with ExitStack() as closing:
        daybook = Daybook()
        # Spans may take their time to go out. The office closes first.
        closing.callback(daybook.close)
        new = not has_office(settings)
        office = open_office(settings, accept_documents=True)
        closing.callback(office.close)
        if new:
            print(made_new(settings), file=sys.stderr, flush=True)
        have_piped_calls_read(daybook, settings, office.catalogue, log_level=options.log_level)
        caller = office.door.stdio_caller(options.role, settings.data, tenant=options.tenant or DEFAULT_TENANT)
        desk = Desk(office, toolsets=split_toolsets(options.toolsets), daybook=daybook)
        spare_what_stays()
        run_loop(serve_stdio(desk, caller, ending))


def _tell(answer: Reply) -> None:
    from .printing import print_refusal

    print_refusal(answer)
