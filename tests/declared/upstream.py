"""An upstream: a real HTTP server on this machine, that answers as a test tells it and remembers what it was asked."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Told(NamedTuple):
    """What to answer. `pieces` are sent one by one, with whatever happens between them."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    pieces: Iterator[bytes] | None = None
    cut: bool = False
    """Announce more than is sent, and hang up."""


Answering = Callable[[Asked], "Told | Any"]


class Upstream:
    """Answers with what `answering` gives: a Told, or anything else as JSON."""

    def __init__(self, answering: Answering, tls: ssl.SSLContext | None = None) -> None:
        self.answering = answering
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.connections = 0
        self.released = Event()
        self._at_once = 0
        self._lock = Lock()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                upstream.connections += 1

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def handle_any(self) -> None:
                upstream._handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https" if tls else "http"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def last(self) -> Asked:
        """The last request."""
        return self.asked[-1]

    def _handle(self, wire: BaseHTTPRequestHandler) -> None:
        length = int(wire.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in wire.headers.items()}
        asked = Asked(wire.command, wire.path, headers, wire.rfile.read(length))
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self._answer(wire, self.answering(asked))
        except (ConnectionError, ssl.SSLError):
            wire.close_connection = True
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer(self, wire: BaseHTTPRequestHandler, answer: Any) -> None:
        told = answer if isinstance(answer, Told) else Told(body=json.dumps(answer).encode())
        wire.send_response_only(told.status)
        for name, value in told.headers:
            wire.send_header(name, value)
        if told.pieces is not None:
            wire.send_header("Connection", "close")
            wire.end_headers()
            wire.close_connection = True
            for piece in told.pieces:
                wire.wfile.write(piece)
            return
        wire.send_header("Content-Length", str(len(told.body) + (100 if told.cut else 0)))
        wire.end_headers()
        wire.wfile.write(told.body)
        wire.close_connection = wire.close_connection or told.cut

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def upstream(answering: Answering) -> Iterator[Upstream]:
    """An upstream for the length of a test."""
    with Upstream(answering) as running:
        yield running
