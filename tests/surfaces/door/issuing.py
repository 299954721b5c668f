"""An OpenID Connect issuer for tests: real keys, behind a real HTTP server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from tests.bed.offices import TestClock

AUDIENCE = "https://office.example/mcp"
Answer = tuple[int, Mapping[str, str], bytes]


@cache
def private_key(kind: str, number: int = 0) -> Any:
    """A key of a kind; making one takes a while, so tests share them."""
    makers: dict[str, Callable[[], Any]] = {
        "RSA": lambda: rsa.generate_private_key(65_537, 2048),
        "RSA-1024": lambda: rsa.generate_private_key(65_537, 1024),
        "P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
        "P-384": lambda: ec.generate_private_key(ec.SECP384R1()),
        "P-521": lambda: ec.generate_private_key(ec.SECP521R1()),
        "Ed25519": ed25519.Ed25519PrivateKey.generate,
    }
    return makers[kind]()


def jwk(algorithm: str, key: Any, kid: str | None, **more: Any) -> dict[str, Any]:
    """The public half of a key, as an issuer publishes it."""
    public = get_default_algorithms()[algorithm].to_jwk(key.public_key(), as_dict=True)
    return {**public, "use": "sig", **({} if kid is None else {"kid": kid}), **more}


class TestIssuer:
    """Publishes keys, writes tokens, and can go away."""

    __test__ = False

    def __init__(self, clock: TestClock) -> None:
        self._clock = clock
        self.asked: Counter[str] = Counter()
        self.answers: dict[str, Answer] = {}
        self.held: Event | None = None
        self.drips = False
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked[self.path] += 1
                if issuer.held is not None:
                    self.hang(issuer.held)
                    return
                status, headers, body = issuer.answers.get(self.path, (404, {}, b"nothing here"))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def hang(self, released: Event) -> None:
                """Say nothing, or a blank now and then that never comes to an end."""
                if issuer.drips:
                    self.send_response(200)
                    self.end_headers()
                with suppress(OSError):
                    while not released.wait(0.01):
                        self.wfile.write(b" " if issuer.drips else b"")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._handler = Handler
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._port = self._server.server_port
        self.url = f"http://127.0.0.1:{self._port}"
        self._start()
        self.answer("/.well-known/openid-configuration", {"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        self.publish(jwk("RS256", private_key("RSA"), "first"))

    def answer(self, path: str, document: Any, *, status: int = 200, **headers: str) -> None:
        """What is found at a path from now on."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.answers[path] = (status, headers, body)

    def publish(self, *keys: dict[str, Any]) -> None:
        """The keys from now on."""
        self.answer("/keys", {"keys": list(keys)})

    def token(
        self,
        algorithm: str = "RS256",
        key: Any = None,
        kid: str | None = "first",
        headers: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A token that is good unless the claims say otherwise. A claim that is None is left out."""
        now = int(self._clock().timestamp())
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "clara",
            "iat": now,
            "exp": now + 3600,
            "tenantId": "acme",
            "principal_type": "human",
            "roles": ["curator"],
            **claims,
        }
        payload = {name: value for name, value in said.items() if value is not None}
        named = {} if kid is None else {"kid": kid}
        return jwt.encode(payload, key or private_key("RSA"), algorithm, {**named, **(headers or {})})

    def go_away(self) -> None:
        """Stop answering; whoever connects is refused."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def come_back(self) -> None:
        """Answer again, at the same address."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler)
        self._start()

    def _start(self) -> None:
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
