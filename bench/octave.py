"""Reading and writing OCTAVE, beside the published reader of the format on the same texts.

Each measurement is a process of its own, so that its peak memory is its own too. The published reader is `octave-mcp`
from the package index (`peers.py`). Without it only the growth is measured.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .resident import peak_megabytes

SIZES = {"100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
ROUNDS = 3
PATIENCE = 240.0
ROOT = Path(__file__).resolve().parents[1]
WORDS = ["system", "service", "latency", "budget", "index", "shard", "replica", "token", "cache", "policy", "queue"]


def measure() -> list[Any]:
    """The claims about speed, growth and memory."""
    from .claims import Claim
    from .peers import octave_mcp

    peer = octave_mcp()
    claims: list[Any] = []
    own = sys.executable
    ours = {(kind, size): best(own, "engross", kind, SIZES[size]) for kind in ("canonical", "ascii") for size in SIZES}
    if peer is not None:
        for (kind, size), mine in ours.items():
            theirs = best(peer, "octave-mcp", kind, SIZES[size], rounds=ROUNDS if size == "100 KB" else 1)
            speeds = {"engross": rate(mine), "octave-mcp": rate(theirs)}
            name = f"OCTAVE, {kind} text of {size}: parse and emit"
            claims.append(Claim(name, speeds["engross"] / speeds["octave-mcp"], "at least", 20, speeds, "KB/s"))
            if "megabytes" not in theirs:
                continue
            peaks = {"engross": mine["megabytes"], "octave-mcp": theirs["megabytes"]}
            name = f"OCTAVE, {kind} text of {size}: peak memory"
            claims.append(Claim(name, peaks["engross"] / peaks["octave-mcp"], "at most", 1 / 3, peaks, "MB"))
    for kind in ("canonical", "ascii"):
        speeds = {size: rate(ours[kind, size]) for size in SIZES}
        name = f"OCTAVE, {kind} text: 10 MB against 100 KB, a character"
        # A hundred times the length leaves the caches and meets the garbage collector; a square would be at 0.01.
        claims.append(Claim(name, speeds["10 MB"] / speeds["100 KB"], "at least", 0.5, speeds, "KB/s"))
    return claims


def rate(figures: dict[str, float]) -> float:
    """Thousands of characters a second."""
    return figures["characters"] / figures["seconds"] / 1000


def best(python: str, reader: str, kind: str, size: int, rounds: int = ROUNDS) -> dict[str, float]:
    """The fastest of some runs."""
    return min((run(python, reader, kind, size) for _ in range(rounds)), key=lambda figures: figures["seconds"])


def run(python: str, reader: str, kind: str, size: int) -> dict[str, float]:
    """One run in a process of its own. One that takes too long is taken to end just then, which flatters it."""
    program = [python, "-m", "bench.octave", reader, kind, str(size)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(program, check=True, capture_output=True, env=environment, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"seconds": PATIENCE, "characters": size}
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def text_of(kind: str, size: int) -> str:
    """A document of about that many characters, canonical or as it is typed on a keyboard."""
    arrow, plus, either = ("→", "⊕", "\N{LOGICAL OR}") if kind == "canonical" else ("->", "+", "|")
    choose = random.Random(size).choice
    lines = ["===BENCH===", "META:", "  TYPE::SESSION_LOG", '  VERSION::"1.0"', "---"]
    length, number = 0, 0
    while length < size:
        number += 1
        words = [choose(WORDS) for _ in range(16)]
        part = [
            *(f"§{number}::STEP_{number}", "  STATUS::ACTIVE", f"  COUNT::{number}", f"  RATIO::{number}.25"),
            *(f"  OWNER::{words[0]}_{words[1]} // who", f'  SUMMARY::"{" ".join(words)}."'),
            *(f"  FLOW::{arrow.join(words[:3])}", f"  MIX::[{words[3]}{plus}{words[4]}{either}{words[5]}]"),
            *(
                f"  TAGS::[{words[6]},{words[7]}]",
                "  STEPS::[",
                "    first,",
                "    second,",
                '    "third, at last"',
                "  ]",
            ),
            *("  LIMITS::[", f"    cpu::{number % 9},", '    mem::"8 GB"', "  ]", "  // a remark on what follows"),
            *("  SERVER:", f"    HOST::db{number}", "    PORT::5432", "    ENABLED::true", "    NOTE::null"),
            *("    CODE::", "    ```python", "    print('x -> y')", "    ```"),
        ]
        lines += part
        length += sum(map(len, part)) + len(part)
    return "\n".join([*lines, "===END===", ""])


def reader_of(name: str) -> Callable[[str], str]:
    """What reads a text and writes it again."""
    if name == "engross":
        from engross.octave import emit, parse

        return lambda text: emit(parse(text))
    from octave_mcp.core.emitter import emit as their_emit  # type: ignore[import-not-found]
    from octave_mcp.core.parser import parse as their_parse  # type: ignore[import-not-found]

    return lambda text: str(their_emit(their_parse(text)))


def main(reader: str, kind: str, size: str) -> None:
    """Measure one run and print its figures."""
    text = text_of(kind, int(size))
    read = reader_of(reader)
    read(text_of(kind, 2000))
    before = peak_megabytes()
    started = time.process_time()
    read(text)
    seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds, "characters": len(text), "megabytes": peak_megabytes() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
