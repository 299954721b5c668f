"""Memory: whether costs stay where they are as observations, edges and entities pile up, and what MCP calls cost.

The part `memory-scale` (bench/memory_scale.py) has the figures at a million entities.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from engross.calls import Principal
from engross.domains.memory import memory
from engross.surfaces.client import Client, connect

from .claims import Claim
from .rounds import interleaved
from .surfaces import ENGROSS, META, Pipe, echo_over_a_pipe, prepared

FEW, MANY = 10, 10_000
SHORT = 60
FEW_EDGES, MANY_EDGES = 100, 100_000
CALLS = 60
PIPED = 200
BATCH = 100
ROUNDS = 5
SIZES = (100, 1_000, 10_000)
SERVER_MEMORY = "@modelcontextprotocol/server-memory"

_numbers = itertools.count(1)


def measure() -> list[Claim]:
    """All claims about memory but those about a million entities."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        return [*growing(place / "growing"), *relating(place / "relating"), *over_a_pipe(place / "pipe")]


@contextmanager
def office(folder: Path) -> Iterator[Client]:
    """An embedded office with the domain."""
    client = connect(folder, memory(), principal=Principal("bench", "human", frozenset({"curator"})))
    try:
        yield client
    finally:
        client.close()


def growing(folder: Path) -> list[Claim]:
    """Writes and reads of an entity with ten observations, and of one with ten thousand."""
    with office(folder) as client:
        long = observed(client, f"Growing {MANY}", MANY)
        # Of several that stay as short as they are: each write makes one longer.
        short = [observed(client, f"Growing {FEW} {number}", FEW) for number in range(SHORT)]
        names = {
            FEW: itertools.cycle(f"Growing {FEW} {n}" for n in range(SHORT)),
            MANY: itertools.repeat(f"Growing {MANY}"),
        }
        ids = {FEW: short[0], MANY: long}
        middles = {count: middle(client, identifier) for count, identifier in ids.items()}
        kinds: dict[str, Callable[[int], object]] = {
            "write": lambda count: client.call(
                "memory.ingest-structured", {"entities": [state_of(next(names[count]))]}
            ),
            "snapshot": lambda count: client.call("memory.get-entity-snapshot", {"entity_id": ids[count]}),
            "at": lambda count: client.call(
                "memory.get-entity-snapshot", {"entity_id": ids[count], "at": middles[count]}
            ),
        }
        claims = []
        for kind, promised in (("write", 1.5), ("snapshot", 1.5), ("at", 3.0)):
            times = interleaved(
                {f"{count:,} observations": cost(kinds[kind], count) for count in (FEW, MANY)}, rounds=ROUNDS
            )
            few, many = times.values()
            claims.append(Claim(f"Memory: {kind} of a long history", many / few, "at most", promised, times, "µs CPU"))
        return claims


def relating(folder: Path) -> list[Claim]:
    """Relationships where there are a hundred edges, and where there are a hundred thousand."""
    with office(folder) as client:
        few = client.as_("few", "human", ["curator"], tenant="few")
        for one, edges in ((few, FEW_EDGES), (client, MANY_EDGES)):
            connected(one, edges)
        times = interleaved(
            {
                f"{edges:,} edges": cost(lambda one: relate(one), one)
                for one, edges in ((few, FEW_EDGES), (client, MANY_EDGES))
            },
            rounds=ROUNDS,
        )
    small, large = times.values()
    return [Claim("Memory: create_relationship", large / small, "at most", 1.5, times, "µs CPU")]


def over_a_pipe(folder: Path) -> list[Claim]:
    """MCP over stdio, one call after the other, beside an echo; and beside the reference's smallest memory."""
    with prepared(folder) as data, Pipe(memory_over_a_pipe(data)) as ours, Pipe(echo_over_a_pipe()) as echo:
        ours.call("ingest_structured", {"entities": [person()]})
        identifier = ours.call("retrieve_entities", {"limit": 1})["entities"][0]["id"]
        rates = interleaved(
            {
                "echo": lambda: rate(lambda: echo.call("echo", person())),
                "snapshot": lambda: rate(lambda: ours.call("get_entity_snapshot", {"entity_id": identifier})),
                "one entity": lambda: rate(lambda: ours.call("ingest_structured", {"entities": [person()]})),
                "batched entities": lambda: BATCH * rate(lambda: ours.call("ingest_structured", batch()), PIPED // 20),
            },
            rounds=ROUNDS,
        )
    single, echoed = rates["one entity"], rates["echo"]
    return [
        Claim("Memory over stdio: a snapshot", rates["snapshot"] / echoed, "at least", 0.7, rates, "calls/s"),
        Claim("Memory over stdio: one entity, durable", single / echoed, "at least", 0.4, rates, "calls/s"),
        Claim("Memory over stdio: a batch of 100", rates["batched entities"] / single, "at least", 15, rates, "/s"),
        *beside_server_memory(folder),
    ]


def beside_server_memory(folder: Path) -> list[Claim]:
    """The published knowledge graph server for MCP, creating entities where there are some already."""
    command = server_memory(folder / "npm")
    claims = []
    for size in SIZES:
        graph = folder / f"graph-{size}.jsonl"
        filled_graph(graph, size)
        with (
            Older(command, graph) as theirs,
            prepared(folder / f"ours-{size}") as own,
            Pipe(memory_over_a_pipe(own)) as ours,
        ):
            for start in range(0, size, 1000):
                ours.call("ingest_structured", {"entities": [person() for _ in range(min(1000, size - start))]})
            rates = interleaved(
                {
                    "server-memory": lambda: rate(lambda: theirs.call("create_entities", noted()), 20),
                    "ours": lambda: rate(lambda: ours.call("ingest_structured", {"entities": [person()]}), 50),
                },
                rounds=3,
            )
        # It rewrites its whole file for each entity, and does not wait for the disk: at first that is quicker.
        promised = 1.0 if size == max(SIZES) else 0.0
        ratio = rates["ours"] / rates["server-memory"]
        what = f"Memory: an entity more than {size:,}, beside server-memory"
        claims.append(Claim(what, ratio, "at least", promised, rates, "/s"))
    return claims


def observed(client: Client, name: str, count: int) -> str:
    """An entity with so many observations; its id."""
    for _ in range(count):
        answer = client.call("memory.ingest-structured", {"entities": [state_of(name)]})
        assert answer.ok, answer
    found = client.call("memory.get-entity-by-identifier", {"identifier": name})
    identifier: str = found.data["entities"][0]["id"]
    return identifier


def middle(client: Client, identifier: str) -> str:
    """An instant in the middle of an entity's history."""
    total = client.call("memory.list-observations", {"entity_id": identifier, "limit": 1}).data["total"]
    page = client.call("memory.list-observations", {"entity_id": identifier, "limit": 1, "offset": total // 2})
    instant: str = page.data["observations"][0]["observed_at"]
    return instant


def state_of(name: str) -> dict[str, Any]:
    """Another thing to say about an entity."""
    number = next(_numbers)
    return {"entity_type": "machine", "name": name, "load": number, "status": f"state {number % 7}", "place": "Hall 2"}


def person() -> dict[str, Any]:
    """Somebody new."""
    number = next(_numbers)
    return {
        "entity_type": "person",
        "name": f"Person {number}",
        "email": f"p{number}@example.com",
        "phone": f"+1555{number:07d}",
    }


def batch() -> dict[str, Any]:
    """A hundred people."""
    return {"entities": [person() for _ in range(BATCH)]}


def cost(work: Callable[[Any], object], of: Any) -> Callable[[], float]:
    """The CPU time that one call costs: the median over some."""

    def run() -> float:
        times = []
        for _ in range(CALLS):
            started = time.process_time()
            work(of)
            times.append(time.process_time() - started)
        return median(times) * 1e6

    return run


def connected(client: Client, edges: int) -> None:
    """People, each of whom is part of an earlier one, with so many edges in all."""
    people = [f"Member {number}" for number in range(edges + 1)]
    for start in range(0, len(people), 1000):
        some = [{"entity_type": "person", "name": name} for name in people[start : start + 1000]]
        assert client.call("memory.ingest-structured", {"entities": some}).ok
    ids = [entity(name) for name in people]
    chosen = random.Random(7)
    for number in range(1, edges + 1):
        answer = client.call(
            "memory.create-relationship",
            {
                "relationship_type": "PART_OF",
                "source_entity_id": ids[number],
                "target_entity_id": ids[chosen.randrange(number)],
            },
        )
        assert answer.ok, answer


def relate(client: Client) -> None:
    """One more edge, from a new entity to some old one."""
    number = next(_numbers)
    name = f"Newcomer {number}"
    client.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": name}]})
    client.call(
        "memory.create-relationship",
        {
            "relationship_type": "PART_OF",
            "source_entity_id": entity(name),
            "target_entity_id": entity(f"Member {number % FEW_EDGES}"),
        },
    )


def entity(name: str) -> str:
    """The id of a person."""
    from engross.domains.memory.ids import entity_id

    return entity_id("person", name)


def rate(call: Callable[[], object], calls: int = PIPED) -> float:
    """Calls per second, one after the other."""
    started = time.perf_counter()
    for _ in range(calls):
        call()
    return calls / (time.perf_counter() - started)


def memory_over_a_pipe(data: Path) -> list[str]:
    """The command of an office with the domain, over stdio."""
    return [*ENGROSS, "mcp", "--data", str(data)]


def noted() -> dict[str, Any]:
    """Somebody new, in the words of server-memory."""
    one = person()
    said = [f"email {one['email']}", f"phone {one['phone']}"]
    return {"entities": [{"name": one["name"], "entityType": "person", "observations": said}]}


def filled_graph(path: Path, size: int) -> None:
    """A file of server-memory's with so many entities."""
    with path.open("w") as lines:
        for _ in range(size):
            lines.write(json.dumps({"type": "entity", **noted()["entities"][0]}) + "\n")


def server_memory(folder: Path) -> list[str]:
    """The command of server-memory, installed into a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("npm") is None:
        raise SystemExit("This part needs npm.")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", SERVER_MEMORY], cwd=folder, check=True)
    return [str(folder / "node_modules" / ".bin" / "mcp-server-memory")]


class Older(Pipe):
    """A client of a server that still begins with a handshake."""

    def __init__(self, command: list[str], graph: Path) -> None:
        super().__init__(["env", f"MEMORY_FILE_PATH={graph}", *command])
        self.ask(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": META["io.modelcontextprotocol/clientInfo"],
            },
        )
        self._in.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._in.flush()

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; what it answers."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result)
        return result


if __name__ == "__main__":
    for claim in measure():
        sys.stdout.write(" | ".join(claim.row()) + "\n")
