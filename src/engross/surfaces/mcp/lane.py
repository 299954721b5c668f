"""The short way: a plain call of a tool over HTTP in the later era of the protocol, answered without the SDK.

The SDK takes every request apart and puts it together again several times over, which costs more than the call itself.
Only a request that is plain in every respect is answered here. Whatever is not, if only in a trifle, is left to the SDK
just as it came: the rules are the SDK's, and a test sends the same requests both ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

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
from starlette.types import Scope, Send

from engross import __version__
from engross.flows import Flow
from engross.office import confirm_token
from engross.replies import Reply, codes, mcp_result

from .calling import may_speak
from .guide import GUIDES
from .server import NAME, TITLE
from .window import TOLD_IN_META, Visit, Window, circumstances

METHOD = "tools/call"
REQUEST = frozenset({"jsonrpc", "id", "method", "params"})
PARAMS = frozenset({"name", "arguments", "_meta"})
ENVELOPE = frozenset({PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY})
MOST_ENVELOPES = 1024
SERVER = {SERVER_INFO_META_KEY: {"name": NAME, "title": TITLE, "version": __version__}}
"""Every result of the later era says whose it is."""
_VERSIONS = {version.encode(): version for version in MODERN_PROTOCOL_VERSIONS}
_PARAM = b"mcp-param-"
_HEADER_OF_A_PARAMETER = b'"x-mcp-header"'
# Whole numbers beyond 64 bits, which one JSON library keeps whole and another does not.
_LARGE_NUMBER = re.compile(rb"[0-9]{19}")


class Plain(NamedTuple):
    """A request that is plain in every respect."""

    id: str | int
    flow: Flow
    arguments: dict[str, Any]
    meta: Mapping[str, Any]

    @property
    def can_be_asked(self) -> bool:
        """Did the client say that it has somebody to ask?"""
        return "elicitation" in self.meta[CLIENT_CAPABILITIES_META_KEY]


class Lane:
    """Answers what is plain, and leaves the rest alone."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._flows: dict[str, Flow | None] = {}
        self._envelopes: set[bytes] = set()

    async def answered(self, scope: Scope, headers: Mapping[bytes, bytes], body: bytes, send: Send) -> bool:
        """Answer the request if it is plain; False if it is for the SDK, and nothing was sent."""
        request = self._plain(scope, headers, body)
        if request is None:
            return False

        def header(name: str) -> str | None:
            value = headers.get(name.encode())
            return None if value is None else value.decode("latin-1")

        window = self._window
        visit = Visit(window.desk, window.who(), window.surface, circumstances(request.meta, header))
        answer = await visit.call(request.flow.ref, request.arguments)
        if _wants_an_answer(request, answer):
            # Nothing was done. The SDK's side knows how to ask.
            return False
        await _send(send, _message(request, answer))
        return True

    def _plain(self, scope: Scope, headers: Mapping[bytes, bytes], body: bytes) -> Plain | None:
        version = _VERSIONS.get(headers.get(b"mcp-protocol-version", b""))
        if version is None or not _is_plain_head(scope, headers) or _LARGE_NUMBER.search(body):
            return None
        try:
            message = orjson.loads(body)
        except ValueError:
            return None
        if not _is_plain_message(message):
            return None
        params = message["params"]
        flow = self._flow(params["name"])
        if flow is None or params["name"].encode() != headers[b"mcp-name"]:
            return None
        if not self._is_envelope(version, params["_meta"]):
            return None
        return Plain(message["id"], flow, params["arguments"], params["_meta"])

    def _flow(self, name: str) -> Flow | None:
        """The flow behind a tool, if calling it is all there is to it."""
        if name not in self._flows and name.isascii() and len(name) <= 64:
            self._flows[name] = self._found(name)
        return self._flows.get(name)

    def _found(self, name: str) -> Flow | None:
        tool = self._window.desk.find(name)
        if tool is None or tool.name != name or name in GUIDES or tool.flow.content:
            return None
        if may_speak(tool.flow) and tool.flow.writes:
            return None
        return None if _HEADER_OF_A_PARAMETER in orjson.dumps(tool.flow.published) else tool.flow

    def _is_envelope(self, version: str, meta: dict[str, Any]) -> bool:
        """Whether the envelope is one that the SDK lets through; clients send the same one over and over."""
        envelope = {name: value for name, value in meta.items() if name not in TOLD_IN_META}
        if envelope.get(PROTOCOL_VERSION_META_KEY) != version or not envelope.keys() <= ENVELOPE:
            return False
        if type(envelope.get(CLIENT_CAPABILITIES_META_KEY)) is not dict:
            return False
        key = orjson.dumps(envelope)
        if key in self._envelopes:
            return True
        try:
            validate_client_request(METHOD, version, {"name": "x", "arguments": {}, "_meta": envelope})
        except ValidationError:
            return False
        if len(self._envelopes) >= MOST_ENVELOPES:
            self._envelopes.clear()
        self._envelopes.add(key)
        return True


def _is_plain_head(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    accepted = headers.get(b"accept", b"")
    return (
        len(headers) == len(scope["headers"])
        and headers.get(b"mcp-method") == b"tools/call"
        and b"mcp-name" in headers
        and headers.get(b"content-type") == b"application/json"
        and accepted in (b"application/json, text/event-stream", b"text/event-stream, application/json")
        and not any(name.startswith(_PARAM) for name in headers)
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


def _wants_an_answer(request: Plain, answer: Reply) -> bool:
    """Is there a question that the client may be able to answer?"""
    return answer.code == codes.INPUT_REQUIRED or (request.can_be_asked and confirm_token(answer) is not None)


def _message(request: Plain, answer: Reply) -> bytes:
    result = {"resultType": "complete", **mcp_result(answer, request.flow.dialect), "_meta": SERVER}
    return orjson.dumps({"jsonrpc": "2.0", "id": request.id, "result": result})


async def _send(send: Send, body: bytes) -> None:
    head = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})
