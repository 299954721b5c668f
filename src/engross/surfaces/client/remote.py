"""An office somewhere else, spoken to over REST.

A network may lose a call or its answer. Both end in a Reply of type E, which says where the outcome is not known;
repeating a write with the same client_request_id is safe either way.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from math import isfinite
from typing import IO, Any
from urllib.parse import quote, urlencode

import httpx2
import orjson

from engross.flows import LIMITS, admissible, shortened, unknown_flow
from engross.replies import Coded, Failed, Invalid, Reply, Trace, codes, received, reply, reply_of
from engross.replies.envelopes import REPLY_JSON

from .address import office_around
from .content import Upload, opened, pieces
from .described import outlines_in
from .options import Options
from .outline import Outline
from .straight import straight
from .unheard import WHERE_OFFICES_ARE, unheard

CONNECT_SECONDS = 5.0
ON_THE_WAY_SECONDS = 5.0
"""What the network may take on top of what the office may take."""
IDLE_SECONDS = 3.0
"""Less than an office keeps an idle connection: nobody knows what became of a call on one that ends just then."""
SHORTEST_SECONDS = 1e-9
CLOSED = "this client was closed"
MOST_AT_ONCE = 64
KEEP, GET = "record.keep-blob", "record.get-blob"
# Only what is no JSON is refused here; how much of it is too much, the office knows.
_ANY_JSON = LIMITS._replace(depth=200, values=10**9, text=10**9, size=10**9, key=10**6)
_REF = re.compile(r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*")
_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.InvalidURL,
)


class RemotePort:
    """A credential at an office that others run. Who it stands for, the office decides."""

    def __init__(self, url: str, token: str | None = None, *, call_seconds: float = 30.0) -> None:
        self.url = office_around(url)
        self._call_seconds = call_seconds
        # A token that no header can hold is not sent, and every call is refused as with any other bad one.
        self._is_refused = token is not None and not (token.isascii() and token.isprintable())
        told = {"Authorization": f"Bearer {token}"} if token and not self._is_refused else {}
        limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=IDLE_SECONDS)
        self._http = straight(told, limits=limits)

    def __repr__(self) -> str:
        return f"<RemotePort {self.url}>"

    def call(self, flow: str, arguments: Any, options: Options) -> Reply:
        """Call a flow, and wait."""
        trace = Trace.from_headers(options.get("traceparent"), options.get("tracestate"))
        issues = admissible(arguments, _ANY_JSON)
        if issues:
            return reply_of(Invalid.many(issues)).traced(trace, shortened(flow))
        if not (isinstance(flow, str) and _REF.fullmatch(flow)):
            return reply_of(self._unknown(flow)).traced(trace, shortened(flow))
        headers = {"Content-Type": "application/json", **_headers(options)}
        seconds = options.get("timeout")
        body = orjson.dumps(arguments)
        address = f"/v1/{flow.replace('.', '/')}"
        return self._asked(flow, trace, address, headers, body, self._call_seconds if seconds is None else seconds)

    async def acall(self, flow: str, arguments: Any, options: Options) -> Reply:
        """Call a flow on an event loop."""
        from asyncio import get_running_loop

        return await get_running_loop().run_in_executor(self._threads, self.call, flow, arguments, options)

    def upload(self, upload: Upload) -> Reply:
        """Send bytes to the office, a piece at a time."""
        headers = {"Content-Type": _sendable(upload.media_type)}
        if upload.client_request_id is not None:
            headers["Idempotency-Key"] = f'"{_sendable(upload.client_request_id)}"'
        address = f"/v1/blobs?{urlencode({'name': upload.name}, errors='backslashreplace')}"
        with opened(upload.content) as (stream, size):
            if size is not None:
                headers["Content-Length"] = str(size)
            return self._asked(KEEP, Trace.new(), address, headers, pieces(stream), self._call_seconds)

    def download(self, content_hash: str, target: IO[bytes]) -> Reply:
        """Fetch bytes from the office, a piece at a time."""
        answer = self.call(GET, {"content_hash": content_hash}, {})
        if not answer.ok:
            return answer
        found = sha256()
        try:
            address = f"{self.url}/v1/blobs/{quote(content_hash, safe='')}"
            with self._http.stream("GET", address, timeout=_patience(self._call_seconds)) as response:
                for piece in response.iter_bytes():
                    found.update(piece)
                    target.write(piece)
        except httpx2.HTTPError as error:
            return _lost(error).traced(answer.trace or Trace.new(), GET)
        if found.hexdigest() != content_hash:
            return _unreachable("the bytes did not arrive whole").traced(answer.trace or Trace.new(), GET)
        return answer

    def namespaces(self) -> Collection[str]:
        """The names of all aggregates; none while the office cannot be reached."""
        return {outline.namespace for outline in self._told()}

    def flow_names(self, namespace: str) -> Collection[str]:
        """The names of an aggregate's flows; none while the office cannot be reached."""
        return [outline.name for outline in self._told() if outline.namespace == namespace]

    def outlines(self) -> Mapping[str, Outline]:
        """Every flow by ref."""
        return self._outlines

    def _told(self) -> Collection[Outline]:
        try:
            return self._outlines.values()
        except Failed:
            return ()

    def close(self) -> None:
        """Let go."""
        if "_threads" in self.__dict__:
            self._threads.shutdown()
        self._http.close()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="engross-remote")

    @cached_property
    def _outlines(self) -> dict[str, Outline]:
        try:
            response = self._http.get(f"{self.url}/openapi.json", timeout=_patience(self._call_seconds))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Failed(codes.OFFICE_UNREACHABLE, data=_in_words(error)) from error
        except RuntimeError as error:
            raise Failed(codes.OFFICE_UNREACHABLE, data={"problem": CLOSED}) from error
        try:
            return outlines_in(response.json())
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise Failed(codes.OFFICE_UNREACHABLE, data=_no_office(response)) from error

    def _unknown(self, flow: object) -> Coded:
        """What the office would say about a name that cannot be part of an address."""
        try:
            known = self._outlines
        except Failed as failure:
            return failure
        return unknown_flow(flow, known, {one.tool: ref for ref, one in known.items() if one.tool})

    def _asked(
        self,
        flow: str,
        trace: Trace,
        address: str,
        headers: Mapping[str, str],
        content: bytes | Iterable[bytes],
        seconds: float,
    ) -> Reply:
        started = time.perf_counter()
        if self._is_refused:
            return reply_of(Invalid(codes.AUTH_INVALID)).traced(trace, shortened(flow))
        told = {**headers, "Accept": REPLY_JSON, "traceparent": trace.traceparent}
        if trace.tracestate is not None:
            told["tracestate"] = trace.tracestate
        try:
            response = self._http.post(self.url + address, content=content, headers=told, timeout=_patience(seconds))
            if response.headers.get("content-type") == REPLY_JSON:
                return _read(response.content)
            answer = _unreachable(**_no_office(response), outcome="unknown")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            answer = _lost(error)
        except RuntimeError:
            answer = _unreachable(CLOSED)
        return answer.traced(trace, shortened(flow), round((time.perf_counter() - started) * 1000, 3))


def _headers(options: Options) -> dict[str, str]:
    """The options of a call that travel as headers. As everywhere, an id that is none counts as not given."""
    told = {"X-Correlation-ID": options.get("correlation_id"), "X-Causation-ID": options.get("causation_id")}
    headers = {name: value for name, value in told.items() if isinstance(value, str) and _is_fit(value)}
    seconds = options.get("timeout")
    if seconds is not None:
        headers["Engross-Timeout"] = f"{max(seconds, SHORTEST_SECONDS):.9f}"
    if options.get("dry_run"):
        headers["Engross-Dry-Run"] = "true"
    if options.get("break_glass"):
        headers["Engross-Break-Glass"] = "true"
    if pins := options.get("pins"):
        headers["Engross-Pins"] = urlencode(pins, errors="backslashreplace")
    return headers


def _is_fit(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _sendable(text: str) -> str:
    """The text with escapes for what no header can hold; the office refuses those as it refuses the text itself."""
    return text.encode("unicode_escape").decode("ascii")


def _patience(seconds: float) -> httpx2.Timeout:
    answering = max(seconds, 0.0) + ON_THE_WAY_SECONDS if isfinite(seconds) else None
    return httpx2.Timeout(answering, connect=CONNECT_SECONDS)


def _read(body: bytes) -> Reply:
    try:
        return received(orjson.loads(body))
    except ValueError:
        return received(None)


def _lost(error: Exception) -> Reply:
    """What a failing network comes to: nothing was sent, or nobody knows what became of it."""
    if isinstance(error, _NEVER_SENT):
        return _unreachable(**_in_words(error))
    if isinstance(error, httpx2.TimeoutException):
        return reply(codes.TIMEOUT, data={"outcome": "unknown"})
    return _unreachable(**_in_words(error), outcome="unknown")


def _in_words(error: Exception) -> dict[str, str]:
    silence = unheard(error)
    return {"problem": silence.problem, "hint": silence.advice}


def _no_office(response: httpx2.Response) -> dict[str, Any]:
    return {"problem": "what answered is no office", "status": response.status_code, "hint": WHERE_OFFICES_ARE}


def _unreachable(problem: str, **more: Any) -> Reply:
    return reply(codes.OFFICE_UNREACHABLE, data={"problem": problem, **more})
