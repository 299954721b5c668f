"""Flows over HTTP: how they are called, and how their Replies come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from engross.flows import Aggregate, filled
from engross.office import Office, Request, Settings
from engross.replies import Failed, Reply, codes, received
from engross.replies.envelopes import JSON, REPLY_JSON
from engross.surfaces.desk import Desk
from engross.surfaces.rest import rest_routes
from engross.surfaces.watching import Ended, Reader
from tests.bed.offices import shelf
from tests.bed.served import wait_for
from tests.office.desk import policies
from tests.office.notes import Bench
from tests.surfaces.rest.house import House, serving
from tests.surfaces.rest.odds import odds

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def add(house: House, title: str = "Dune", **more: Any) -> dict[str, Any]:
    answer = house.call("shelf.add-book", {"title": title, **more})
    assert answer.status_code == 201
    book: dict[str, Any] = answer.json()["book"]
    return book


def titles(house: House) -> list[str]:
    return sorted(book["title"] for book in house.call("shelf.list-books").json()["books"])


def facts(house: House) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.call("record.read-facts").json()["facts"]
    return found


def code_of(answer: httpx2.Response) -> str:
    code: str = answer.json()["reply"]["code"]
    return code


@contextmanager
def odd_office(folder: Path, *readers: Reader) -> Iterator[House]:
    """The odds, served; the readers read in its daybook."""
    office = Office(Settings(domains="", data=folder), [odds, shelf()])
    try:
        with serving(office, base_url="https://office.example/", readers=readers) as served:
            yield served
    finally:
        office.close()


@pytest.fixture(scope="module")
def odd_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The odds."""
    with odd_office(tmp_path_factory.mktemp("odd")) as served:
        yield served


class Watched(NamedTuple):
    """The odds, and an eye on every request of one test."""

    house: House
    ended: list[Ended]

    def requests(self, count: int = 1) -> list[Request]:
        """All that were made, once there are so many: an answer goes out before anybody reads of it."""
        wait_for(lambda: len(self.ended) >= count)
        return [one.request for one in self.ended]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """The odds, with nobody else about."""
    ended: list[Ended] = []
    with odd_office(tmp_path, ended.extend) as served:
        yield Watched(served, ended)


# --- calling


@pytest.mark.requirement("REP-07")
def test_a_flow_is_called_by_post_with_its_arguments_as_json(house: House) -> None:
    answer = house.call("shelf.add-book", {"title": "Dune", "author": "Frank Herbert"})
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["success"], body["status"], body["book"]["title"]) == (True, "committed", "Dune")
    assert body["reply"]["code"] == codes.CREATED


def test_a_flow_without_arguments_can_be_called_without_a_body(house: House) -> None:
    answer = house.ask("POST", "/v1/shelf/list-authors")
    assert (answer.status_code, code_of(answer)) == (200, codes.READ_OK)


def test_what_changes_nothing_can_be_read_by_get(house: House) -> None:
    add(house, author="Frank Herbert")
    add(house, "Emma", author="Jane Austen")
    answer = house.get("/v1/shelf/list-books", params={"author": "Jane Austen", "limit": "1"})
    assert (answer.status_code, [book["title"] for book in answer.json()["books"]]) == (200, ["Emma"])


@pytest.mark.requirement("REP-07")
def test_the_reply_over_http_is_the_reply_of_the_library(house: House) -> None:
    book = add(house)
    for ref, arguments in (
        ("shelf.get-book", {"id": book["id"]}),
        ("shelf.get-book", {"id": "nowhere"}),
        ("shelf.get-book", {"idd": 1, "tenant_id": "x"}),
        ("shelf.change-book", {"id": book["id"], "title": "Emma", "expected_version": 7}),
        ("shelf.add-book", {"title": "dune"}),
        ("shelf.nothing", {}),
        ("proposals.list-proposals", {}),
    ):
        over_http, embedded = house.reply(ref, arguments), house.embedded(ref, arguments)
        for name in ("code", "params", "data", "message", "tool"):
            assert getattr(over_http, name) == getattr(embedded, name), (ref, name)


@pytest.mark.requirement("REP-07")
def test_every_example_of_every_flow_ends_over_http_as_it_says(house: House) -> None:
    tried = 0
    for flow in house.office.catalogue:
        for number, example in enumerate(flow.examples):
            if flow.aggregate.namespace == "shelf":
                # Each in a shelf of its own: what one adds, another finds taken.
                _clear(house)
            answers: list[Any] = []
            for ref, arguments in example.given:
                given = house.reply(ref, filled(arguments, answers), by="adam")
                assert given.ok, (ref, given)
                answers.append(given.data)
            answer = house.reply(flow.ref, filled(example.arguments, answers), by="adam")
            assert answer.message_key == example.reply, (flow.ref, number, answer)
            tried += 1
    assert tried > 20


def _clear(house: House) -> None:
    for book in house.call("shelf.list-books").json()["books"]:
        asked = house.call("shelf.remove-book", {"id": book["id"]}).json()["error"]["details"]
        gone = house.call("shelf.remove-book", {"id": book["id"], "confirm_token": asked["confirm_token"]})
        assert gone.status_code == 200


@pytest.mark.requirement("NEW-02")
def test_a_token_confirms_once_over_http(folder: Path, tmp_path: Path) -> None:
    knobs = policies(tmp_path / "policies", "confirm_tier = 2")
    office = Office(Settings(domains="", data=folder, policies=knobs), [Bench().notes])
    with closing(office), serving(office) as house:
        asked = house.call("notes.add-note", {"text": "hello"}).json()
        wish = {"text": "hello", "confirm_token": asked["confirm_token"]}
        assert code_of(house.call("notes.add-note", wish)) == codes.CREATED
        again = house.call("notes.add-note", wish)
        assert (again.status_code, code_of(again)) == (403, codes.CONFIRMATION_REQUIRED)
        told = again.json()
        assert told["confirm_token_used"] is True
        fresh = {**wish, "confirm_token": told["confirm_token"]}
        assert code_of(house.call("notes.add-note", fresh)) == codes.CREATED


def test_the_policy_decides_here_as_elsewhere(house: House) -> None:
    proposed = house.call("shelf.add-book", {"title": "Dune"}, by="scout")
    assert (proposed.status_code, code_of(proposed)) == (202, codes.PROPOSAL_RECORDED)
    denied = house.call("shelf.add-book", {"title": "Dune"}, by="vera")
    assert (denied.status_code, denied.headers["content-type"]) == (403, "application/problem+json")
    assert denied.json()["reply_type"] == "D"
    assert titles(house) == []


def test_tenants_do_not_see_each_other(house: House) -> None:
    book = add(house)
    others = house.next_door("others")
    assert others.get("/v1/shelf/get-book", params={"id": book["id"]}).status_code == 404
    assert others.call("shelf.list-books").json()["books"] == []
    others.close()


# --- from a query


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("text=5&whole=5&number=5", {"text": "5", "whole": 5, "number": 5}),
        ("whole=-3&number=-2.5e1&truth=true", {"whole": -3, "number": -25.0, "truth": True}),
        ("truth=false&words=a&words=b", {"truth": False, "words": ["a", "b"]}),
        ("words=only&numbers=1&numbers=2", {"words": ["only"], "numbers": [1, 2]}),
        ("anything=%7B%22a%22%3A%5B1%5D%7D", {"anything": {"a": [1]}}),
        ("text=%C3%BC+%26+x", {"text": "ü & x"}),
        ("text=", {"text": ""}),
        ("", {}),
    ],
)
def test_a_query_is_read_by_the_published_schema(odd_house: House, query: str, seen: dict[str, Any]) -> None:
    answer = odd_house.get(f"/v1/odds/show?{query}")
    assert answer.status_code == 200
    assert answer.json()["seen"] == seen


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("whole=five", "/whole"),
        ("whole=1.5", "/whole"),
        ("whole=0x10", "/whole"),
        ("whole=1_000", "/whole"),
        ("whole=99999999999999999999", "/whole"),
        ("number=NaN", "/number"),
        ("number=1e999", "/number"),
        ("truth=yes", "/truth"),
        ("numbers=1&numbers=x", "/numbers/1"),
        ("anything=%7B", "/anything"),
        ("anything=[1]", "/anything"),
        ("text=a&text=b", "/text"),
        ("colour=red", "/colour"),
        ("tenant=other", "/tenant"),
        ("dry_run=maybe", "/dry_run"),
    ],
)
def test_what_does_not_fit_in_a_query_is_pointed_at(odd_house: House, query: str, pointer: str) -> None:
    answer = odd_house.get(f"/v1/odds/show?{query}")
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (b"text=%FF", codes.MALFORMED_INPUT),
        (b"text=%ED%A0%80", codes.MALFORMED_INPUT),
        (b"text=%00", codes.MALFORMED_INPUT),
        (b"&".join([b"words=a"] * 1001), codes.LIMIT_EXCEEDED),
    ],
)
def test_a_query_that_cannot_be_read_is_refused(odd_house: House, query: bytes, code: str) -> None:
    answer = odd_house.get(f"/v1/odds/show?{query.decode()}")
    assert code_of(answer) == code


def test_fields_in_the_query_of_a_post_are_refused_rather_than_ignored(house: House) -> None:
    answer = house.ask("POST", "/v1/shelf/add-book?title=Dune&a/b=1", json={"title": "Emma"})
    assert code_of(answer) == codes.UNKNOWN_FIELD
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/title", "/a~1b"]
    assert titles(house) == []


# --- addresses and methods


def test_an_unknown_flow_is_not_found_and_the_nearest_is_named(house: House) -> None:
    for answer in (house.call("shelf.add-bok"), house.get("/v1/shelf/add-bok")):
        assert (answer.status_code, code_of(answer)) == (404, codes.UNKNOWN_OPERATION)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == 404
        assert answer.json()["suggestions"]["did_you_mean"][0] == "shelf.add-book"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/shelf", "/v1/shelf/add-book/", "/v1/a/b/c", "/v1//add-book"])
def test_an_unknown_address_is_not_found(odd_house: House, path: str) -> None:
    answer = odd_house.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["reply_type"] == "I"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "GET", "HEAD", "TRACE"])
def test_a_wrong_method_says_which_are_right(odd_house: House, method: str) -> None:
    answer = odd_house.ask(method, "/v1/shelf/add-book")
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")
    if method != "HEAD":
        assert (code_of(answer), answer.json()["status"]) == (codes.METHOD_NOT_ALLOWED, 405)


def test_options_says_what_can_be_done(odd_house: House) -> None:
    for path, allowed in (("/v1/odds/show", "GET, HEAD, OPTIONS, POST"), ("/v1/odds/touch", "OPTIONS, POST")):
        answer = odd_house.ask("OPTIONS", path)
        assert (answer.status_code, answer.headers["allow"], answer.content) == (204, allowed, b"")


def test_head_tells_what_get_would(odd_house: House) -> None:
    got = odd_house.get("/v1/odds/show?text=a")
    head = odd_house.ask("HEAD", "/v1/odds/show?text=a")
    assert (head.status_code, head.headers["etag"], head.content) == (200, got.headers["etag"], b"")
    assert head.headers["content-length"] == got.headers["content-length"]


def test_a_hidden_toolset_is_not_there_until_somebody_names_it(odd_house: House) -> None:
    hidden = odd_house.call("odds.old-show")
    assert (hidden.status_code, code_of(hidden)) == (404, codes.UNKNOWN_OPERATION)
    with serving(odd_house.office, toolsets=["odds", "legacy"]) as named:
        assert named.call("odds.old-show", {"text": "a"}).json()["seen"] == {"text": "a"}


def test_a_namespace_cannot_lie_where_the_files_are(folder: Path) -> None:
    office = Office(Settings(domains="", data=folder), [Aggregate("blobs", "Blobs")])
    with pytest.raises(Failed) as refused:
        rest_routes(Desk(office))
    office.close()
    assert refused.value.code == codes.CONFIG_INVALID


# --- envelopes


@pytest.mark.requirement("REP-07")
def test_a_failure_is_a_problem_whose_type_explains_it(odd_house: House) -> None:
    answer = odd_house.call("shelf.get-book", {"id": "nowhere"})
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"https://office.example/problems/{codes.RECORD_NOT_FOUND}"
    assert (problem["status"], problem["code"]) == (404, codes.RECORD_NOT_FOUND)
    assert problem["instance"] == f"urn:trace:{problem['reply']['trace_id']}"
    # The fields of the flow's own dialect are there as well.
    assert (problem["success"], problem["error"]["code"]) == (False, "RECORD_NOT_FOUND")
    assert odd_house.get(problem["type"].removeprefix("https://office.example")).status_code == 200


def test_a_dialect_with_a_status_of_its_own_keeps_it(odd_house: House) -> None:
    answer = odd_house.call("odds.validate", {"whole": "x"})
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
    assert (answer.json()["status"], answer.json()["errors"][0]["code"]) == ("error", "E_INPUT")


@pytest.mark.requirement("REP-07")
@pytest.mark.parametrize(
    ("method", "path", "content", "status", "code"),
    [
        ("POST", "/v1/odds/show", b"{}", 200, codes.READ_OK),
        ("POST", "/v1/odds/show", b"{", 400, codes.MALFORMED_INPUT),
        ("POST", "/v1/odds/none", b"{}", 404, codes.UNKNOWN_OPERATION),
        ("DELETE", "/v1/odds/show", b"", 405, codes.METHOD_NOT_ALLOWED),
        ("GET", "/v1/odds", b"", 404, codes.PATH_NOT_FOUND),
        ("GET", "/problems/XX-RES-I-001", b"", 404, codes.PATH_NOT_FOUND),
        ("POST", "/docs", b"", 405, codes.METHOD_NOT_ALLOWED),
        ("DELETE", "/v1/blobs", b"", 405, codes.METHOD_NOT_ALLOWED),
        ("GET", f"/v1/blobs/{'0' * 64}", b"", 404, codes.RECORD_NOT_FOUND),
    ],
)
def test_who_reads_replies_gets_every_answer_as_one(
    odd_house: House, method: str, path: str, content: bytes, status: int, code: str
) -> None:
    headers = {"Accept": REPLY_JSON, "Content-Type": "application/json"}
    answer = odd_house.ask(method, path, content=content, headers=headers)
    reply = received(answer.json())
    assert (answer.status_code, answer.headers["content-type"], reply.code) == (status, REPLY_JSON, code)
    assert reply.traceparent == answer.headers["traceparent"]


def test_a_call_that_cannot_be_read_is_in_the_daybook_too(watched: Watched) -> None:
    watched.house.ask("POST", "/v1/odds/show", content=b"{")
    assert [(request.flow, request.arguments) for request in watched.requests()] == [("odds.show", None)]


# --- dry run


@pytest.mark.parametrize("how", [{"params": {"dry_run": "true"}}, {"headers": {"Engross-Dry-Run": "true"}}])
def test_a_dry_run_says_what_would_happen_and_does_nothing(house: House, how: dict[str, Any]) -> None:
    answer = house.call("shelf.add-book", {"title": "Dune"}, **how)
    assert (answer.status_code, code_of(answer)) == (200, codes.VALIDATION_DONE)
    assert answer.json()["would"]["mode"] == "direct"
    assert "etag" not in answer.headers
    assert titles(house) == []


@pytest.mark.parametrize("how", ["true", "false"])
def test_a_read_can_be_asked_for_a_dry_run_in_the_query_as_in_the_header(watched: Watched, how: str) -> None:
    asked = watched.house.get("/v1/odds/show", params={"text": "a", "dry_run": how})
    told = watched.house.get("/v1/odds/show", params={"text": "a"}, headers={"Engross-Dry-Run": how})
    assert asked.status_code == told.status_code == 200
    assert asked.json()["seen"] == told.json()["seen"] == {"text": "a"}
    assert [request.dry_run for request in watched.requests(2)] == [how == "true"] * 2


def test_an_argument_called_dry_run_stays_the_flows_own(watched: Watched) -> None:
    answer = watched.house.get("/v1/odds/rehearse?dry_run=true")
    assert answer.json()["seen"] == {"dry_run": True}
    assert [request.dry_run for request in watched.requests()] == [False]


def test_dry_run_may_also_say_no(house: House) -> None:
    assert house.call("shelf.add-book", {"title": "Dune"}, params={"dry_run": "false"}).status_code == 201


@pytest.mark.parametrize(
    "how",
    [
        {"params": {"dry_run": "maybe"}},
        {"params": {"dry_run": ""}},
        {"params": [("dry_run", "true"), ("dry_run", "false")]},
        {"headers": {"Engross-Dry-Run": "perhaps"}},
        {"headers": {"Engross-Dry-Run": "true"}, "params": {"dry_run": "false"}},
    ],
)
def test_a_dry_run_that_is_not_clear_is_refused(house: House, how: dict[str, Any]) -> None:
    answer = house.call("shelf.add-book", {"title": "Dune"}, **how)
    assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)
    assert titles(house) == []


# --- idempotency


@pytest.mark.parametrize("key", ["add-dune-1", '"add-dune-1"'])
def test_the_idempotency_key_is_the_client_request_id(house: House, key: str) -> None:
    first = house.call("shelf.add-book", {"title": "Dune"}, headers={"Idempotency-Key": key})
    again = house.call("shelf.add-book", {"title": "Dune"}, headers={"Idempotency-Key": key})
    in_the_body = house.call("shelf.add-book", {"title": "Dune", "client_request_id": "add-dune-1"})
    assert [answer.json()["idempotent_replay"] for answer in (first, again, in_the_body)] == [False, True, True]
    assert first.json()["book"] == again.json()["book"] == in_the_body.json()["book"]
    assert titles(house) == ["Dune"]


def test_a_key_in_header_and_body_must_be_the_same(house: House) -> None:
    headers = {"Idempotency-Key": "add-dune-1"}
    same = house.call("shelf.add-book", {"title": "Dune", "client_request_id": "add-dune-1"}, headers=headers)
    assert same.status_code == 201
    other = house.call("shelf.add-book", {"title": "Emma", "client_request_id": "add-emma-1"}, headers=headers)
    assert (other.status_code, code_of(other)) == (400, codes.VALIDATION_ERROR)
    assert [error["pointer"] for error in other.json()["errors"]] == ["/client_request_id"]


def test_a_key_for_another_request_is_refused(house: House) -> None:
    headers = {"Idempotency-Key": "add-dune-1"}
    house.call("shelf.add-book", {"title": "Dune"}, headers=headers)
    reused = house.call("shelf.add-book", {"title": "Emma"}, headers=headers)
    assert (reused.status_code, code_of(reused)) == (422, codes.IDEMPOTENCY_KEY_REUSED)


@pytest.mark.parametrize(
    "key", ["short", "with blanks in it", '"', "'single-quoted'", "x" * 256, '"a-good-key", "two"']
)
def test_a_key_that_is_none_is_refused_at_its_place(house: House, key: str) -> None:
    answer = house.call("shelf.add-book", {"title": "Dune"}, headers={"Idempotency-Key": key})
    assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)
    assert {error["pointer"] for error in answer.json()["errors"]} == {"/client_request_id"}


def test_a_read_needs_no_key_and_a_flow_that_keeps_none_says_so(odd_house: House) -> None:
    headers = {"Idempotency-Key": "some-key-1"}
    assert odd_house.call("odds.show", {}, headers=headers).status_code == 200
    refused = odd_house.call("odds.touch", {}, headers=headers)
    assert (refused.status_code, code_of(refused)) == (400, codes.VALIDATION_ERROR)
    assert refused.json()["details"]["header"] == "Idempotency-Key"


def test_a_body_that_is_no_object_is_told_so_whatever_the_headers_say(house: House) -> None:
    for body in ([], "x", 1, None, [{"title": "Dune"}]):
        answer = house.ask("POST", "/v1/shelf/add-book", json=body, headers={"Idempotency-Key": "some-key-1"})
        assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)


# --- versions


@pytest.mark.requirement("ARCH-30")
def test_if_match_is_the_expected_version(house: House) -> None:
    book = add(house)
    change = {"id": book["id"], "title": "Dune Messiah"}
    changed = house.call("shelf.change-book", change, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    stale = house.call("shelf.change-book", {**change, "title": "Emma"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["status"], code_of(stale)) == (412, 412, codes.VERSION_CONFLICT)
    in_the_body = house.call("shelf.change-book", {**change, "title": "Emma", "expected_version": 1})
    assert (in_the_body.status_code, code_of(in_the_body)) == (409, codes.VERSION_CONFLICT)


@pytest.mark.requirement("ARCH-30")
def test_the_tag_of_what_was_read_can_be_sent_as_if_match(house: House) -> None:
    book = add(house)
    tag = house.get("/v1/shelf/get-book", params={"id": book["id"]}).headers["etag"]
    change = {"id": book["id"], "title": "Dune Messiah"}
    assert house.call("shelf.change-book", change, headers={"If-Match": tag}).status_code == 200
    assert house.call("shelf.change-book", {**change, "title": "Emma"}, headers={"If-Match": tag}).status_code == 412


@pytest.mark.parametrize("tag", ["*", "1", "", '"one"', 'W/"1"', '"1", "2"', '"-1"', '"1', '"1-xyz"'])
def test_an_if_match_without_one_version_is_refused(house: House, tag: str) -> None:
    book = add(house)
    answer = house.call("shelf.change-book", {"id": book["id"], "title": "Emma"}, headers={"If-Match": tag})
    assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)
    assert titles(house) == ["Dune"]


def test_if_match_is_refused_where_nothing_looks_at_versions(house: House) -> None:
    for answer in (
        house.call("shelf.add-book", {"title": "Dune"}, headers={"If-Match": '"1"'}),
        house.get("/v1/shelf/list-books", headers={"If-Match": '"1"'}),
    ):
        assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)
    assert titles(house) == []


def test_if_match_and_the_body_must_agree(house: House) -> None:
    change = {"id": add(house)["id"], "title": "Emma", "expected_version": 1}
    assert house.call("shelf.change-book", change, headers={"If-Match": '"2"'}).status_code == 400
    assert house.call("shelf.change-book", change, headers={"If-Match": '"1"'}).status_code == 200


def test_what_the_client_has_already_is_not_sent_again(house: House) -> None:
    book = add(house)
    first = house.get("/v1/shelf/get-book", params={"id": book["id"]})
    assert first.headers["etag"].startswith('"1-')
    assert "no-cache" in first.headers["cache-control"]
    for known in (first.headers["etag"], "*", f'"x", W/{first.headers["etag"]}'):
        again = house.get("/v1/shelf/get-book", params={"id": book["id"]}, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    house.call("shelf.change-book", {"id": book["id"], "title": "Emma"})
    later = house.get("/v1/shelf/get-book", params={"id": book["id"]}, headers={"If-None-Match": first.headers["etag"]})
    assert (later.status_code, later.json()["book"]["title"]) == (200, "Emma")


def test_who_has_an_answer_in_one_form_has_it_not_in_the_other(house: House) -> None:
    book = house.call("shelf.add-book", {"title": "Dune"}).json()["book"]
    for path in (f"/v1/shelf/get-book?id={book['id']}", "/v1/shelf/list-books"):
        tags = {form: house.get(path, headers={"Accept": form}).headers["etag"] for form in (JSON, REPLY_JSON)}
        for form, tag in tags.items():
            for asked in tags:
                answer = house.get(path, headers={"Accept": asked, "If-None-Match": tag})
                assert (answer.status_code, answer.headers["vary"]) == (304 if asked == form else 200, "accept")


def test_a_list_has_a_weak_tag_that_changes_with_it(house: House) -> None:
    first = house.get("/v1/shelf/list-books").headers["etag"]
    assert first.startswith('W/"')
    assert house.get("/v1/shelf/list-books", headers={"If-None-Match": first}).status_code == 304
    add(house)
    assert house.get("/v1/shelf/list-books", headers={"If-None-Match": first}).status_code == 200


def test_a_failure_is_never_unchanged(house: House) -> None:
    missing = house.get("/v1/shelf/get-book", params={"id": "x"}, headers={"If-None-Match": "*"})
    assert (missing.status_code, "etag" in missing.headers) == (404, False)


def test_only_what_is_there_has_a_tag(house: House) -> None:
    book = add(house)
    proposed = house.call("shelf.change-book", {"id": book["id"], "title": "Emma"}, by="scout")
    assert (proposed.status_code, "etag" in proposed.headers) == (202, False)
    token = house.call("shelf.remove-book", {"id": book["id"]}).json()["error"]["details"]["confirm_token"]
    removed = house.call("shelf.remove-book", {"id": book["id"], "confirm_token": token})
    assert (removed.status_code, "etag" in removed.headers) == (200, False)


# --- how a call is made


@pytest.mark.requirement("ARCH-37")
def test_a_call_joins_the_callers_trace(house: House) -> None:
    headers = {"traceparent": PARENT, "tracestate": "vendor=1", "X-Correlation-ID": "order-7"}
    answer = house.call("shelf.add-book", {"title": "Dune"}, headers=headers)
    version, trace_id, span_id, flags = answer.headers["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", TRACE, "01")
    assert span_id != "00f067aa0ba902b7"
    assert answer.json()["reply"]["trace_id"] == TRACE
    receipt = house.call("record.get-receipt", {"position": answer.json()["position"]}).json()["receipt"]
    assert "order-7" in str(receipt)


@pytest.mark.parametrize("parent", ["", "x", PARENT.upper(), PARENT + "-x", f"{PARENT}, {PARENT}"])
def test_a_trace_that_is_none_starts_anew(odd_house: House, parent: str) -> None:
    answer = odd_house.call("odds.show", headers={"traceparent": parent})
    assert answer.status_code == 200
    assert answer.headers["traceparent"].split("-")[1] != TRACE


def test_a_call_that_cannot_be_read_joins_the_trace_too(odd_house: House) -> None:
    answer = odd_house.ask("POST", "/v1/odds/show", content=b"{", headers={"traceparent": PARENT})
    assert answer.headers["traceparent"].split("-")[1] == TRACE


def test_every_option_of_a_call_has_its_header(watched: Watched) -> None:
    headers = {
        "traceparent": PARENT,
        "tracestate": "a=1",
        "X-Correlation-ID": "order-7",
        "X-Causation-ID": "fact-3",
        "Engross-Timeout": "2.5",
        "Engross-Pins": "model_id=m%201&other=x",
        "Engross-Dry-Run": "true",
        "Engross-Break-Glass": "1",
    }
    watched.house.call("odds.touch", {}, headers=headers)
    (request,) = watched.requests()
    assert (request.traceparent, request.tracestate) == (PARENT, "a=1")
    assert (request.correlation_id, request.causation_id) == ("order-7", "fact-3")
    assert (request.timeout, request.dry_run, request.break_glass) == (2.5, True, True)
    assert dict(request.pins) == {"model_id": "m 1", "other": "x"}
    assert (request.surface, request.tenant, request.principal.id) == ("rest", "main", "clara")


def test_a_timeout_can_only_shorten_what_the_office_allows(watched: Watched) -> None:
    watched.house.call("odds.show", {}, headers={"Engross-Timeout": "1e9"})
    watched.house.call("odds.show", {}, headers={"Engross-Timeout": "2.5"})
    assert [request.timeout for request in watched.requests(2)] == [30.0, 2.5]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Engross-Timeout", value) for value in ("0", "-1", "soon", "nan", "inf", "", "1, 2")),
        *(("Engross-Pins", value) for value in ("model_id", "=", "a=%FF", "&".join(["a=1"] * 17))),
        *(("Engross-Break-Glass", value) for value in ("", "maybe", "true, true")),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(odd_house: House, name: str, value: str) -> None:
    answer = odd_house.call("odds.show", {}, headers={name: value})
    if (name, value) == ("Engross-Pins", "="):
        assert answer.status_code in (200, 400)
        return
    assert (answer.status_code, code_of(answer)) == (400, codes.VALIDATION_ERROR)
    assert answer.json()["details"]["header"] == name


@pytest.mark.requirement("ARCH-15")
def test_nobody_becomes_somebody_else_by_saying_so(house: House, watched: Watched) -> None:
    claims = {"X-Tenant-ID": "other", "X-User": "adam", "X-Roles": "admin", "X-Forwarded-User": "adam"}
    watched.house.call("odds.show", {}, headers=claims)
    (request,) = watched.requests()
    assert (request.tenant, request.principal.id) == ("main", "clara")
    for name in ("tenant", "tenant_id", "principal", "user", "roles", "trace_id"):
        answer = house.call("shelf.add-book", {"title": "Dune", name: "other"})
        assert (answer.status_code, code_of(answer)) == (400, codes.FIELD_NOT_ALLOWED)
    assert facts(house) == []


def test_a_reply_is_rebuilt_whole(house: House) -> None:
    over_http: Reply = house.reply("shelf.add-book", {"title": "Dune"}, headers={"traceparent": PARENT})
    assert over_http.trace is not None
    assert (over_http.trace.trace_id, over_http.trace.parent_span_id) == (TRACE, "00f067aa0ba902b7")
    assert over_http.tool == "shelf.add-book"
    assert over_http.duration_ms is not None
    book = over_http.data["book"]
    assert house.embedded("shelf.get-book", {"id": book["id"]}).data["book"] == book
