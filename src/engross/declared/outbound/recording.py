"""Recorded upstreams: what other systems answered, in a file beside the document, so that examples run without them.

A request is known by its method, its address and its body; of headers only a few are kept. What must not be seen is
taken out of everything before it is written, and out of a request before it is looked for.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from ..redaction import Redactor
from .exchange import OutboundError, Received, Sent
from .outbound import Outbound

FORMAT = 1
KEPT_HEADERS = ("content-type", "cache-control", "retry-after")


class Recording:
    """A file of requests and what was answered to them."""

    def __init__(self, file: Path, redactor: Redactor) -> None:
        self.file = file
        self._redactor = redactor
        self._lock = Lock()
        self._exchanges: dict[str, dict[str, Any]] | None = None

    async def send(self, sent: Sent, seconds: float) -> Received:
        """What was recorded for this request."""
        found = self._read().get(self._mark(sent))
        if found is None:
            raise OutboundError("unrecorded", reached=False)
        return _received(found["response"])

    def keep(self, sent: Sent, received: Received) -> None:
        """Write down an exchange; the last one with the same request counts."""
        with self._lock:
            exchanges = dict(self._read())
            exchanges[self._mark(sent)] = {"request": self._request(sent), "response": self._response(received)}
            self._exchanges = exchanges
            told = {"format": FORMAT, "exchanges": sorted(exchanges.values(), key=_place)}
            beside = self.file.with_name(f".{self.file.name}.{os.getpid()}")
            beside.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")
            beside.replace(self.file)

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._exchanges is None:
            try:
                told = orjson.loads(self.file.read_bytes())
                self._exchanges = {_mark_of(one["request"]): one for one in told["exchanges"]}
            except FileNotFoundError:
                self._exchanges = {}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise OutboundError("unrecorded", reached=False) from error
        return self._exchanges

    def _mark(self, sent: Sent) -> str:
        return _mark_of(self._request(sent))

    def _request(self, sent: Sent) -> dict[str, Any]:
        request: dict[str, Any] = {"method": sent.method, "url": self._redactor.text(sent.url)}
        return request | self._content(sent.body or b"")

    def _response(self, received: Received) -> dict[str, Any]:
        headers = {name: received.headers[name] for name in KEPT_HEADERS if name in received.headers}
        return {"status": received.status, "headers": headers, **self._content(received.body)}

    def _content(self, body: bytes) -> dict[str, Any]:
        """A body as it is best read: as JSON if it is that, else as text, else in base64."""
        if not body:
            return {}
        try:
            return {"json": self._redactor.data(orjson.loads(body))}
        except orjson.JSONDecodeError:
            pass
        text = self._redactor.text(body.decode("utf-8", "surrogateescape"))
        try:
            text.encode()
        except UnicodeEncodeError:
            return {"base64": b64encode(text.encode("utf-8", "surrogateescape")).decode()}
        return {"text": text}


class Recorder:
    """Calls, and writes down what was answered."""

    def __init__(self, outbound: Outbound, recording: Recording) -> None:
        self._outbound = outbound
        self._recording = recording

    async def send(self, sent: Sent, seconds: float) -> Received:
        """The response, which is then on file too."""
        received = await self._outbound.send(sent, seconds)
        self._recording.keep(sent, received)
        return received


def _place(exchange: Mapping[str, Any]) -> tuple[str, str, bytes]:
    """An order that is the same every time, whoever answered first."""
    request = exchange["request"]
    content = {name: part for name, part in request.items() if name != "url"}
    return request["url"], request["method"], orjson.dumps(content, option=orjson.OPT_SORT_KEYS)


def _mark_of(request: Mapping[str, Any]) -> str:
    return sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _received(response: Mapping[str, Any]) -> Received:
    body = b""
    if "json" in response:
        body = orjson.dumps(response["json"])
    elif "text" in response:
        body = response["text"].encode()
    elif "base64" in response:
        body = b64decode(response["base64"])
    return Received(response["status"], response.get("headers", {}), body)
