"""A line to whatever answers at an address: questions that end in time, and answers of which only so much is read.

It may be no office that answers, or one that is broken. Nothing that comes from there is followed, and nothing of it
ends in a stack.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple

import httpx2
import orjson

from engross.replies import Reply, received
from engross.replies.envelopes import REPLY_JSON
from engross.surfaces.client.straight import straight
from engross.surfaces.client.unheard import Unheard, unheard

CONNECT_SECONDS = 5.0
PATIENCE_SECONDS = 15.0
MOST_BYTES = 32 << 20
STREAM = "text/event-stream"
JSON = "application/json"


class Heard(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    asked_at: float
    heard_at: float
    tls: ssl.SSLObject | None = None

    @property
    def reply(self) -> Reply | None:
        """The Reply that it is, from an office."""
        if self.headers.get("content-type", "").partition(";")[0] != REPLY_JSON:
            return None
        return received(self.document)

    @property
    def document(self) -> Any:
        """The JSON that it is; None when it is none."""
        try:
            return orjson.loads(self.body)
        except ValueError:
            return None

    @property
    def message(self) -> dict[str, Any]:
        """The first JSON-RPC answer in it, alone or in a stream; an empty one when there is none."""
        found = _first_message(self.body) if self.is_stream else self.document
        return found if isinstance(found, dict) else {}

    @property
    def is_stream(self) -> bool:
        """Whether messages come one by one."""
        return self.headers.get("content-type", "").startswith(STREAM)


class Line:
    """Questions to one address, with a token where one is given."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url.rstrip("/")
        held = {"Authorization": f"Bearer {token}"} if token else {}
        patience = httpx2.Timeout(PATIENCE_SECONDS, connect=CONNECT_SECONDS)
        self._http = straight({"Accept-Encoding": "identity", **held}, timeout=patience)

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Heard:
        """What comes back to one question; Unheard when nothing does."""
        content = None if body is None else orjson.dumps(body)
        told = {"Accept": REPLY_JSON, **({} if content is None else {"Content-Type": JSON}), **(headers or {})}
        asked_at = time.time()
        try:
            with self._http.stream(method, self.url + path, content=content, headers=told) as response:
                return _taken_down(response, asked_at)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, OverflowError) as error:
            raise unheard(error) from error

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()


def _taken_down(response: httpx2.Response, asked_at: float) -> Heard:
    deadline, body = time.monotonic() + PATIENCE_SECONDS, bytearray()
    stream = response.extensions.get("network_stream")
    tls = None if stream is None else stream.get_extra_info("ssl_object")
    heard = Heard(response.status_code, response.headers, b"", asked_at, time.time(), tls)
    for piece in response.iter_bytes():
        body += piece
        if heard.is_stream and heard._replace(body=bytes(body)).message:
            # It may go on for as long as it likes.
            break
        if len(body) > MOST_BYTES:
            raise Unheard("it says more than any office would", "Look at the address: this is something else.")
        if time.monotonic() > deadline:
            raise httpx2.ReadTimeout("it goes on for too long")
    return heard._replace(body=bytes(body))


def _first_message(stream: bytes) -> Any:
    for line in stream.splitlines():
        if line.startswith(b"data:") and (text := line.removeprefix(b"data:").strip()):
            try:
                return orjson.loads(text)
            except ValueError:
                return None
    return None
