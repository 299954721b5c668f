"""A real server on a free port, with a layer before it that takes a name for a credential."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import httpx2
import uvicorn
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from engross.calls import Caller, Principal
from engross.office import Office, Request
from engross.replies import Reply, Trace, codes, received, reply
from engross.replies.envelopes import REPLY_JSON
from engross.surfaces.desk import Desk
from engross.surfaces.rest import rest_routes, send_reply
from engross.surfaces.watching import Daybook, Reader

PEOPLE = {
    "clara": Principal("clara", "human", frozenset({"curator"})),
    "adam": Principal("adam", "human", frozenset({"curator", "admin"})),
    "vera": Principal("vera", "human", frozenset({"viewer"})),
    "scout": Principal("scout", "agent", frozenset({"agent"})),
}


class Introduced:
    """Sets the caller, as the door would."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = dict(scope["headers"]).get(b"authorization") if scope["type"] == "http" else None
        if said is not None or scope["path"].startswith("/v1"):
            token = "" if said is None else said.decode("latin-1").removeprefix("Bearer ")
            name, _, tenant = token.partition("@")
            if name not in PEOPLE or not tenant:
                code = codes.AUTH_REQUIRED if said is None else codes.AUTH_INVALID
                await send_reply(scope, send, reply(code).traced(Trace.new()))
                return
            scope.setdefault("state", {})["caller"] = Caller(tenant, PEOPLE[name])
        await self._app(scope, receive, send)


class House:
    """An office that is served, and ways to talk to it for the people of one tenant."""

    def __init__(self, office: Office, port: int, tenant: str = "main") -> None:
        self.office = office
        self.port = port
        self.tenant = tenant
        self.url = f"http://127.0.0.1:{port}"
        self._http = httpx2.Client(base_url=self.url, timeout=30.0)

    def next_door(self, tenant: str) -> House:
        """The same office, for another tenant."""
        return House(self.office, self.port, tenant)

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def token(self, by: str) -> str:
        """Somebody's credential."""
        return f"Bearer {by}@{self.tenant}"

    def ask(self, method: str, path: str, *, by: str = "clara", **more: Any) -> httpx2.Response:
        """Make a request."""
        headers = [("Authorization", self.token(by)), *dict(more.pop("headers", {})).items()]
        return self._http.request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> httpx2.Response:
        """GET something."""
        return self.ask("GET", path, **more)

    def call(self, ref: str, arguments: Any = None, **more: Any) -> httpx2.Response:
        """POST a call of a flow."""
        return self.ask("POST", f"/v1/{ref.replace('.', '/')}", json={} if arguments is None else arguments, **more)

    def embedded(self, ref: str, arguments: Any, *, by: str = "clara") -> Reply:
        """The Reply to the same call inside the process."""
        return self.office.call(Request(ref, arguments, self.tenant, PEOPLE[by], surface="rest"))

    def reply(self, ref: str, arguments: Any = None, **more: Any) -> Reply:
        """The Reply to a call, as another program of ours reads it."""
        headers = {"Accept": REPLY_JSON, **more.pop("headers", {})}
        answer = self.call(ref, arguments, headers=headers, **more)
        assert answer.headers["content-type"] == REPLY_JSON
        return received(answer.json())

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def raw(self, *pieces: bytes) -> bytes:
        """Send bytes as they are, and read until the server hangs up."""
        with self.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
            return everything(connection)

    def head(self, method: str, path: str, *lines: str, by: str = "clara") -> bytes:
        """The head of a request after which the server hangs up."""
        told = [f"{method} {path} HTTP/1.1", "Host: office", "Connection: close", f"Authorization: {self.token(by)}"]
        told += lines
        return "\r\n".join([*told, "", ""]).encode("latin-1")

    def is_alive(self) -> bool:
        """Does it still answer?"""
        return self.get("/v1/shelf/list-authors").status_code == 200


def everything(connection: socket.socket) -> bytes:
    """All bytes until the other side closes, or throws the rest away."""
    read = b""
    try:
        while piece := connection.recv(65536):
            read += piece
    except ConnectionResetError:
        pass
    return read


def status_of(answer: bytes) -> int:
    """The status of an answer as it came over the wire."""
    return int(answer.split(b" ", 2)[1])


@contextmanager
def serving(
    office: Office, *, base_url: str = "", toolsets: list[str] | None = None, readers: Sequence[Reader] = ()
) -> Iterator[House]:
    """Serve an office for a while."""
    desk = Desk(office, toolsets=toolsets, daybook=Daybook(readers))
    app = Introduced(Router(rest_routes(desk, base_url=base_url)))
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    config = uvicorn.Config(
        app, http="httptools", loop="uvloop", lifespan="off", log_config=None, timeout_graceful_shutdown=10
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    house = House(office, listening.getsockname()[1])
    try:
        yield house
    finally:
        house.close()
        server.should_exit = True
        thread.join(30)
        listening.close()
