"""Host and Origin: a request must be addressed to us, and a page must be one that may call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engross.office import Settings
from engross.replies import Failed
from engross.surfaces.serving.names import Names
from tests.bed.served import Served
from tests.surfaces.serving.wires import Wire, ask, authorized

LIVE = "GET /health/live"
BOOKS = "GET /v1/shelf/list-books"
HERE = ("127.0.0.1", 8080)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that was told by which names it is known."""
    folder = tmp_path_factory.mktemp("known") / "office"
    settings: dict[str, Any] = {
        "public_url": "https://office.example.org",
        "hosts": "other.example.org, port.example.org:8443",
        "origins": "https://tools.example.org",
    }
    with Served(folder, **settings) as running:
        yield running


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_loopback_names_with_the_port_are_ours(plain: Served, host: str) -> None:
    assert ask(plain, LIVE, host=host.format(port=plain.port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "localhost",
        "localhost:1",
        "localhost:{port}.evil.example",
        "localhost:{port}@evil.example",
        "evil.example#localhost:{port}",
        "localhost.evil.example:{port}",
        "localhost.:{port}",
        "127.0.0.1.nip.io:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "0x7f000001:{port}",
        "0.0.0.0:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "localhost:{port}, evil.example",
        "http://localhost:{port}",
        "localhost:{port}/",
        "localhost\t:{port}",
        "locälhost:{port}",
        "*",
    ],
)
@pytest.mark.parametrize("first", [LIVE, BOOKS, "POST /mcp"])
def test_other_names_are_not(plain: Served, host: str, first: str) -> None:
    heard = ask(plain, first, authorized(plain), "Content-Length: 0", host=host.format(port=plain.port))
    assert (heard.status, heard.key) == (421, "HOST_NOT_ALLOWED")
    assert heard.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("lines", [[], ["Host:"], ["Host: localhost:{port}"] * 2], ids=["none", "empty", "two"])
def test_there_is_one_host_header(plain: Served, lines: list[str]) -> None:
    with Wire(plain) as wire:
        wire.say("\r\n".join([f"{LIVE} HTTP/1.1", *(line.format(port=plain.port) for line in lines), "", ""]))
        heard = wire.hear()
        assert (heard.status, heard.key) == (400, "MALFORMED_INPUT")


def test_a_forwarded_host_counts_for_nothing(plain: Served) -> None:
    ours = f"127.0.0.1:{plain.port}"
    assert ask(plain, LIVE, "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example").status == 200
    assert ask(plain, LIVE, f"X-Forwarded-Host: {ours}", host="evil.example").status == 421


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://evil.example",
        "null",
        "http://localhost:1",
        "http://localhost",
        "http://localhost:{port}.evil.example",
        "http://evil.example/http://localhost:{port}",
        "ftp://localhost:{port}",
        "localhost:{port}",
        "http://user@localhost:{port}",
        "http://localhost:{port}/path",
        "http://localhost:{port} http://evil.example",
        "*",
        "",
    ],
)
@pytest.mark.parametrize("first", [LIVE, BOOKS, "POST /mcp", "OPTIONS /mcp"])
def test_pages_of_other_origins_may_not_call(plain: Served, origin: str, first: str) -> None:
    heard = ask(plain, first, authorized(plain), f"Origin: {origin.format(port=plain.port)}", "Content-Length: 0")
    assert (heard.status, heard.key) == (403, "ORIGIN_NOT_ALLOWED")
    assert "access-control-allow-origin" not in heard.headers


def test_our_own_pages_may_call(plain: Served) -> None:
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert ask(plain, BOOKS, authorized(plain), f"Origin: http://{name}:{plain.port}").status == 200


def test_two_origins_are_one_too_many(plain: Served) -> None:
    own = f"Origin: http://localhost:{plain.port}"
    assert ask(plain, BOOKS, authorized(plain), own, own).key == "MALFORMED_INPUT"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("office.example.org", 200),
        ("office.example.org:443", 200),
        ("OFFICE.example.org", 200),
        ("office.example.org:444", 421),
        ("other.example.org", 200),
        ("other.example.org:9", 200),
        ("port.example.org:8443", 200),
        ("port.example.org", 421),
        ("evil.example", 421),
    ],
)
def test_names_can_be_set(known: Served, host: str, status: int) -> None:
    assert ask(known, LIVE, host=host).status == status


def test_a_page_that_was_named_may_call_and_its_browser_is_told_so(known: Served) -> None:
    page = "Origin: https://tools.example.org"
    wish = [
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization, mcp-protocol-version",
    ]
    asked = ask(known, "OPTIONS /mcp", page, *wish)
    assert asked.status == 204
    assert asked.headers["access-control-allow-headers"] == "authorization, mcp-protocol-version"
    answered = ask(known, BOOKS, authorized(known), page)
    for heard in (asked, answered):
        assert heard.headers["access-control-allow-origin"] == "https://tools.example.org"
    assert answered.status == 200
    refused = ask(known, BOOKS, page)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, "https://tools.example.org")


def test_a_page_of_our_own_needs_no_permission_of_its_browser(known: Served) -> None:
    assert "access-control-allow-origin" not in ask(known, LIVE, "Origin: https://office.example.org").headers


def test_our_own_number_is_ours_whatever_we_are_bound_to() -> None:
    names = Names("0.0.0.0", 8080, Settings())
    assert names.answers_to(b"10.0.0.7:8080", ("10.0.0.7", 8080))
    assert names.answers_to(b"[fd00::7]:8080", ("fd00::7", 8080))
    assert not names.answers_to(b"10.0.0.8:8080", ("10.0.0.7", 8080))
    assert not names.answers_to(b"evil.example:8080", ("10.0.0.7", 8080))
    assert not names.answers_to(b"10.0.0.7:8080", None)


def test_the_usual_port_may_be_left_out() -> None:
    names = Names("127.0.0.1", 80, Settings())
    assert names.answers_to(b"localhost", HERE)
    assert names.answers_to(b"localhost:80", HERE)
    assert names.welcomes(b"http://localhost", HERE)


@pytest.mark.parametrize(
    "settings",
    [
        {"hosts": "http://office.example.org"},
        {"hosts": "*"},
        {"origins": "tools.example.org"},
        {"origins": "https://tools.example.org/page"},
        {"public_url": "office.example.org"},
        {"public_url": "https://user@office.example.org"},
        {"public_url": "https://[::1"},
        {"public_url": "https://office.example.org?x=y"},
    ],
    ids=str,
)
def test_a_name_that_is_none_is_refused_at_the_start(settings: dict[str, str]) -> None:
    with pytest.raises(Failed) as refused:
        Names("127.0.0.1", 8080, Settings(**settings))  # type: ignore[arg-type]
    assert [refused.value.params["setting"]] == list(settings)
