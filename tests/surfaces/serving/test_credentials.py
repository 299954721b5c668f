"""Who is calling is what the credential says, and nothing else that comes with a request."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.bed.served import Served
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import ask, authorized

BOOKS = "GET /v1/shelf/list-books"
PLACES = [BOOKS, "POST /mcp", "GET /mcp", "GET /v1/nowhere/at-all", "GET /nowhere", "POST /v1/blobs"]
PUBLIC = [
    "/",
    "/health/live",
    "/health/ready",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/openapi.json",
    "/docs",
    "/problems/MCP-CFG-I-001",
]


@pytest.mark.parametrize("first", PLACES)
def test_without_a_credential_nobody_gets_further(plain: Served, first: str) -> None:
    heard = ask(plain, first, "Content-Length: 0")
    assert (heard.status, heard.key) == (401, "AUTH_REQUIRED")
    assert heard.headers["content-type"] == "application/problem+json"
    part = "/mcp" if "/mcp" in first else ""
    metadata = f"http://127.0.0.1:{plain.port}/.well-known/oauth-protected-resource{part}"
    assert heard.headers["www-authenticate"] == f'Bearer realm="engross", resource_metadata="{metadata}"'


@pytest.mark.parametrize("path", PUBLIC)
def test_some_pages_are_for_everybody(plain: Served, path: str) -> None:
    assert ask(plain, f"GET {path}").status == 200


def forgeries(token: str) -> dict[str, str]:
    """Headers that look a little like the right one."""
    last = "0" if token[-1] != "0" else "1"
    return {
        "another last letter": f"Bearer {token[:-1]}{last}",
        "cut off": f"Bearer {token[:-1]}",
        "longer": f"Bearer {token}0",
        "upper case": f"Bearer {token.upper()}",
        "two": f"Bearer {token} {token}",
        "two by comma": f"Bearer {token}, {token}",
        "nothing": "Bearer",
        "no scheme": token,
        "another scheme": f"Token {token}",
        "basic": "Basic " + base64.b64encode(f"x:{token}".encode()).decode(),
        "no algorithm": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290Iiwicm9sZXMiOlsiYWRtaW4iXX0.",
        "a word": "Bearer admin",
        "umlauts": "Bearer ä" + token,
        "a long one": "Bearer " + "x" * 20_000,
    }


@pytest.mark.parametrize("kind", list(forgeries("x0")))
@pytest.mark.parametrize("first", [BOOKS, "POST /mcp"])
def test_a_credential_that_is_not_quite_right_is_refused(plain: Served, kind: str, first: str) -> None:
    heard = ask(plain, first, f"Authorization: {forgeries(plain.owner)[kind]}", "Content-Length: 0")
    assert (heard.status, heard.key) == (401, "AUTH_INVALID")
    assert 'error="invalid_token"' in heard.headers["www-authenticate"]
    assert plain.owner.encode() not in heard.body
    told_how = "Bearer TOKEN" in heard.body.decode("latin-1")
    assert told_how == (kind in ("nothing", "no scheme", "another scheme", "basic"))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_known_in_any_case_and_blanks_around_do_not_count(plain: Served, scheme: str) -> None:
    assert ask(plain, BOOKS, f"Authorization: {scheme}  {plain.owner} \t ").status == 200


def test_two_credentials_are_one_too_many(plain: Served) -> None:
    heard = ask(plain, BOOKS, authorized(plain), f"Authorization: Bearer {plain.agent}")
    assert (heard.status, heard.key) == (400, "MALFORMED_INPUT")


@pytest.mark.parametrize("name", ["access_token", "token", "authorization", "api_key"])
def test_a_credential_in_the_address_is_none(plain: Served, name: str) -> None:
    assert ask(plain, f"{BOOKS}?{name}={plain.owner}").status == 401


@pytest.mark.parametrize("line", ["Cookie: token={}", "X-Api-Key: {}", "Proxy-Authorization: Bearer {}"])
def test_a_credential_in_another_header_is_none(plain: Served, line: str) -> None:
    assert ask(plain, BOOKS, line.format(plain.owner)).status == 401


IDENTITY = {
    "X-User": "root",
    "X-Forwarded-User": "root",
    "X-Remote-User": "root",
    "Remote-User": "root",
    "X-Tenant": "umbrella",
    "X-Tenant-Id": "umbrella",
    "X-Principal": "root",
    "X-Principal-Type": "human",
    "X-Roles": "admin",
    "X-Engross-Caller": "root",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Access-Token": "x",
    "X-Original-URL": "/health/live",
    "X-HTTP-Method-Override": "GET",
}


@pytest.mark.requirement("ARCH-15")
def test_headers_that_name_somebody_change_nothing(served: Served) -> None:
    title = f"By the agent on {served.store and 'postgres'}"
    with served.client(served.agent, trust_env=False) as client:
        made = client.post("/v1/shelf/add-book", json={"title": title}, headers=IDENTITY)
    assert made.json()["reply"]["message_key"] == "PROPOSAL_RECORDED"
    proposal = served.call("proposals.get-proposal", {"proposal_id": made.json()["proposal"]["id"]}).json()["proposal"]
    assert proposal["proposed_by"]["actor_type"] == "agent"
    assert proposal["proposed_by"]["actor_id"].startswith("agent:")
    with served.client() as client:
        assert client.get("/v1/shelf/list-books", headers=IDENTITY).status_code == 401


@pytest.mark.requirement("ARCH-15")
@pytest.mark.parametrize("field", ["tenant", "tenant_id", "principal", "roles", "user"])
def test_arguments_that_name_somebody_are_refused(served: Served, field: str) -> None:
    answer = served.call("shelf.add-book", {"title": "Whose?", field: "umbrella"})
    assert answer.json()["reply"]["message_key"] == "FIELD_NOT_ALLOWED"


@pytest.mark.requirement("ARCH-15")
def test_the_tenant_is_the_credentials(served: Served) -> None:
    stranger = served.token("carl", "human", "curator", tenant="umbrella")
    made = served.call("shelf.add-book", {"title": "Only umbrella's"}, token=stranger).json()
    assert made["reply"]["message_key"] == "CREATED"
    theirs = served.call("shelf.get-book", {"id": made["book"]["id"]}, token=stranger)
    ours = served.call("shelf.get-book", {"id": made["book"]["id"]})
    assert theirs.json()["book"]["title"] == "Only umbrella's"
    assert ours.json()["reply"]["message_key"] == "RECORD_NOT_FOUND"


@pytest.mark.requirement("GOV-04")
def test_a_token_that_is_revoked_in_one_process_is_refused_by_the_next_call_to_another(
    store: str | None, serving: Serving
) -> None:
    here, there = serving(store=store), serving(store=store)
    token_id, text = here.token_with_id("scout", "agent", "agent")

    def statuses() -> list[int]:
        return [one.call("shelf.list-books", token=text).status_code for one in (here, there)]

    assert statuses() == [200, 200]
    listed = there.call("door.list-tokens").json()["tokens"]
    assert [token["status"] for token in listed if token["id"] == token_id] == ["active"]
    assert here.call("door.revoke-token", {"token_id": token_id}).status_code == 200
    assert statuses() == [401, 401]
    listed = there.call("door.list-tokens").json()["tokens"]
    assert [token["status"] for token in listed if token["id"] == token_id] == ["revoked"]
    shown: list[dict[str, Any]] = [one.call("door.list-tokens").json() for one in (here, there)]
    assert text not in str(shown)
