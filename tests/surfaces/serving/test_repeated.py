"""Heads that come again: what is heard on a connection that stays open is what would be heard on a new one."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any, NamedTuple

import orjson
import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as some
from starlette.types import Receive, Scope, Send

from engross.surfaces.arrived import is_sound
from engross.surfaces.serving.head import read_head
from engross.surfaces.serving.repeated import LARGEST
from engross.surfaces.serving.wire import MOST_OTHERS, Patience, patient
from tests.surfaces.serving.wires import Wire

PLACE = ("method", "path", "raw_path", "query_string", "http_version", "scheme")
HOST = b"host: here\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Tells what it heard, and whether the head was known; it looks at the head as the guard does."""
    read_head(scope)
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    heard = {
        "place": [str(scope[name]) for name in PLACE],
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "body": body.decode("latin-1"),
        "known": is_sound(scope),
    }
    answer = orjson.dumps(heard)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(answer))]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer})


class Place(NamedTuple):
    """Where something listens."""

    port: int


@pytest.fixture(scope="module")
def server() -> Iterator[Place]:
    """Where it is served."""
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = patient(Patience(head_seconds=5.0))
    config = uvicorn.Config(app, http=protocol, loop="uvloop", lifespan="off", log_config=None, date_header=False)
    running = uvicorn.Server(config)
    thread = Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield Place(listening.getsockname()[1])
    running.should_exit = True
    thread.join(30)
    listening.close()


class Talk(Wire):
    """A connection to the application."""

    def ask(self, *pieces: bytes) -> tuple[int, dict[str, Any]]:
        """Say something, piece by piece; the status of the answer to it, and what the application heard."""
        self.say(*pieces)
        return self.told(is_head=b"".join(pieces).startswith(b"HEAD"))

    def told(self, *, is_head: bool = False) -> tuple[int, dict[str, Any]]:
        """The next answer."""
        heard = self.hear("HEAD" if is_head else "GET")
        return heard.status, heard.told if heard.status == 200 and heard.body else {}


def post(body: bytes = b"{}", *lines: bytes, path: bytes = b"/a", length: bytes | None = None) -> bytes:
    """A request with a body."""
    told = b"%d" % len(body) if length is None else length
    return b"POST %s HTTP/1.1\r\n" % path + HOST + b"".join(lines) + b"Content-Length: " + told + b"\r\n\r\n" + body


def get(path: bytes = b"/a", *lines: bytes) -> bytes:
    """A request without one."""
    return b"GET %s HTTP/1.1\r\n" % path + HOST + b"".join(lines) + b"\r\n"


def without_known(heard: tuple[int, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    """What was heard, whatever way it came."""
    return heard[0], {**heard[1], "known": None}


def test_a_head_that_comes_again_is_known_whatever_the_length_of_its_body(server: Place) -> None:
    with Talk(server) as talking:
        first = talking.ask(post(b"{}", b"accept: */*\r\n"))
        again = talking.ask(post(b'{"a": 1}' * 40, b"accept: */*\r\n"))
    assert (first[1]["known"], again[1]["known"]) == (False, True)
    assert again[1]["body"] == '{"a": 1}' * 40
    assert again[1]["headers"] == [["host", "here"], ["accept", "*/*"], ["content-length", "320"]]


def test_a_request_without_a_body_is_known_as_well(server: Place) -> None:
    with Talk(server) as talking:
        heard = [talking.ask(get(b"/a?b=%20c"))[1] for _ in range(3)]
    assert [one["known"] for one in heard] == [False, True, True]
    assert without_known((200, heard[0])) == without_known((200, heard[2]))


REQUESTS = [
    get(),
    get(b"/b?c=d"),
    get(b"/a", b"accept: text/html\r\n"),
    get(b"/a", b"x: y\r\n", b"x: z\r\n"),
    get().replace(b"GET", b"HEAD"),
    post(),
    post(b""),
    post(b"x" * 99),
    post(b"x" * 100),
    post(b"{}", b"X-Content-Length: 5\r\n"),
    post(b"{}", b"x: content-length: 5\r\n"),
    post(b"\r\n\r\n"),
    post(b"{}", length=b"002"),
    post(b"{}", b"Idempotency-Key: a\r\n"),
    post(b"{}", b"Idempotency-Key: b\r\n"),
    post(b"{}").replace(b"Content-Length: 2", b"content-LENGTH:2"),
    post(b"{}").replace(b"Content-Length: 2", b"Content-Length:   2  "),
    post(b"a" * 40_000),
    b"\r\n" + get(),
    b"\r\n" + post(),
    b"POST /a HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    post(b"{}", b"Expect: 100-proceed\r\n"),
]


@settings(deadline=None, max_examples=50)
@given(some.lists(some.tuples(some.sampled_from(REQUESTS), some.integers(0, 200)), min_size=2, max_size=12))
def test_what_is_heard_does_not_depend_on_what_came_before_on_the_connection(
    server: Place, asked: list[tuple[bytes, int]]
) -> None:
    with Talk(server) as kept:
        for request, cut in asked:
            with Talk(server) as fresh:
                expected = fresh.ask(request)
            pieces = [piece for piece in (request[:cut], request[cut:]) if piece]
            assert without_known(kept.ask(*pieces)) == without_known(expected)


def test_requests_that_come_together_are_all_heard(server: Place) -> None:
    with Talk(server) as talking:
        talking.ask(post(b"one"))
        heard = [talking.ask(post(b"two") + post(b"three")), talking.told(), talking.ask(post(b"four"))]
    assert [told["body"] for _, told in heard] == ["two", "three", "four"]


@pytest.mark.parametrize("rest", [b"P", b"POST /b HTTP/1.1\r\nhost: x\r\n"])
@pytest.mark.parametrize("others", [0, MOST_OTHERS - 1])
def test_a_known_head_behind_the_beginning_of_another_request_is_no_request(
    server: Place, rest: bytes, others: int
) -> None:
    with Talk(server) as talking, Talk(server) as other:
        for number in range(others):
            talking.ask(post(b"one", b"x: %d\r\n" % number))
        talking.ask(post(b"one"))
        assert talking.ask(post(b"two") + rest)[1]["body"] == "two"
        # Elsewhere there was nothing to know.
        other.ask(post(b"two") + rest)
        expected, heard = other.ask(post(b"three")), talking.ask(post(b"three"))
    assert heard[0] == expected[0]
    assert heard[0] == 400 or heard[1]["place"] == expected[1]["place"] != ["POST", "/a"]


@pytest.mark.parametrize("length", [b"+2", b"-2", b"2 2", b"0x2", b"2\r\nContent-Length: 2", b"9" * 30, b""])
def test_a_length_that_is_none_is_refused_in_a_known_head_too(server: Place, length: bytes) -> None:
    with Talk(server) as talking, Talk(server) as fresh:
        talking.ask(post())
        assert talking.ask(post())[1]["known"]
        assert talking.ask(post(length=length))[0] == fresh.ask(post(length=length))[0] == 400


def test_a_body_that_has_not_come_whole_is_waited_for(server: Place) -> None:
    with Talk(server) as talking:
        talking.ask(post())
        whole = post(b'{"a": "b"}')
        assert talking.ask(whole[:-4], whole[-4:])[1]["body"] == '{"a": "b"}'


def test_a_head_that_is_very_long_is_not_kept(server: Place) -> None:
    with Talk(server) as talking:
        heard = [talking.ask(post(b"{}", b"x: " + b"y" * LARGEST + b"\r\n"))[1]["known"] for _ in range(3)]
    assert heard == [False, False, False]


def test_who_says_something_else_in_every_head_is_not_expected_to_repeat_it(server: Place) -> None:
    with Talk(server) as talking:
        for number in range(MOST_OTHERS + 1):
            talking.ask(post(b"{}", b"x: %d\r\n" % number))
        heard = [talking.ask(post())[1]["known"] for _ in range(3)]
    assert heard == [False, False, False]


def test_the_end_of_the_connection_is_never_a_known_head(server: Place) -> None:
    with Talk(server) as talking:
        talking.ask(get())
        assert talking.ask(get(b"/a", b"connection: close\r\n"))[0] == 200
        assert talking.is_over()
