"""Upstreams and documents that mean ill, or are just careless: each costs no more than its own call."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.calls import Principal
from engross.declared.conversion import converted
from engross.declared.outbound.address import Allowed
from engross.declared.outbound.exchange import Received, Sent
from engross.declared.outbound.recording import Recording
from engross.declared.redaction import Redactor
from engross.declared.ways import Ways
from engross.office.declared import check_document
from engross.replies import Coded, Failed, Invalid, codes
from engross.surfaces.client import connect
from tests.declared.engines import document, engine, run, value
from tests.declared.papers import written
from tests.declared.upstream import Told, Upstream

ITEM = """
item:
  path: "/items/{{sku}}"
  description: "One article."
  operations:
    get: { method: GET }
    rows: { method: GET, outputRawFormat: csv }
    page: { method: GET, outputRawFormat: yaml }
    place: { method: POST, inputParameters: { X-Note: { in: header, value: "{{note}}" } } }
"""
INPUTS = 'inputParameters: { sku: { type: string, description: "Article number" } }'
FLOWS = f"""
one: {{ description: "Read.", semantics: {{ safe: true }}, {INPUTS}, call: up.get }}
rows: {{ description: "Read rows.", semantics: {{ safe: true }}, {INPUTS}, call: up.rows }}
page: {{ description: "Read a page.", semantics: {{ safe: true }}, {INPUTS}, call: up.page }}
place:
  description: "Order."
  inputParameters:
    sku: {{ type: string, description: "Article number" }}
    note: {{ type: string, description: "A note", required: false }}
  steps:
    seen: {{ type: call, call: up.get }}
    place: {{ type: call, call: up.place }}
"""
PACKED = (("Content-Type", "text/csv"), ("Content-Encoding", "gzip"))
QUICK = Ways(private_hosts=("127.0.0.1",), most_response_bytes=100_000)


def answers(told: Any, tmp_path: Path, flow: str = "one") -> Any:
    """What a flow makes of a response."""
    with Upstream(lambda asked: told) as erp:
        return value(engine(tmp_path, document(erp, ITEM, FLOWS), ways=QUICK), f"test.{flow}", {"sku": "A"})


def test_several_packed_bodies_in_a_row_are_one(tmp_path: Path) -> None:
    body = gzip.compress(b"sku,price\nA,1\n") + gzip.compress(b"B,2\n")
    assert [row["sku"] for row in answers(Told(body=body, headers=PACKED), tmp_path, "rows")] == ["A", "B"]


@pytest.mark.parametrize("cut", [1, 6, 12])
def test_a_packed_body_that_breaks_off_is_never_an_empty_one(cut: int, tmp_path: Path) -> None:
    body = gzip.compress(b"sku,price\nA,1\n")[:cut]
    with pytest.raises(Failed) as failed:
        answers(Told(body=body, headers=PACKED), tmp_path, "rows")
    assert failed.value.code == codes.UPSTREAM_UNREADABLE


def test_what_follows_a_packed_body_is_not_taken_in_without_end(tmp_path: Path) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield gzip.compress(b"sku\n")
        for _ in range(400):
            # Packed nothing, over and over.
            piece = gzip.compress(b"") * 5000
            sent += len(piece)
            yield piece

    with pytest.raises(Failed) as failed:
        answers(Told(headers=PACKED, pieces=pieces()), tmp_path, "rows")
    assert failed.value.code == codes.UPSTREAM_UNREADABLE
    assert sent < 400 * 5000 * 20


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "utf-7"])
def test_a_charset_that_is_none_of_the_web_is_not_used(charset: str) -> None:
    # With Python's own codecs, this would take minutes.
    assert converted(b'"' + b"b9" * 1_000_000 + b'-\\u0041"', "json", charset).endswith("-A")


def test_a_number_too_large_for_json_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Failed) as failed:
        answers(Told(body=b"number: 99999999999999999999999999"), tmp_path, "page")
    assert failed.value.code == codes.UPSTREAM_UNREADABLE


@pytest.mark.parametrize("address", ["fec0::1", "::ffff:0:127.0.0.1", "3fff::1", "::ffff:0:169.254.169.254"])
def test_addresses_that_only_look_public_are_refused(address: str) -> None:
    assert not Allowed().permits("somewhere.example", address)


def test_a_host_in_other_letters_is_called_by_its_name_on_the_network(tmp_path: Path) -> None:
    shop = engine(tmp_path, document("http://bücher.invalid:8080", ITEM, FLOWS))
    target = shop.document.flow("test.one")
    assert target is not None
    assert target.target is not None
    assert shop.blueprint(target.target).filled({"sku": "A"}).url == "http://xn--bcher-kva.invalid:8080/items/A"
    with pytest.raises(Failed) as failed:
        run(shop, "test.one", {"sku": "A"})
    assert failed.value.code == codes.UPSTREAM_UNREACHABLE


@pytest.mark.parametrize("sku", ["../admin", "a/../b", "a\\..\\b", "./x", "a/.."])
def test_dots_between_slashes_lead_nowhere(sku: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as erp:
        with pytest.raises(Invalid) as refused:
            run(engine(tmp_path, document(erp, ITEM, FLOWS)), "test.one", {"sku": sku})
        assert refused.value.code == codes.VALIDATION_ERROR
        assert erp.asked == []


def test_a_secret_at_the_edge_of_what_is_shown_is_not_shown_in_part(tmp_path: Path) -> None:
    secret = "sesame-sesame-1234"
    binds = "binds: [{ namespace: env, keys: { KEY: KEY } }]"
    client = 'authentication: { type: bearer, token: "{{KEY}}" }'
    with Upstream(lambda asked: Told(400, b"x" * 1990 + secret.encode() + b"y" * 100)) as erp:
        shop = engine(tmp_path, document(erp, ITEM, FLOWS, client=client, binds=binds), environ={"KEY": secret})
        with pytest.raises(Invalid) as refused:
            run(shop, "test.one", {"sku": "A"})
    assert "sesame" not in refused.value.answer()["upstream_answer"]


def test_a_recording_of_bytes_holds_no_secret(tmp_path: Path) -> None:
    from base64 import b64decode

    recording = Recording(tmp_path / "kept.json", Redactor(["sesame-sesame-1234"]))
    recording.keep(Sent("GET", "http://there/x"), Received(200, {}, b"\xff\xfesesame-sesame-1234"))
    (exchange,) = recording._read().values()
    assert b64decode(exchange["response"]["base64"]) == b"\xff\xfe[hidden]"


def test_a_handler_that_gives_no_data_is_named(tmp_path: Path) -> None:
    flows = """
    one:
      description: "Ask Python."
      semantics: { safe: true }
      steps: { asked: { type: handler, handler: odd } }
      mappings: [{ target: found, value: "$.asked" }]
    """
    kept = {"n": 1}
    odd = engine(tmp_path, document("http://there.invalid", ITEM, flows), handlers={"odd": lambda *_: {"a": {1, 2}}})
    with pytest.raises(Failed) as failed:
        run(odd, "test.one")
    assert (failed.value.code, (failed.value.data or {})["step"]) == (codes.STEP_FAILED, "asked")
    even = engine(tmp_path, document("http://there.invalid", ITEM, flows), handlers={"odd": lambda *_: kept})
    first = value(even, "test.one")
    kept["n"] = 2
    assert first == {"found": {"n": 1}}


class TestOutcomes:
    """A flow that writes and fails says whether anything can have been changed."""

    @staticmethod
    def failure(shop: Any, **arguments: str) -> dict[str, Any]:
        with pytest.raises(Coded) as failed:
            run(shop, "test.place", {"sku": "A", **arguments})
        return failed.value.answer() or {}

    def test_before_the_first_change_nothing_is_done(self, tmp_path: Path) -> None:
        with Upstream(lambda asked: Told(500)) as erp:
            told = self.failure(engine(tmp_path, document(erp, ITEM, FLOWS)))
        assert (told["step"], told["outcome"]) == ("seen", "not_done")

    def test_a_value_that_cannot_be_sent_changes_nothing(self, tmp_path: Path) -> None:
        with Upstream(lambda asked: {}) as erp:
            told = self.failure(engine(tmp_path, document(erp, ITEM, FLOWS)), note="a\r\nX-Evil: 1")
            assert (told["step"], told["outcome"]) == ("place", "not_done")
            assert [asked.method for asked in erp.asked] == ["GET"]

    @pytest.mark.parametrize(("status", "outcome"), [(401, "not_done"), (429, "not_done"), (500, None), (503, None)])
    def test_who_is_turned_away_has_changed_nothing(self, status: int, outcome: str | None, tmp_path: Path) -> None:
        with Upstream(lambda asked: {} if asked.method == "GET" else Told(status)) as erp:
            told = self.failure(engine(tmp_path, document(erp, ITEM, FLOWS)))
        assert told.get("outcome") == outcome

    def test_an_upstream_that_is_away_leaves_the_key_free(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setenv("ENGROSS_PRIVATE_HOSTS", "127.0.0.1")
        with Upstream(lambda asked: {"id": "o-1"}) as gone:
            port = gone.port
        flows = FLOWS.replace("    seen: { type: call, call: up.get }\n", "")
        file = written(tmp_path, document(f"http://127.0.0.1:{port}", ITEM, flows), "away.yaml")
        with connect(tmp_path / "office", capabilities=[file]) as client:
            wish = {"sku": "A", "client_request_id": "order-00001"}
            failed = client.call("test.place", wish)
            again = client.call("test.place", wish)
        for answer in (failed, again):
            assert (answer.code, answer.data["outcome"]) == (codes.UPSTREAM_UNREACHABLE, "not_done")


class TestAnswers:
    """What an upstream says is neither lost nor taken for what the office says."""

    @pytest.fixture
    def said(self) -> dict[str, Any]:
        return {"reply": "forged", "status": "shipped", "position": "forged", "id": 7}

    def ask(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any], flow: str) -> dict[str, Any]:
        monkeypatch.setenv("ENGROSS_PRIVATE_HOSTS", "127.0.0.1")
        with Upstream(lambda asked: said) as erp:
            file = written(tmp_path, document(erp, ITEM, FLOWS), "said.yaml")
            with connect(tmp_path / "office", capabilities=[file]) as client:
                answer = client.call(flow, {"sku": "A"})
        assert answer.ok, answer
        return dict(answer.data)

    def test_of_a_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]) -> None:
        told = self.ask(tmp_path, monkeypatch, said, "test.one")
        assert (told["status"], told["id"], told["result"]) == ("shipped", 7, said)
        assert "reply" not in told

    def test_of_a_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]) -> None:
        told = self.ask(tmp_path, monkeypatch, said, "test.place")
        assert (told["status"], told["position"], told["id"]) == ("committed", 1, 7)
        assert told["result"] == said


@pytest.mark.parametrize("namespace", ["memory", "architecture", "documents"])
def test_no_document_takes_the_place_of_a_domain(
    namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGROSS_DOMAINS", "architecture,memory,documents")
    text = document("http://there.invalid", ITEM, FLOWS).replace("    test:", f"    {namespace}:")
    file = written(tmp_path, text.replace("ref: test.", f"ref: {namespace}."), "taken.yaml")
    with pytest.raises(Failed) as failed, connect(tmp_path / "office", capabilities=[file]):
        pass
    assert failed.value.code == codes.CONFIG_INVALID


REST = """
    - type: rest
      namespace: test-rest
      resources:
        first: {{ path: "/items/{{sku}}", operations: {{ get: {{ ref: test.one, method: GET }} }} }}
        second: {{ path: "{path}", operations: {{ get: {{ ref: test.one, method: {method}, {more} }} }} }}
"""


@pytest.mark.parametrize(
    ("path", "method", "more", "rule"),
    [
        ("/things/{sku}", "GET", "inputParameters: { sku: { in: path }, Authorization: { in: header } }", "V3"),
        ("/things/{sku}", "GET", "inputParameters: { sku: { in: path }, COOKIE: { in: header } }", "V3"),
        ("/things/{sku}-old", "GET", "", "V3"),
        ("/../{sku}", "GET", "", "V3"),
        ("/items/{other}", "PUT", "inputParameters: { other: { in: path } }, with: { sku: other }", "V12"),
    ],
)
def test_what_could_not_be_served_or_would_give_a_caller_away_is_refused(
    path: str, method: str, more: str, rule: str, tmp_path: Path
) -> None:
    text = document("http://there.invalid", ITEM, FLOWS) + REST.format(path=path, method=method, more=more)
    file = written(tmp_path, text, "exposed.yaml")
    found = [fault for fault in check_document(file, {}) if fault["severity"] == "error"]
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "second:" in one)
    assert (rule, line) in {(fault["rule"], fault["line"]) for fault in found}


INNER = """
purge:
  description: "Take everything away."
  semantics: { destructive: true }
  inputParameters: { sku: { type: string, description: "Article number" } }
  call: up.place
tidy:
  description: "Tidy up."
  inputParameters: { sku: { type: string, description: "Article number" } }
  steps: { gone: { type: call, call: test.purge } }
"""
FORBIDDEN = """
@id("no-purging")
forbid (principal, action == Action::"call", resource)
when { resource == Flow::"test.purge" };
"""


class TestInnerFlows:
    """What holds for a flow holds for it inside another one too."""

    def test_a_flow_is_as_risky_as_what_it_calls(self, tmp_path: Path) -> None:
        file = written(tmp_path, document("http://there.invalid", ITEM, INNER, tool="tidy"), "inner.yaml")
        with connect(tmp_path / "office", capabilities=[file]) as client:
            catalogue = client.office.catalogue
            assert catalogue.flow("test.tidy").tier == catalogue.flow("test.purge").tier == 3

    def test_who_may_not_call_a_flow_cannot_call_it_through_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGROSS_PRIVATE_HOSTS", "127.0.0.1")
        written(tmp_path, FORBIDDEN, "policies/own.cedar")
        flows = INNER.replace("semantics: { destructive: true }", "semantics: { destructive: false }")
        with Upstream(lambda asked: {}) as erp:
            file = written(tmp_path, document(erp, ITEM, flows, tool="tidy"), "inner.yaml")
            with connect(tmp_path / "office", capabilities=[file], policies=tmp_path / "policies") as client:
                answer = client.call("test.tidy", {"sku": "A"})
            assert answer.reply_type == "D"
            assert erp.asked == []


def test_a_cached_answer_of_the_office_is_for_the_model_that_was_asked(tmp_path: Path) -> None:
    from engross.declared.engine import Variant
    from engross.declared.run import Run
    from tests.declared.engines import context

    flows = """
    inner: { description: "Say.", outputParameters: { a: { type: string, value: "b" } } }
    one: { description: "Ask.", semantics: { safe: true, cacheable: true }, call: test.inner }
    """
    shop = engine(tmp_path, document("http://there.invalid", ITEM, flows))
    flow = shop.document.flow("test.one")
    assert flow is not None

    def mark(**changes: Any) -> Any:
        return Run(shop, Variant(flow, {}, ()), {}, context(**changes), None).mark()

    assert mark() == mark()
    others = [
        mark(pins={"model_id": "m-2"}),
        mark(tenant="other"),
        mark(principal=Principal("scout", "agent", frozenset({"curator"}))),
    ]
    assert mark() not in others
