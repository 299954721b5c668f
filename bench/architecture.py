"""Architecture models: what a committed element costs over MCP, whether cost stays flat in a large model, and imports.

The large model has 100,000 elements and 300,000 relationships, the small one 1,000 and 3,000. Imports are measured in
processes of their own, so that their peak memory is their own too.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engross.domains.architecture import Ways, architecture
from engross.surfaces.client import Client, connect

from .resident import peak_megabytes

ROOT = Path(__file__).resolve().parents[1]
SMALL, LARGE = 1_000, 100_000
RELATIONSHIPS = 3
ROUNDS = 7
CALLS = 100
TABLES = ("facts", "architecture_elements", "architecture_relationships", "architecture_words")
TYPES = ("ApplicationComponent", "ApplicationService", "BusinessProcess", "Node", "DataObject", "Capability")
FIRST = ("Order", "Billing", "Stock", "Claim", "Customer", "Policy", "Ledger", "Route", "Price", "Tax", "Loan", "Risk")
SECOND = ("Service", "Engine", "Desk", "Portal", "Hub", "Store", "Gateway", "Index", "Board", "Queue")
HEAD = (
    '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m"><name>Generated</name><elements>'
)

_numbers = itertools.count(1)


def measure() -> list[Any]:
    """All claims about architecture models."""
    with TemporaryDirectory() as folder:
        sizes = {"1,000": SMALL, "100,000": LARGE}
        figures = {}
        for name, size in sizes.items():
            file = Path(folder) / f"{size}.xml"
            file.write_text("".join(model_of(size)))
            figures[name] = child("import", Path(folder) / str(size), file)
        bare = child("bare", Path(folder) / str(LARGE), Path(folder) / "bare")
        return [
            *of_import(figures["100,000"], bare),
            *of_size({name: Path(folder) / str(size) for name, size in sizes.items()}),
            *over_mcp(Path(folder) / "served"),
        ]


def of_import(office: dict[str, float], bare: dict[str, float]) -> list[Any]:
    """Taking in the large model, beside the same rows inserted without any ado."""
    from .claims import Claim

    rates = {"import": office["rows"] / office["seconds"], "bare apsw": bare["rows"] / bare["seconds"]}
    memory = {"import": office["megabytes"]}
    name = "import of 100,000 elements, 300,000 relationships"
    return [
        Claim(f"{name}: rows", rates["import"] / rates["bare apsw"], "at least", 0.25, rates, "rows/s"),
        Claim(f"{name}: peak memory, in MB", office["megabytes"], "at most", 500, memory, "MB"),
    ]


def of_size(folders: dict[str, Path]) -> list[Any]:
    """What calls cost in a large model and in a small one, in CPU of this process."""
    from .claims import Claim
    from .rounds import interleaved

    offices = {name: connect(folder, architecture(), domains="") for name, folder in folders.items()}
    try:
        scenes = {name: Scene(client) for name, client in offices.items()}
        claims = []
        for job, bound in JOBS.items():
            costs = interleaved({name: scene.cost(job) for name, scene in scenes.items()}, rounds=ROUNDS)
            ratio = costs["100,000"] / costs["1,000"]
            claims.append(Claim(f"{job}: 100,000 elements against 1,000", ratio, "at most", bound, costs, "us CPU"))
        return claims
    finally:
        for client in offices.values():
            client.close()


def over_mcp(data: Path) -> list[Any]:
    """A committed element over MCP HTTP with many clients, beside the echo of the SDK."""
    from .claims import Claim
    from .rounds import interleaved
    from .surfaces import NO_LIMITS, echoing, mcp_rate, served

    (data / "policies").mkdir(parents=True)
    (data / "policies" / "knobs.toml").write_text(NO_LIMITS)
    with served(data) as (url, token), echoing() as echo:
        trusted = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        rates = interleaved(
            {
                "MCP echo": lambda: mcp_rate(echo, {}, "echo", element),
                "createElement": lambda: mcp_rate(url, trusted, "createElement", element),
            },
            rounds=ROUNDS,
        )
    ratio = rates["createElement"] / rates["MCP echo"]
    return [Claim("MCP over HTTP: a committed createElement", ratio, "at least", 0.4, rates, "calls/s")]


def element() -> dict[str, Any]:
    """A new element."""
    number = next(_numbers)
    return {
        "type": TYPES[number % len(TYPES)],
        "name": f"{FIRST[number % len(FIRST)]} {number} {SECOND[number % len(SECOND)]}",
        "description": f"Takes part in measurement {number}",
    }


class Scene:
    """Somebody at work in a model."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._random = random.Random(1)
        models = client.architecture.list_models().data["models"]
        self._model: str = next(model["id"] for model in models if model["name"] == "Generated")
        self._ids = self._some_ids()

    def cost(self, job: str) -> Callable[[], float]:
        """Microseconds of CPU for one call."""
        call = getattr(self, job)

        def run() -> float:
            started = time.process_time()
            for _ in range(CALLS):
                answer = call()
                assert answer.ok, answer
            return (time.process_time() - started) / CALLS * 1e6

        return run

    def create(self) -> Any:
        return self._client.architecture.create_element(model_id=self._model, **element())

    def update(self) -> Any:
        told = f"Changed by measurement {next(_numbers)}"
        return self._client.architecture.update_element(id=self._any(), description=told)

    def get(self) -> Any:
        return self._client.architecture.get_element(id=self._any())

    def page(self) -> Any:
        return self._client.architecture.list_elements(model_id=self._model, type=self._random.choice(TYPES))

    def neighbourhood(self) -> Any:
        return self._client.architecture.get_neighborhood(id=self._any(), hops=2)

    def search(self) -> Any:
        asked = f"{self._random.choice(FIRST)} {self._random.choice(SECOND)}"
        return self._client.architecture.semantic_search(query=asked, model_id=self._model)

    def _any(self) -> str:
        return self._random.choice(self._ids)

    def _some_ids(self) -> list[str]:
        found: list[str] = []
        for kind in TYPES:
            for start in FIRST:
                page = self._client.architecture.list_elements(model_id=self._model, type=kind, name_starts_with=start)
                found += [one["id"] for one in page.data["elements"]]
        return found


JOBS = {"create": 2.0, "update": 2.0, "get": 2.0, "page": 2.0, "neighbourhood": 2.0, "search": 5.0}


def model_of(elements: int) -> Iterator[str]:
    """An exchange file with so many elements, and three times as many relationships."""
    choose = random.Random(elements)
    yield HEAD
    for number in range(elements):
        name = f"{choose.choice(FIRST)} {choose.choice(SECOND)} {number}"
        told = f"The {choose.choice(SECOND)} of a {choose.choice(FIRST)}, number {number}"
        yield (
            f'<element identifier="e{number}" xsi:type="{TYPES[number % len(TYPES)]}"><name>{name}</name>'
            f"<documentation>{told}</documentation></element>\n"
        )
    yield "</elements><relationships>"
    for number in range(elements * RELATIONSHIPS):
        source, target = choose.randrange(elements), choose.randrange(elements)
        yield (f'<relationship identifier="r{number}" source="e{source}" target="e{target}" xsi:type="Association"/>\n')
    yield "</relationships></model>"


def child(job: str, first: Path, second: Path) -> dict[str, float]:
    """One measurement in a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    program = [sys.executable, "-m", "bench.architecture", job, str(first), str(second)]
    done = subprocess.run(program, check=True, stdout=subprocess.PIPE, cwd=ROOT, env=os.environ | {"PYTHONPATH": path})
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def import_into(folder: Path, file: Path) -> dict[str, float]:
    """Take a file over: asked for, confirmed, committed; the last is measured."""
    with connect(folder, architecture(Ways(content=lambda tenant, digest: file.read_bytes())), domains="") as client:
        asked = {"content_hash": "0" * 64, "mode": "commit"}
        refused = client.call("architecture.import-model", asked)
        started = time.perf_counter()
        answer = client.call("architecture.import-model", asked | {"confirm_token": refused.data["confirm_token"]})
        seconds = time.perf_counter() - started
        assert answer.ok, answer
    return {"seconds": seconds, "megabytes": peak_megabytes(), "rows": sum(len(rows) for _, rows in rows_of(folder))}


def insert_into(folder: Path, bare: Path) -> dict[str, float]:
    """The rows of an office, table by table, by nothing but apsw in one transaction."""
    from engross.store.sqlite import SqliteStore

    connect(bare, architecture(), domains="").close()
    connection = SqliteStore(bare / "office.db").connect()
    seconds, count = 0.0, 0
    connection.execute("BEGIN IMMEDIATE")
    for table, rows in rows_of(folder):
        places = ", ".join("?" * len(rows[0]))
        started = time.perf_counter()
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        seconds += time.perf_counter() - started
        count += len(rows)
    started = time.perf_counter()
    connection.execute("COMMIT")
    return {"seconds": seconds + time.perf_counter() - started, "rows": count}


def rows_of(folder: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The rows of the large tables of an office, one table at a time."""
    import apsw

    database = apsw.Connection(str(folder / "office.db"))
    for table in TABLES:
        yield table, list(database.execute(f"SELECT * FROM {table}"))


if __name__ == "__main__":
    task = {"import": import_into, "bare": insert_into}[sys.argv[1]]
    print(json.dumps(task(Path(sys.argv[2]), Path(sys.argv[3]))))
