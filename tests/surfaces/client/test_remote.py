"""A network that fails: what a client at a remote office answers then, and that repeating a write is safe."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engross.calls import Principal
from engross.replies import Failed, codes
from engross.surfaces.client import Client, connect, remote
from engross.surfaces.serving.wire import Patience
from tests.bed.offices import shelf
from tests.bed.programs import PROXIES
from tests.bed.served import Served, wait_for

REPLY = b"application/vnd.engross.reply+json"
Answering = Callable[[socket.socket], None]


@contextmanager
def somebody(answering: Answering) -> Iterator[str]:
    """Somebody at an address who is no office."""
    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                answering(connection)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def saying(status: bytes, kind: bytes, body: bytes, length: int | None = None) -> Answering:
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    return lambda connection: connection.sendall(head % (status, kind, length or len(body)) + body)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@pytest.fixture
def nobody() -> Iterator[Client]:
    """A client of an address where nobody is."""
    with connect(f"http://127.0.0.1:{free_port()}", token="x") as client:
        yield client


def test_where_nobody_is_a_call_ends_in_an_error_that_may_be_retried(nobody: Client) -> None:
    answer = nobody.call("shelf.list-books")
    assert (answer.message_key, answer.reply_type, answer.retryable) == ("OFFICE_UNREACHABLE", "E", True)
    assert "outcome" not in answer.data
    assert answer.trace_id is not None
    assert asyncio.run(nobody.acall("shelf.list-books")).message_key == "OFFICE_UNREACHABLE"
    assert nobody.upload(b"x").message_key == "OFFICE_UNREACHABLE"
    assert nobody.shelf.list_books().message_key == "OFFICE_UNREACHABLE"
    assert answer.data["problem"] == "nothing listens there"
    with pytest.raises(Failed) as refused:
        nobody.outlines()
    assert refused.value.data == answer.data


@pytest.mark.parametrize("url", ["http://", "http://[::1", "http://127.0.0.1:99999", "http://no such host/"])
def test_an_address_that_is_none_is_an_error_too(url: str) -> None:
    with connect(url) as client:
        assert client.call("shelf.list-books").message_key == "OFFICE_UNREACHABLE"


OTHERS = {
    "a web page": saying(b"200 OK", b"text/html", b"<html></html>"),
    "a proxy": saying(b"502 Bad Gateway", b"text/plain", b"upstream"),
    "another API": saying(b"200 OK", b"application/json", b"{}"),
    "a redirect": saying(b"307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/", b"text/plain", b"gone"),
    "silence": lambda connection: None,
    "half an answer": saying(b"200 OK", REPLY, b'{"reply"', 100),
    "noise": lambda connection: connection.sendall(b"\x00\xff\x00" * 50),
}


@pytest.mark.parametrize("answering", OTHERS.values(), ids=OTHERS)
def test_whoever_is_no_office_is_not_believed(answering: Answering) -> None:
    with somebody(answering) as url, connect(url) as client:
        answer = client.call("shelf.add-book", {"title": "Dune"})
        with pytest.raises(Failed) as unlisted:
            client.outlines()
    assert (answer.message_key, answer.data["outcome"]) == ("OFFICE_UNREACHABLE", "unknown")
    for told in (answer.data, unlisted.value.data):
        assert told is not None
        assert " " in told["problem"]
        assert told["hint"]


def test_what_describes_other_things_is_no_office() -> None:
    for body in (b'{"paths": {"/": "x"}}', b'{"paths": []}', b"[]", b"{}", b"not json"):
        other = saying(b"200 OK", b"application/json", body)
        with somebody(other) as url, connect(url) as client, pytest.raises(Failed) as refused:
            client.outlines()
        assert refused.value.data is not None
        assert (refused.value.code, refused.value.data["problem"]) == (
            codes.OFFICE_UNREACHABLE,
            "what answered is no office",
        )


@pytest.mark.parametrize("ending", ["/", "/mcp", "/mcp/", "/v1", "/v1/"])
def test_the_address_of_an_endpoint_leads_to_the_office_too(served: Served, ending: str) -> None:
    with connect(f"{served.url}{ending}", token=served.owner) as client:
        assert client.record.read_facts().ok
        assert client.outlines()


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"not json", b'{"reply": {"code": 1}}', b"\xff"])
def test_an_answer_that_is_no_reply_is_an_error(body: bytes) -> None:
    with somebody(saying(b"200 OK", REPLY, body)) as url, connect(url) as client:
        answer = client.call("shelf.add-book", {"title": "Dune"})
    assert (answer.reply_type, answer.data["outcome"]) == ("E", "unknown")


def test_an_office_that_does_not_answer_in_time_leaves_the_outcome_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ON_THE_WAY_SECONDS", 0.1)
    done = threading.Event()

    def wait(connection: socket.socket) -> None:
        done.wait(30)

    with somebody(wait) as url, connect(url, call_seconds=0.1) as client:
        answer = client.call("shelf.add-book", {"title": "Dune"})
        done.set()
    assert (answer.message_key, answer.data["outcome"], answer.retryable) == ("TIMEOUT", "unknown", True)


@pytest.mark.parametrize("token", [None, "made up", "egr_6d61696e_tok_x_y"])
def test_a_token_that_is_none_is_refused_by_the_office(served: Served, token: str | None) -> None:
    with connect(served.url, token=token) as client:
        answer = client.call("shelf.list-books")
    assert (answer.reply_type, answer.http_status) == ("I", 401)


def test_the_token_may_come_from_the_environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGROSS_TOKEN", served.agent)
    with connect(served.url) as client:
        assert client.shelf.list_books().ok


def test_an_empty_token_is_none_whatever_the_environment_holds(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGROSS_TOKEN", served.agent)
    with connect(served.url, token="") as client:
        assert client.call("shelf.list-books").message_key == "AUTH_REQUIRED"


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}\t"])
def test_a_token_may_have_the_white_space_of_its_file_around_it(
    served: Served, monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    with connect(served.url, token=around.format(served.agent)) as client:
        assert client.shelf.list_books().ok
    monkeypatch.setenv("ENGROSS_TOKEN", around.format(served.agent))
    with connect(served.url) as client:
        assert client.shelf.list_books().ok
    with connect(served.url, token=around.format("")) as client:
        assert client.shelf.list_books().message_key == "AUTH_REQUIRED"


def test_a_token_is_not_shown_with_the_client(served: Served) -> None:
    with connect(served.url, token=served.owner) as client:
        assert served.owner not in repr(client) + repr(client._port) + repr(vars(client._port))


def test_a_token_goes_straight_to_the_office_whatever_proxies_the_environment_names(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROXIES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with connect(served.url, token=served.owner) as client:
        assert client.record.who_am_i().ok


def test_the_token_says_who_calls(served: Served) -> None:
    with connect(served.url, token=served.agent) as agent, connect(served.url, token=served.owner) as owner:
        proposed = agent.shelf.add_book(title="By an agent")
        assert proposed.message_key == "PROPOSAL_RECORDED"
        shown = owner.proposals.get_proposal(proposal_id=proposed.data["proposal"]["id"])
        assert shown.data["proposal"]["proposed_by"]["actor_type"] == "agent"


def test_what_the_office_decides_is_not_for_a_remote_caller_to_choose(served: Served) -> None:
    for given in ({"tenant": "other"}, {"principal": Principal("x")}, {"store": "postgresql://x"}):
        with pytest.raises(TypeError):
            connect(served.url, **given)
    with pytest.raises(TypeError):
        connect(served.url, shelf())
    with connect(served.url) as client:
        for name in ("office", "principal", "tenant", "surface"):
            with pytest.raises(TypeError):
                getattr(client, name)
        with pytest.raises(TypeError):
            client.as_("somebody")


def test_a_write_whose_answer_was_lost_is_repeated_safely(serving: Callable[..., Served], tmp_path: Path) -> None:
    office = serving()
    key = {"title": "Dune", "client_request_id": "request-0001"}
    with connect(office.url, token=office.owner) as client:
        assert client.call("shelf.add-book", key).ok
        office.kill()
        lost = client.call("shelf.add-book", key)
        assert (lost.message_key, lost.retryable) == ("OFFICE_UNREACHABLE", True)
        again = serving(port=office.port)
        wait_for(lambda: client.call("shelf.list-books").ok)
        repeated = client.call("shelf.add-book", key)
        assert repeated.data["idempotent_replay"] is True
        assert len(client.shelf.list_books().data["books"]) == 1
    again.stop()


def test_a_client_that_was_closed_answers_with_an_error(served: Served) -> None:
    client = connect(served.url, token=served.owner)
    assert client.shelf.list_books().ok
    client.close()
    assert client.call("shelf.list-books").reply_type == "E"


def test_an_office_in_this_process_needs_no_http_library() -> None:
    program = (
        "import sys, tempfile, engross\n"
        "with tempfile.TemporaryDirectory() as folder, engross.connect(folder) as office:\n"
        "    assert office.record.read_facts().ok\n"
        "print(sorted({'httpx2', 'starlette', 'mcp', 'typer', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("token", ["é", "\ud800", "egr_\nx", "egr\tx", "a b"])
def test_a_token_that_is_none_is_refused_like_any_other_bad_one(served: Served, token: str) -> None:
    with connect(served.url, token="egr_x") as stranger, connect(served.url, token=token) as client:
        expected, answer = stranger.call("shelf.list-books"), client.call("shelf.list-books")
        assert (answer.code, answer.data["suggestions"]) == (expected.code, expected.data["suggestions"])
        assert (answer.message_key, answer.trace_id is not None) == ("AUTH_INVALID", True)
        assert asyncio.run(client.acall("shelf.list-books")).message_key == "AUTH_INVALID"
        assert client.upload(b"x").message_key == "AUTH_INVALID"
        assert client.outlines().keys() == stranger.outlines().keys()


def test_a_connection_is_not_used_again_when_the_office_may_be_about_to_close_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Patience().idle_seconds > remote.IDLE_SECONDS
    monkeypatch.setattr(remote, "IDLE_SECONDS", 0.2)
    met: list[str] = []

    class Host(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            met.append("connection")
            super().setup()

        def do_POST(self) -> None:
            met.append("request")
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        with connect(f"http://127.0.0.1:{host.server_port}", token="x") as client:
            for pause in (0.0, 0.0, 0.5):
                time.sleep(pause)
                client.call("shelf.list-books")
        host.shutdown()
    assert met == ["connection", "request", "request", "connection", "request"]
