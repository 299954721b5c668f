"""Tokens of the office's own: who they let in, and how long."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engross.calls import ROLES, SURFACES, Caller, Principal
from engross.replies import Invalid, codes, reply_of
from engross.surfaces.client import Client, connect
from engross.surfaces.desk import Desk
from tests.bed.offices import Offices, shelf
from tests.bed.postgres import PostgresServer
from tests.office.desk import fact_types, facts, policies, receipt
from tests.surfaces.door.visits import ada, admit, make_token, outcome, text

NOT_ALLOWED = {"PEOPLE_ONLY", "CALL_DENIED"}
EVERYTHING_ALLOWED = "permit (principal, action, resource);"
ATTEMPTS: dict[str, dict[str, Any]] = {
    "door.create-token": {"principal": "mole", "type": "human", "roles": ["admin"]},
    "door.list-tokens": {},
    "door.revoke-token": {"token_id": "tok_nowhere"},
}


@pytest.mark.requirement("ARCH-15")
def test_a_token_lets_in_whom_it_was_made_for_and_carries_what_it_was_given(curator: Client) -> None:
    here = ada(curator, tenant="acme")
    token_id = make_token(here, "clara", "human", "curator", "viewer", scopes=["model:write", "mcp:tools"])
    assert admit(curator, text(here, token_id)) == Caller(
        "acme",
        Principal("clara", "human", frozenset({"curator", "viewer"}), frozenset({"model:write", "mcp:tools"})),
        token_id,
    )


@pytest.mark.requirement("ARCH-15")
def test_the_tenant_comes_from_the_credential_and_never_from_the_arguments(curator: Client) -> None:
    here = ada(curator, tenant="acme")
    caller = admit(curator, text(here, make_token(here, "clara", "human", "curator")))
    desk = Desk(curator.office)
    for name in ("tenant", "tenant_id", "principal", "roles"):
        said: dict[str, Any] = {"title": "Dune", name: "umbrella"}
        refused = asyncio.run(desk.call(caller, "shelf.add-book", said, "rest"))
        assert (refused.message_key, refused.data["field"]) == ("FIELD_NOT_ALLOWED", name)
    assert asyncio.run(desk.call(caller, "shelf.add-book", {"title": "Dune"}, "rest")).ok
    assert len(here.shelf.list_books().data["books"]) == 1
    assert curator.as_("clara", "human", ["curator"], tenant="umbrella").shelf.list_books().data["books"] == []


@pytest.mark.parametrize("nothing", [None, ""])
def test_whoever_brings_no_credential_is_asked_for_one(curator: Client, nothing: str | None) -> None:
    assert outcome(curator, nothing) == "AUTH_REQUIRED"


def test_what_is_no_token_of_this_office_is_not_accepted(curator: Client) -> None:
    good = text(ada(curator), make_token(ada(curator)))
    prefix, tenant, kind, token_id, secret = good.split("_")
    elsewhere = b"umbrella".hex()
    other = text(ada(curator), make_token(ada(curator))).rsplit("_", 1)[1]
    forgeries = {
        "truncated": good[:-1],
        "longer": good + "0",
        "with a blank": good + " ",
        "with a newline": good + "\n",
        "in capitals": good.upper(),
        "another tenant": "_".join([prefix, elsewhere, kind, token_id, secret]),
        "no tenant": "_".join([prefix, "", kind, token_id, secret]),
        "a tenant that is no text": "_".join([prefix, "ff", kind, token_id, secret]),
        "another token's secret": "_".join([prefix, tenant, kind, token_id, other]),
        "a secret of zeros": "_".join([prefix, tenant, kind, token_id, "0" * 64]),
        "an id alone": f"tok_{token_id}",
        "an id that was never made": text(ada(curator), "tok_" + "0" * 36),
        "no ascii": good[:-1] + "é",
        "a lone surrogate": good[:-1] + "\ud800",
        "a very long one": "egr_" + "a" * 100_000,
        "a bearer": f"Bearer {good}",
        "words": "let me in",
        "a jwt": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
    }
    assert outcome(curator, good) == "admitted"
    assert {name: outcome(curator, forged) for name, forged in forgeries.items()} == dict.fromkeys(
        forgeries, "AUTH_INVALID"
    )


def test_a_token_of_another_office_is_not_accepted(curator: Client, tmp_path: Path) -> None:
    with connect(tmp_path / "elsewhere", shelf()) as other:
        foreign = text(ada(other), make_token(ada(other)))
        assert outcome(other, foreign) == "admitted"
        assert outcome(curator, foreign) == "AUTH_INVALID"
        # Not even under an id that exists here.
        here = make_token(ada(curator))
        assert outcome(curator, other.office.door.text_of("main", here)) == "AUTH_INVALID"


def test_a_token_expires_by_the_offices_clock(offices: Offices, curator: Client) -> None:
    short = text(ada(curator), make_token(ada(curator), expires_in_days=7))
    long = text(ada(curator), make_token(ada(curator)))
    offices.clock.pass_(days=7, seconds=-1)
    assert outcome(curator, short) == "admitted"
    offices.clock.pass_(seconds=1)
    assert outcome(curator, short) == "AUTH_INVALID"
    offices.clock.pass_(days=3650)
    assert outcome(curator, long) == "admitted"


@pytest.mark.requirement("GOV-04")
def test_a_revoked_token_is_refused_at_once_by_every_office_on_the_store(offices: Offices) -> None:
    first, second = offices.open(), offices.open()
    token_id = make_token(ada(first))
    kept = text(ada(first), make_token(ada(first)))
    gone = text(ada(first), token_id)
    assert [outcome(one, gone) for one in (first, second)] == ["admitted", "admitted"]
    revoked = ada(second).door.revoke_token(token_id=token_id)
    assert (revoked.message_key, revoked.data["token"]["status"]) == ("UPDATED", "revoked")
    assert [outcome(one, gone) for one in (first, second)] == ["AUTH_INVALID", "AUTH_INVALID"]
    assert [outcome(one, kept) for one in (first, second)] == ["admitted", "admitted"]


ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from engross.office import Office, Settings
from engross.replies import Invalid

async def answer(office):
    for line in sys.stdin:
        try:
            print((await office.door.admit(line.strip())).principal.id, flush=True)
        except Invalid as refused:
            print(refused.code, flush=True)

office = Office(Settings(data=Path(sys.argv[1]), store=sys.argv[2] or None))
asyncio.run(answer(office))
office.close()
"""


@pytest.mark.requirement("GOV-04")
def test_another_process_refuses_a_token_as_soon_as_it_is_revoked(offices: Offices, curator: Client) -> None:
    token_id = make_token(ada(curator))
    command = [sys.executable, "-c", ANOTHER_PROCESS, str(offices.folder), offices.store or ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask() -> str:
            print(text(ada(curator), token_id), file=process.stdin, flush=True)
            return process.stdout.readline().strip()  # type: ignore[union-attr]

        assert ask() == "scout"
        assert ada(curator).door.revoke_token(token_id=token_id).ok
        assert ask() == codes.AUTH_INVALID
        process.stdin.close()
        assert process.wait() == 0


def test_revoking_twice_changes_nothing_and_there_is_no_way_back(curator: Client) -> None:
    admin = ada(curator)
    token_id = make_token(admin)
    assert admin.door.revoke_token(token_id=token_id).message_key == "UPDATED"
    again = admin.door.revoke_token(token_id=token_id)
    assert (again.message_key, again.data["token"]["status"]) == ("NO_EFFECT", "revoked")
    assert fact_types(admin) == ["TokenCreated", "TokenRevoked"]


def test_a_token_is_named_by_its_id_or_by_a_jti_and_not_by_both(curator: Client) -> None:
    admin = ada(curator)
    for arguments in ({}, {"token_id": "tok_nowhere", "jti": "x"}):
        assert admin.call("door.revoke-token", arguments).message_key == "VALIDATION_ERROR"
    unknown = admin.door.revoke_token(jti="x")
    assert (unknown.message_key, unknown.data["field"]) == ("VALIDATION_ERROR", "jti")
    assert all(way in unknown.data["suggestions"]["hint"] for way in ("ENGROSS_ISSUER", "ENGROSS_AUDIENCE", "--url"))
    assert admin.door.revoke_token(token_id="tok_nowhere").message_key == "RECORD_NOT_FOUND"


@pytest.mark.requirement("GOV-04")
def test_tokens_are_listed_in_order_with_what_became_of_them(offices: Offices, curator: Client) -> None:
    admin = ada(curator)
    ids = [make_token(admin, "a", expires_in_days=1, note="for a day"), make_token(admin, "b"), make_token(admin, "c")]
    offices.clock.pass_(days=2)
    admin.door.revoke_token(token_id=ids[1], reason="lost")
    first = curator.door.list_tokens(limit=2).data
    rest = curator.door.list_tokens(limit=2, cursor=first["next_cursor"]).data
    listed = [*first["tokens"], *rest["tokens"]]
    assert sorted(token["id"] for token in listed) == sorted(ids)
    by_id = {token["id"]: token for token in listed}
    assert [by_id[one]["status"] for one in ids] == ["expired", "revoked", "active"]
    assert (by_id[ids[0]]["note"], by_id[ids[0]]["created_by"]) == ("for a day", "ada")
    assert by_id[ids[1]]["revoked_by"] == "ada"
    assert rest["next_cursor"] is None


def test_what_is_done_to_tokens_has_facts_and_receipts(curator: Client) -> None:
    admin = ada(curator)
    made = admin.door.create_token(principal="scout", type="agent", roles=["agent"], reason="night shift")
    told = receipt(admin, made.data["position"])
    assert (told["flow"], told["principal"]["id"]) == ("door.create-token", "ada")
    admin.door.revoke_token(token_id=made.data["token"]["id"])
    assert fact_types(admin) == ["TokenCreated", "TokenRevoked"]
    assert curator.office.rebuild("main").same


def test_a_retry_makes_one_token(curator: Client) -> None:
    admin = ada(curator)
    ids = {make_token(admin, client_request_id="token-for-scout") for _ in range(3)}
    assert len(ids) == 1
    assert outcome(curator, text(admin, ids.pop())) == "admitted"


def test_a_dry_run_makes_a_token_that_opens_nothing(curator: Client) -> None:
    admin = ada(curator)
    tried = admin.door.create_token.dry_run(principal="scout", type="agent", roles=["agent"])
    assert tried.message_key == "VALIDATION_DONE"
    assert outcome(curator, text(admin, tried.data["answer"]["token"]["id"])) == "AUTH_INVALID"


@pytest.mark.parametrize(
    "arguments",
    [
        {"type": "robot"},
        {"roles": ["king"]},
        {"roles": []},
        {"roles": "admin"},
        {"principal": ""},
        {"principal": "a b"},
        {"principal": "a\x00b"},
        {"scopes": ["a b"]},
        {"expires_in_days": 0},
        {"expires_in_days": 99_999},
        {"secret": "mine"},
        {"commit_mode": "proposal"},
    ],
    ids=str,
)
def test_a_token_that_makes_no_sense_is_invalid(curator: Client, arguments: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {"principal": "scout", "type": "agent", "roles": ["agent"], **arguments}
    assert ada(curator).call("door.create-token", wanted).reply_type == "I"
    assert curator.door.list_tokens().data["tokens"] == []


@pytest.mark.requirement("GOV-04")
@pytest.mark.parametrize("own_policies", [False, True], ids=["shipped policies", "everything permitted"])
def test_no_agent_and_no_service_makes_lists_or_revokes_tokens_anywhere(
    offices: Offices, tmp_path: Path, own_policies: bool
) -> None:
    permissive = {"people": "", "door": EVERYTHING_ALLOWED} if own_policies else {}
    office = offices.open(policies=policies(tmp_path / "policies", **permissive))
    token_id = make_token(ada(office))
    attempts = {**ATTEMPTS, "door.revoke-token": {"token_id": token_id}}
    for type_ in ("agent", "service"):
        for role in ("agent", "contributor", "curator", "admin"):
            for surface in SURFACES:
                somebody = office.as_("mole", type_, [role], surface=surface)
                for flow, arguments in attempts.items():
                    assert somebody.call(flow, arguments).message_key in NOT_ALLOWED, (type_, role, surface, flow)
    for surface in ("mcp-stdio", "mcp-http"):
        person = office.as_("ada", "human", ["admin"], surface=surface)
        assert {person.call(flow, arguments).message_key for flow, arguments in attempts.items()} == {"PEOPLE_ONLY"}
    assert outcome(office, text(ada(office), token_id)) == "admitted"
    assert len(ada(office).door.list_tokens().data["tokens"]) == 1


def test_curators_see_tokens_and_only_admins_make_or_revoke_them(curator: Client) -> None:
    may = {
        role: [
            flow
            for flow, arguments in ATTEMPTS.items()
            if curator.as_("p", "human", [role]).call(flow, arguments).message_key not in NOT_ALLOWED
        ]
        for role in ROLES
    }
    assert may == {
        "viewer": [],
        "agent": [],
        "contributor": [],
        "curator": ["door.list-tokens"],
        "admin": list(ATTEMPTS),
    }


def test_nobody_gets_round_the_listing_by_reading_the_ledger(curator: Client) -> None:
    admin = ada(curator)
    token_id = make_token(admin, note="Zanzibar")
    curator.shelf.add_book(title="Dune")
    assert len(facts(curator)) == 2
    for nosy in (curator.as_("scout", "agent", ["admin"]), curator.as_("vera", "human", ["viewer"])):
        seen = facts(nosy)
        assert {fact["source"].rpartition(":")[2] for fact in seen} == {"shelf"}
        assert "Zanzibar" not in str(seen)
        behind = nosy.call("record.read-facts", {"after": seen[-1]["position"]})
        assert behind.data["facts"] == []
        history = nosy.call("record.read-history", {"aggregate": "door", "subject": token_id})
        assert history.message_key == "RECORD_NOT_FOUND"
    assert admin.call("record.read-history", {"aggregate": "door", "subject": token_id}).ok


def test_paging_through_the_ledger_passes_by_what_is_hidden(curator: Client) -> None:
    for _ in range(3):
        make_token(ada(curator))
    curator.shelf.add_book(title="Dune")
    facts(curator)
    nosy = curator.as_("scout", "agent", ["agent"])
    after, seen = 0, []
    for _ in range(4):
        page = nosy.call("record.read-facts", {"after": after, "limit": 1}).data
        assert page["next"] > after
        after = page["next"]
        seen += [fact["type"] for fact in page["facts"]]
    assert len(seen) == 1


def test_a_token_of_one_tenant_is_not_revoked_from_another(curator: Client) -> None:
    here, there = ada(curator, tenant="here"), ada(curator, tenant="there")
    token_id = make_token(here)
    assert there.door.revoke_token(token_id=token_id).message_key == "RECORD_NOT_FOUND"
    assert there.door.list_tokens().data["tokens"] == []
    assert outcome(curator, text(here, token_id)) == "admitted"
    assert outcome(curator, text(there, token_id)) == "AUTH_INVALID"


def test_erasing_a_token_ends_it_and_is_the_same_after_a_rebuild(curator: Client) -> None:
    admin = ada(curator)
    token_id = make_token(admin, "scout", note="Zanzibar")
    good = text(admin, token_id)
    asked = admin.record.erase(aggregate="door", subject=token_id)
    admin.record.erase(aggregate="door", subject=token_id, confirm_token=asked.data["confirm_token"])
    assert outcome(curator, good) == "AUTH_INVALID"
    assert admin.door.list_tokens().data["tokens"] == []
    assert admin.door.revoke_token(token_id=token_id).message_key == "NO_EFFECT"
    assert curator.office.rebuild("main").same


def test_whoever_may_not_revoke_a_token_may_not_erase_it(curator: Client) -> None:
    token_id = make_token(ada(curator))
    erasing = {"aggregate": "door", "subject": token_id}
    agent = curator.as_("scout", "agent", ["admin", "curator"])
    on_mcp = curator.as_("ada", "human", ["admin"], surface="mcp-http")
    for nosy in (curator, agent, on_mcp, curator.as_("cleo", "human", ["contributor"])):
        assert nosy.call("record.erase", erasing).message_key in NOT_ALLOWED
        assert nosy.call("record.erase", {**erasing, "commit_mode": "proposal"}).message_key in NOT_ALLOWED
    assert outcome(curator, text(ada(curator), token_id)) == "admitted"


def test_a_read_only_office_still_lets_in(offices: Offices, curator: Client) -> None:
    token_id = make_token(ada(curator))
    closed = offices.open(read_only=True)
    assert outcome(closed, text(ada(curator), token_id)) == "admitted"
    assert ada(closed).door.revoke_token(token_id=token_id).message_key == "READ_ONLY"
    assert ada(closed).door.create_token(principal="x", type="agent", roles=["agent"]).message_key == "READ_ONLY"


def test_a_store_that_is_gone_is_our_failure_and_lets_nobody_in(offices: Offices) -> None:
    office = offices.open()
    good = text(ada(office), make_token(ada(office)))
    office.close()
    assert outcome(office, good) == "STORE_UNAVAILABLE"


def test_a_refusal_does_not_say_why(curator: Client) -> None:
    admin = ada(curator)
    token_id = make_token(admin)
    admin.door.revoke_token(token_id=token_id)
    answers = set()
    for bad in (text(admin, token_id), text(admin, token_id)[:-1] + "x", "egr_", "abc"):
        with pytest.raises(Invalid) as refused:
            admit(curator, bad)
        answers.add(str(reply_of(refused.value).data))
    assert len(answers) == 1


@pytest.mark.requirement("REL-11")
def test_the_secret_is_in_no_log_reply_receipt_fact_or_row(
    offices: Offices, curator: Client, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    caplog.set_level(logging.DEBUG)
    admin = ada(curator)
    made = admin.door.create_token(
        principal="scout", type="agent", roles=["agent"], client_request_id="token-for-scout"
    )
    token_id = made.data["token"]["id"]
    whole = text(admin, token_id)
    secret = whole.rsplit("_", 1)[1]
    admit(curator, whole)
    for bad in (whole[:-1], whole + "0", whole.replace("egr_", "egr_00")):
        assert outcome(curator, bad) == "AUTH_INVALID"
    revoked = admin.door.revoke_token(token_id=token_id)
    assert outcome(curator, whole) == "AUTH_INVALID"
    again = admin.door.create_token(
        principal="scout", type="agent", roles=["agent"], client_request_id="token-for-scout"
    )
    told = [made, revoked, again, admin.door.list_tokens(), receipt(admin, made.data["position"]), facts(admin)]
    curator.office.seal()
    assert "a credential was refused" in caplog.text
    kept = stored(offices, request)
    for place in (*map(repr, told), *(repr(one.data) for one in (made, revoked, again)), caplog.text):
        assert secret not in place
        assert secret[:32] not in place
    assert token_id.encode() in kept
    assert secret.encode() not in kept
    assert bytes.fromhex(secret) not in kept


def stored(offices: Offices, request: pytest.FixtureRequest) -> bytes:
    """Everything that the office has written anywhere."""
    content = b"".join(path.read_bytes() for path in sorted(offices.folder.rglob("*")) if path.is_file())
    if offices.store is None:
        return content
    import psycopg
    from psycopg import sql

    server: PostgresServer = request.getfixturevalue("postgres_server")
    with psycopg.connect(server.superuser_dsn(offices.store)) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            rows = connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))).fetchall()
            content += "".join(row[0] for row in rows).encode()
    return content


def test_an_office_opens_and_lets_in_without_the_libraries_that_only_an_issuer_needs(curator: Client) -> None:
    heavy = ("jwt", "urllib.request", "http.client", "mcp", "starlette", "uvicorn", "structlog", "httpx2", "typer")
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from engross.office import Office, Settings\n"
        "office = Office(Settings(data=Path(sys.argv[1]), store=sys.argv[2] or None))\n"
        "office.door.local_tokens()\n"
        "office.close()\n"
        f"print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    settings = curator.office.settings
    command = [sys.executable, "-c", program, str(settings.data), settings.store or ""]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_looking_a_token_up_on_a_server_leaves_the_event_loop_free(
    tmp_path: Path, postgres_dsn: str, postgres_server: PostgresServer
) -> None:
    import psycopg

    offices = Offices(tmp_path / "office", postgres_dsn)
    office = offices.open()
    good = text(ada(office), make_token(ada(office)))
    waits = "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE relname = %s AND NOT granted"

    async def visit(holder: psycopg.Connection[Any]) -> Caller:
        visiting = asyncio.ensure_future(office.office.door.admit(good))
        while holder.execute(waits, ["door_tokens"]).fetchone() == (0,):
            await asyncio.sleep(0)
        assert not visiting.done()
        holder.rollback()
        return await visiting

    with psycopg.connect(postgres_server.superuser_dsn(postgres_dsn)) as holder:
        holder.execute("LOCK TABLE door_tokens IN ACCESS EXCLUSIVE MODE")
        assert asyncio.run(visit(holder)).principal.id == "scout"
    offices.close()
