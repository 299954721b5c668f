"""Connections that do not behave: each ends with a Reply or is let go, and the server goes on."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from bench.resident import resident_megabytes
from tests.bed.served import Served, wait_for
from tests.surfaces.serving.wires import Wire, ask, authorized, head

LIVE = "GET /health/live"
BOOK = "POST /v1/shelf/add-book"
JSON = "Content-Type: application/json"


@pytest.fixture(autouse=True)
def goes_on(hasty: Served) -> Iterator[None]:
    """Whatever happened: the next one is served, and nothing is left under way."""
    yield
    assert ask(hasty, LIVE).status == 200
    with hasty.client() as client:
        wait_for(lambda: "engross_calls_in_flight 0.0" in client.get("/metrics").text)
        wait_for(lambda: "engross_requests_in_flight 1.0" in client.get("/metrics").text)


def test_a_head_that_does_not_come_ends_the_connection(hasty: Served) -> None:
    with Wire(hasty) as wire:
        assert wire.is_over()


def test_a_head_that_comes_too_slowly_is_told_so(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say("GET /health/live HTTP/1.1\r\nHos")
        heard = wire.hear()
        assert (heard.status, heard.key) == (408, "REQUEST_TOO_SLOW")
        assert wire.is_over()


def test_a_second_head_that_comes_too_slowly_is_told_so_as_well(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE))
        assert wire.hear().status == 200
        wire.say("GET /health")
        assert wire.hear().key == "REQUEST_TOO_SLOW"


def test_a_connection_on_which_nobody_asks_anything_ends(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE))
        assert wire.hear().status == 200
        assert wire.is_over()


def test_a_connection_on_which_something_is_asked_now_and_then_stays(hasty: Served) -> None:
    pauses = [0.3, 0.0, 0.5, 0.5, 0.5]
    with Wire(hasty) as wire:
        for pause in pauses:
            time.sleep(pause)
            wire.say(head(hasty, LIVE))
            assert wire.hear().status == 200
        assert wire.is_over()


def test_a_call_that_takes_longer_than_a_connection_may_idle_is_answered(hasty: Served, tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    body = f'{{"begun": "{begun}", "until": "{until}"}}'
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE))
        assert wire.hear().status == 200
        wire.say(head(hasty, "POST /v1/rig/hold", JSON, authorized(hasty), f"Content-Length: {len(body)}"), body)
        wait_for(begun.exists)
        time.sleep(1.2)
        until.touch()
        assert wire.hear("POST").status == 200
        assert wire.is_over()


def test_who_speaks_http_1_0_is_answered_once(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE, "Connection: keep-alive").replace("HTTP/1.1", "HTTP/1.0"))
        heard = wire.hear()
        assert (heard.status, heard.headers["connection"]) == (200, "close")
        assert wire.is_over()


def test_a_body_that_stops_coming_is_told_so_and_nothing_is_done(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 100"), '{"title": "Dro')
        heard = wire.hear("POST")
        assert (heard.status, heard.key) == (408, "REQUEST_TOO_SLOW")
        assert wire.is_over()
    books = hasty.call("shelf.list-books").json()["books"]
    assert [book for book in books if book["title"].startswith("Dro")] == []


def test_a_body_behind_another_request_that_stops_coming_is_told_so(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE) + head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 100") + "{")
        assert wire.hear().status == 200
        assert wire.hear("POST").key == "REQUEST_TOO_SLOW"


def test_a_head_without_end_is_cut_off(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE).removesuffix("\r\n"), "X-Long: " + "x" * 30_000)
        heard = wire.hear()
        assert (heard.status, heard.key) == (413, "LIMIT_EXCEEDED")


@pytest.mark.parametrize(
    "lines",
    [[f"X-{number}: x" for number in range(101)], ["X-Long: " + "x" * 70_000]],
    ids=["too many headers", "too long headers"],
)
def test_a_head_that_is_too_large_is_refused(hasty: Served, lines: list[str]) -> None:
    heard = ask(hasty, LIVE, *lines)
    assert (heard.status, heard.key) == (413, "LIMIT_EXCEEDED")


@pytest.mark.parametrize(
    "bytes_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello there\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        b"CONNECT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=[
        "TLS",
        "words",
        "a zero",
        "a version",
        "another host",
        "a tunnel",
        "a tunnel to a path",
        "two lengths",
        "minus",
        "both",
        "gzip",
        "packed",
    ],
)
def test_what_is_no_plain_http_is_malformed(hasty: Served, bytes_: bytes) -> None:
    with Wire(hasty) as wire:
        wire.say(bytes_)
        heard = wire.hear()
        assert (heard.status, heard.key) == (400, "MALFORMED_INPUT")
        assert heard.headers["content-type"] == "application/problem+json"


def test_a_chunk_that_makes_no_sense_ends_the_request(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Transfer-Encoding: chunked"), "zz\r\n")
        assert wire.hear("POST").key == "MALFORMED_INPUT"
        assert wire.is_over()


def in_pieces(text: bytes, *trailers: str) -> bytes:
    """A body in pieces of one byte, and what follows it."""
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in text)
    return pieces + b"0\r\n" + "".join(f"{line}\r\n" for line in (*trailers, "")).encode()


@pytest.mark.parametrize("trailer", ["Host: evil.example", "Engross-Timeout: bad", "Content-Type: text/plain"])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_follows_a_body_is_no_header(hasty: Served, trailer: str, at_once: bool) -> None:
    first = head(hasty, "POST /v1/record/read-facts", JSON, authorized(hasty), "Transfer-Encoding: chunked")
    rest = in_pieces(b'{"limit": 1}', trailer)
    with Wire(hasty) as wire:
        wire.say(*([first.encode() + rest] if at_once else [first, rest]))
        assert wire.hear("POST").status == 200
        wire.say(first.replace(f"{authorized(hasty)}\r\n", "").encode() + in_pieces(b"{}", authorized(hasty)))
        assert (heard := wire.hear("POST")).status == 401, heard


@pytest.mark.parametrize("endless", [b"x: y\r\n" * 2_000, b"x" * 12_000], ids=["many", "one"])
def test_trailers_without_end_are_cut_off(hasty: Served, endless: bytes) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Transfer-Encoding: chunked"), b"2\r\n{}\r\n0\r\nx: ")
        with suppress(ConnectionError):
            for _ in range(100):
                wire.say(endless)
        with suppress(ConnectionError):
            assert wire.hear("POST").status == 400
        assert wire.is_over()


def test_a_declared_body_over_the_limit_is_refused_before_it_is_sent(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 50001", "Expect: 100-continue"))
        heard = wire.hear("POST")
        assert (heard.status, heard.key) == (413, "LIMIT_EXCEEDED")
        assert heard.told["reply"]["params"]["limit"] == 50_000


@pytest.mark.parametrize("path", ["/v1/shelf/add-book", "/mcp"])
def test_a_growing_body_is_cut_off_at_the_limit(hasty: Served, path: str) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, f"POST {path}", JSON, authorized(hasty), "Transfer-Encoding: chunked"))
        for _ in range(6):
            wire.say(b"2710\r\n", b" " * 10_000, b"\r\n")
        heard = wire.hear("POST")
        assert (heard.status, heard.key) == (413, "LIMIT_EXCEEDED")


def test_a_client_that_sends_all_of_a_refused_body_can_go_on(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 60000"), b" " * 60_000)
        assert wire.hear("POST").status == 413
        wire.say(head(hasty, LIVE))
        assert wire.hear().status == 200


def test_a_client_that_goes_on_sending_what_nobody_wants_is_dropped(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 60000"), b" " * 100)
        assert wire.hear("POST").status == 413
        assert wire.is_over()


def test_a_client_that_half_closes_gets_its_answer(hasty: Served) -> None:
    body = b'{"title": "Half closed"}'
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), f"Content-Length: {len(body)}"), body)
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.hear("POST").key == "CREATED"
        assert wire.is_over()


def over_mcp(name: str, arguments: str) -> tuple[list[str], str]:
    """The headers and the body of a call in the stateless era."""
    said = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "'
        + f'{name}", "arguments": {arguments}'
        + ', "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",'
        ' "io.modelcontextprotocol/clientCapabilities": {}}}}'
    )
    lines = [JSON, "Accept: application/json, text/event-stream", "Mcp-Protocol-Version: 2026-07-28"]
    return [*lines, "Mcp-Method: tools/call", f"Mcp-Name: {name}", f"Content-Length: {len(said)}"], said


HANDSHAKE = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",'
    ' "capabilities": {}, "clientInfo": {"name": "half", "version": "1"}}}'
)
ACCEPT = "Accept: application/json, text/event-stream"


@pytest.mark.parametrize(
    ("lines", "said", "heard"),
    [
        pytest.param(*over_mcp("addBook", '{"title": "Half closed over MCP"}'), b'"isError":false', id="a call"),
        # Whatever is not plain is answered by the SDK.
        pytest.param(*over_mcp("no-such-tool", "{}"), b"Unknown tool", id="no plain call"),
        pytest.param([JSON, ACCEPT, f"Content-Length: {len(HANDSHAKE)}"], HANDSHAKE, b"serverInfo", id="a handshake"),
    ],
)
def test_a_client_that_half_closes_gets_its_answer_over_mcp_too(
    hasty: Served, lines: list[str], said: str, heard: bytes
) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, "POST /mcp", authorized(hasty), *lines) + said)
        wire.socket.shutdown(socket.SHUT_WR)
        assert heard in wire.hear("POST").body
        assert wire.is_over()


def test_a_client_that_half_closes_while_it_listens_listens_no_longer(hasty: Served) -> None:
    lines = [JSON, ACCEPT, f"Content-Length: {len(HANDSHAKE)}"]
    opened = ask(hasty, "POST /mcp", authorized(hasty), *lines, body=HANDSHAKE.encode())
    session = f"Mcp-Session-Id: {opened.headers['mcp-session-id']}"
    with Wire(hasty) as wire:
        wire.say(head(hasty, "GET /mcp", authorized(hasty), ACCEPT, session))
        heard = wire.socket.recv(4096)
        assert b"text/event-stream" in heard
        wire.socket.shutdown(socket.SHUT_WR)
        while heard:
            heard = wire.socket.recv(4096)


def test_a_client_that_half_closes_in_the_middle_leaves_nothing_behind(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, BOOK, JSON, authorized(hasty), "Content-Length: 100"), b'{"title": "Half sent"')
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.is_over()
    assert "Half sent" not in hasty.call("shelf.list-books").text


@pytest.mark.parametrize("path", ["/v1/rig/hold", "/mcp"], ids=["REST", "MCP"])
def test_a_client_that_vanishes_in_mid_call_is_not_missed(hasty: Served, tmp_path: Path, path: str) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    arguments = f'{{"begun": "{begun}", "until": "{until}"}}'
    lines = [JSON, f"Content-Length: {len(arguments)}"]
    if path == "/mcp":
        lines, arguments = over_mcp("hold", arguments)
    wire = Wire(hasty)
    wire.say(head(hasty, f"POST {path}", authorized(hasty), *lines), arguments)
    wait_for(begun.exists)
    wire.close()
    until.touch()


def test_a_client_that_does_not_read_is_dropped(hasty: Served) -> None:
    """It asks for more than the buffers on the way can hold, takes nothing of it, and finds itself cut off."""
    body = '{"size": 3800000}'
    request = head(hasty, "POST /v1/rig/flood", JSON, authorized(hasty), f"Content-Length: {len(body)}") + body
    with Wire(hasty) as deaf:
        deaf.say(request * 8)
        with hasty.client() as client:
            wait_for(lambda: 'flow="rig.flood"' in client.get("/metrics").text)
            # Between one request and the one behind it, none is under way either.
            wait_for(lambda: "engross_requests_in_flight 2.0" in client.get("/metrics").text)
            wait_for(lambda: "engross_requests_in_flight 1.0" in client.get("/metrics").text)
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            _ = [deaf.hear("POST") for _ in range(8)]


def test_requests_that_wait_behind_others_are_answered_in_order_and_each_by_its_own_credential(hasty: Served) -> None:
    stranger = head(hasty, "GET /v1/shelf/list-books")
    owner = head(hasty, "GET /v1/shelf/list-books", authorized(hasty))
    with Wire(hasty) as wire:
        wire.say(owner + stranger + owner + stranger)
        assert [wire.hear().status for _ in range(4)] == [200, 401, 200, 401]


def test_an_upgrade_that_nobody_offers_is_passed_over(hasty: Served) -> None:
    heard = ask(hasty, LIVE, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    assert heard.status == 200


UPGRADE = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEA"]
ONE_FACT = b'{"limit": 1}'
ONE_LENGTH = f"Content-Length: {len(ONE_FACT)}"


@pytest.mark.parametrize("at_once", [True, False])
def test_a_body_that_comes_with_an_upgrade_that_nobody_offers_is_a_body(hasty: Served, at_once: bool) -> None:
    body = head(hasty, LIVE).encode()
    first = head(hasty, BOOK, JSON, authorized(hasty), *UPGRADE, f"Content-Length: {len(body)}").encode()
    with Wire(hasty) as wire:
        wire.say(*([first + body] if at_once else [first, body]))
        assert wire.hear("POST").key == "MALFORMED_INPUT"
        wire.say(head(hasty, "GET /"))
        assert "live" not in wire.hear().told


@pytest.mark.parametrize("framing", [ONE_LENGTH, "Transfer-Encoding: chunked"], ids=["whole", "in pieces"])
def test_a_call_that_comes_with_an_upgrade_that_nobody_offers_is_made(hasty: Served, framing: str) -> None:
    body = ONE_FACT if framing == ONE_LENGTH else in_pieces(ONE_FACT)
    request = head(hasty, "POST /v1/record/read-facts", JSON, authorized(hasty), *UPGRADE, framing).encode() + body
    with Wire(hasty) as wire:
        for byte in request:
            wire.say(bytes([byte]))
        heard = wire.hear("POST")
        assert (heard.status, len(heard.told["facts"])) == (200, 1)


def test_what_follows_an_upgrade_that_nobody_offers_is_answered_as_well(hasty: Served) -> None:
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE, *UPGRADE) * 2 + head(hasty, "GET /health/ready"))
        assert [wire.hear().status for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize(
    ("line", "version"),
    [("Connection: Upgrade, close", "HTTP/1.1"), ("Connection: upgrade", "HTTP/1.0")],
    ids=["and a last request", "in HTTP/1.0"],
)
@pytest.mark.parametrize("behind", [False, True], ids=["alone", "behind another"])
def test_an_upgrade_that_nobody_offers_is_passed_over_where_the_connection_ends_as_well(
    hasty: Served, line: str, version: str, behind: bool
) -> None:
    request = head(hasty, "POST /v1/record/read-facts", JSON, authorized(hasty), line, "Upgrade: h2c", ONE_LENGTH)
    request = request.replace("HTTP/1.1", version)
    with Wire(hasty) as wire:
        wire.say(head(hasty, LIVE) * behind, request, ONE_FACT)
        if behind:
            assert wire.hear().status == 200
        heard = wire.hear("POST")
        assert (heard.status, len(heard.told["facts"])) == (200, 1)
        assert wire.is_over()


def test_very_many_requests_behind_one_another_are_all_answered_and_take_up_no_room(hasty: Served) -> None:
    many = 60_000
    before = resident_megabytes(hasty.process.pid)
    with Wire(hasty) as wire:
        asking = Thread(target=wire.say, args=[head(hasty, LIVE) * many], daemon=True)
        asking.start()
        most = before
        for number in range(many):
            assert wire.hear().status == 200
            if number % 1_000 == 0:
                most = max(most, resident_megabytes(hasty.process.pid))
        asking.join(15)
        wire.say(head(hasty, "GET /health/ready"))
        assert wire.hear().status == 200
    assert most - before < 30, "they were taken in one by one"


def test_bodies_of_requests_that_wait_come_whole(hasty: Served) -> None:
    """More of them than may wait, so that some are cut wherever we stopped looking."""
    facts = head(hasty, "POST /v1/record/read-facts", JSON, authorized(hasty), "Content-Length: 9012")
    request = facts + ONE_FACT.decode() + " " * (9012 - len(ONE_FACT))
    with Wire(hasty) as wire:
        asking = Thread(target=wire.say, args=[request * 200], daemon=True)
        asking.start()
        assert [len(wire.hear("POST").told["facts"]) for _ in range(200)] == [1] * 200
        asking.join(15)


def test_who_speaks_http_1_0_is_not_told_to_continue(hasty: Served) -> None:
    first = head(hasty, "POST /v1/record/read-facts", JSON, authorized(hasty), "Expect: 100-continue", ONE_LENGTH)
    with Wire(hasty) as wire:
        wire.say(first.replace("HTTP/1.1", "HTTP/1.0"))
        time.sleep(0.2)
        wire.say(ONE_FACT)
        assert wire.socket.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
