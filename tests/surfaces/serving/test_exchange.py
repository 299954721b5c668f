"""The short way out for a plain answer: whatever an application says, it comes out as uvicorn would send it."""

from __future__ import annotations

import gc
import re
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from engross.surfaces.answering import Answering
from engross.surfaces.heads import usual_head
from engross.surfaces.serving.exchange import Exchange
from engross.surfaces.serving.wire import Patience, patient
from tests.bed.served import wait_for

LENGTH = (b"content-length", b"5")
KINDS: dict[str, tuple[list[tuple[bytes, bytes]], list[dict[str, Any]]]] = {
    "plain": ([LENGTH, (b"etag", b'"1"'), (b"vary", b"accept")], [{"body": b"hello"}]),
    "in pieces": ([LENGTH], [{"body": b"he", "more_body": True}, {"body": b"llo"}]),
    "without a length": ([(b"content-type", b"text/plain")], [{"body": b"hello"}]),
    "shorter than it says": ([LENGTH], [{"body": b"hell"}]),
    "longer than it says": ([LENGTH], [{"body": b"hello!"}]),
    "a header with a line of its own": ([LENGTH, (b"etag", b'"1"\r\nset-cookie: a=b')], [{"body": b"hello"}]),
    "a header with half a line end": ([LENGTH, (b"etag", b"1\n2")], [{"body": b"hello"}]),
    "a header with a control character": ([LENGTH, (b"etag", b"1\x002")], [{"body": b"hello"}]),
    "a header with a tab": ([LENGTH, (b"x-tab", b"1\t2")], [{"body": b"hello"}]),
    "a name in capitals": ([(b"Content-Length", b"5")], [{"body": b"hello"}]),
    "the end of the connection": ([LENGTH, (b"connection", b"close")], [{"body": b"hello"}]),
    "nothing": ([(b"content-length", b"0")], [{"body": b""}]),
    "no body at all": ([(b"content-length", b"0")], [{}]),
    "an end that is said twice": ([LENGTH], [{"body": b"hello"}, {"body": b""}]),
}
WHOLES: dict[str, tuple[list[tuple[bytes, bytes]], bytes]] = {
    "whole": ([(b"etag", b'"1"')], b"hello"),
    "whole and empty": ([], b""),
    "whole, with a line of its own": ([(b"etag", b'"1"\r\nset-cookie: a=b')], b"hello"),
    "whole, with a control character": ([(b"etag", b"1\x002")], b"hello"),
    "whole, the end of the connection": ([(b"connection", b"close")], b"hello"),
}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers in the way that the path names."""
    kind = scope["path"].strip("/").replace("_", " ")
    if kind in WHOLES:
        more, body = WHOLES[kind]
        await Answering(scope, send).whole(
            200, usual_head("text/plain"), [(b"cache-control", b"no-store"), *more], body
        )
        return
    if kind == "twice whole":
        for _ in range(2):
            await Answering(scope, send).whole(200, usual_head("text/plain"), [], b"hello")
        return
    headers, parts = KINDS[kind]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for part in parts:
        await send({"type": "http.response.body", **part})


def served(protocol: Any) -> Iterator[int]:
    """The port at which the application is served in a way."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=protocol, loop="uvloop", lifespan="off", log_config=None, date_header=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(30)
    listening.close()


@pytest.fixture(scope="module")
def short() -> Iterator[int]:
    """Our own way."""
    yield from served(patient(Patience()))


@pytest.fixture(scope="module")
def long() -> Iterator[int]:
    """uvicorn's way."""
    yield from served("httptools")


def heard(port: int, method: str, kind: str) -> bytes:
    """All that comes back on a connection: for a request, and, if it is still open, for another one."""
    path = "/" + kind.replace(" ", "_")
    first = f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n"
    last = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    read = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(first.encode() + last.encode())
        try:
            while piece := connection.recv(65536):
                read += piece
        except ConnectionResetError:
            pass
    return re.sub(rb"(?i)content-length:", b"content-length:", read)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("kind", [*KINDS, *WHOLES])
def test_an_answer_comes_out_as_it_would_without_the_short_way(short: int, long: int, method: str, kind: str) -> None:
    told = heard(short, method, kind)
    assert told == heard(long, method, kind)
    assert b"set-cookie" not in told


def test_a_whole_answer_cannot_follow_another(short: int) -> None:
    assert heard(short, "GET", "twice whole").count(b"hello") == 1


def test_no_request_waits_for_the_garbage_collector(short: int) -> None:
    def alive() -> int:
        return sum(type(one) is Exchange for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = alive()
        for _ in range(20):
            assert heard(short, "GET", "whole").count(b"hello") == 2
        wait_for(lambda: alive() <= before + 2)
    finally:
        gc.enable()
