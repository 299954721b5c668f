"""Engines for tests: a document written in the test, an upstream on this machine, and calls of anybody."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engross.calls import Context, Principal
from engross.declared.checking import checked
from engross.declared.engine import Engine, Outcome
from engross.declared.ways import Ways
from engross.replies import Trace
from tests.declared.upstream import Upstream

LOCAL = Ways(private_hosts=("127.0.0.1",))
ANYBODY = Principal("scout", "agent", frozenset({"contributor"}))


def context(**changes: Any) -> Context:
    """A call of anybody."""
    usual = Context(
        tenant="main",
        principal=ANYBODY,
        flow="test.flow",
        message_id="0192f3a0-0000-7000-8000-000000000001",
        occurred_at="2026-11-16T12:00:00Z",
        trace=Trace.new(),
        correlation_id="c-1",
        deadline=time.monotonic() + 30,
    )
    return replace(usual, **changes)


def engine(
    folder: Path,
    text: str,
    *,
    ways: Ways = LOCAL,
    environ: Mapping[str, str] | None = None,
    **more: Any,
) -> Engine:
    """The engine of a document with this text."""
    file = folder / "document.yaml"
    file.write_text(textwrap.dedent(text))
    found = checked(file, environ=environ or {})
    assert found.document is not None
    return Engine(found.document, found.binds, ways, **more)


def run(engine: Engine, ref: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Outcome:
    """Run a flow of the engine's document."""
    flow = engine.document.flow(ref)
    assert flow is not None
    key = more.pop("key", None)
    return engine.run(flow, arguments or {}, context(**more), key=key)


def value(engine: Engine, ref: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """What a flow answers."""
    return run(engine, ref, arguments, **more).value


HEAD = """\
ikanos: "1.0.0-beta5"
info: {{ display: "Test", description: "A document of a test" }}
{binds}
capability:
  consumes:
    - type: http
      namespace: up
      description: "The upstream"
      baseUri: "{url}"
{client}
      resources:
{resources}
  aggregates:
    test:
      display: "Test"
      flows:
{flows}
  exposes:
    - {{ type: mcp, port: 3001, namespace: test-mcp, tools: {{ {tool} }} }}
"""


def document(
    upstream: Upstream | str, resources: str, flows: str, *, client: str = "", binds: str = "", tool: str = "one"
) -> str:
    """A document with one upstream and the aggregate `test`; `tool` is the flow that is exposed."""
    url = upstream if isinstance(upstream, str) else upstream.url
    return HEAD.format(
        url=url,
        client=_indented(client, 6),
        binds=textwrap.dedent(binds),
        resources=_indented(resources, 8),
        flows=_indented(flows, 8),
        tool=f"{tool}: {{ ref: test.{tool} }}",
    )


def _indented(text: str, by: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by)
