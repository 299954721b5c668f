"""What may be called, what is read, and what never gets out."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from engross.declared.fault import BadDocument
from engross.declared.outbound.address import Allowed
from engross.declared.redaction import HIDDEN, Redactor
from engross.declared.trace import traced
from engross.declared.ways import Ways
from engross.replies import Coded, Failed, codes
from tests.declared.engines import LOCAL, document, engine, run, value
from tests.declared.upstream import Asked, Told, Upstream

THING = """
thing:
  path: /thing
  description: "A thing"
  operations:
    get-thing: { method: GET }
    put-thing: { method: PUT, body: { type: json, data: { a: 1 } } }
    post-thing: { method: POST, body: { type: json, data: { a: 1 } } }
"""
GET = """
one:
  description: "Get."
  semantics: { safe: true }
  call: up.get-thing
"""
GET_ONCE = GET + "  retry: 1\n"
POST = """
one:
  description: "Post."
  call: up.post-thing
"""


def failed(folder: Path, upstream: Upstream | str, flow: str = GET_ONCE, ways: Ways = LOCAL) -> Failed:
    """How a flow fails."""
    with pytest.raises(Failed) as failure:
        run(engine(folder, document(upstream, THING, flow), ways=ways), "test.one")
    answer = failure.value.answer()
    assert answer is not None
    assert answer["step"].startswith("up.")
    return failure.value


# Where it goes.


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_addresses_that_are_not_the_internets_are_refused(address: str) -> None:
    assert not Allowed().permits("host.example", address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_addresses_of_the_internet_are_called(address: str) -> None:
    assert Allowed().permits("host.example", address)


def test_the_operator_allows_names_addresses_and_networks() -> None:
    allowed = Allowed(["erp.internal", "10.2.0.0/16", "::1"])
    assert allowed.permits("ERP.internal.", "192.168.0.9")
    assert allowed.permits("anything", "10.2.3.4")
    assert allowed.permits("anything", "::ffff:10.2.3.4")
    assert allowed.permits("localhost", "::1")
    assert not allowed.permits("anything", "10.3.0.1")
    assert not allowed.permits("erp.internal", "169.254.169.254"), "a name does not open the way to credentials"
    assert Allowed(["169.254.0.0/16"]).permits("x", "169.254.169.254")


def test_an_upstream_on_this_machine_is_refused_unless_the_operator_allows_it(tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as local:
        assert failed(tmp_path, local, ways=Ways()).code == codes.HOST_REFUSED
        assert local.asked == []


def test_a_name_is_resolved_once_and_the_address_that_was_seen_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the name is public when it is looked at, and private a moment later."""
    answers = iter(["127.0.0.1", "169.254.169.254"])
    asked: list[str] = []

    def resolver(host: Any, port: Any, *rest: Any, **more: Any) -> list[Any]:
        asked.append(str(host))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    with Upstream(lambda asked: {"ok": True}) as local:
        shop = engine(tmp_path, document(f"http://rebind.test:{local.port}", THING, GET_ONCE))
        with monkeypatch.context() as patched:
            patched.setattr(socket, "getaddrinfo", resolver)
            assert value(shop, "test.one") == {"ok": True}
        assert asked.count("rebind.test") == 1
        assert local.last.headers["host"] == f"rebind.test:{local.port}"


def test_a_name_with_one_private_address_among_public_ones_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolver(host: Any, port: Any, *rest: Any, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    assert failed(tmp_path, "http://mixed.test", ways=Ways()).code == codes.HOST_REFUSED


def test_tls_asks_for_the_name_and_not_for_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = tmp_path / "cert.pem"
    certificate.write_bytes(_certificate("erp.test"))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    def resolver(host: Any, port: Any, *rest: Any, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    with Upstream(lambda asked: {"ok": True}, tls=server) as erp, monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", resolver)
        trusted = engine(tmp_path, document(f"https://erp.test:{erp.port}", THING, GET_ONCE))
        assert value(trusted, "test.one") == {"ok": True}
        (tmp_path / "other").mkdir()
        assert failed(tmp_path / "other", f"https://other.test:{erp.port}").code == codes.UPSTREAM_UNREACHABLE
        assert len(erp.asked) == 1


def _certificate(name: str) -> bytes:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private + made.public_bytes(pem)


# Redirects.


def redirecting(to: str, status: int = 302) -> Any:
    """An upstream that points elsewhere, once."""

    def answer(asked: Asked) -> object:
        return Told(status, b"", (("Location", to),)) if asked.path == "/thing" else {"at": asked.path}

    return answer


def test_a_redirect_within_the_upstream_is_followed_when_reading(tmp_path: Path) -> None:
    with Upstream(redirecting("/there?x=1")) as erp:
        assert value(engine(tmp_path, document(erp, THING, GET_ONCE)), "test.one") == {"at": "/there?x=1"}


def test_a_redirect_to_a_host_that_the_document_does_not_name_is_refused(tmp_path: Path) -> None:
    with Upstream(lambda asked: {"stolen": True}) as thief, Upstream(redirecting(f"{thief.url}/loot")) as erp:
        assert failed(tmp_path, erp).code == codes.UPSTREAM_UNREADABLE
        assert thief.asked == []


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "http://user@127.0.0.1/", "//", "", "gopher://x/", "/thing", "/\u00e9", "/a b"]
)
def test_odd_and_endless_redirects_end(to: str, tmp_path: Path) -> None:
    with Upstream(redirecting(to)) as erp:
        assert failed(tmp_path, erp).code == codes.UPSTREAM_UNREADABLE
        assert len(erp.asked) <= 4


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_write_is_not_redirected(status: int, tmp_path: Path) -> None:
    with Upstream(redirecting("/elsewhere", status)) as erp:
        assert failed(tmp_path, erp, POST).code == codes.UPSTREAM_UNREADABLE
        assert len(erp.asked) == 1


# What comes back.


@pytest.fixture
def never() -> Iterator[Event]:
    """Set when the test is over."""
    event = Event()
    yield event
    event.set()


def test_an_upstream_that_does_not_answer_in_time_stops_the_flow(tmp_path: Path, never: Event) -> None:
    def slow(asked: Asked) -> object:
        never.wait(30)
        return {}

    with Upstream(slow) as erp:
        assert failed(tmp_path, erp, GET_ONCE + "  timeout: 0.1\n").code == codes.UPSTREAM_TIMEOUT


def test_an_upstream_that_drips_is_stopped_by_the_time_for_the_whole(tmp_path: Path, never: Event) -> None:
    def drip() -> Iterator[bytes]:
        while not never.wait(0.02):
            yield b" "

    with Upstream(lambda asked: Told(pieces=drip())) as erp:
        assert failed(tmp_path, erp, GET_ONCE + "  timeout: 0.2\n").code == codes.UPSTREAM_TIMEOUT


def test_the_deadline_of_the_call_is_the_last_word(tmp_path: Path, never: Event) -> None:
    import time

    def slow(asked: Asked) -> object:
        never.wait(30)
        return {}

    with Upstream(slow) as erp:
        shop = engine(tmp_path, document(erp, THING, GET))
        with pytest.raises(Failed) as failure:
            run(shop, "test.one", deadline=time.monotonic() + 0.2)
        assert failure.value.code == codes.UPSTREAM_TIMEOUT


def huge() -> Iterator[bytes]:
    """More than anybody reads."""
    while True:
        yield b"[" * 65536


@pytest.mark.parametrize(
    "told",
    [
        lambda: Told(pieces=huge()),
        lambda: Told(body=b'"' + b"x" * 200_000 + b'"'),
        lambda: Told(
            body=gzip.compress(b"0" * 50_000_000), headers=(("Content-Encoding", "gzip"), ("Content-Type", "a/b"))
        ),
    ],
    ids=["endless", "long", "bomb"],
)
def test_a_response_is_read_only_so_far(told: Any, tmp_path: Path) -> None:
    with Upstream(lambda asked: told()) as erp:
        ways = Ways(private_hosts=("127.0.0.1",), most_response_bytes=100_000)
        assert failed(tmp_path, erp, ways=ways).code == codes.UPSTREAM_UNREADABLE


def test_a_packed_response_is_unpacked(tmp_path: Path) -> None:
    packed = Told(body=gzip.compress(b'{"ok":true}'), headers=(("Content-Encoding", "gzip"),))
    with Upstream(lambda asked: packed) as erp:
        assert value(engine(tmp_path, document(erp, THING, GET)), "test.one") == {"ok": True}


BROKEN = {
    "html as json": Told(body=b"<html>ok</html>"),
    "half": Told(body=b'{"a": 1'),
    "cut off": Told(body=b'{"a": 1}', cut=True),
    "not text": Told(body=b"\xff\xfe\x00\x01"),
    "too deep": Told(body=b"[" * 500 + b"]" * 500),
    "packed wrongly": Told(body=b"{}", headers=(("Content-Encoding", "gzip"),)),
    "half packed": Told(body=gzip.compress(b'{"ok":true}')[:-9], headers=(("Content-Encoding", "gzip"),)),
    "packed strangely": Told(body=b"{}", headers=(("Content-Encoding", "br"),)),
    "not a number": Told(body=b"NaN"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_body_stops_the_flow(kind: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: BROKEN[kind]) as erp:
        assert failed(tmp_path, erp).code == codes.UPSTREAM_UNREADABLE


@pytest.mark.parametrize("kind", ["text/html", "application/xml", "", "nonsense;;charset=", "a/b; charset=utf-99"])
def test_what_the_response_says_about_itself_does_not_matter_if_it_is_what_it_should_be(
    kind: str, tmp_path: Path
) -> None:
    with Upstream(lambda asked: Told(body='{"a":"é"}'.encode(), headers=(("Content-Type", kind),))) as erp:
        assert value(engine(tmp_path, document(erp, THING, GET)), "test.one") == {"a": "é"}


def test_nobody_there_is_unreachable_and_the_answer_says_who(tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as gone:
        url = gone.url
    failure = failed(tmp_path, f"{url}/inner/path")
    assert failure.code == codes.UPSTREAM_UNREACHABLE
    assert failure.data is not None
    assert failure.data["upstream"] == url
    assert url in failure.data["hint"]


def test_somebody_who_speaks_something_else_is_unreadable(tmp_path: Path) -> None:
    import threading

    listening = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        while True:
            try:
                wire, _ = listening.accept()
            except OSError:
                return
            with wire:
                wire.recv(1000)
                wire.sendall(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")

    threading.Thread(target=talk, daemon=True).start()
    try:
        code = failed(tmp_path, f"http://127.0.0.1:{listening.getsockname()[1]}").code
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
    assert code == codes.UPSTREAM_UNREADABLE


# Trying again, and keeping.


def failing_first(times: int, status: int = 503, **headers: str) -> Any:
    """An upstream that fails so often, then answers."""
    left = [times]

    def answer(asked: Asked) -> object:
        if left[0]:
            left[0] -= 1
            return Told(status, b"", tuple(headers.items()))
        return {"ok": True}

    return answer


QUICK = "  retry: { attempts: 3, backoff: 0.01 }\n"


def test_a_flow_that_is_idempotent_is_tried_again(tmp_path: Path) -> None:
    flow = POST + "  semantics: { idempotent: true }\n" + QUICK
    with Upstream(failing_first(2)) as erp:
        shop = engine(tmp_path, document(erp, THING, flow))
        assert value(shop, "test.one", key="request-0001") == {"ok": True}
        assert [asked.headers["idempotency-key"] for asked in erp.asked] == ["request-0001"] * 3


def test_a_flow_that_is_not_idempotent_is_never_posted_twice(tmp_path: Path) -> None:
    with Upstream(failing_first(2)) as erp:
        assert failed(tmp_path, erp, POST + QUICK).code == codes.UPSTREAM_FAILED
        assert len(erp.asked) == 1


def test_trying_again_has_an_end(tmp_path: Path) -> None:
    with Upstream(failing_first(9, 502)) as erp:
        assert failed(tmp_path, erp, GET + QUICK).code == codes.UPSTREAM_FAILED
        assert len(erp.asked) == 3


def test_a_refusal_is_not_tried_again(tmp_path: Path) -> None:
    with Upstream(failing_first(9, 404)) as erp:
        with pytest.raises(Coded):
            run(engine(tmp_path, document(erp, THING, GET + QUICK)), "test.one")
        assert len(erp.asked) == 1


def test_an_upstream_that_wants_more_time_than_there_is_gets_no_second_call(tmp_path: Path) -> None:
    with Upstream(failing_first(9, 429, **{"Retry-After": "3600"})) as erp:
        failure = failed(tmp_path, erp, GET + QUICK)
        assert failure.code == codes.UPSTREAM_BUSY
        assert (failure.answer() or {})["retry_after_seconds"] == 3600
        assert len(erp.asked) == 1


CACHED = """
one:
  description: "Get."
  semantics: { safe: true, cacheable: true }
  inputParameters: { n: { type: number, description: "Number", required: false } }
  call: up.get-thing
"""


def test_a_cacheable_flow_answers_again_without_asking(tmp_path: Path) -> None:
    with Upstream(lambda asked: {"n": 1}) as erp:
        shop = engine(tmp_path, document(erp, THING, CACHED))
        first, second = run(shop, "test.one", {"n": 1}), run(shop, "test.one", {"n": 1})
        assert (first.cached, second.cached) == (False, True)
        assert first.value == second.value
        run(shop, "test.one", {"n": 2})
        run(shop, "test.one", {"n": 1}, tenant="other")
        assert len(erp.asked) == 3


@pytest.mark.parametrize("said", ["no-store", "no-cache", "max-age=0"])
def test_what_the_upstream_forbids_is_not_kept(said: str, tmp_path: Path) -> None:
    headers = (("Cache-Control", said),)
    with Upstream(lambda asked: Told(body=b"{}", headers=headers)) as erp:
        shop = engine(tmp_path, document(erp, THING, CACHED))
        assert [run(shop, "test.one").cached for _ in range(2)] == [False, False]


def test_a_flow_that_may_change_something_is_never_answered_from_memory(tmp_path: Path) -> None:
    flow = POST + "  semantics: { cacheable: true, idempotent: true }\n"
    with Upstream(lambda asked: {}) as erp:
        shop = engine(tmp_path, document(erp, THING, flow))
        for _ in range(2):
            run(shop, "test.one")
        assert len(erp.asked) == 2


# What never gets out.

SECRET = 'hunter2 "quoted"/+&'


def leaking(asked: Asked) -> object:
    """An upstream that tells everything it knows."""
    return {
        "headers": asked.headers,
        "path": asked.path,
        "body": asked.body.decode(),
        f"key {SECRET}": [SECRET, {"deep": f"<{SECRET}>"}],
    }


LEAKY = 'authentication: { type: basic, username: user, password: "{{PASS}}" }'
BINDS = "binds: [{ namespace: env, keys: { PASS: PASS } }]"
ECHO = """
thing:
  path: /thing
  description: "A thing"
  operations:
    get-thing:
      method: POST
      inputParameters: { q: { in: query, value: "{{PASS}}" }, h: { in: header, value: "{{env.PASS}}" } }
      body: '{"pass":"{{PASS}}"}'
"""


def assert_hidden(told: object) -> None:
    """No spelling of the secret is in it."""
    import json
    from base64 import b64encode
    from urllib.parse import quote, quote_plus

    text = json.dumps(told)
    for spelling in (
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(json.dumps(SECRET))[1:-1],
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        b64encode(SECRET.encode()).decode(),
        b64encode(f"user:{SECRET}".encode()).decode(),
        "hunter2",
    ):
        assert spelling not in text


@pytest.mark.parametrize("status", [200, 422, 500])
def test_what_is_bound_is_in_no_answer_error_or_trace(
    status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    import json

    def answer(asked: Asked) -> object:
        return Told(status, json.dumps(leaking(asked)).encode())

    with Upstream(answer) as erp, traced() as steps, caplog.at_level("DEBUG"):
        shop = engine(tmp_path, document(erp, ECHO, GET_ONCE, client=LEAKY, binds=BINDS), environ={"PASS": SECRET})
        try:
            told: object = run(shop, "test.one").answer().data
        except Coded as refused:
            told = [refused.answer(), str(refused), repr(refused.params)]
        assert SECRET in json.loads(erp.last.body)["pass"]
        assert_hidden(told)
        assert_hidden(steps)
        assert_hidden(caplog.text)
        assert_hidden("".join(capfd.readouterr()))
        assert HIDDEN in str(steps)


def test_a_bound_name_of_a_host_is_not_told_when_nobody_is_there(tmp_path: Path) -> None:
    binds = "binds: [{ namespace: env, keys: { PLACE: PLACE } }]"
    text = document("http://{{PLACE}}.invalid:8081", THING, GET_ONCE, binds=binds)
    with pytest.raises(Failed) as failure:
        run(engine(tmp_path, text, ways=LOCAL, environ={"PLACE": "InnerPlace"}), "test.one")
    assert failure.value.code == codes.UPSTREAM_UNREACHABLE
    assert failure.value.data is not None
    assert failure.value.data["upstream"] == f"http://{HIDDEN}.invalid:8081"
    assert "innerplace" not in str(failure.value.data).casefold()


def test_short_values_are_hidden_as_words_only() -> None:
    redactor = Redactor(["eu", "12345678"])
    assert redactor.data({"region": "eu", "word": "neutral", "n": 12345678}) == {
        "region": HIDDEN,
        "word": "neutral",
        "n": HIDDEN,
    }


def test_without_secrets_nothing_is_changed() -> None:
    data = {"a": [1, {"b": "c"}]}
    assert Redactor().data(data) is data
    assert Redactor([""]).data(data) is data


def test_a_host_header_cannot_be_set(tmp_path: Path) -> None:
    resources = """
thing:
  path: /thing
  description: "A thing"
  operations: { get-thing: { method: GET, inputParameters: { Host: { in: header, value: evil.test } } } }
"""
    with pytest.raises(BadDocument) as refused:
        engine(tmp_path, document("https://erp.example.org", resources, GET))
    assert [fault.rule for fault in refused.value.faults if fault.severity == "error"] == ["V3"]


def test_a_setting_that_means_nothing_is_refused() -> None:
    with pytest.raises(Failed) as failed:
        Ways.of(upstreams="dead")
    assert failed.value.code == codes.CONFIG_INVALID
    assert Ways.of(private_hosts=" a.internal , 10.0.0.0/8 ,").private_hosts == ("a.internal", "10.0.0.0/8")


def test_connections_end_with_their_loop(tmp_path: Path) -> None:
    from tests.declared.engines import context

    with Upstream(lambda asked: {}) as erp:
        shop = engine(tmp_path, document(erp, THING, GET))
        flow = shop.document.flow("test.one")
        assert flow is not None
        for _ in range(3):
            asyncio.run(shop.arun(flow, {}, context()))
        assert erp.connections == 3
