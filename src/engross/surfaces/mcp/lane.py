"""The short way: a plain call of a tool in the later era of the protocol, answered without the SDK.

The SDK takes every request apart and puts it together again several times over, which costs more than the call itself.
Only a request that is plain in every respect is answered here. Whatever is not, if only in a trifle, is left to the SDK
just as it came: the rules are the SDK's, and a test sends the same requests both ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from engross import __version__
from engross.flows import Flow, Tool
from engross.office import confirm_token
from engross.replies import codes, mcp_result

from .calling import may_speak
from .guide import GUIDES
from .server import NAME, TITLE
from .window import TOLD_IN_META, Visit, Window, circumstances

if TYPE_CHECKING:
    from starlette.types import Scope, Send

METHOD = "tools/call"
REQUEST = frozenset({"jsonrpc", "id", "method", "params"})
PARAMS = frozenset({"name", "arguments", "_meta"})
ENVELOPE = frozenset({PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY})
MOST_ENVELOPES = 1024
LARGEST_ENVELOPE = 2048
MEANS = ("elicitation", "sampling", "roots")
RISKY = 3
"""The tier from which a direct commit is usually to be confirmed."""
SERVER = {SERVER_INFO_META_KEY: {"name": NAME, "title": TITLE, "version": __version__}}
"""Every result of the later era says whose it is."""
_PARAM = b"mcp-param-"
_HEADER_OF_A_PARAMETER = b'"x-mcp-header"'
# Whole numbers beyond 64 bits, which one JSON library keeps whole and another does not.
_LARGE_NUMBER = re.compile(rb"[0-9]{19}")


class Plain(NamedTuple):
    """A request that is plain in every respect."""

    id: str | int
    name: str
    flow: Flow
    arguments: dict[str, Any]
    meta: Mapping[str, Any]

    @property
    def version(self) -> str:
        """The version of the protocol that it is written in."""
        version: str = self.meta[PROTOCOL_VERSION_META_KEY]
        return version


class Lane:
    """Answers what is plain, and leaves the rest alone."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._edition = -1
        self._flows: dict[str, Flow | None] = {}
        self._envelopes: set[bytes] = set()

    async def answered(self, scope: Scope, headers: Mapping[bytes, bytes], body: bytes, send: Send) -> bool:
        """Answer a request over HTTP if it is plain; False if it is for the SDK, and nothing was sent."""
        request = self.plain(body) if _is_plain_head(scope, headers) else None
        if request is None or not _agree(headers, request):
            return False
        message = await self.answer(request, partial(header_of, headers))
        if message is None:
            return False
        await send_json(send, 200, message)
        return True

    async def answer(self, request: Plain, header: Callable[[str], str | None]) -> bytes | None:
        """The message that answers a plain request; None if it is for the SDK after all, and nothing was done."""
        window = self._window
        visit = Visit(window.desk, window.who(), window.surface, circumstances(request.meta, header))
        answer = await visit.call(request.flow.ref, request.arguments)
        if answer.code == codes.INPUT_REQUIRED or (_can_ask(request.meta) and confirm_token(answer) is not None):
            # The SDK's side knows how to ask.
            return None
        return message(request.id, mcp_result(answer, request.flow.dialect))

    def plain(self, body: bytes) -> Plain | None:
        """The request that a message is, if it is plain."""
        if _LARGE_NUMBER.search(body):
            return None
        try:
            message = orjson.loads(body)
        except ValueError:
            return None
        if not _is_plain_message(message):
            return None
        params = message["params"]
        flow = self._plain_flow(params["name"])
        if flow is None or not self.is_envelope(params["_meta"]):
            return None
        if _may_ask(flow) and _can_ask(params["_meta"]):
            return None
        return Plain(message["id"], params["name"], flow, params["arguments"], params["_meta"])

    def _plain_flow(self, name: str) -> Flow | None:
        """The flow behind a tool, if calling it is all there is to it. Names that somebody made up are not kept."""
        desk = self._window.desk
        if self._edition != desk.edition:
            self._edition = desk.edition
            self._flows.clear()
        if name not in self._flows:
            tool = desk.find(name)
            if tool is None or tool.name != name:
                return None
            self._flows[name] = tool.flow if self._is_plain_tool(tool) else None
        return self._flows[name]

    def _is_plain_tool(self, tool: Tool) -> bool:
        flow = tool.flow
        if tool.name in GUIDES or flow.content:
            return False
        return not (may_speak(flow) and flow.writes) and _HEADER_OF_A_PARAMETER not in orjson.dumps(flow.published)

    def is_envelope(self, meta: Mapping[str, Any]) -> bool:
        """Whether the envelope is one that the SDK lets through; clients send the same one over and over."""
        envelope = {name: value for name, value in meta.items() if name not in TOLD_IN_META}
        version = envelope.get(PROTOCOL_VERSION_META_KEY)
        if version not in MODERN_PROTOCOL_VERSIONS or not envelope.keys() <= ENVELOPE:
            return False
        if type(envelope.get(CLIENT_CAPABILITIES_META_KEY)) is not dict:
            return False
        key = orjson.dumps(envelope)
        if key in self._envelopes:
            return True
        if len(key) > LARGEST_ENVELOPE:
            return False
        try:
            validate_client_request(METHOD, version, {"name": "x", "arguments": {}, "_meta": envelope})
        except ValidationError:
            return False
        if len(self._envelopes) >= MOST_ENVELOPES:
            self._envelopes.clear()
        self._envelopes.add(key)
        return True


def header_of(headers: Mapping[bytes, bytes], name: str) -> str | None:
    """A header of a request, if it is there."""
    value = headers.get(name.encode())
    return None if value is None else value.decode("latin-1")


def _is_plain_head(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    accepted = headers.get(b"accept", b"")
    return (
        len(headers) == len(scope["headers"])
        and headers.get(b"mcp-method") == b"tools/call"
        and b"mcp-name" in headers
        and b"mcp-protocol-version" in headers
        and headers.get(b"content-type") == b"application/json"
        and accepted in (b"application/json, text/event-stream", b"text/event-stream, application/json")
        and not any(name.startswith(_PARAM) for name in headers)
    )


def _agree(headers: Mapping[bytes, bytes], request: Plain) -> bool:
    """Do the headers say what the body says?"""
    return (
        headers[b"mcp-name"] == request.name.encode() and headers[b"mcp-protocol-version"] == request.version.encode()
    )


def _is_plain_message(message: Any) -> bool:
    if type(message) is not dict or message.keys() != REQUEST:
        return False
    params = message["params"]
    return (
        message["jsonrpc"] == "2.0"
        and message["method"] == METHOD
        and type(message["id"]) in (str, int)
        and type(params) is dict
        and params.keys() == PARAMS
        and type(params["name"]) is str
        and type(params["arguments"]) is dict
        and type(params["_meta"]) is dict
        and all(type(params["_meta"].get(name, "")) is str for name in TOLD_IN_META)
    )


def _can_ask(meta: Mapping[str, Any]) -> bool:
    """Did the client say that it can be asked for anything?"""
    capabilities: Mapping[str, Any] = meta[CLIENT_CAPABILITIES_META_KEY]
    return any(means in capabilities for means in MEANS)


def _may_ask(flow: Flow) -> bool:
    """Is the call likely to come to a question? Made here, it would then have to be made again."""
    return may_speak(flow) or flow.tier >= RISKY or flow.risk is not None


def message(number: str | int, result: Mapping[str, Any], *, is_modern: bool = True) -> bytes:
    """The message with a result. In the later era it says that it is whole, and whose it is."""
    whole = {"resultType": "complete", **result, "_meta": SERVER} if is_modern else result
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "result": whole})


async def send_json(send: Send, status: int, body: bytes) -> None:
    """Send one whole message."""
    head = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
