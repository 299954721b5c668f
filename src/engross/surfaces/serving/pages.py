"""The few pages that are the server's own: what this is, who gives out credentials, and the metrics."""

from __future__ import annotations

from html import escape
from ipaddress import ip_address

import orjson
from starlette.types import Receive, Scope, Send

import engross
from engross.office import Office
from engross.surfaces.rest.answers import send_bytes

from .guard import MCP, base_of
from .head import header
from .metrics import Metrics
from .names import is_loopback_name, public_base

WAYS_IN = {
    "mcp": (MCP, "Model Context Protocol, for agents"),
    "rest": ("/docs", "REST: every flow, described"),
    "openapi": ("/openapi.json", "the same for programs, OpenAPI 3.1"),
    "problems": ("/problems", "what the codes of answers mean"),
    "ready": ("/health/ready", "whether the office can work"),
}
PASSED_ON = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
"""Headers that say that somebody stands between us and who is asking."""


class Pages:
    """Answers that need no flow."""

    def __init__(self, office: Office, metrics: Metrics) -> None:
        self._office = office
        self._base = public_base(office.settings)
        self._metrics = metrics

    async def welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What this is, and where to go."""
        if "text/html" in (header(scope, b"accept") or ""):
            await send_bytes(send, 200, "text/html; charset=utf-8", WELCOME, {"vary": "accept"})
            return
        ways = {name: {"path": path, "what": what} for name, (path, what) in WAYS_IN.items()}
        await _send_json(send, {"name": "Engross", "version": engross.__version__, "ways_in": ways})

    async def metadata(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Who gives out credentials for the office as a whole (RFC 9728)."""
        await _send_json(send, self._office.door.metadata(base_of(scope, self._base)))

    async def mcp_metadata(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Who gives out credentials for MCP (RFC 9728)."""
        await _send_json(send, self._office.door.metadata(base_of(scope, self._base) + MCP))

    async def metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What Prometheus reads."""
        if not self._office.settings.open_metrics and not is_from_here(scope):
            self._office.require_admin(scope.get("state", {}).get("caller"))
        content, media_type = self._metrics.page(header(scope, b"accept"))
        await send_bytes(send, 200, media_type, content, {})


def is_from_here(scope: Scope) -> bool:
    """Whether a request comes from this machine itself, and not from somebody whom a proxy on it stands for."""
    client = scope.get("client")
    try:
        near = client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False
    passed_on = any(name in PASSED_ON for name, _ in scope["headers"])
    return near and not passed_on and is_loopback_name((header(scope, b"host") or "").encode("latin-1"))


async def _send_json(send: Send, document: object) -> None:
    await send_bytes(send, 200, "application/json", orjson.dumps(document), {})


def _welcome() -> bytes:
    ways = "".join(f'<li><a href="{path}">{path}</a> {escape(what)}</li>' for path, what in WAYS_IN.values())
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Engross</title>'
        "<h1>Engross</h1><p>Agents draft; Engross makes it the record. This is a running office.</p>"
        f"<ul>{ways}</ul></html>"
    ).encode()


WELCOME = _welcome()
