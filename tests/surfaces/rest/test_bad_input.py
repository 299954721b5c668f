"""What no well-meaning client would send. It gets a Reply, nothing is half written, and the server goes on."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import orjson
import pytest

from engross.replies import codes, parse
from tests.surfaces.rest.house import House, everything, status_of

JSON = "Content-Type: application/json"
ADD = "/v1/shelf/add-book"


@pytest.fixture(autouse=True)
def _the_server_goes_on(cottage: House) -> Iterator[None]:
    yield
    assert cottage.is_alive()


def send(cottage: House, content: bytes, media_type: str | None = "application/json", **more: str) -> httpx2.Response:
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    if media_type is not None:
        headers["Content-Type"] = media_type
    return cottage.ask("POST", ADD, content=content, headers=headers)


def body_of(answer: bytes) -> dict[str, object]:
    body: dict[str, object] = orjson.loads(answer.partition(b"\r\n\r\n")[2])
    return body


def code_of(answer: bytes) -> str:
    return parse("problem", body_of(answer))[1]


def books(cottage: House) -> int:
    return len(cottage.call("shelf.list-books").json()["books"])


@pytest.mark.requirement("REL-06")
@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"}",
        b'{"title": NaN}',
        b'{"title": Infinity}',
        b'{"title": 1e999}',
        b'{"title": "\xff"}',
        b'{"title": "\xed\xa0\x80"}',
        b'{"title": "\\ud800"}',
        b'{"title": "\\udc00 and \\ud800"}',
        b'{"\\ud800": 1}',
        b'\xef\xbb\xbf{"title": "Dune"}',
        b'{"title": "Dune"} and more',
        b"{'title': 'Dune'}",
        b'{"title": "Dune",}',
        b"\x00",
        b" ",
        b"[" * 50_000,
        b'{"a":' * 20_000,
        '{"title": "Dune"}'.encode("utf-16"),
        b"title=Dune",
    ],
)
def test_what_is_no_json_is_malformed(cottage: House, content: bytes) -> None:
    answer = send(cottage, content)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert parse("problem", answer.json()) == ("I", codes.MALFORMED_INPUT)
    assert "Traceback" not in answer.text


@pytest.mark.requirement("REL-06")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"notes":' + b"[" * 900 + b"]" * 900 + b"}", codes.LIMIT_EXCEEDED),
        (b'{"title": "' + b"x" * 300 + b'"}', codes.VALIDATION_ERROR),
        (b'{"title": "a\\u0000b"}', codes.MALFORMED_INPUT),
        (b'{"title": 18446744073709551616}', codes.VALIDATION_ERROR),
        (b'{"' + b"x" * 300 + b'": 1, "title": "Dune"}', codes.LIMIT_EXCEEDED),
        (b'{"titel": "Dune"}', codes.VALIDATION_ERROR),
        (b'{"title": null}', codes.VALIDATION_ERROR),
        (b'"Dune"', codes.VALIDATION_ERROR),
        (b'["Dune"]', codes.VALIDATION_ERROR),
        (b"null", codes.VALIDATION_ERROR),
    ],
)
def test_json_that_does_not_fit_is_told_what_is_wrong(cottage: House, content: bytes, code: str) -> None:
    answer = send(cottage, content)
    assert parse("problem", answer.json()) == ("I", code)
    assert answer.json()["errors"]


@pytest.mark.parametrize(
    "media_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/jsonx",
        "application/json; charset=latin-1",
        "application/json; boundary=x",
        "application/json, application/json",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "*/*",
    ],
)
def test_a_body_has_to_be_json(cottage: House, media_type: str | None) -> None:
    answer = send(cottage, b'{"title": "Dune"}', media_type)
    assert (answer.status_code, answer.json()["code"]) == (415, codes.UNSUPPORTED_MEDIA_TYPE)


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/merge-patch+json",
    ],
)
def test_json_has_several_names(cottage: House, media_type: str) -> None:
    assert send(cottage, b'{"wrong": 1}', media_type).status_code == 400


def test_a_packed_body_is_refused_before_it_is_unpacked(cottage: House) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    answer = send(cottage, bomb, content_encoding="gzip")
    assert (answer.status_code, answer.json()["code"]) == (415, codes.UNSUPPORTED_MEDIA_TYPE)


# --- bodies that are too large, too slow, or not all there


def test_a_body_that_says_it_is_too_large_is_not_waited_for(cottage: House) -> None:
    answer = cottage.raw(cottage.head("POST", ADD, JSON, "Content-Length: 100001"))
    assert (status_of(answer), code_of(answer)) == (413, codes.LIMIT_EXCEEDED)


def test_a_body_that_grows_too_large_is_refused(cottage: House) -> None:
    piece = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
    answer = cottage.raw(cottage.head("POST", ADD, JSON, "Transfer-Encoding: chunked"), *[piece] * 11)
    assert (status_of(answer), code_of(answer)) == (413, codes.LIMIT_EXCEEDED)


def test_a_body_of_just_the_right_size_is_taken(cottage: House) -> None:
    content = b'{"title": "' + b"x" * (100_000 - 13) + b'"}'
    assert len(content) == 100_000
    assert send(cottage, content).json()["code"] == codes.VALIDATION_ERROR


def test_who_asks_first_is_told_before_sending(cottage: House) -> None:
    head = cottage.head("POST", ADD, JSON, "Content-Length: 100001", "Expect: 100-continue")
    answer = cottage.raw(head)
    assert b"100 Continue" not in answer
    assert status_of(answer) == 413


@pytest.mark.parametrize("begun", [b"", b'{"title": "Du'])
def test_a_body_that_does_not_come_is_not_waited_for_any_longer(cottage: House, begun: bytes) -> None:
    before = books(cottage)
    answer = cottage.raw(cottage.head("POST", ADD, JSON, "Content-Length: 17"), begun)
    assert (status_of(answer), code_of(answer)) == (408, codes.REQUEST_TOO_SLOW)
    assert books(cottage) == before


@pytest.mark.parametrize("ending", ["close", "half-close", "reset"])
def test_a_client_that_leaves_in_the_middle_of_its_body_changes_nothing(cottage: House, ending: str) -> None:
    before = books(cottage)
    content = b'{"title": "Half a book"}'
    connection = cottage.connect()
    connection.sendall(cottage.head("POST", ADD, JSON, f"Content-Length: {len(content) + 1}") + content)
    if ending == "half-close":
        connection.shutdown(socket.SHUT_WR)
        assert everything(connection) == b""
    elif ending == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    assert books(cottage) == before


def test_a_client_that_leaves_before_the_answer_has_made_its_call_all_the_same(cottage: House) -> None:
    content = b'{"title": "Left behind", "client_request_id": "left-behind-1"}'
    with cottage.connect() as connection:
        connection.sendall(cottage.head("POST", ADD, JSON, f"Content-Length: {len(content)}") + content)
        # The call is made once the answer begins; nobody reads it to the end.
        assert connection.recv(12) == b"HTTP/1.1 201"
    again = cottage.ask("POST", ADD, content=content, headers={"Content-Type": "application/json"})
    assert again.json()["idempotent_replay"] is True


# --- bytes that are no HTTP


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"POST /v1/shelf/add-book HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/shelf/add-book HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /v1/shelf/add-book HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}",
        b"POST /v1/shelf/add-book HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/shelf/add-book HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
    ],
)
def test_what_is_no_http_is_turned_away(cottage: House, garbage: bytes) -> None:
    with cottage.connect() as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        answer = everything(connection)
    assert answer == b"" or status_of(answer) == 400


@pytest.mark.parametrize(
    "chunks", [b"zz\r\n{}\r\n0\r\n\r\n", b"2\r\n{}xx0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n", b"\0\r\n"]
)
def test_chunks_that_are_none_change_nothing(cottage: House, chunks: bytes) -> None:
    before = books(cottage)
    with cottage.connect() as connection:
        connection.sendall(cottage.head("POST", ADD, JSON, "Transfer-Encoding: chunked") + chunks)
        connection.shutdown(socket.SHUT_WR)
        answer = everything(connection)
    assert answer == b"" or status_of(answer) == 400
    assert books(cottage) == before


def test_a_header_that_is_there_twice_counts_as_neither(cottage: House) -> None:
    content = b'{"title": "Twice"}'
    length = f"Content-Length: {len(content)}"
    for lines in (
        ["Idempotency-Key: key-number-1", "Idempotency-Key: key-number-2"],
        ['If-Match: "1"', 'If-Match: "1"'],
        ["Engross-Dry-Run: true", "Engross-Dry-Run: false"],
    ):
        answer = cottage.raw(cottage.head("POST", ADD, JSON, length, *lines) + content)
        assert (status_of(answer), code_of(answer)) == (400, codes.VALIDATION_ERROR)


def test_a_strange_path_or_query_is_only_not_found(cottage: House) -> None:
    for path in ("/v1/shelf/%00", "/v1/%FF/x", "/v1/shelf/..%2f..%2fetc", "/v1/shelf/" + "x" * 5000, "/v1/shelf/\\"):
        answer = cottage.raw(cottage.head("GET", path))
        assert status_of(answer) in (400, 404)
        assert b"Traceback" not in answer


def test_very_many_clients_at_once_are_all_answered(cottage: House) -> None:
    def ask(number: int) -> int:
        content = orjson.dumps({"title": f"One of many {number}"})
        return status_of(cottage.raw(cottage.head("POST", ADD, JSON, f"Content-Length: {len(content)}"), content))

    before = len(cottage.call("shelf.list-books", {"limit": 500}).json()["books"])
    with ThreadPoolExecutor(64) as clients:
        answers = list(clients.map(ask, range(200)))
    assert set(answers) <= {201, 429}
    assert len(cottage.call("shelf.list-books", {"limit": 500}).json()["books"]) == before + answers.count(201)


def test_too_many_calls_are_told_when_to_come_again(cottage: House) -> None:
    answers = [cottage.call("shelf.import-books", {"text": f"Much too much {number}"}) for number in range(101)]
    assert [answer.status_code for answer in answers[:100]] == [201] * 100
    late = answers[100]
    assert (late.status_code, late.json()["code"]) == (429, codes.RATE_LIMIT_EXCEEDED)
    assert int(late.headers["retry-after"]) == late.json()["retry_after_seconds"] > 0


def test_what_cannot_be_read_counts_like_any_other_call(cottage: House) -> None:
    tenant = cottage.next_door("unreadable")
    path = "/v1/shelf/change-book"
    unread = [tenant.ask("POST", path, content=b"{", headers={"Content-Type": "application/json"}) for _ in range(50)]
    unread += [tenant.ask("POST", f"{path}?bogus=1", json={}) for _ in range(25)]
    unread += [tenant.ask("PUT", path, json={}) for _ in range(25)]
    assert {answer.status_code for answer in unread} == {400, 405}
    for late in (tenant.ask("POST", path, content=b"{"), tenant.ask("PUT", path), tenant.ask("POST", path, json={})):
        assert (late.status_code, late.json()["code"]) == (429, codes.RATE_LIMIT_EXCEEDED)
    assert tenant.ask("POST", "/v1/shelf/chnge-book", json={}).status_code == 404
    tenant.close()
