"""A flow that is one call: what goes out, what comes back, and what is answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from engross.replies import Coded, Failed, Invalid, codes
from tests.declared.engines import document, engine, run, value
from tests.declared.upstream import Asked, Told, Upstream

ITEM = """
item:
  path: "/items/{{sku}}"
  description: "Items"
  operations:
    get-item: { method: GET, inputParameters: { sku: { in: path }, lang: { in: query } } }
"""
GET_ITEM = """
one:
  description: "Read one article."
  semantics: { safe: true, idempotent: true }
  inputParameters:
    sku: { type: string, description: "Article number" }
    lang: { type: string, description: "Language", required: false }
  call: up.get-item
  with: { sku: sku }
  outputParameters:
    - type: object
      properties:
        sku: { type: string, mapping: "$.id" }
        price: { type: number, mapping: "$.price.amount" }
"""


def shelf(asked: Asked) -> object:
    """An upstream with one article."""
    path = urlsplit(asked.path)
    if unquote(path.path) == "/v2/items/A 1":
        return {"id": "A 1", "price": {"amount": 9.5}, "x": 1}
    return Told(404, b'{"error":"none"}')


@pytest.fixture
def erp() -> Iterator[Upstream]:
    """The upstream of the reference's worked example."""
    with Upstream(shelf) as running:
        yield running


@pytest.mark.requirement("FLOW-03", "FLOW-05")
def test_the_worked_example_of_the_reference_works(erp: Upstream, tmp_path: Path) -> None:
    client = 'authentication: { type: apikey, key: X-Key, value: "{{ERP_KEY}}", placement: header }'
    binds = "binds: [{ namespace: env, keys: { ERP_KEY: ERP_KEY } }]"
    text = document(f"{erp.url}/v2", ITEM, GET_ITEM, client=client, binds=binds)
    shop = engine(tmp_path, text, environ={"ERP_KEY": "sesame-1234"})

    assert value(shop, "test.one", {"sku": "A 1"}) == {"sku": "A 1", "price": 9.5}
    assert erp.last.path == "/v2/items/A%201"
    assert erp.last.headers["x-key"] == "sesame-1234"
    assert run(shop, "test.one", {"sku": "A 1", "lang": "fr"}).status == 200
    assert erp.last.path == "/v2/items/A%201?lang=fr"
    with pytest.raises(Invalid) as refused:
        run(shop, "test.one", {"sku": "ZZ"})
    assert refused.value.code == codes.UPSTREAM_NOT_FOUND
    assert refused.value.answer()["upstream_answer"] == {"error": "none"}
    assert refused.value.answer()["step"] == "up.get-item"


@pytest.mark.parametrize("sku", ["a/b", "a?b=c", "a#b", "%2e%2e", "{{lang}}", 'q"uote', "ü", "a\nb", "a\\b", "a b"])
def test_a_value_stays_one_segment_of_the_path(sku: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: {"id": asked.path}) as echo:
        shop = engine(tmp_path, document(echo, ITEM, GET_ITEM))
        run(shop, "test.one", {"sku": sku, "lang": "no"})
        path = urlsplit(echo.last.path).path
        assert path.count("/") == 2
        assert unquote(path) == f"/items/{sku}"


@pytest.mark.parametrize("sku", ["", ".", ".."])
def test_a_value_that_would_lead_elsewhere_is_refused_and_nothing_is_called(sku: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as echo:
        shop = engine(tmp_path, document(echo, ITEM, GET_ITEM))
        with pytest.raises(Coded) as refused:
            run(shop, "test.one", {"sku": sku})
        assert refused.value.code in (codes.VALIDATION_ERROR, codes.STEP_FAILED)
        assert echo.asked == []


@pytest.mark.parametrize("lang", ["a&b=c", "a=b", "x y+z", "ü/?#", "{{sku}}", "%41", "line\nbreak"])
def test_a_value_stays_one_value_of_the_query(lang: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as echo:
        run(engine(tmp_path, document(echo, ITEM, GET_ITEM)), "test.one", {"sku": "A", "lang": lang})
        assert parse_qs(urlsplit(echo.last.path).query, keep_blank_values=True) == {"lang": [lang]}


EVERYWHERE = """
things:
  path: /things/{kind}
  description: "Things"
  operations:
    send:
      method: POST
      inputParameters:
        kind: { in: path }
        tag: { in: query }
        X-Note: { in: header, value: "note {{note}}" }
        session: { in: cookie }
        FLOW_TEST_REGION: { in: environment }
      body:
        type: json
        data:
          note: "{{note}}"
          whole: "{{tags}}"
          text: "tags: {{tags}}"
          region: "{{FLOW_TEST_REGION}}"
          absent: "{{session}}"
          fixed: { n: 5, on: true }
"""
SEND = """
one:
  description: "Send."
  semantics: { safe: false, idempotent: true }
  inputParameters:
    kind: { type: string, description: "Kind" }
    note: { type: string, description: "Note" }
    tags: { type: array, description: "Tags" }
    session: { type: string, description: "Session", required: false }
  call: up.send
  with: { tag: "{{tags}}" }
"""


def test_inputs_go_where_the_operation_wants_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOW_TEST_REGION", "north-by-north")
    with Upstream(lambda asked: {"ok": True}) as echo:
        shop = engine(tmp_path, document(echo, EVERYWHERE, SEND))
        arguments = {"kind": "k", "note": 'say "hi"\\', "tags": ["a", "b&c"]}
        assert value(shop, "test.one", arguments) == {"ok": True}
        asked = echo.last
        assert asked.path == "/things/k?tag=a&tag=b%26c"
        assert asked.headers["x-note"] == 'note say "hi"\\'
        assert "cookie" not in asked.headers
        assert asked.headers["content-type"] == "application/json"
        assert asked.json == {
            "note": 'say "hi"\\',
            "whole": ["a", "b&c"],
            "text": 'tags: ["a","b&c"]',
            "region": "north-by-north",
            "fixed": {"n": 5, "on": True},
        }
        run(shop, "test.one", {**arguments, "session": "a;b=c d"})
        assert echo.last.headers["cookie"] == "session=a%3Bb=c%20d"
        assert echo.last.json["absent"] == "a;b=c d"


def test_a_line_break_cannot_add_a_header(tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as echo:
        shop = engine(tmp_path, document(echo, EVERYWHERE, SEND))
        with pytest.raises(Coded):
            run(shop, "test.one", {"kind": "k", "note": "a\r\nX-Admin: yes", "tags": []})
        assert echo.asked == []


BODIES = """
things:
  path: /things
  description: "Things"
  operations:
    post-json: { method: POST, body: '{"note":"{{note}}","n":{{n}},"list":{{tags}},"none":{{nope}}}' }
    post-text: { method: POST, body: { type: text, data: "note={{note}}" } }
    post-xml: { method: POST, body: { type: xml, data: "<a b='{{note}}'>{{note}}</a>" } }
    post-form: { method: POST, body: { type: formUrlEncoded, data: { note: "{{note}}", tags: "{{tags}}" } } }
    post-form-text: { method: POST, body: { type: formUrlEncoded, data: "note={{note}}&n={{n}}" } }
"""
NASTY = '"},"admin":true,{"x":"\\ \n\t/ {{n}} <b> & \u2028 é'


def posting(operation: str) -> str:
    """A flow that posts."""
    return f"""
one:
  description: "Post."
  inputParameters:
    note: {{ type: string, description: "Note" }}
    n: {{ type: number, description: "Number" }}
    tags: {{ type: array, description: "Tags" }}
    nope: {{ type: string, description: "Not given", required: false }}
  call: up.{operation}
"""


def posted(tmp_path: Path, operation: str, note: str = NASTY) -> Asked:
    """What arrives when something nasty is posted."""
    with Upstream(lambda asked: {}) as echo:
        shop = engine(tmp_path, document(echo, BODIES, posting(operation)))
        run(shop, "test.one", {"note": note, "n": 5, "tags": ["a", "b"]})
        return echo.last


def test_a_json_body_holds_what_it_was_given_and_keeps_types(tmp_path: Path) -> None:
    assert posted(tmp_path, "post-json").json == {"note": NASTY, "n": 5, "list": ["a", "b"], "none": None}


def test_a_text_body_is_the_text(tmp_path: Path) -> None:
    asked = posted(tmp_path, "post-text")
    assert asked.body.decode() == f"note={NASTY}"
    assert asked.headers["content-type"].startswith("text/plain")


def test_an_xml_body_cannot_be_broken_out_of(tmp_path: Path) -> None:
    from xml.etree.ElementTree import fromstring

    note = NASTY.replace("\n", " ").replace("\t", " ")
    asked = posted(tmp_path, "post-xml", note)
    root = fromstring(asked.body.decode())
    assert (root.text, root.attrib, len(root)) == (note, {"b": note}, 0)
    assert asked.headers["content-type"] == "application/xml"


@pytest.mark.parametrize("operation", ["post-form", "post-form-text"])
def test_a_form_cannot_gain_fields(operation: str, tmp_path: Path) -> None:
    asked = posted(tmp_path, operation, f"{NASTY}&n=6&tags=c")
    fields = parse_qs(asked.body.decode(), keep_blank_values=True)
    assert fields.pop("note") == [f"{NASTY}&n=6&tags=c"]
    assert fields in ({"tags": ["a", "b"]}, {"n": ["5"]})
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"


AUTHENTICATIONS = {
    "basic": ('{ type: basic, username: "{{USER}}", password: "{{PASS}}" }', "authorization", "Basic dXNlcjpwYTpzcw=="),
    "bearer": ('{ type: bearer, token: "{{PASS}}" }', "authorization", "Bearer pa:ss"),
    "apikey": ('{ type: apikey, key: X-Key, value: "{{env.PASS}}" }', "x-key", "pa:ss"),
}


@pytest.mark.parametrize("kind", AUTHENTICATIONS)
def test_the_office_shows_who_it_is_and_never_who_asks(kind: str, tmp_path: Path) -> None:
    said, header, expected = AUTHENTICATIONS[kind]
    binds = "binds: [{ namespace: env, keys: { USER: USER, PASS: PASS } }]"
    with Upstream(lambda asked: {}) as echo:
        text = document(echo, ITEM, GET_ITEM, client=f"authentication: {said}", binds=binds)
        shop = engine(tmp_path, text, environ={"USER": "user", "PASS": "pa:ss"})
        run(shop, "test.one", {"sku": "A"})
        assert echo.last.headers[header] == expected
        assert set(echo.last.headers) <= {"host", "user-agent", "accept", "accept-encoding", header}


def test_an_api_key_in_the_query_is_encoded(tmp_path: Path) -> None:
    client = 'authentication: { type: apikey, key: key, value: "{{KEY}}", placement: query }'
    with Upstream(lambda asked: {}) as echo:
        text = document(echo, ITEM, GET_ITEM, client=client, binds="binds: [{ namespace: e, keys: { KEY: KEY } }]")
        run(engine(tmp_path, text, environ={"KEY": "a&b=c"}), "test.one", {"sku": "A"})
        assert parse_qs(urlsplit(echo.last.path).query) == {"key": ["a&b=c"]}


def test_cookies_are_not_kept(tmp_path: Path) -> None:
    crumbs = Told(body=b"{}", headers=(("Set-Cookie", "sid=1; Path=/"), ("Content-Type", "application/json")))
    with Upstream(lambda asked: crumbs) as baker:
        shop = engine(tmp_path, document(baker, ITEM, GET_ITEM))
        for _ in range(2):
            run(shop, "test.one", {"sku": "A"})
        assert "cookie" not in baker.last.headers


def test_connections_are_used_again(tmp_path: Path) -> None:
    with Upstream(lambda asked: {}) as echo:
        shop = engine(tmp_path, document(echo, ITEM, GET_ITEM))
        for number in range(10):
            run(shop, "test.one", {"sku": str(number)})
        assert len(echo.asked) == 10
        assert echo.connections == 1


def test_an_empty_response_is_an_answer_without_fields(tmp_path: Path) -> None:
    with Upstream(lambda asked: Told(204)) as silent:
        outcome = run(engine(tmp_path, document(silent, ITEM, GET_ITEM)), "test.one", {"sku": "A"})
        assert (outcome.value, outcome.status) == (None, 204)
        assert outcome.answer().data == {}


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, Invalid, codes.UPSTREAM_REFUSED),
        (401, Failed, codes.UPSTREAM_UNAUTHORIZED),
        (403, Failed, codes.UPSTREAM_UNAUTHORIZED),
        (404, Invalid, codes.UPSTREAM_NOT_FOUND),
        (409, Invalid, codes.UPSTREAM_CONFLICT),
        (418, Invalid, codes.UPSTREAM_REFUSED),
        (422, Invalid, codes.UPSTREAM_REFUSED),
        (500, Failed, codes.UPSTREAM_FAILED),
    ],
)
def test_a_status_of_400_and_up_is_never_a_success(status: int, kind: type[Coded], code: str, tmp_path: Path) -> None:
    with Upstream(lambda asked: Told(status, b'{"id":"secret inside"}')) as grumpy:
        with pytest.raises(kind) as refused:
            run(engine(tmp_path, document(grumpy, ITEM, GET_ITEM)), "test.one", {"sku": "A"})
        assert refused.value.code == code
        answer = refused.value.answer()
        assert answer is not None
        assert (answer["step"], answer["upstream_status"]) == ("up.get-item", status)
        assert ("upstream_answer" in answer) == (kind is Invalid)
