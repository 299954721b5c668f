"""A real embedder: a local server that speaks the OpenAI-compatible API, and knows a few senses of words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SENSES = (("money", "invoice", "billing"), ("parcel", "shipping", "delivery"), ("vehicle", "automobile"), ("boat",))


class Embeddings(BaseHTTPRequestHandler):
    """A vector says how often words of each sense occur."""

    asked: list[dict[str, Any]]
    answer: bytes | None = None
    gate: threading.Event

    def do_POST(self) -> None:
        wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**wish, "path": self.path, "authorization": self.headers["Authorization"]})
        self.gate.wait(30)
        rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(wish["input"])]
        body = self.answer or json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class EmbeddingServer:
    """The server: where it is, what it was asked, and what it is to answer instead."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        """Every request so far."""
        self.gate = threading.Event()
        """While it is not set, no answer is given."""
        self.gate.set()

        class Handler(Embeddings):
            asked = self.asked
            gate = self.gate

        self.handler = Handler
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/"

    def texts(self) -> list[str]:
        """Every text that it was asked about since the last time."""
        found = [text for one in self.asked for text in one["input"]]
        self.asked.clear()
        return found

    def say(self, answer: bytes | None) -> None:
        """Answer this from now on."""
        self.handler.answer = answer

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A running server."""
    server = EmbeddingServer()
    try:
        yield server
    finally:
        server.close()


def vector(text: str) -> list[float]:
    """How often words of each sense occur."""
    return [float(sum(text.lower().count(word) for word in sense)) for sense in SENSES]
