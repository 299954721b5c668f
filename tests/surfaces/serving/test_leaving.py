"""What is left of an answer: too little to count as a client that does not read, or read slowly."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Thread

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from engross.surfaces.serving.wire import Patience, patient
from tests.bed.served import wait_for

HASTY = Patience(reading_seconds=0.3, idle_seconds=0.3)
LITTLE = HIGH_WATER_LIMIT - 10_000
MUCH = 4 * HIGH_WATER_LIMIT
LEAST_BUFFER = 4096


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with more than the system takes: at `/` with less than makes us wait before we write more."""
    size = LITTLE if scope["path"] == "/" else MUCH
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
    await send({"type": "http.response.body", "body": b"x" * size})


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    """A server whose system takes next to nothing from it."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LEAST_BUFFER)
    config = uvicorn.Config(app, http=patient(HASTY), ws="none", loop="uvloop", lifespan="off", log_config=None)
    serving = uvicorn.Server(config)
    thread = Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_for(lambda: serving.started)
    yield serving
    serving.should_exit = True
    thread.join(30)
    listening.close()


@pytest.mark.parametrize("line", ["Host: x", "Connection: close"])
@pytest.mark.parametrize("says_that_it_is_done", [True, False])
def test_a_client_that_does_not_read_the_rest_is_dropped(
    server: uvicorn.Server, line: str, says_that_it_is_done: bool
) -> None:
    before = server.server_state.total_requests
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LEAST_BUFFER)
        deaf.connect(server.servers[0].sockets[0].getsockname())
        deaf.sendall(f"GET / HTTP/1.1\r\n{line}\r\n\r\n".encode())
        wait_for(lambda: server.server_state.total_requests > before)
        assert server.server_state.connections
        if says_that_it_is_done:
            deaf.shutdown(socket.SHUT_WR)
        wait_for(lambda: not server.server_state.connections)


@pytest.mark.parametrize("line", ["Host: x", "Connection: close"])
def test_a_client_that_reads_slowly_gets_all_of_it(server: uvicorn.Server, line: str) -> None:
    begun, taken = time.monotonic(), 0
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LEAST_BUFFER)
        slow.settimeout(15)
        slow.connect(server.servers[0].sockets[0].getsockname())
        slow.sendall(f"GET /much HTTP/1.1\r\n{line}\r\n\r\n".encode())
        while taken < MUCH and (some := slow.recv(MUCH // 100)):
            taken += len(some)
            time.sleep(0.01)
    assert taken >= MUCH
    assert time.monotonic() - begun > 3 * HASTY.reading_seconds, "longer than an answer may lie"
