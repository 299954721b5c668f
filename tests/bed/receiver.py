"""A receiver of spans that speaks OTLP over HTTP."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Receiver:
    """Takes in spans, and remembers them."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.paths: set[str] = set()
        self.bytes = b""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver.take(self.path, body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, path: str, body: bytes) -> None:
        """Remember what came."""
        self.paths.add(path)
        self.bytes += body
        self.requests.append(ExportTraceServiceRequest.FromString(body))

    def spans(self) -> list[dict[str, Any]]:
        """The spans that came, as plain data."""
        return [
            {
                "name": span.name,
                "trace_id": span.trace_id.hex(),
                "span_id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "failed": span.status.code == 2,
                "nanoseconds": span.end_time_unix_nano - span.start_time_unix_nano,
                **{entry.key: entry.value.string_value for entry in span.attributes},
            }
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def service(self) -> dict[str, str]:
        """Who sent them."""
        (attributes,) = {
            tuple((e.key, e.value.string_value) for e in r.resource_spans[0].resource.attributes) for r in self.requests
        }
        return dict(attributes)

    def stop(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
