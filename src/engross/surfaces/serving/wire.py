"""Connections that do not behave: what cannot be seen from inside a request.

uvicorn hands a request over once its head is complete. Before that a client may send a head without end, or none at
all; afterwards it may send its body drop by drop, close its side early, or never read the answer. Each of these would
hold a connection for ever, so each has a limit here. None costs anything while a client behaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any, ClassVar, NamedTuple, cast
from urllib.parse import unquote

import orjson
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url
from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from engross.replies import Reply, Trace, codes, http, reply
from engross.surfaces.arrived import note_body, whole_body
from engross.surfaces.heads import as_lines

from .exchange import Exchange
from .repeated import Repeated, repeated

MOST_WRAPPING = 8
"""A body that comes byte by byte has five times as much around it."""
MOST_WAITING = 16
"""So many requests may wait behind another on their connection before no more bytes are looked at."""
MOST_OTHERS = 8
"""A client that says something else in each of so many heads is not expected to repeat itself."""
MOST_AT_ONCE = 16_384
"""In bytes: so many are looked at before that is asked again."""
ASGI = {"version": "3.0", "spec_version": "2.3"}
STREAMING = ("/mcp",)
"""Where a client that closes its side while an answer streams takes its request back, or listens no longer."""


class Patience(NamedTuple):
    """How long a connection is waited for."""

    head_seconds: float = 10.0
    body_seconds: float = 30.0
    least_bytes_per_second: int = 16_384
    """A body that comes at least this fast may take longer."""
    reading_seconds: float = 30.0
    """How long a client may let an answer lie."""
    idle_seconds: float = 5.0
    """How long a connection may stay when its answers are out and nobody asks anything."""
    lingering_seconds: float = 5.0
    """How long we go on taking in what nobody wants, so that the client gets to read why."""
    most_head_bytes: int = 65_536


def patient(patience: Patience) -> type[Wire]:
    """The protocol with limits of one's own."""
    return type("Wire", (Wire,), {"patience": patience})


def head_too_large(limit: int) -> Reply:
    """There is more before the body than we care to read."""
    return reply(codes.LIMIT_EXCEEDED, {"what": "The head of the request", "limit": limit})


class Wire(HttpToolsProtocol):
    """uvicorn's protocol, with an end to its patience."""

    patience: ClassVar[Patience] = Patience()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._idle_since = 0.0
        self._in_body = False
        self._head_bytes = 0
        self._body_bytes = 0
        self._body_size = 0
        self._arrived = 0
        self._body_begun = 0.0
        self._left = b""
        """What arrived and is not looked at yet, since enough requests wait already."""
        self._is_between = True
        """Whether the parser is done with one request and has seen nothing of another."""
        self._repeated: Repeated | None = None
        self._others = 0
        """How many heads in a row were others than the one before."""
        self._refused = False
        self._answered: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait(self.patience.head_seconds, self._end_slow_head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        self._stop_waiting_for_reader()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._answered is not None and not self._answered.response_complete:
            # uvicorn tells the request that came last, which may be waiting behind this one.
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in some bytes; quickly if they are a request that looks like the one before it."""
        if not self._is_at_rest:
            self._take_all(data)
            return
        before = self.cycle
        scope = None if self._repeated is None else self._repeated.request(data)
        if scope is not None:
            self._others = 0
            self._begin_again(scope)
            return
        self._take_all(data)
        if self._others < MOST_OTHERS and self.cycle is not before and self.cycle.keep_alive:
            self._others += 1
            self._repeated = repeated(data, cast(Scope, self.cycle.scope))

    @property
    def _is_at_rest(self) -> bool:
        """Whether what comes now is the beginning of a request, and none waits for its answer."""
        if self._left or self._head_bytes or self._refused or not self._is_between:
            return False
        return (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing()

    def _begin_again(self, scope: Scope) -> None:
        scope["state"] = self.app_state.copy()
        cycle = self.cycle = Exchange(self, scope, keep_alive=True, asks_first=False)
        cycle.all_there(whole_body(scope) or b"")
        self._start_asgi_task(cycle, self.app)

    def _take_all(self, data: bytes) -> None:
        """Take in some bytes, as far as there is room for requests to wait."""
        data = self._left + data if self._left else data
        for start in range(0, len(data), MOST_AT_ONCE):
            if self._refused or self.transport.is_closing():
                return
            if len(self.pipeline) >= MOST_WAITING:
                self._left = data[start:]
                self.flow.pause_reading()
                return
            self._take_some(data[start : start + MOST_AT_ONCE])
        self._left = b""

    def _take_some(self, data: bytes) -> None:
        """Take in some bytes, and start a clock if they end in the middle of something."""
        if self._in_body:
            self._arrived += len(data)
        else:
            self._head_bytes += len(data)
        self._take_in(data)
        if self._refused or self.transport.is_closing():
            return
        if not self._in_body and self._head_bytes > self.patience.most_head_bytes:
            self._refuse(head_too_large(self.patience.most_head_bytes))
        elif self._in_body and self._is_mostly_wrapping():
            self._end_wrapping()
        elif self._timer is not None:
            return
        elif self._in_body:
            self._wait_for_body()
        elif self._head_bytes:
            self._wait(self.patience.head_seconds, self._end_slow_head)

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that has said all it wants to say may still read: the connection ends with the answer."""
        unanswered = self.cycle is not None and not self.cycle.response_complete
        if not unanswered or self._in_body or self._is_streaming:
            self._wait_for_reader()
            return False
        self.cycle.keep_alive = False
        return True

    @property
    def _is_streaming(self) -> bool:
        # The one that came last may wait behind it.
        answered = self._answered
        return answered is not None and answered.response_started and answered.scope["path"].startswith(STREAMING)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_between = False
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """One more header. What follows the body is none: whoever looked at the head never saw it."""
        if self._in_body:
            return
        name = name.lower()
        if name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete, the body begins."""
        if not self.url.startswith(b"/"):
            # A host in the first line would contradict the Host header, and win.
            raise ValueError("the request names more than a path")
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise ValueError("the request asks for a tunnel")
            return
        unanswered = self.cycle is not None and not self.cycle.response_complete
        # Who speaks HTTP/1.0 would take a word to go on for the answer.
        is_modern = self.parser.get_http_version() != "1.0"
        self.cycle = Exchange(
            self,
            self._scope(),
            keep_alive=is_modern and self.parser.should_keep_alive(),
            asks_first=is_modern and self.expect_100_continue,
        )
        if unanswered:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))
        else:
            self._start_asgi_task(self.cycle, self.app)
        self._in_body = True
        self._head_bytes = 0
        self._body_bytes = self._body_size = self._arrived = 0
        self._stop_waiting()

    def on_body(self, body: bytes) -> None:
        """Some of the body."""
        self._body_bytes += len(body)
        self._body_size += len(body)
        if not self.cycle.response_complete:
            self.cycle.body += body
            if len(self.cycle.body) > HIGH_WATER_LIMIT:
                self.flow.pause_reading()
            self.cycle.message_event.set()

    def on_message_complete(self) -> None:
        """The request is complete, and another head may come."""
        self._is_between = True
        if not self._in_body:
            return
        self._in_body = False
        self._stop_waiting()
        if not self.cycle.response_complete:
            self.cycle.more_body = False
            self.cycle.message_event.set()
        if self._body_size == len(self.cycle.body) <= HIGH_WATER_LIMIT:
            note_body(cast(Scope, self.cycle.scope), bytes(self.cycle.body))
        if self.cycle.response_complete:
            self._begin_to_idle()

    def on_response_complete(self) -> None:
        """The answer is out. If the request is not all in, nobody wants the rest; that of the next one is wanted."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self._wait_for_reader()
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            if self._in_body:
                self._stop_waiting()
                self._wait_for_body()
        elif self._in_body:
            self._stop_waiting()
            self._wait(self.patience.lingering_seconds, self.transport.abort)
        else:
            self._begin_to_idle()
        if self._left:
            self.data_received(b"")
        # Else each answer would let in far more requests than it makes room for.
        if not self.pipeline:
            self.flow.resume_reading()

    def shutdown(self) -> None:
        """The server ends: a connection that only lingers is dropped."""
        if self._refused:
            self.transport.abort()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """The client does not read what we send."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._stop_waiting_for_reader()
        if self.transport.is_closing():
            self._wait_for_reader()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is malformed, and told so like anything else."""
        if not self._refused:
            self._refuse(reply(codes.MALFORMED_INPUT, {"problem": "this is not HTTP as we know it"}))

    def _scope(self) -> Scope:
        """What applications learn of a request."""
        address = parse_url(self.url)
        path: str = address.path.decode("ascii")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": self.parser.get_http_version(),
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": "",
            "method": self.parser.get_method().decode("ascii"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": address.path,
            "query_string": address.query or b"",
            "headers": self.headers,
            "state": self.app_state.copy(),
        }

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        # A request that waited behind another on its connection must not inherit that one's caller.
        task = self.loop.create_task(cycle.run_asgi(app), context=Context())
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _take_in(self, data: bytes) -> None:
        """Have the parser look at some bytes. It stops where a client would rather speak something else."""
        rest: bytes | memoryview = data
        try:
            while rest:
                try:
                    self.parser.feed_data(rest)
                    return
                except HttpParserUpgrade as wish:
                    rest, head = memoryview(rest)[wish.args[0] :], self._head_in_http()
                    # A parser that saw a last request looks at nothing any more.
                    self.parser = _parser_for(self)
                    self.parser.feed_data(head)
        except HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("")

    def _head_in_http(self) -> bytes:
        """The head without that wish: the parser would pass over the body, which then were a request of its own."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        headers = as_lines(header for header in self.headers if header[0] != b"upgrade")
        return b"%s %s HTTP/%s\r\n%s\r\n" % (method, self.url, version, headers)

    def _begin_to_idle(self) -> None:
        """A timer for every answer would cost as much as its head: one runs, and looks how long it has been."""
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.patience.idle_seconds, self._end_idling)

    def _end_idling(self) -> None:
        self._idle_timer = None
        if self._refused or self._head_bytes or self._in_body or not self.cycle.response_complete:
            # There is something to do, and an answer or an end will follow.
            return
        left = self._idle_since + self.patience.idle_seconds - self.loop.time()
        if left > 0:
            self._idle_timer = self.loop.call_later(left, self._end_idling)
        else:
            self.transport.close()
            self._wait_for_reader()

    def _wait_for_body(self) -> None:
        self._body_begun = self.loop.time()
        self._wait(self.patience.body_seconds, self._end_slow_body)

    def _wait(self, seconds: float, end: Callable[[], None]) -> None:
        self._timer = self.loop.call_later(seconds, end)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait_for_reader(self) -> None:
        """A connection that is closed stays until all is sent, however little that is, and so needs an end as well."""
        self._stop_waiting_for_reader()
        unread = self.transport.get_write_buffer_size()
        if unread:
            self._reading_timer = self.loop.call_later(self.patience.reading_seconds, self._end_unread, unread)

    def _end_unread(self, before: int) -> None:
        """Who reads slowly has read something since."""
        self._reading_timer = None
        if self.transport.get_write_buffer_size() < before:
            self._wait_for_reader()
        else:
            self.transport.abort()

    def _stop_waiting_for_reader(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _end_slow_head(self) -> None:
        self._timer = None
        if self._head_bytes:
            self._refuse(reply(codes.REQUEST_TOO_SLOW))
        else:
            self.transport.close()

    def _end_slow_body(self) -> None:
        self._timer = None
        allowed = self.patience.body_seconds + self._body_bytes / self.patience.least_bytes_per_second
        left = self._body_begun + allowed - self.loop.time()
        if self.flow.read_paused:
            # It is us who are slow. What comes from now on counts.
            self._body_begun, self._body_bytes, left = self.loop.time(), 0, self.patience.body_seconds
        if left > 0:
            self._wait(left, self._end_slow_body)
        else:
            self._refuse(reply(codes.REQUEST_TOO_SLOW))

    def _is_mostly_wrapping(self) -> bool:
        """Whether what comes is hardly any body: trailers and marks of pieces without end, which nobody looks at."""
        most = self.patience.most_head_bytes + MOST_WRAPPING * self._body_size
        return self._arrived - self._body_size > most

    def _end_wrapping(self) -> None:
        if self.cycle.response_complete:
            self.transport.abort()
        else:
            self._refuse(reply(codes.MALFORMED_INPUT, {"problem": "there is too much around the body"}))

    def _refuse(self, answer: Reply) -> None:
        """Say what is wrong and end the connection, unless an earlier request is still being answered on it."""
        unanswered = self.cycle is not None and not self.cycle.response_complete
        if unanswered and not self._in_body:
            self.cycle.keep_alive = False
            self.flow.pause_reading()
            return
        self._refused = True
        if unanswered and (self.cycle.response_started or self.pipeline):
            self.transport.abort()
            return
        if unanswered:
            # Whoever waits for the rest of the body is told that it will not come.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(_on_the_wire(answer.traced(Trace.new())))
        self.transport.write_eof()
        # Closing at once would have the system tell the client that what it still sends is not wanted, before the
        # client has read our answer, which would then be lost.
        self._stop_waiting()
        self._wait(self.patience.lingering_seconds, self.transport.abort)


def _parser_for(wire: Wire) -> HttpRequestParser:
    """A parser as uvicorn makes it."""
    parser = HttpRequestParser(wire)
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser


def _on_the_wire(answer: Reply) -> bytes:
    """An answer outside of any request, all of it."""
    status, headers, media_type, body = http(answer)
    content = orjson.dumps(body)
    lines = {
        **headers,
        "content-type": media_type,
        "content-length": str(len(content)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "connection": "close",
    }
    head = "".join([f"HTTP/1.1 {status} \r\n", *(f"{name}: {value}\r\n" for name, value in lines.items()), "\r\n"])
    return head.encode("latin-1") + content
