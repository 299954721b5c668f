"""The doctor at an office that is served: what its callers find, and what to do about what they do not."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import orjson
import pytest

from engross import __version__
from engross.replies import codes, reply
from engross.replies.envelopes import REPLY_JSON, neutral
from tests.bed.programs import PROXIES
from tests.bed.served import Served
from tests.surfaces.cli.shell import Done, run, spawn
from tests.surfaces.conftest import Serving

CHECKS = [
    *("reachable", "live", "ready", "version", "way", "clock", "credential"),
    *("mcp 2025-11-25", "mcp 2026-07-28", "rest"),
]
Answer = tuple[int, dict[str, str], bytes]
Alter = Callable[[str, str, Answer], Answer]
pytestmark = pytest.mark.requirement("ECO-03")


def visited(url: str, *words: object, **options: Any) -> tuple[Done, dict[str, str]]:
    done = run("doctor", "--url", url, "--json", *words, **options)
    return done, {check["check"]: check["status"] for check in done.json["checks"]}


def said(done: Done, check: str) -> dict[str, Any]:
    """All that is said about one check."""
    (found,) = [one for one in done.json["checks"] if one["check"] == check]
    return dict(found)


@contextmanager
def answering(answer: Callable[[str, str, dict[str, str], bytes], Answer], tls: Path | None = None) -> Iterator[str]:
    """A server that answers what it is told to; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            given = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, headers, body = answer(self.command, self.path, dict(self.headers), given)
            self.send_response_only(status)
            for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def before(
    served: Served, alter: Alter = lambda method, path, answer: answer, tls: Path | None = None
) -> Iterator[str]:
    """A proxy before an office that changes what it passes on; its address."""
    dropped = ("content-length", "transfer-encoding", "connection")

    def passed_on(method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "connection")}
        with httpx2.Client() as client:
            found = client.request(method, served.url + path, headers=kept, content=body)
        told = {name: value for name, value in found.headers.items() if name.lower() not in dropped}
        return alter(method, path, (found.status_code, told, found.content))

    with answering(passed_on, tls) as url:
        yield url


def test_a_sound_office_passes_every_check(served: Served) -> None:
    done, checks = visited(served.url, "--token", served.owner)
    assert (done.code, done.key, done.json["healthy"]) == (0, "SYS_OK", True)
    assert checks == dict.fromkeys(CHECKS, "ok")
    who = said(done, "credential")["what"]
    assert "(human) of main" in who
    assert "admin, curator" in who
    for endpoint in ("mcp", "v1"):
        assert visited(f"{served.url}/{endpoint}", "--token", served.owner)[1] == checks
    text = run("doctor", "--url", served.url, env={"ENGROSS_TOKEN": served.agent})
    assert (text.code, text.out.count("\n"), "(agent) of main, with agent" in text.out) == (0, len(CHECKS), True)


def test_looking_changes_nothing_and_leaves_no_session(served: Served) -> None:
    facts, ended = served.call("record.read-facts").json()["facts"], list[int]()

    def note(method: str, path: str, answer: Answer) -> Answer:
        if method == "DELETE":
            ended.append(answer[0])
        return answer

    with before(served, note) as url:
        assert visited(url, "--token", served.agent)[0].code == 0
    assert (served.call("record.read-facts").json()["facts"], ended) == (facts, [200])


def test_without_a_token_the_rest_is_looked_at_all_the_same(served: Served) -> None:
    done, checks = visited(served.url)
    assert (done.code, done.key, done.json["healthy"]) == (2, "AUTH_REQUIRED", False)
    wrong = {"credential": "fail", "mcp 2025-11-25": "warn", "mcp 2026-07-28": "warn"}
    assert checks == {**dict.fromkeys(CHECKS, "ok"), **wrong}
    assert all(check["advice"] for check in done.json["checks"] if check["status"] != "ok")
    assert "ENGROSS_TOKEN" in said(done, "credential")["advice"]


@pytest.mark.parametrize("token", ["egr_nonsense", "two words", "a\nb", "ключ", "x" * 5000])
def test_a_bad_token_is_told_apart_from_everything_else(served: Served, token: str) -> None:
    done, checks = visited(served.url, "--token", token)
    assert (done.code, done.key) == (2, "AUTH_INVALID")
    assert (said(done, "credential")["code"], checks["ready"], checks["rest"]) == ("AUTH_INVALID", "ok", "ok")
    assert token not in done.out
    text = run("doctor", "--url", served.url, "--token", token)
    assert (text.code, "Traceback" in text.out + text.err, text.out.count("fail")) == (2, False, 1)


def test_the_line_end_of_a_token_file_is_no_part_of_the_token(served: Served) -> None:
    assert visited(served.url, "--token", f"{served.owner}\n")[0].code == 0
    assert run("doctor", "--url", served.url, env={"ENGROSS_TOKEN": f"{served.agent}\n"}).code == 0


def test_a_token_that_was_revoked_is_refused(served: Served) -> None:
    identifier, token = served.token_with_id("leaver", "human", "contributor")
    assert visited(served.url, "--token", token)[0].code == 0
    assert served.call("door.revoke-token", {"token_id": identifier}).is_success
    assert visited(served.url, "--token", token)[0].key == "AUTH_INVALID"


def test_an_office_that_asks_nobody_is_a_warning(serving: Serving) -> None:
    done, checks = visited(serving(auth=False).url)
    assert (done.code, checks["credential"]) == (0, "warn")
    assert "(agent)" in said(done, "credential")["what"]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "http://nowhere.invalid", "http://[::1", "http://127.0.0.1:99999", "http://"]
)
def test_a_dead_address_is_an_error_with_a_remedy(address: str) -> None:
    done, checks = visited(address, "--token", "egr_x")
    assert (done.code, done.key, checks) == (4, "OFFICE_UNREACHABLE", {"reachable": "fail"})
    assert said(done, "reachable")["advice"]
    text = spawn("doctor", "--url", address)
    assert (text.returncode, text.stderr, text.stdout.startswith("fail  reachable  ")) == (4, "", True)


def page(*_: object) -> Answer:
    return 200, {"Content-Type": "text/html"}, b"<html>Welcome to the coffee machine</html>"


def nothing(*_: object) -> Answer:
    return 404, {}, b""


def elsewhere(*_: object) -> Answer:
    return 301, {"Location": "https://office.example/"}, b""


def forged(*_: object) -> Answer:
    return 200, {"Content-Type": REPLY_JSON}, b'{"reply": [], "data": 5}'


def forged_again(*_: object) -> Answer:
    body = (
        b'{"reply": {"code": "MCP-SYS-S-001", "reply_type": "S"}, "params": {}, "data": [1], "meta": {"trace": null}}'
    )
    return 200, {"Content-Type": REPLY_JSON}, body


@pytest.mark.parametrize("thing", [page, nothing, elsewhere, forged, forged_again], ids=lambda one: one.__name__)
def test_a_server_that_is_something_else_is_told_so(thing: Callable[..., Answer]) -> None:
    with answering(thing) as url:
        done, checks = visited(url, "--token", "egr_x")
    assert (done.code, checks) == (4, {"reachable": "ok", "live": "fail"})
    assert said(done, "live")["advice"]
    if thing is elsewhere:
        assert "https://office.example/" in said(done, "live")["what"]


@contextmanager
def listening(greeting: bytes) -> Iterator[int]:
    """A port where something is said, and nothing understood."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as connection:
                while connection.recv(65536) and not greeting:
                    pass
                connection.sendall(greeting)

        thread = Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def test_what_speaks_no_http_or_no_tls_is_told_so(served: Served) -> None:
    with listening(b"220 mail.example ESMTP\r\n500 unrecognized\r\n") as port:
        done, _ = visited(f"http://127.0.0.1:{port}")
    assert (done.code, said(done, "reachable")["what"]) == (4, "what answers speaks no HTTP")
    done, _ = visited(served.url.replace("http://", "https://"))
    assert (done.code, said(done, "reachable")["what"]) == (4, "no TLS is spoken there")


def test_what_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engross.surfaces.cli.line.PATIENCE_SECONDS", 0.2)
    with listening(b"") as port:
        done, _ = visited(f"http://127.0.0.1:{port}")
    assert (done.code, said(done, "reachable")["what"]) == (4, "no answer comes in time")


def test_what_says_too_much_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engross.surfaces.cli.line.MOST_BYTES", 1000)
    with answering(lambda *_: (200, {}, b"x" * 100_000)) as url:
        done, checks = visited(url)
    assert (done.code, checks) == (4, {"reachable": "fail"})


def test_a_host_that_the_office_does_not_answer_to_is_invalid(served: Served) -> None:
    # A name that leads to this machine, and is none of the office's.
    with before(served, lambda method, path, answer: strange_host(served, path)) as url:
        done, checks = visited(url, "--token", served.owner)
    assert (done.code, done.key, checks) == (2, "HOST_NOT_ALLOWED", {"reachable": "ok", "live": "fail"})


def strange_host(served: Served, path: str) -> Answer:
    with served.client() as client:
        found = client.get(path, headers={"Host": "office.example", "Accept": REPLY_JSON})
    return found.status_code, {"content-type": REPLY_JSON}, found.content


def test_an_office_that_is_not_ready_is_an_error_of_its_own(served: Served) -> None:
    def unready(method: str, path: str, answer: Answer) -> Answer:
        if path != "/health/ready":
            return answer
        told = reply(codes.STORE_UNAVAILABLE, data={"ready": False, "closing": False})
        return 503, {"content-type": REPLY_JSON}, orjson.dumps(neutral(told))

    with before(served, unready) as url:
        done, checks = visited(url, "--token", served.owner)
    assert (done.code, done.key) == (4, "STORE_UNAVAILABLE")
    assert checks == {**dict.fromkeys(CHECKS, "ok"), "ready": "fail"}


@pytest.mark.parametrize("path", ["/mcp", "/openapi.json", "/v1/record/who-am-i"])
def test_what_a_proxy_does_not_pass_on_is_found(served: Served, path: str) -> None:
    def blocks(method: str, asked: str, answer: Answer) -> Answer:
        return (502, {"content-type": "text/html"}, b"<h1>Bad gateway</h1>") if asked == path else answer

    with before(served, blocks) as url:
        done, checks = visited(url, "--token", served.owner)
    failed = {name for name, status in checks.items() if status == "fail"}
    expected = {"/mcp": set(CHECKS[7:9]), "/openapi.json": {"rest"}, "/v1/record/who-am-i": {"credential"}}
    assert (done.code, done.key, failed) == (4, "OFFICE_UNREACHABLE", expected[path])
    assert all(check["advice"] for check in done.json["checks"] if check["status"] != "ok")


def test_an_office_of_another_age_is_told(served: Served) -> None:
    def old(method: str, path: str, answer: Answer) -> Answer:
        status, headers, body = answer
        if path == "/v1/record/who-am-i":
            with served.client(served.owner) as client:
                missing = client.post("/v1/record/no-such-flow", json={}, headers={"Accept": REPLY_JSON})
            return missing.status_code, {"content-type": REPLY_JSON}, missing.content
        return status, headers, body.replace(f'"{__version__}"'.encode(), b'"0.0.7"')

    with before(served, old) as url:
        done, checks = visited(url, "--token", served.owner)
    assert (done.code, checks["version"], checks["credential"]) == (0, "warn", "warn")
    assert said(done, "version")["what"] == f"0.0.7 there, {__version__} here"


@pytest.mark.parametrize(("seconds", "word"), [(3600, "ahead"), (-3600, "behind"), (None, "does not say")])
def test_a_clock_that_differs_is_a_warning(served: Served, seconds: int | None, word: str) -> None:
    def at_another_time(method: str, path: str, answer: Answer) -> Answer:
        status, headers, body = answer
        kept = {name: value for name, value in headers.items() if name.lower() != "date"}
        if seconds is not None:
            kept["Date"] = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
        return status, kept, body

    with before(served, at_another_time) as url:
        done, checks = visited(url, "--token", served.owner)
    assert (done.code, checks["clock"], word in said(done, "clock")["what"]) == (0, "warn", True)


def certificate(folder: Path, days: int) -> Path:
    """A certificate for 127.0.0.1 that ends in so many days, with its key."""
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key, now = generate_private_key(SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "office")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    file = folder / "office.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    return file


def test_a_certificate_that_nobody_vouches_for_is_told_so(served: Served, tmp_path: Path) -> None:
    with before(served, tls=certificate(tmp_path, 90)) as url:
        done, _ = visited(url, "--token", served.owner)
    assert (done.code, done.key) == (4, "OFFICE_UNREACHABLE")
    assert "certificate" in said(done, "reachable")["what"]


@pytest.mark.parametrize(("days", "status"), [(90, "ok"), (3, "warn")])
def test_tls_is_fine_as_long_as_the_certificate_lasts(served: Served, tmp_path: Path, days: int, status: str) -> None:
    file = certificate(tmp_path, days)
    with before(served, tls=file) as url:
        done, checks = visited(url, "--token", served.owner, env={"SSL_CERT_FILE": str(file)})
    assert (done.code, checks["way"]) == (0, status)
    assert said(done, "way")["what"].startswith("TLS")


@pytest.mark.parametrize("spoken", ["http", "https"])
def test_the_token_goes_to_this_address_alone_whatever_proxies_the_environment_names(
    served: Served, tmp_path: Path, spoken: str
) -> None:
    file = certificate(tmp_path, days=90)
    heard: list[bytes] = []

    def passed_by(method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        heard.append(path.encode())
        return page()

    with answering(passed_by) as proxy, before(served, tls=file if spoken == "https" else None) as url:
        named = {**dict.fromkeys(PROXIES, proxy), "SSL_CERT_FILE": str(file)}
        ended = [spawn(word, "--url", url, "--token", served.owner, env=named) for word in ("doctor", "facts")]
    assert ([done.returncode for done in ended], heard) == ([0, 0], [])


def test_plain_http_to_another_machine_is_a_warning(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(host: str, *more: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host == "office.example" else host, *more, **options)

    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", found)
    with before(served) as url:
        done, checks = visited(url.replace("127.0.0.1", "office.example"), "--token", served.owner)
    assert (done.code, checks["way"]) == (0, "warn")
    assert "TLS" in said(done, "way")["advice"]


@pytest.mark.parametrize(
    "words",
    [
        ["--data", "office"],
        ["--port", "8081"],
        ["--host", "localhost"],
        ["--store", "postgresql:///x"],
        ["--url", "ftp://office.example"],
    ],
    ids=" ".join,
)
@pytest.mark.shows_text
def test_what_the_office_there_decides_cannot_be_said_here(words: list[str]) -> None:
    done = run("doctor", "--url", "http://127.0.0.1:1", *words)
    assert (done.code, words[0] in done.err) == (2, True)
    assert run("doctor", "--token", "egr_x").code == 2
