"""Memory at a million entities: whether looks by id, by name, around and for words stay as quick as at ten thousand.

It takes a quarter of an hour and some gigabytes of disk, so it runs only when it is asked for:
`python -m bench memory-scale`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from engross.domains.memory.ids import entity_id
from engross.surfaces.client import Client

from .claims import Claim
from .memory import office
from .resident import peak_megabytes

SMALL = 10_000
LARGE = int(os.environ.get("BENCH_ENTITIES", "1000000"))
PASSES = 3
AT_ONCE = 1_000
EDGES = 2
LOOKS = 400
TOWNS = ("Bern", "Basel", "Thun", "Chur", "Zug", "Genf", "Olten", "Biel", "Davos", "Lugano")
TRADES = ("baker", "carpenter", "weaver", "sailor", "miller", "smith", "printer", "tanner", "mason", "cooper")


def measure() -> list[Claim]:
    """The claims about a million entities, with the size of the file and of the process."""
    figures = {}
    for size in (SMALL, LARGE):
        with TemporaryDirectory() as folder, office(Path(folder) / "data") as client:
            fill(client, size)
            figures[size] = looks(client, size)
            held = (Path(folder) / "data" / "office.db").stat().st_size / 2**20
    memory = peak_megabytes()
    claims = [
        Claim(
            f"Memory: {kind} at {LARGE:,} entities",
            figures[LARGE][kind] / figures[SMALL][kind],
            "at most",
            promised,
            {f"{size:,}": figures[size][kind] for size in figures},
            "µs, p50",
        )
        for kind, promised in (("identifier", 2.0), ("snapshot", 2.0), ("3 hops", 5.0), ("search", 5.0))
    ]
    sizes = {"file": held, "memory at most": memory}
    return [
        *claims,
        Claim(f"Memory: file of {LARGE:,} entities, in KB each", held * 1024 / LARGE, "at most", 8, sizes, "MB"),
    ]


def fill(client: Client, size: int) -> None:
    """So many people, each observed three times, and edges between some of them."""
    for number in range(PASSES):
        for start in range(0, size, AT_ONCE):
            answer = client.call(
                "memory.ingest-structured", {"entities": [person(one, number) for one in range(start, start + AT_ONCE)]}
            )
            assert answer.ok, answer
    chosen = random.Random(3)
    for one in range(0, size, size // SMALL):
        for _ in range(EDGES):
            answer = client.call(
                "memory.create-relationship",
                {
                    "relationship_type": "REFERS_TO",
                    "source_entity_id": identifier(one),
                    "target_entity_id": identifier(chosen.randrange(0, size, size // SMALL)),
                },
            )
            assert answer.reply_type in "SI", answer


def looks(client: Client, size: int) -> dict[str, float]:
    """What each kind of look costs, at the median."""
    chosen = random.Random(5)

    def anybody() -> int:
        return chosen.randrange(0, size, size // SMALL)

    kinds: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {
        "identifier": lambda: ("memory.get-entity-by-identifier", {"identifier": f"p{anybody()}@example.com"}),
        "snapshot": lambda: ("memory.get-entity-snapshot", {"entity_id": identifier(anybody())}),
        "3 hops": lambda: ("memory.get-related-entities", {"entity_id": identifier(anybody()), "max_hops": 3}),
        "search": lambda: ("memory.search-memory", {"query": f"{chosen.choice(TRADES)} {name(anybody())}"}),
    }
    return {kind: _median(client, make) for kind, make in kinds.items()}


def _median(client: Client, make: Callable[[], tuple[str, dict[str, Any]]]) -> float:
    times = []
    for _ in range(LOOKS):
        flow, arguments = make()
        started = time.perf_counter()
        answer = client.call(flow, arguments)
        times.append(time.perf_counter() - started)
        assert answer.ok, answer
    return median(times) * 1e6


def name(number: int) -> str:
    """Everybody has a name of their own."""
    return f"Person {number:x} {number % 977}"


def identifier(number: int) -> str:
    """The id of somebody."""
    return entity_id("person", name(number))


def person(number: int, observed: int) -> dict[str, Any]:
    """What is observed about somebody the first, second and third time."""
    known: dict[str, Any] = {"entity_type": "person", "name": name(number)}
    if observed == 0:
        return {**known, "email": f"p{number}@example.com", "town": TOWNS[number % 10]}
    if observed == 1:
        return {**known, "trade": TRADES[number // 10 % 10], "visits": number % 7}
    return {**known, "visits": number % 11, "town": TOWNS[number // 3 % 10]}
