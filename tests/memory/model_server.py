"""A server that speaks the OpenAI-compatible API, and says what a test wants it to say."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class ModelServer:
    """Answers chat completions at a port of this machine, and remembers what it was asked."""

    def __init__(self, said: Any = None, *, status: int = 200, body: bytes | None = None) -> None:
        self.said = said
        self.status = status
        self.body = body
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.hold = threading.Event()
        self.hold.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hold.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self) -> bytes:
        if self.body is not None:
            return self.body
        content = self.said if isinstance(self.said, str) else json.dumps(self.said)
        return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.headers.append(dict(self.headers))
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked.append({"path": self.path, **asked})
                model.hold.wait(30)
                told = model._answer()
                try:
                    self.send_response(model.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(told)))
                    self.end_headers()
                    self.wfile.write(told)
                except OSError:
                    # Whoever asked did not wait for the answer.
                    pass

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
