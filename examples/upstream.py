"""A small system of somebody else's, for the documents beside it: a weather service, a stock list and an order desk.

python examples/upstream.py 8077
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

KEY = "a-key-for-the-example"
WEATHER = {
    "Oslo": {"forecast": "Snow until noon, then clear.", "celsius": -2.5, "days": 1},
    "Lisbon": {"forecast": "Sunny with a light wind.", "celsius": 19.0, "days": 1},
}
ITEMS = {
    "B-100": {"sku": "B-100", "name": "Bolt", "supplierCode": 7, "onHand": 140},
    "N-200": {"sku": "N-200", "name": "Nut", "supplierCode": 9, "onHand": 0},
}
SUPPLIERS = "code,name,country\n7,Sheffield Steel,UK\n9,Hanse Eisen,DE\n"
PRICES = {"B-100": {"amount": 0.35, "currency": "EUR"}, "N-200": {"amount": 0.2, "currency": "EUR"}}


class System:
    """What the system holds: orders by the key that they came with."""

    def __init__(self) -> None:
        self.orders: dict[str, dict[str, Any]] = {}

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes]:
        """Status, kind of content and content."""
        parts = [unquote(part) for part in urlsplit(path).path.strip("/").split("/")]
        match (method, *parts):
            case ("GET", "weather", place):
                return _json(WEATHER.get(place))
            case ("GET", "items", sku):
                return _json(ITEMS.get(sku))
            case ("GET", "prices"):
                wanted = parse_qs(urlsplit(path).query).get("sku", [""])[0]
                return _json(PRICES.get(wanted))
            case ("GET", "suppliers"):
                return 200, "text/csv", SUPPLIERS.encode()
            case ("POST", "orders"):
                return self._order(headers, body)
            case ("GET", "orders", number):
                return _json(next((one for one in self.orders.values() if one["id"] == number), None))
        return 404, "application/json", b'{"error":"nothing is here"}'

    def _order(self, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes]:
        if headers.get("x-api-key") != KEY:
            return 401, "application/json", b'{"error":"who are you?"}'
        order = json.loads(body)
        if order["sku"] not in ITEMS:
            return 422, "application/json", json.dumps({"error": f"no article {order['sku']}"}).encode()
        key = headers.get("idempotency-key", "")
        # The number says which order it is, not how many came before.
        made = {"id": f"order-{order['sku']}-{order['quantity']}", "state": "placed", **order}
        return _json(self.orders.setdefault(key, made), 201)


def _json(found: Any, status: int = 200) -> tuple[int, str, bytes]:
    if found is None:
        return 404, "application/json", b'{"error":"there is no such thing"}'
    return status, "application/json", json.dumps(found).encode()


def server(port: int = 0, answer: Callable[..., tuple[int, str, bytes]] | None = None) -> ThreadingHTTPServer:
    """The system at a port."""
    told = answer or System().answer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, kind, content = told(self.command, self.path, headers, body)
            self.send_response_only(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = handle_any

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    server(int(sys.argv[1]) if len(sys.argv) > 1 else 8077).serve_forever()
