"""Declared flows: one call beside the same written by hand, steps that run together, and lookups."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from engross.calls import Context, Principal
from engross.declared.checking import checked
from engross.declared.engine import Engine
from engross.declared.lookup import Index
from engross.declared.ways import Ways
from engross.replies import Trace

from . import surfaces
from .claims import Claim
from .rounds import interleaved

ROUNDS = 7
RUNS = 5
ROWS = 100_000
DELAY_MS = 50
DOCUMENT = """\
ikanos: "1.0.0-beta5"
capability:
  consumes:
    - type: http
      namespace: weather-api
      description: "The weather service"
      baseUri: "{url}"
      resources:
        weather:
          path: "/weather/{{{{location}}}}"
          description: "The weather of a place"
          operations:
            get-forecast: {{ method: GET, inputParameters: {{ location: {{ in: path }} }} }}
        slow:
          path: "/after/{delay}/{{{{location}}}}"
          description: "The same, later"
          operations:
            get-later: {{ method: GET, inputParameters: {{ location: {{ in: path }} }} }}
  aggregates:
    forecast:
      display: "Forecast"
      flows:
        get-forecast:
          description: "Fetch a forecast."
          semantics: {{ safe: true, idempotent: true }}
          inputParameters: {{ location: {{ type: string, description: "Where" }} }}
          call: weather-api.get-forecast
          outputParameters: [{{ type: string, mapping: "$.forecast" }}]
        five-steps:
          description: "Three calls that need nothing of each other, then two that do."
          semantics: {{ safe: true, idempotent: true }}
          steps:
            a: {{ type: call, call: weather-api.get-later, with: {{ location: a }} }}
            b: {{ type: call, call: weather-api.get-later, with: {{ location: b }} }}
            c: {{ type: call, call: weather-api.get-later, with: {{ location: c }} }}
            d: {{ type: call, call: weather-api.get-later, with: {{ location: "{{{{a.days}}}}{{{{b.days}}}}" }} }}
            e: {{ type: call, call: weather-api.get-later, with: {{ location: "{{{{c.days}}}}{{{{d.days}}}}" }} }}
          mappings: [{{ target: forecast, value: "$.e.forecast" }}]
  exposes:
    - type: mcp
      port: 3001
      namespace: forecast-mcp
      tools:
        get-forecast: {{ ref: forecast.get-forecast }}
"""


def measure() -> list[Claim]:
    """All claims about running declared flows."""
    with TemporaryDirectory() as folder, upstream() as url:
        document = Path(folder) / "forecast.yaml"
        document.write_text(DOCUMENT.format(url=url, delay=DELAY_MS))
        return [one_call(document, url), five_steps(document), lookups()]


def one_call(document: Path, url: str) -> Claim:
    """Over MCP HTTP, many clients, an upstream that answers at once."""
    with surfaces.prepared(document.parent) as data, _office(data, document) as (office, token), _tool(url) as tool:
        trusted = {"Authorization": f"Bearer {token}"}
        rates = interleaved(
            {
                "by hand": lambda: surfaces.mcp_rate(tool, {}, "get-forecast", lambda: {"location": "Oslo"}),
                "declared": lambda: surfaces.mcp_rate(office, trusted, "get-forecast", lambda: {"location": "Oslo"}),
            },
            rounds=ROUNDS,
        )
    ratio = rates["by hand"] / rates["declared"]
    return Claim("a declared call over MCP HTTP, in calls by hand", ratio, "at most", 1.5, rates, "calls/s")


def five_steps(document: Path) -> Claim:
    """Three of five steps together, beside all of them one after the other."""
    together = _engine(document, Ways(private_hosts=("127.0.0.1",)))
    in_a_row = _engine(document, replace(together.ways, steps_at_once=1))
    times = interleaved({"together": _timed(together), "in a row": _timed(in_a_row)}, rounds=RUNS)
    return Claim(
        "five steps, three of them independent", times["together"] / times["in a row"], "at most", 0.7, times, "ms"
    )


def lookups() -> Claim:
    """By the index of a lookup step, beside a dictionary that somebody made by hand."""
    rows = [{"code": f"code-{number}", "name": f"name {number}"} for number in range(ROWS)]
    wanted = [f"code-{(number * 7919) % ROWS}" for number in range(ROWS)]
    table = {row["code"]: row for row in rows}
    index = Index(rows, "code")
    times = interleaved(
        {
            "dictionary": _each(lambda: [table.get(code) for code in wanted]),
            "lookup": _each(lambda: [index.find(code) for code in wanted]),
        },
        rounds=ROUNDS,
    )
    return Claim("a lookup in 100,000 rows", times["lookup"] / times["dictionary"], "at most", 2.0, times, "ns")


def _timed(engine: Engine) -> Callable[[], float]:
    flow = engine.document.flow("forecast.five-steps")
    assert flow is not None
    context = Context(
        tenant="main",
        principal=Principal("bench", "service", frozenset()),
        flow=flow.ref,
        message_id="bench",
        occurred_at="2026-01-01T00:00:00Z",
        trace=Trace.new(),
        correlation_id="bench",
    )

    def run() -> float:
        started = time.perf_counter()
        engine.run(flow, {}, context)
        return (time.perf_counter() - started) * 1000

    return run


def _each(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        times = []
        for _ in range(3):
            started = time.process_time()
            work()
            times.append(time.process_time() - started)
        return median(times) / ROWS * 1e9

    return run


def _engine(document: Path, ways: Ways) -> Engine:
    found = checked(document)
    assert found.document is not None
    return Engine(found.document, found.binds, ways)


@contextmanager
def upstream() -> Iterator[str]:
    """The upstream at a port."""
    port = surfaces.free_port()
    with surfaces.running([sys.executable, "-m", "bench.forecast_tool", "upstream", str(port)], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _tool(url: str) -> Iterator[str]:
    port = surfaces.free_port()
    with surfaces.running([sys.executable, "-m", "bench.forecast_tool", "tool", str(port), url], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _office(data: Path, document: Path) -> Iterator[tuple[str, str]]:
    port = surfaces.free_port()
    command = [*surfaces.ENGROSS, "serve", "--data", str(data), "--port", str(port), "--capability", str(document)]
    with surfaces.running(["env", "ENGROSS_PRIVATE_HOSTS=127.0.0.1", *command], port):
        yield f"http://127.0.0.1:{port}", (data / "tokens" / "owner.token").read_text().strip()
