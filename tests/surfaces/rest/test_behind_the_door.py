"""REST as it is really served: behind the guard, in a process of its own."""

from __future__ import annotations

import socket
from hashlib import sha256

import httpx2
import orjson
import pytest

from engross.replies import codes, received
from engross.replies.envelopes import REPLY_JSON
from tests.bed.served import Served
from tests.surfaces.rest.house import everything, status_of

LARGE = bytes(range(256)) * 25_000


@pytest.mark.requirement("REP-07")
def test_a_credential_leads_to_the_flow_and_none_leads_nowhere(served: Served) -> None:
    body = {"title": "Behind the door"}
    with httpx2.Client(base_url=served.url) as http:
        added = http.post("/v1/shelf/add-book", json=body, headers={"Authorization": f"Bearer {served.owner}"})
        assert (added.status_code, added.json()["reply"]["code"]) == (201, codes.CREATED)
        for token, code in ((None, codes.AUTH_REQUIRED), ("forged", codes.AUTH_INVALID)):
            headers = {"Accept": REPLY_JSON, **({"Authorization": f"Bearer {token}"} if token else {})}
            refused = http.post("/v1/shelf/add-book", json=body, headers=headers)
            assert (refused.status_code, received(refused.json()).code) == (401, code)


def test_what_anybody_may_see_needs_no_credential(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        for path in ("/docs", "/openapi.json", "/problems", f"/problems/{codes.AUTH_REQUIRED}"):
            answer = http.get(path)
            assert answer.status_code == 200, path
            assert "sha256-" in answer.headers["content-security-policy"]


def test_a_file_larger_than_any_call_goes_in_and_comes_out(served: Served) -> None:
    assert len(LARGE) > 4 * 1024 * 1024
    headers = {"Authorization": f"Bearer {served.agent}"}
    with httpx2.Client(base_url=served.url, headers=headers, timeout=30) as http:
        kept = http.put("/v1/blobs", params={"name": "large.bin"}, content=LARGE)
        assert kept.status_code == 201, kept.text
        assert http.get(f"/v1/blobs/{sha256(LARGE).hexdigest()}").content == LARGE
        call = http.post("/v1/shelf/add-book", content=LARGE, headers={"Content-Type": "application/json"})
        assert (call.status_code, call.json()["code"]) == (413, codes.LIMIT_EXCEEDED)


@pytest.mark.requirement("REL-06")
@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Content-Length: two",
        "no colon",
    ],
)
def test_what_is_no_http_gets_a_reply_too(served: Served, head: str) -> None:
    request = f"POST /v1/shelf/add-book HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n{head}\r\n\r\n{{}}"
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        answer = everything(connection)
    assert status_of(answer) == 400
    problem = orjson.loads(answer.partition(b"\r\n\r\n")[2])
    assert (problem["reply_type"], problem["code"]) == ("I", codes.MALFORMED_INPUT)


def test_a_client_that_has_said_everything_may_still_listen(served: Served) -> None:
    content = b'{"title": "Half closed"}'
    lines = [
        "POST /v1/shelf/add-book HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}",
        f"Authorization: Bearer {served.owner}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        connection.shutdown(socket.SHUT_WR)
        assert status_of(everything(connection)) == 201
