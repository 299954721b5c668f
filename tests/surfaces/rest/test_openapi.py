"""The description of the API: a valid OpenAPI 3.1 document, and pages that need nothing but themselves."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from engross.flows import CONTROLS
from engross.office import Office, Settings, own_refusals
from engross.replies import REGISTRY, codes
from engross.surfaces.desk import Desk
from engross.surfaces.rest import openapi_document
from tests.bed.offices import shelf
from tests.surfaces.rest.house import House, serving
from tests.surfaces.rest.odds import odds

METHODS = ("get", "post", "put")
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
JSON = {"Accept": "application/json"}
ADDRESS = "https://office.example/engross"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    office = Office(Settings(domains="", data=tmp_path_factory.mktemp("described")), [shelf(), odds])
    try:
        with serving(office, base_url=f"{ADDRESS}/") as served:
            yield served
    finally:
        office.close()


@pytest.fixture(scope="module")
def document(place: House) -> Any:
    return place.get("/openapi.json").json()


def operations(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_the_document_is_openapi_3_1(document: Any) -> None:
    assert document["openapi"].startswith("3.1.")
    assert list(jsonschema_rs.validator_for(OPENAPI_31).iter_errors(document)) == []


def test_every_reference_leads_somewhere(document: Any) -> None:
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            for name, value in part.items():
                if name == "$ref":
                    yield value
                else:
                    yield from references(value)
        elif isinstance(part, list):
            for value in part:
                yield from references(value)

    found = set(references(document))
    assert len(found) > 10
    for reference in found:
        place: Any = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert place


def test_every_flow_has_its_operation_and_reads_have_two(place: House, document: Any) -> None:
    for flow in Desk(place.office).flows:
        item = document["paths"][f"/v1/{flow.aggregate.namespace}/{flow.name}"]
        assert ("get" in item) is flow.semantics.safe
        operation = item["post"]
        assert operation["requestBody"]["content"]["application/json"]["schema"] == flow.published
        about = operation["x-engross"]
        assert (about["ref"], about["version"], about["hints"]) == (flow.ref, flow.version, flow.hints())
        assert operation["tags"] == [flow.aggregate.display]
        assert operation["operationId"] == (about["tools"][0] if about["tools"] else flow.ref)
    assert "/v1/odds/old-show" not in document["paths"]


@pytest.mark.requirement("MEM-38")
def test_an_operation_names_the_refusals_of_its_own(place: House, document: Any) -> None:
    told = {flow.ref: {entry.key: entry.http for entry in own_refusals(flow)} for flow in Desk(place.office).flows}
    assert any(told.values())
    for ref, own in told.items():
        about = document["paths"][f"/v1/{ref.replace('.', '/')}"]["post"]["x-engross"]
        assert {one["message_key"]: one["status"] for one in about["refuses"]} == own


def test_operation_ids_are_unique_and_tags_are_declared(document: Any) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(ids) == len(set(ids)) > 30
    assert {operation["tags"][0] for _, _, operation in operations(document)} == {
        tag["name"] for tag in document["tags"]
    }


def test_a_success_has_the_flows_own_output(place: House, document: Any) -> None:
    answers = document["components"]["schemas"]
    flow = place.office.catalogue.flow("odds.show")
    shown = answers["odds.show.answer"]
    assert shown["properties"]["seen"] == flow.output["properties"]["seen"]
    assert shown["required"] == ["reply"]
    responses = document["paths"]["/v1/odds/show"]["post"]["responses"]
    assert set(responses) == {"200", "4XX", "5XX"}
    written = document["paths"]["/v1/shelf/add-book"]["post"]["responses"]
    assert {"200", "201", "202", "4XX", "5XX"} == set(written)


def test_a_failure_is_described_in_the_flows_dialect(document: Any) -> None:
    failures = document["components"]["responses"]
    for path, content in (("/v1/odds/show", "application/problem+json"), ("/v1/odds/validate", "application/json")):
        reference = document["paths"][path]["post"]["responses"]["4XX"]["$ref"].rpartition("/")[2]
        assert content in failures[reference]["content"]


def test_headers_stand_for_arguments_where_the_flow_has_them(document: Any) -> None:
    def headers(path: str) -> set[str]:
        told = document["paths"][path]["post"]["parameters"]
        return {one.get("name") or one["$ref"].rpartition("/")[2] for one in told}

    assert {"idempotencyKey", "If-Match", "dryRun"} <= headers("/v1/shelf/change-book")
    assert "If-Match" not in headers("/v1/shelf/add-book")
    assert not {"idempotencyKey", "If-Match"} & headers("/v1/odds/touch")


def test_a_read_has_a_dry_run_in_its_query_once(document: Any) -> None:
    for path, name in (("/v1/odds/show", "$ref"), ("/v1/odds/rehearse", "name")):
        fields = [one for one in document["paths"][path]["get"]["parameters"] if "dry" in str(one.values())]
        assert [next(iter(one)) for one in fields] == [name]


def test_the_fields_of_a_query_are_those_of_the_body(place: House, document: Any) -> None:
    fields = [one for one in document["paths"]["/v1/odds/show"]["get"]["parameters"] if one.get("in") == "query"]
    assert [one["name"] for one in fields] == list(place.office.catalogue.flow("odds.show").published["properties"])
    (as_json,) = [one for one in fields if "content" in one]
    assert as_json["name"] == "anything"


def test_every_example_fits_its_own_operation(document: Any) -> None:
    tried = 0
    for path, _, operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            assert jsonschema_rs.is_valid(content["schema"], example["value"]) or _refers(example["value"]), path
            assert re.search(r"\b[A-Z][A-Z_]+\b", example["description"])
            tried += 1
    assert tried > 20


def _refers(value: Any) -> bool:
    return "$0." in str(value)


def test_calls_need_a_credential(document: Any) -> None:
    assert document["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert not any("security" in operation for _, _, operation in operations(document))


def test_the_server_is_where_others_reach_it(place: House, document: Any) -> None:
    assert document["servers"] == [{"url": "https://office.example/engross"}]
    assert openapi_document(Desk(place.office))["servers"] == [{"url": "/"}]


def test_an_old_flow_is_marked_when_it_is_served(place: House) -> None:
    shown = openapi_document(Desk(place.office, toolsets=["odds", "legacy"]))["paths"]["/v1/odds/old-show"]["post"]
    assert (shown["deprecated"], shown["x-engross"]["deprecated_since"]) == (True, "0.1.0")


def test_nothing_of_the_house_is_in_it(place: House, document: Any) -> None:
    text = str(document)
    assert str(place.office.settings.data) not in text
    assert place.office.public_key not in text
    assert set(CONTROLS) <= set(re.findall(r"\w+", text))


# --- pages


@pytest.mark.parametrize("path", ["/docs", "/problems", f"/problems/{codes.VALIDATION_ERROR}"])
def test_a_page_needs_nothing_but_itself(place: House, path: str) -> None:
    answer = place.get(path, headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["x-content-type-options"] == "nosniff"
    html = answer.text
    assert not re.search(r"<(script|img|link|iframe|object|form)\b|\bon\w+=|javascript:|url\(|@import", html)
    assert not re.search(r"""=\s*["']?(https?:)?//""", html.replace(f"OFFICE={ADDRESS}", ""))
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_links_between_the_pages_lead_somewhere(place: House) -> None:
    for path in ("/docs", "/problems", f"/problems/{codes.VALIDATION_ERROR}"):
        page = place.get(path, headers=HTML)
        for link in set(re.findall(r'href="([^"#]+)"', page.text)):
            assert place.get(str(page.url.join(link))).status_code == 200, (path, link)


def test_the_docs_show_every_operation(place: House, document: Any) -> None:
    html = place.get("/docs", headers=HTML).text
    for path, _, operation in operations(document):
        assert path.replace("&", "&amp;") in html
        assert operation["summary"] in html


def test_what_a_capability_says_cannot_become_a_script(place: House) -> None:
    html = place.get("/docs", headers=HTML).text
    assert "&lt;script&gt;" in html
    assert "Odds &amp; &lt;ends&gt;" in html
    assert "<script" not in html


def test_who_wants_data_gets_the_document_at_the_docs_too(place: House, document: Any) -> None:
    answer = place.get("/docs", headers=JSON)
    assert (answer.headers["content-type"], answer.json()) == ("application/json", document)


def test_every_code_has_its_page_and_its_data(place: House) -> None:
    index = place.get("/problems", headers=HTML).text
    listed = place.get("/problems", headers=JSON).json()["problems"]
    assert [one["code"] for one in listed] == [entry.code for entry in REGISTRY]
    for entry in REGISTRY:
        assert f'href="problems/{entry.code}"' in index
        told = place.get(f"/problems/{entry.code}", headers=JSON).json()
        assert (told["code"], told["message_key"], told["http"]) == (entry.code, entry.key, entry.http)
        page = place.get(f"/problems/{entry.code}", headers=HTML)
        assert (page.status_code, entry.key in page.text) == (200, True)


def test_a_code_that_is_none_is_not_found(place: House) -> None:
    answer = place.get("/problems/XX-VAL-I-001", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_pages_are_not_sent_twice_and_cannot_be_written_to(place: House) -> None:
    for path in ("/docs", "/openapi.json", "/problems"):
        first = place.get(path)
        assert place.get(path, headers={"If-None-Match": first.headers["etag"]}).status_code == 304
        refused = place.ask("POST", path, json={})
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        assert place.ask("OPTIONS", path).headers["allow"] == "GET, HEAD, OPTIONS"
