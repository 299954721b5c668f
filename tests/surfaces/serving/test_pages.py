"""What the server says about itself, and what every answer carries."""

from __future__ import annotations

import pytest

from tests.bed.served import Served
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import Wire, ask, authorized, head

SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
GUARDED = SAFE | {"content-security-policy": "default-src 'none'; frame-ancestors 'none'", "cache-control": "no-store"}


def test_the_root_says_what_this_is_and_where_to_go(plain: Served) -> None:
    with plain.client(plain.owner) as client:
        told = client.get("/").json()
        assert told["name"] == "Engross"
        for way in told["ways_in"].values():
            # MCP wants more than a plain GET; it is there all the same.
            assert client.get(way["path"]).status_code in (200, 400, 406)


def test_a_browser_gets_a_page(plain: Served) -> None:
    with plain.client() as client:
        page = client.get("/", headers={"Accept": "text/html,*/*"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert 'href="/docs"' in page.text


@pytest.mark.parametrize(("path", "resource"), [("", ""), ("/mcp", "/mcp")])
def test_the_metadata_names_the_resource_as_the_caller_knows_it(plain: Served, path: str, resource: str) -> None:
    for host in ("localhost", "127.0.0.1"):
        named = f"{host}:{plain.port}"
        told = ask(plain, f"GET /.well-known/oauth-protected-resource{path}", host=named).told
        assert told["resource"] == f"http://{named}{resource}"
        assert told["bearer_methods_supported"] == ["header"]


def test_behind_a_proxy_the_public_address_is_named(serving: Serving) -> None:
    served = serving(public_url="https://office.example.org/engross/")
    assert served.address["url"] == "https://office.example.org/engross"
    assert served.address["mcp"] == "https://office.example.org/engross/mcp"
    told = ask(served, "GET /.well-known/oauth-protected-resource/mcp", host="office.example.org").told
    assert told["resource"] == "https://office.example.org/engross/mcp"
    refused = ask(served, "POST /mcp", "Content-Length: 0", host="office.example.org")
    metadata = "https://office.example.org/engross/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{metadata}"' in refused.headers["www-authenticate"]
    assert refused.told["type"] == "https://office.example.org/engross/problems/MCP-CFG-I-001"


def test_other_metadata_is_not_there(plain: Served) -> None:
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"):
        assert ask(plain, f"GET {path}").status == 404


@pytest.mark.parametrize(
    "first",
    [
        "GET /",
        "GET /health/live",
        "GET /nowhere",
        "GET /v1/shelf/list-books",
        "POST /v1/shelf/add-book",
        "GET /metrics",
    ],
)
def test_every_answer_keeps_browsers_from_harm_and_says_little_about_the_server(plain: Served, first: str) -> None:
    heard = ask(plain, first, authorized(plain), "Content-Length: 0")
    assert {name: heard.headers.get(name) for name in SAFE} == SAFE
    assert heard.headers["content-security-policy"]
    assert heard.headers["cache-control"]
    assert "server" not in heard.headers
    assert "x-powered-by" not in heard.headers


def test_a_refusal_is_not_kept_by_anybody(plain: Served) -> None:
    heard = ask(plain, "GET /v1/shelf/list-books")
    assert {name: heard.headers.get(name) for name in GUARDED} == GUARDED


def test_what_is_not_there_is_not_found(plain: Served) -> None:
    heard = ask(plain, "GET /nowhere", authorized(plain))
    assert (heard.status, heard.key, heard.told["reply"]["params"]["path"]) == (404, "PATH_NOT_FOUND", "/nowhere")


PAGES = ("/", "/health/live", "/health/ready", "/metrics", "/.well-known/oauth-protected-resource")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_can_only_be_read(plain: Served, method: str, path: str) -> None:
    heard = ask(plain, f"{method} {path}", "Content-Length: 0")
    assert (heard.status, heard.key) == (405, "METHOD_NOT_ALLOWED")
    assert heard.told["allowed_methods"] == heard.headers["allow"].split(", ") == ["GET", "HEAD", "OPTIONS"]


@pytest.mark.parametrize("path", [*PAGES, "/docs", "/openapi.json", "/problems"])
def test_every_page_tells_its_methods(plain: Served, path: str) -> None:
    heard = ask(plain, f"OPTIONS {path}")
    assert (heard.status, heard.headers["allow"], heard.body) == (204, "GET, HEAD, OPTIONS", b"")


def test_a_head_request_is_answered_without_a_body(plain: Served) -> None:
    with Wire(plain) as wire:
        wire.say(head(plain, "HEAD /health/live"))
        heard = wire.hear("HEAD")
        assert (heard.status, heard.body) == (200, b"")
        wire.say(head(plain, "GET /health/live"))
        assert wire.hear().status == 200


@pytest.mark.parametrize(
    "path",
    ["/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/v1/../health/live", "//evil.example/", "/%00", "/\\evil"],
)
def test_a_path_is_taken_as_it_is_and_leads_nowhere_else(plain: Served, path: str) -> None:
    assert ask(plain, f"GET {path}", authorized(plain)).key in ("PATH_NOT_FOUND", "UNKNOWN_OPERATION")


def test_a_refusal_belongs_to_the_trace_of_the_caller(plain: Served) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    heard = ask(plain, "GET /v1/shelf/list-books", f"traceparent: 00-{trace}-b7ad6b7169203331-01")
    assert heard.told["reply"]["trace_id"] == trace
    assert heard.told["instance"] == f"urn:trace:{trace}"


def test_a_refusal_comes_as_a_plain_reply_to_who_asks_for_that(plain: Served) -> None:
    heard = ask(plain, "GET /v1/shelf/list-books", "Accept: application/vnd.engross.reply+json")
    assert heard.headers["content-type"] == "application/vnd.engross.reply+json"
    assert (heard.status, heard.key, heard.told["data"]["errors"][0]["code"]) == (401, "AUTH_REQUIRED", "AUTH_REQUIRED")


def test_blanks_after_a_header_do_not_count(plain: Served) -> None:
    """The parser keeps them, and MCP holds Mcp-Name against the body."""
    call = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "listBooks", "arguments": {}, "_meta":'
        b' {"io.modelcontextprotocol/protocolVersion": "2026-07-28",'
        b' "io.modelcontextprotocol/clientCapabilities": {}}}}'
    )
    lines = [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Mcp-Protocol-Version: 2026-07-28 ",
        "Mcp-Method: tools/call \t",
        "Mcp-Name: listBooks  ",
        f"Content-Length: {len(call)}",
        authorized(plain),
    ]
    heard = ask(plain, "POST /mcp", *lines, body=call)
    assert (heard.status, heard.told["result"]["isError"]) == (200, False)
