"""Tokens of an OpenID Connect issuer: which are accepted, for whom they stand, and how their keys are found."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Event
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec.structs import replace

from engross.calls import Caller, Principal
from engross.office.door import fetching, keyring
from engross.office.door.keys import Keys
from engross.pipeline import Workers
from engross.replies import Coded, Failed, Invalid, codes, reply_of
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import fact_types, facts
from tests.surfaces.door.issuing import AUDIENCE, TestIssuer, jwk, private_key
from tests.surfaces.door.visits import ada, admit, make_token, outcome, text

CONFIGURATION = "/.well-known/openid-configuration"


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Offices]:
    """Offices on SQLite: what a signature is worth does not depend on the store."""
    made = Offices(tmp_path / "office", None)
    yield made
    made.close()


@pytest.fixture
def issuer(embedded: Offices) -> Iterator[TestIssuer]:
    made = TestIssuer(embedded.clock)
    yield made
    if made.held is not None:
        made.held.set()
    made.go_away()


@pytest.fixture
def office(embedded: Offices, issuer: TestIssuer) -> Client:
    return embedded.open(issuer=issuer.url, audience=AUDIENCE)


@pytest.mark.requirement("ARCH-15")
def test_a_token_of_the_issuer_lets_in_whom_it_names(office: Client, issuer: TestIssuer) -> None:
    token = issuer.token(jti="t-1", scope="openid model:write", purpose="review")
    scopes = frozenset({"openid", "model:write"})
    principal = Principal("clara", "human", frozenset({"curator"}), scopes, "review")
    admitted = admit(office, token)
    assert replace(admitted, until=None) == Caller("acme", principal, "jti:t-1")
    assert admitted.until is not None


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("RS256", "RSA"),
        ("RS512", "RSA"),
        ("PS256", "RSA"),
        ("PS384", "RSA"),
        ("ES256", "P-256"),
        ("ES384", "P-384"),
        ("ES512", "P-521"),
        ("EdDSA", "Ed25519"),
    ],
)
@pytest.mark.parametrize("says_so", [True, False], ids=["the key names it", "the key does not"])
def test_every_asymmetric_algorithm_is_accepted(
    office: Client, issuer: TestIssuer, algorithm: str, kind: str, says_so: bool
) -> None:
    key = private_key(kind)
    published = {name: value for name, value in jwk(algorithm, key, "k").items() if name != "alg"}
    issuer.publish({**published, "alg": algorithm} if says_so else published)
    assert outcome(office, issuer.token(algorithm, key, "k")) == "admitted"


def public_pem() -> bytes:
    pem: bytes = private_key("RSA").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def unsigned(token: str, **header: Any) -> str:
    """The same claims under another header, and no signature."""
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{encoded}.{token.split('.')[1]}."


def resigned(token: str, secret: bytes, **header: Any) -> str:
    """The same claims, signed with a secret that everybody knows. Written out, as libraries refuse to."""
    import hmac

    front = unsigned(token, alg="HS256", typ="JWT", **header).rstrip(".")
    mac = base64.urlsafe_b64encode(hmac.digest(secret, front.encode(), "sha256")).rstrip(b"=")
    return f"{front}.{mac.decode()}"


def with_claim(token: str, **claims: Any) -> str:
    """A token whose claims were changed after it was signed."""
    head, body, signature = token.split(".")
    said = {**json.loads(base64.urlsafe_b64decode(body + "==")), **claims}
    changed = base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()
    return f"{head}.{changed}.{signature}"


def forgeries(issuer: TestIssuer) -> dict[str, str]:
    good = issuer.token()
    octets = base64.urlsafe_b64encode(b"x" * 32).rstrip(b"=").decode()
    issuer.publish(
        jwk("RS256", private_key("RSA"), "first"),
        jwk("RS256", private_key("RSA-1024"), "short"),
        jwk("RS256", private_key("RSA", 1), "for encryption") | {"use": "enc"},
        jwk("RS256", private_key("RSA", 2), "for wrapping", key_ops=["wrapKey"]),
        jwk("PS256", private_key("RSA", 3), "another way", alg="PS256"),
        jwk("ES384", private_key("P-384"), "another curve"),
        {"kty": "oct", "kid": "shared", "alg": "HS256", "k": octets, "use": "sig"},
    )
    return {
        "alg none": unsigned(good, alg="none", kid="first"),
        "alg None": unsigned(good, alg="None", kid="first"),
        "no alg": unsigned(good, kid="first"),
        "alg that is no text": unsigned(good, alg=["RS256"], kid="first"),
        "HS256 with the public key": resigned(good, public_pem(), kid="first"),
        "HS256 with a shared key": resigned(good, b"x" * 32, kid="shared"),
        "another's key under this name": issuer.token(key=private_key("RSA", 9)),
        "a key for something else": issuer.token(key=private_key("RSA", 1), kid="for encryption"),
        "a key for other operations": issuer.token(key=private_key("RSA", 2), kid="for wrapping"),
        "a key for another algorithm": issuer.token("RS256", private_key("RSA", 3), "another way"),
        "a key on another curve": issuer.token("ES256", private_key("P-256"), "another curve"),
        "a key that is too short": short_signed(issuer),
        "claims changed afterwards": with_claim(good, roles=["admin"]),
        "signature cut off": good.rpartition(".")[0] + ".",
        "signature shortened": good[:-2],
        "one part only": good.split(".")[0],
        "something behind": good + ".x",
        "a key id that is a number": unsigned(good, alg="RS256", kid=1),
        "something critical": issuer.token(headers={"crit": ["x-rule"], "x-rule": 1}),
        "another kind of token": issuer.token(headers={"typ": "logout+jwt"}),
        "a kind that is no text": unsigned(good, alg="RS256", kid="first", typ=["JWT"]),
    }


def short_signed(issuer: TestIssuer) -> str:
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        return issuer.token(key=private_key("RSA-1024"), kid="short")


def test_what_the_issuer_did_not_sign_is_not_accepted(office: Client, issuer: TestIssuer) -> None:
    made = forgeries(issuer)
    assert outcome(office, issuer.token()) == "admitted"
    assert {name: outcome(office, forged) for name, forged in made.items()} == dict.fromkeys(made, "AUTH_INVALID")


CLAIMS: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "https://elsewhere.example"},
    "other audiences": {"aud": ["https://elsewhere.example", "https://office.example"]},
    "no audience": {"aud": None},
    "an empty audience": {"aud": []},
    "another issuer": {"iss": "https://elsewhere.example"},
    "no issuer": {"iss": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 7},
    "a subject with a blank": {"sub": "clara b"},
    "a subject with a control character": {"sub": "clara\x00"},
    "a very long subject": {"sub": "c" * 256},
    "a subject with half a character": {"sub": "clara\ud800"},
    "a subject that turns the line round": {"sub": "cl\u202eara"},
    "a purpose that is a number": {"purpose": 7},
    "a purpose with half a character": {"purpose": "\ud800"},
    "a scope with half a character": {"scope": "\ud800"},
    "no expiry": {"exp": None},
    "an expiry that is a text": {"exp": "9999999999"},
    "an expiry that is a truth": {"exp": True},
    "an expiry that never comes": {"exp": float("inf")},
    "an expiry that no float can hold": {"exp": 10**400},
    "an expiry that is no number": {"exp": float("nan")},
    "a beginning that is a text": {"nbf": "0"},
    "a beginning that is a truth": {"nbf": True},
    "no tenant": {"tenantId": None},
    "a tenant that is a number": {"tenantId": 7},
    "a tenant that is a list": {"tenantId": ["acme"]},
    "a tenant that is a path": {"tenantId": "../acme"},
    "an empty tenant": {"tenantId": ""},
    "a type that is none": {"principal_type": "robot"},
    "a type that is a list": {"principal_type": ["human"]},
    "roles that are a number": {"roles": 7},
    "roles that are an object": {"roles": {"admin": True}},
    "a role that is a number": {"roles": [7]},
    "a role that is none": {"roles": ["curator", "king"]},
    "scopes that are a number": {"scope": 7},
    "a jti that is a number": {"jti": 7},
    "an empty jti": {"jti": ""},
    "a very long jti": {"jti": "j" * 256},
}


@pytest.mark.requirement("ARCH-15")
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_is_missing_or_makes_no_sense_is_refused(office: Client, issuer: TestIssuer, name: str) -> None:
    assert outcome(office, issuer.token(**CLAIMS[name])) == "AUTH_INVALID"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({"exp": -29}, "admitted"),
        ({"exp": -30}, "AUTH_INVALID"),
        ({"nbf": 30}, "admitted"),
        ({"nbf": 31}, "AUTH_INVALID"),
    ],
    ids=str,
)
def test_clocks_may_differ_a_little(
    embedded: Offices, office: Client, issuer: TestIssuer, seconds: dict[str, int], expected: str
) -> None:
    now = int(embedded.clock().timestamp())
    claims: dict[str, Any] = {name: now + by for name, by in seconds.items()}
    assert outcome(office, issuer.token(**claims)) == expected


def test_a_token_that_was_accepted_expires_all_the_same(embedded: Offices, office: Client, issuer: TestIssuer) -> None:
    token = issuer.token()
    assert outcome(office, token) == "admitted"
    embedded.clock.pass_(hours=2)
    assert outcome(office, token) == "AUTH_INVALID"


@pytest.mark.parametrize(
    ("claims", "principal"),
    [
        ({}, Principal("clara", "human", frozenset({"curator"}))),
        ({"roles": "viewer contributor"}, Principal("clara", "human", frozenset({"viewer", "contributor"}))),
        ({"roles": None}, Principal("clara", "human")),
        ({"roles": []}, Principal("clara", "human")),
        ({"scp": ["a", "b"]}, Principal("clara", "human", frozenset({"curator"}), frozenset({"a", "b"}))),
        ({"principal_type": "service"}, Principal("clara", "service", frozenset({"curator"}))),
        ({"principal_type": "agent"}, Principal("agent:clara", "agent", frozenset({"curator"}))),
        ({"principal_type": None}, Principal("agent:clara", "agent", frozenset({"curator"}))),
        ({"aud": ["https://elsewhere.example", AUDIENCE]}, Principal("clara", "human", frozenset({"curator"}))),
    ],
    ids=lambda value: value.type if isinstance(value, Principal) else str(value),
)
def test_claims_become_a_principal_and_what_is_not_said_gives_nothing(
    office: Client, issuer: TestIssuer, claims: dict[str, Any], principal: Principal
) -> None:
    assert admit(office, issuer.token(**claims)).principal == principal


def test_claims_may_have_other_names(embedded: Offices, issuer: TestIssuer) -> None:
    names = {
        "tenant_claim": "https://office.example/tenant",
        "type_claim": "office.kind",
        "roles_claim": "realm_access.roles",
    }
    office = embedded.open(issuer=issuer.url, audience=AUDIENCE, **names)
    said: dict[str, Any] = {"https://office.example/tenant": "umbrella", "office": {"kind": "human"}}
    token = issuer.token(tenantId=None, roles=None, principal_type=None, realm_access={"roles": ["viewer"]}, **said)
    admitted = admit(office, token)
    assert admitted.tenant == "umbrella"
    assert admitted.principal == Principal("clara", "human", frozenset({"viewer"}))
    assert outcome(office, issuer.token()) == "AUTH_INVALID"


def test_without_a_claim_for_the_tenant_everybody_is_in_one(embedded: Offices, issuer: TestIssuer) -> None:
    office = embedded.open(issuer=issuer.url, audience=AUDIENCE, tenant_claim="")
    assert admit(office, issuer.token(tenantId="umbrella")).tenant == "main"


def test_an_agents_work_can_be_approved_by_the_person_who_got_it_the_token(office: Client, issuer: TestIssuer) -> None:
    agent = admit(office, issuer.token(principal_type=None, roles=["agent"]))
    person = admit(office, issuer.token())
    proposed = office.as_(agent.principal.id, "agent", ["agent"], tenant="acme").shelf.add_book(title="Dune")
    assert proposed.message_key == "PROPOSAL_RECORDED"
    reviewer = office.as_(person.principal.id, "human", ["curator"], tenant="acme")
    shown = reviewer.proposals.get_proposal(proposal_id=proposed.data["proposal"]["id"]).data
    approved = reviewer.proposals.review_proposal(
        proposal_id=shown["proposal"]["id"], decision="approve", approval_token=shown["approval_token"]
    )
    assert approved.message_key == "PROPOSAL_COMMITTED"


def test_the_offices_own_tokens_are_good_beside_the_issuers(office: Client, issuer: TestIssuer) -> None:
    assert outcome(office, text(ada(office), make_token(ada(office)))) == "admitted"
    assert outcome(office, issuer.token()) == "admitted"
    assert issuer.asked == {CONFIGURATION: 1, "/keys": 1}


def test_the_address_of_the_keys_can_be_given(embedded: Offices, issuer: TestIssuer) -> None:
    office = embedded.open(issuer=issuer.url, audience=AUDIENCE, jwks=f"{issuer.url}/keys")
    assert outcome(office, issuer.token()) == "admitted"
    assert issuer.asked == {"/keys": 1}


def test_a_token_that_names_no_key_gets_the_only_one(office: Client, issuer: TestIssuer) -> None:
    assert outcome(office, issuer.token(kid=None)) == "admitted"


def test_a_token_that_names_no_key_is_refused_where_there_are_several(office: Client, issuer: TestIssuer) -> None:
    issuer.publish(jwk("RS256", private_key("RSA"), "first"), jwk("RS256", private_key("RSA", 1), "second"))
    assert outcome(office, issuer.token(kid=None)) == "AUTH_INVALID"


def test_keys_are_fetched_once_for_many(office: Client, issuer: TestIssuer) -> None:
    async def crowd() -> list[Caller]:
        return await asyncio.gather(*(office.office.door.admit(issuer.token(jti=f"t-{n}")) for n in range(50)))

    assert len(asyncio.run(crowd())) == 50
    assert issuer.asked == {CONFIGURATION: 1, "/keys": 1}


def test_a_new_key_is_found_and_one_that_was_taken_away_stops_being_accepted(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    old = issuer.token(exp=int(embedded.clock().timestamp()) + 86_400)
    assert outcome(office, old) == "admitted"
    second = jwk("RS256", private_key("RSA", 1), "second")
    issuer.publish(jwk("RS256", private_key("RSA"), "first"), second)
    embedded.clock.pass_(seconds=keyring.PAUSE)
    new = issuer.token(key=private_key("RSA", 1), kid="second")
    assert [outcome(office, token) for token in (new, old)] == ["admitted", "admitted"]
    issuer.publish(second)
    embedded.clock.pass_(seconds=keyring.FRESH)
    fetches = issuer.asked["/keys"]
    # Whoever comes first has the keys fetched again, and does not wait for them.
    outcome(office, new)
    while issuer.asked["/keys"] == fetches or outcome(office, old) == "admitted":
        pass
    assert [outcome(office, token) for token in (new, old)] == ["admitted", "AUTH_INVALID"]


def test_who_comes_after_a_long_silence_waits_for_the_keys_of_today(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    token = issuer.token()
    assert outcome(office, token) == "admitted"
    issuer.publish(jwk("RS256", private_key("RSA", 1), "second"))
    embedded.clock.pass_(seconds=keyring.LATE)
    assert outcome(office, token) == "AUTH_INVALID"


class Prompt(Workers):
    """Has everything done before the caller can look again, as a quick thread may."""

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work())
        return done


def test_keys_that_were_fetched_in_a_blink_do_not_make_the_old_ones_young(embedded: Offices) -> None:
    published = [
        Keys({"keys": [jwk("RS256", private_key("RSA", number), name)]}) for number, name in enumerate(["old", "new"])
    ]
    ring = keyring.Keyring(iter(published).__next__, Prompt(), embedded.clock)
    assert asyncio.run(ring.find("old", "RS256")) is not None
    embedded.clock.pass_(seconds=keyring.LATE)
    assert asyncio.run(ring.find("old", "RS256")) is None
    assert asyncio.run(ring.find("new", "RS256")) is not None


def test_another_key_under_an_old_name_ends_what_the_old_one_signed(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    token = issuer.token()
    assert outcome(office, token) == "admitted"
    issuer.publish(jwk("RS256", private_key("RSA", 1), "first"))
    embedded.clock.pass_(seconds=keyring.FRESH)
    while outcome(office, token) == "admitted":
        pass
    assert outcome(office, issuer.token(key=private_key("RSA", 1))) == "admitted"


def test_strangers_cannot_make_the_office_ask_its_issuer_all_the_time(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    assert outcome(office, issuer.token()) == "admitted"

    async def flood(first: int) -> set[str]:
        made_up = [issuer.token(kid=f"made-up-{first + number}") for number in range(60)]
        answers = await asyncio.gather(*map(office.office.door.admit, made_up), return_exceptions=True)
        return {answer.code for answer in answers if isinstance(answer, Coded)}

    for round_ in range(3):
        assert asyncio.run(flood(round_ * 100)) == {codes.AUTH_INVALID}
    assert issuer.asked["/keys"] == 1
    for round_ in range(1, 4):
        embedded.clock.pass_(seconds=keyring.PAUSE)
        assert asyncio.run(flood(round_ * 1000)) == {codes.AUTH_INVALID}
        assert issuer.asked["/keys"] == 1 + round_
    assert outcome(office, issuer.token()) == "admitted"


def test_an_issuer_that_is_away_is_our_failure_and_may_be_tried_again(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    issuer.go_away()
    with pytest.raises(Failed) as failed:
        admit(office, issuer.token())
    answer = reply_of(failed.value)
    assert (answer.message_key, answer.retryable, answer.http_status) == ("ISSUER_UNAVAILABLE", True, 503)
    assert answer.data["retry_after_seconds"] == keyring.PAUSE
    issuer.come_back()
    assert outcome(office, issuer.token()) == "ISSUER_UNAVAILABLE"
    assert issuer.asked == {}
    embedded.clock.pass_(seconds=keyring.PAUSE)
    assert outcome(office, issuer.token()) == "admitted"


def test_keys_that_are_known_are_used_while_the_issuer_is_away_but_not_for_ever(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    token = issuer.token(exp=int(embedded.clock().timestamp()) + 10 * 86_400)
    assert outcome(office, token) == "admitted"
    issuer.go_away()
    embedded.clock.pass_(seconds=keyring.FRESH)
    assert outcome(office, token) == "admitted"
    assert outcome(office, issuer.token(kid="second")) == "ISSUER_UNAVAILABLE"
    embedded.clock.pass_(seconds=keyring.LATE)
    assert outcome(office, token) == "admitted"
    embedded.clock.pass_(seconds=keyring.LONGEST)
    assert outcome(office, token) == "ISSUER_UNAVAILABLE"
    issuer.come_back()
    embedded.clock.pass_(seconds=keyring.PAUSE)
    assert outcome(office, token) == "admitted"


def test_a_clock_that_is_put_back_does_not_keep_old_keys_for_ever(
    embedded: Offices, office: Client, issuer: TestIssuer
) -> None:
    assert outcome(office, issuer.token()) == "admitted"
    embedded.clock.pass_(days=-3)
    issuer.publish(jwk("RS256", private_key("RSA", 1), "second"))
    assert outcome(office, issuer.token()) == "AUTH_INVALID"
    assert outcome(office, issuer.token(key=private_key("RSA", 1), kid="second")) == "admitted"


# `SELF` stands for the issuer's own address, `HERE` for the same server by a name that is not this machine's.
NONSENSE: dict[str, tuple[str, dict[str, Any]]] = {
    "no configuration": (CONFIGURATION, {"document": b"{}", "status": 404}),
    "a broken configuration": (CONFIGURATION, {"document": b"<html>"}),
    "another issuer's configuration": (
        CONFIGURATION,
        {"document": b'{"issuer": "https://elsewhere.example", "jwks_uri": "SELF/keys"}'},
    ),
    "a configuration without keys": (CONFIGURATION, {"document": b'{"issuer": "SELF"}'}),
    "keys at an unsafe address": (CONFIGURATION, {"document": b'{"issuer": "SELF", "jwks_uri": "HERE/keys"}'}),
    "keys in a file": (CONFIGURATION, {"document": b'{"issuer": "SELF", "jwks_uri": "FILE"}'}),
    "a failing server": ("/keys", {"document": b"{}", "status": 500}),
    "keys that have moved": ("/keys", {"document": b"", "status": 302, "Location": "/elsewhere"}),
    "keys that are a list": ("/keys", {"document": b"[]"}),
    "keys without end": ("/keys", {"document": b" " * 1_100_000 + b"{}"}),
    "keys that break off": ("/keys", {"document": b"{", "Content-Length": "100"}),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_an_issuer_that_answers_nonsense_counts_as_away(
    office: Client, issuer: TestIssuer, tmp_path: Path, name: str
) -> None:
    issuer.answers["/elsewhere"] = issuer.answers["/keys"]
    (tmp_path / "keys.json").write_bytes(issuer.answers["/keys"][2])
    here = issuer.url.replace("127.0.0.1", "0.0.0.0")
    path, answer = NONSENSE[name]
    document: bytes = answer["document"]
    for word, meaning in {"SELF": issuer.url, "HERE": here, "FILE": (tmp_path / "keys.json").as_uri()}.items():
        document = document.replace(word.encode(), meaning.encode())
    issuer.answer(path, document, **{name: value for name, value in answer.items() if name != "document"})
    assert outcome(office, issuer.token()) == "ISSUER_UNAVAILABLE"
    assert issuer.asked["/elsewhere"] == 0


@pytest.mark.parametrize(
    "keys", [{}, {"keys": {}}, {"keys": [None, 7, "x", {}, {"kty": "RSA", "kid": "first"}]}], ids=str
)
def test_an_issuer_without_a_usable_key_has_signed_nothing(office: Client, issuer: TestIssuer, keys: Any) -> None:
    issuer.answer("/keys", keys)
    assert outcome(office, issuer.token()) == "AUTH_INVALID"


@pytest.mark.parametrize("drips", [False, True], ids=["silent", "dripping"])
def test_an_issuer_that_hangs_does_not_hold_up_the_others(
    office: Client, issuer: TestIssuer, monkeypatch: pytest.MonkeyPatch, drips: bool
) -> None:
    issuer.drips = drips
    monkeypatch.setattr(fetching, "SECONDS", 0.2)
    local = text(ada(office), make_token(ada(office)))
    issuer.held = Event()

    async def visits() -> tuple[Caller, object]:
        waiting = asyncio.ensure_future(office.office.door.admit(issuer.token()))
        while not issuer.asked:
            await asyncio.sleep(0)
        let_in = await office.office.door.admit(local)
        assert not waiting.done()
        (answer,) = await asyncio.gather(waiting, return_exceptions=True)
        return let_in, answer

    let_in, answer = asyncio.run(visits())
    assert let_in.principal.id == "scout"
    assert isinstance(answer, Failed)
    assert answer.code == codes.ISSUER_UNAVAILABLE


@pytest.fixture
def both_kinds(offices: Offices) -> Iterator[tuple[Offices, TestIssuer]]:
    made = TestIssuer(offices.clock)
    yield offices, made
    made.go_away()


@pytest.mark.requirement("GOV-04")
def test_a_token_of_the_issuers_is_revoked_by_its_jti_at_once_and_everywhere(
    both_kinds: tuple[Offices, TestIssuer],
) -> None:
    offices, issuer = both_kinds
    first, second = (offices.open(issuer=issuer.url, audience=AUDIENCE) for _ in range(2))
    token, other, elsewhere = issuer.token(jti="t-1"), issuer.token(jti="t-2"), issuer.token(jti="t-1", tenantId="b")
    assert {outcome(one, it) for one in (first, second) for it in (token, other, elsewhere)} == {"admitted"}
    admin = ada(second, tenant="acme")
    revoked = admin.door.revoke_token(jti="t-1", reason="laptop stolen")
    assert (revoked.message_key, revoked.data["token"]["jti"]) == ("UPDATED", "t-1")
    assert admin.door.revoke_token(jti="t-1").message_key == "NO_EFFECT"
    for one in (first, second):
        answers = [outcome(one, it) for it in (token, other, elsewhere)]
        assert answers == ["AUTH_INVALID", "admitted", "admitted"]
    (listed,) = admin.door.list_tokens().data["tokens"]
    assert (listed["kind"], listed["issuer"], listed["status"]) == ("jwt", issuer.url, "revoked")
    assert fact_types(admin) == ["JwtRevoked"]
    assert first.office.rebuild("acme").same


def test_a_revocation_outlives_its_erasure(both_kinds: tuple[Offices, TestIssuer]) -> None:
    offices, issuer = both_kinds
    office = offices.open(issuer=issuer.url, audience=AUDIENCE)
    admin = ada(office, tenant="acme")
    subject = admin.door.revoke_token(jti="t-1").data["token"]["id"]
    asked = admin.record.erase(aggregate="door", subject=subject)
    erased = admin.record.erase(aggregate="door", subject=subject, confirm_token=asked.data["confirm_token"])
    assert erased.message_key == "ERASED"
    assert outcome(office, issuer.token(jti="t-1")) == "AUTH_INVALID"
    assert "t-1" not in str(facts(admin))
    assert office.office.rebuild("acme").same


def test_a_token_without_a_jti_is_told_from_others_of_the_same_caller(office: Client, issuer: TestIssuer) -> None:
    one, other = issuer.token(), issuer.token(roles=["viewer"])
    first, again, another = admit(office, one), admit(office, one), admit(office, other)
    assert first == again
    assert first.principal.id == another.principal.id
    assert first.credential != another.credential
    assert not set(one.split(".")) & set(first.credential.split(":"))


def test_an_office_without_an_issuer_accepts_no_jwt(embedded: Offices, issuer: TestIssuer) -> None:
    assert outcome(embedded.open(), issuer.token()) == "AUTH_INVALID"
    assert issuer.asked == {}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"issuer": "http://issuer.example", "audience": "a"}, "issuer"),
        ({"issuer": "ftp://127.0.0.1", "audience": "a"}, "issuer"),
        ({"issuer": "issuer.example", "audience": "a"}, "issuer"),
        ({"issuer": "https://", "audience": "a"}, "issuer"),
        ({"issuer": "https://user@issuer.example", "audience": "a"}, "issuer"),
        ({"issuer": "http://127.0.0.1.example", "audience": "a"}, "issuer"),
        ({"issuer": "http://127.0.0.1:none", "audience": "a"}, "issuer"),
        ({"issuer": "https://issuer.example", "jwks": "http://issuer.example/k", "audience": "a"}, "jwks"),
        ({"issuer": "https://issuer.example"}, "audience"),
        ({"issuer": "https://issuer.example", "audience": ""}, "audience"),
        ({"issuer": "https://issuer.example", "audience": "a", "roles_claim": ""}, "roles_claim"),
        ({"audience": "a"}, "audience"),
        ({"jwks": "https://issuer.example/k"}, "jwks"),
    ],
    ids=str,
)
def test_settings_that_would_let_anybody_in_stop_the_office(
    embedded: Offices, settings: dict[str, str], named: str
) -> None:
    with pytest.raises(Failed) as failed:
        embedded.open(**settings)
    assert failed.value.code == codes.CONFIG_INVALID
    assert failed.value.params["setting"] == named


@pytest.mark.parametrize(
    "issuer", ["https://issuer.example", "http://localhost:1", "http://127.0.0.9", "http://[::1]:1"]
)
def test_an_issuer_is_reached_over_tls_or_on_this_machine(embedded: Offices, issuer: str) -> None:
    assert embedded.open(issuer=issuer, audience="a").office.door.metadata("r")["authorization_servers"] == [issuer]


def test_no_part_of_a_token_gets_into_a_log(
    office: Client, issuer: TestIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = [
        issuer.token(),
        issuer.token(exp=1),
        issuer.token(kid="made-up-kid"),
        issuer.token(sub="mallory-sub", roles=7),
    ]
    for token in tokens:
        outcome(office, token)
    assert caplog.text.count("a credential was refused") == 3
    for token in tokens:
        assert not any(part in caplog.text for part in token.split("."))
    assert "made-up-kid" not in caplog.text
    assert "mallory-sub" not in caplog.text


def test_a_refusal_does_not_say_why(office: Client, issuer: TestIssuer) -> None:
    answers = set()
    for token in (issuer.token(exp=1), issuer.token(aud="x"), issuer.token(kid="x"), "x.y.z"):
        with pytest.raises(Invalid) as refused:
            admit(office, token)
        answers.add(str(reply_of(refused.value).data))
    assert len(answers) == 1


def test_the_metadata_names_the_issuer_and_the_resource_whose_tokens_are_accepted(
    embedded: Offices, issuer: TestIssuer
) -> None:
    office = embedded.open(issuer=issuer.url, audience=AUDIENCE, scopes="openid model:write")
    for address in ("http://127.0.0.1:8000", "http://127.0.0.1:8000/mcp"):
        told = office.office.door.metadata(address)
        assert told == {
            "resource": AUDIENCE,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["openid", "model:write"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Engross",
        }
        assert outcome(office, issuer.token(aud=told["resource"])) == "admitted"


def test_the_metadata_of_an_office_without_an_issuer_has_no_empty_lists(embedded: Offices) -> None:
    assert embedded.open().office.door.metadata("http://127.0.0.1:8000/mcp") == {
        "resource": "http://127.0.0.1:8000/mcp",
        "bearer_methods_supported": ["header"],
        "resource_name": "Engross",
    }
