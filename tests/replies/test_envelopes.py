"""The same Reply on every wire: the shapes are a contract, and the code can always be read back."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import orjson
import pytest

from engross.replies import (
    REGISTRY,
    Denied,
    Failed,
    Invalid,
    Issue,
    NotSerializable,
    Registry,
    Reply,
    Trace,
    UnknownCode,
    codes,
    exit_code,
    http,
    mcp_result,
    neutral,
    parse,
    problem,
    received,
    reply,
    reply_of,
    serialise,
    structured,
)
from engross.replies.envelopes import DIALECTS, JSON, PROBLEM_JSON, documents_code
from engross.replies.generate import read_entries

TRACE = Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
ENTRIES = [pytest.param(entry, id=entry.code) for entry in REGISTRY]
SAMPLES = {"string": "x", "integer": 1, "number": 1.5, "boolean": True}


def sample(entry: Any) -> Reply:
    """A reply with the code, as rich as it gets."""
    params = {name: SAMPLES[kind] for name, kind in entry.params.items()}
    if entry.type == "S":
        made = reply(entry.code, params, {"card": {"id": "c"}, "warnings": []})
    elif entry.type == "I":
        issues = [
            Issue(entry.code, params, "/a/b", {"d": 1}, {"did_you_mean": ["c"]}),
            Issue(codes.NO_CHANGES),
        ]
        made = reply_of(Invalid(entry.code, params, issues=issues, data={"current": 1}))
    else:
        made = reply_of((Denied if entry.type == "D" else Failed)(entry.code, params, data={"confirm_token": "t"}))
    return made.traced(TRACE, "tool", 1.0)


def over_the_wire(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.requirement("REP-02")
def test_type_and_code_survive_every_dialect(entry: Any, dialect: str) -> None:
    for answer in (sample(entry), reply(entry.code)):
        assert parse(dialect, over_the_wire(structured(answer, dialect))) == (entry.type, entry.code)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_type_and_code_survive_mcp(entry: Any, dialect: str) -> None:
    result = over_the_wire(mcp_result(sample(entry), dialect))
    assert parse("mcp", result) == (entry.type, entry.code)
    assert result["isError"] is (entry.type != "S")
    assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["content"][0]["type"] == "text"


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_type_and_code_survive_http(entry: Any, dialect: str) -> None:
    status, headers, media, body = http(sample(entry), dialect)
    assert status == entry.http
    assert parse("http", (status, headers, media, over_the_wire(body))) == (entry.type, entry.code)
    assert media == (PROBLEM_JSON if entry.type != "S" and dialect != "documents" else JSON)


@pytest.mark.parametrize("entry", [entry for entry in REGISTRY if entry.type != "S"], ids=lambda entry: entry.code)
def test_type_and_code_survive_a_problem(entry: Any) -> None:
    told = over_the_wire(problem(sample(entry), "https://example.org/"))
    assert parse("problem", told) == (entry.type, entry.code)
    assert told["type"] == f"https://example.org/problems/{entry.code}"
    assert (told["title"], told["status"]) == (entry.title, entry.http)
    assert told["instance"] == f"urn:trace:{TRACE.trace_id}"


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_exit_code_tells_the_four_types_apart(entry: Any) -> None:
    assert exit_code(sample(entry)) == {"S": 0, "I": 2, "D": 3, "E": 4}[entry.type]


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.requirement("REP-01")
def test_every_structured_answer_has_the_field_reply(entry: Any, dialect: str) -> None:
    answer = sample(entry)
    told = structured(answer, dialect)["reply"]
    assert told["reply_type"] == entry.type
    assert told["code"] == entry.code
    assert told["message_key"] == entry.key
    assert told["message"] == answer.message
    assert told["trace_id"] == TRACE.trace_id
    assert told["span_id"] == TRACE.span_id
    assert ("retryable" in told) is (entry.type == "E")
    assert ("params" in told) is (entry.type != "S" and bool(entry.params))


def invalid() -> Reply:
    issue = Issue(codes.UNKNOWN_FIELD, {"field": "titel"}, "/titel", {"d": 1}, {"did_you_mean": ["title"]})
    return reply_of(Invalid.many([issue], data={"current": 1})).traced(TRACE)


def test_the_plain_dialect_is_the_bare_data() -> None:
    done = structured(reply(codes.READ_OK, data={"card": 1}))
    assert {name: value for name, value in done.items() if name != "reply"} == {"card": 1}
    wrong = structured(invalid())
    assert set(wrong) == {"errors", "field", "details", "suggestions", "current", "reply"}


def test_the_architecture_dialect_says_success_and_error() -> None:
    done = structured(reply(codes.CREATED, data={"element": {"id": "e"}}), "architecture")
    assert (done["success"], done["element"]) == (True, {"id": "e"})
    wrong = structured(invalid(), "architecture")
    message = wrong["error"].pop("message")
    assert message == invalid().message
    assert {name: value for name, value in wrong.items() if name != "reply"} == {
        "success": False,
        "error": {
            "code": "UNKNOWN_FIELD",
            "field": "titel",
            "details": {"d": 1, "current": 1},
            "suggestions": {"did_you_mean": ["title"]},
        },
    }


def test_the_memory_dialect_has_bare_fields_or_an_error() -> None:
    done = structured(reply(codes.READ_OK, data={"entities": []}), "memory")
    assert (done["entities"], "error" in done) == ([], False)
    wrong = structured(invalid(), "memory")["error"]
    assert (wrong["code"], wrong["trace_id"]) == ("UNKNOWN_FIELD", TRACE.trace_id)
    assert wrong["details"] == {
        "d": 1,
        "current": 1,
        "field": "titel",
        "suggestions": {"did_you_mean": ["title"]},
        "reply_code": codes.UNKNOWN_FIELD,
        "reply_type": "I",
    }


def test_the_documents_dialect_has_a_status_and_errors() -> None:
    done = structured(reply(codes.UPDATED, data={"canonical_hash": "h"}), "documents")
    assert (done["status"], done["errors"], done["canonical_hash"]) == ("success", [], "h")
    wrong = structured(invalid(), "documents")
    assert (wrong["status"], wrong["corrections"], wrong["validation_status"]) == ("error", [], "UNVALIDATED")
    assert [(e["code"], e["reply_code"], e["reply_type"]) for e in wrong["errors"]] == [
        ("E_INPUT", codes.UNKNOWN_FIELD, "I")
    ]
    denied = structured(reply(codes.WRITE_DENIED, data={"confirm_token": "t"}), "documents")
    assert [(e["code"], e["reply_type"]) for e in denied["errors"]] == [("E_WRITE", "D")]
    assert denied["confirm_token"] == "t"


def test_a_check_that_found_faults_is_a_success_whose_own_status_says_error() -> None:
    found = {"status": "error", "errors": [{"code": "E001"}]}
    answer = structured(reply(codes.VALIDATION_DONE, data=found), "documents")
    assert answer["status"] == "error"
    assert parse("documents", answer) == ("S", codes.VALIDATION_DONE)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (codes.VALIDATION_ERROR, "E_INPUT"),
        (codes.RECORD_NOT_FOUND, "E_PATH"),
        (codes.MALFORMED_INPUT, "E_PARSE"),
        (codes.VERSION_CONFLICT, "E_HASH"),
        (codes.STORE_FULL, "E_WRITE"),
        (codes.WRITE_DENIED, "E_WRITE"),
    ],
)
def test_each_failure_has_one_of_the_five_names_of_documents(code: str, name: str) -> None:
    assert documents_code(code) == name


def test_several_issues_are_all_told_in_every_dialect() -> None:
    issues = [Issue(codes.UNKNOWN_FIELD, {"field": name}, f"/{name}") for name in "ab"]
    answer = reply_of(Invalid.many(issues))
    assert len(structured(answer)["errors"]) == 2
    assert len(structured(answer, "architecture")["error"]["details"]["errors"]) == 2
    assert len(structured(answer, "memory")["error"]["details"]["errors"]) == 2
    assert len(structured(answer, "documents")["errors"]) == 2
    assert [(e["pointer"], e["detail"]) for e in problem(answer)["errors"]] == [
        (issue.pointer, issue.as_data()["message"]) for issue in issues
    ]


@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.parametrize("data", [{"errors": "many", "details": 3}, {"errors": [1]}, {"errors": [{"reply_code": "?"}]}])
def test_data_that_only_looks_like_issues_harms_nothing(dialect: str, data: dict[str, Any]) -> None:
    answer = reply(codes.WRITE_DENIED, data=data)
    assert parse(dialect, structured(answer, dialect)) == ("D", codes.WRITE_DENIED)
    assert http(answer, dialect)[0] == 403


def test_a_success_is_no_problem() -> None:
    with pytest.raises(ValueError, match="success"):
        problem(reply(codes.READ_OK))


def test_an_http_failure_is_a_problem_with_the_dialects_own_fields_beside() -> None:
    *_, body = http(invalid(), "architecture", base="https://example.org")
    assert (body["success"], body["error"]["code"], body["status"]) == (False, "UNKNOWN_FIELD", 400)
    assert body["type"] == f"https://example.org/problems/{codes.UNKNOWN_FIELD}"
    assert body["reply"]["code"] == codes.UNKNOWN_FIELD


def test_a_dialect_with_a_status_of_its_own_keeps_it_over_http() -> None:
    status, _, media, body = http(invalid(), "documents")
    assert (status, media, body["status"]) == (400, JSON, "error")


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (reply(codes.RATE_LIMIT_EXCEEDED, {"retry_after_seconds": 30}), "30"),
        (reply(codes.STORE_UNAVAILABLE, data={"retry_after_seconds": 0.2}), "1"),
        (reply(codes.REQUEST_IN_PROGRESS, data={"retry_after_seconds": 0}), "0"),
        (reply(codes.REQUEST_IN_PROGRESS), None),
        (reply(codes.RATE_LIMIT_EXCEEDED, {"retry_after_seconds": "soon"}), None),
        (reply(codes.RATE_LIMIT_EXCEEDED, {"retry_after_seconds": True}), None),
        (reply(codes.READ_OK, data={"retry_after_seconds": 5}), None),
    ],
)
def test_retry_after_is_sent_in_whole_seconds_where_it_makes_sense(answer: Reply, seconds: str | None) -> None:
    assert http(answer)[1].get("Retry-After") == seconds
    told = structured(answer)["reply"].get("retry_after_seconds")
    assert told == (None if seconds is None else int(seconds))


@pytest.mark.parametrize("code", [codes.AUTH_REQUIRED, codes.AUTH_INVALID])
def test_a_missing_credential_is_asked_for(code: str) -> None:
    assert http(reply(code))[1] == {"WWW-Authenticate": "Bearer"}


def test_a_version_conflict_is_a_failed_precondition_when_one_was_sent() -> None:
    conflict = reply(codes.VERSION_CONFLICT, {"expected": 1, "current": 2})
    assert http(conflict)[0] == 409
    status, _, _, body = http(conflict, if_match=True)
    assert (status, body["status"]) == (412, 412)


@pytest.mark.parametrize("target", [*DIALECTS, "mcp", "problem", "http"])
def test_a_wire_that_contradicts_itself_is_refused(target: str) -> None:
    done, wrong = reply(codes.READ_OK), reply(codes.NO_CHANGES)
    lies = {
        "plain": {"reply": {"code": codes.READ_OK, "reply_type": "I"}},
        "architecture": {**structured(wrong, "architecture"), "success": True},
        "memory": {"reply": structured(wrong)["reply"]},
        "documents": {**structured(wrong, "documents"), "status": "success"},
        "mcp": {**mcp_result(wrong), "isError": False},
        "problem": {**problem(wrong), "status": 200},
        "http": (500, {}, JSON, structured(done)),
    }
    with pytest.raises(ValueError, match="does not go with"):
        parse(target, lies[target])


def test_bytes_are_the_structured_answer() -> None:
    assert orjson.loads(serialise(invalid())) == structured(invalid())


def test_what_was_smuggled_past_the_freezing_is_refused_when_it_is_sent() -> None:
    answer = reply(codes.READ_OK, data={"a": 1})
    assert answer.data is not None
    dict.__setitem__(answer.data, "a", object())
    with pytest.raises(NotSerializable):
        serialise(answer)


# --- from one office to another


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.requirement("REP-07")
def test_a_reply_is_the_same_after_a_journey(entry: Any) -> None:
    far = Trace(TRACE.trace_id, TRACE.span_id, "00f067aa0ba902b8", False, "vendor=1")
    for answer in (sample(entry), reply(entry.code), reply(entry.code).traced(far, None, None)):
        arrived = received(over_the_wire(neutral(answer)))
        assert arrived == answer
        assert arrived.message == answer.message
        assert (arrived.trace, arrived.tool, arrived.duration_ms) == (answer.trace, answer.tool, answer.duration_ms)


def test_a_retired_code_can_still_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    made = neutral(reply(codes.NO_EFFECT, data={"a": 1}))
    entries = [replace(one, status="retired") if one.code == codes.NO_EFFECT else one for one in read_entries()]
    for module in ("reply", "envelopes"):
        monkeypatch.setattr(sys.modules[f"engross.replies.{module}"], "REGISTRY", Registry(entries))
    with pytest.raises(UnknownCode):
        reply(codes.NO_EFFECT)
    arrived = received(made)
    assert (arrived.code, arrived.data) == (codes.NO_EFFECT, {"a": 1})


@pytest.mark.parametrize("kind", "SIDE")
def test_a_code_of_a_newer_office_keeps_its_type_and_what_was_said(kind: str) -> None:
    layer = "EN" if kind == "D" else "MCP"
    wire = neutral(reply(codes.READ_OK, data={"errors": [1]}))
    wire["reply"] = {**wire["reply"], "code": f"{layer}-GATE-{kind}-777", "reply_type": kind, "message_key": "NEW"}
    arrived = received(over_the_wire(wire))
    assert arrived.reply_type == kind
    assert arrived.data["errors"] == [1]
    assert arrived.data["original"]["message_key"] == "NEW"
    assert arrived.message


def wires() -> list[Any]:
    good = over_the_wire(neutral(reply(codes.READ_OK, data={"a": 1}).traced(TRACE, "tool", 1.0)))
    reply_part, meta = good["reply"], good["meta"]
    trace = meta["trace"]
    deep: dict[str, Any] = {}
    for _ in range(120):
        deep = {"in": deep}
    wrong_replies: list[Any] = [{"code": 7}, {"code": []}, {"code": None}, {"reply_type": "D"}]
    wrong_replies.append({"code": "NEW-ONE", "reply_type": "W"})
    wrong_data: list[Any] = [[], "x", None, {"reply": {}}, deep]
    wrong_meta: list[Any] = [{"tool": 1}, {"duration_ms": "1"}, {"trace": "x"}, {"trace": {**trace, "sampled": "yes"}}]
    wrong_meta += [{"trace": {**trace, "span_id": span}} for span in ("", "A" * 16, 1)]
    return [
        *(None, "text", 1, [], {}, {"reply": None}, {"reply": {}, "params": {}, "data": {}, "meta": {}}),
        *({name: part for name, part in good.items() if name != missing} for missing in good),
        *({**good, "reply": {**reply_part, **wrong}} for wrong in wrong_replies),
        *({**good, "data": wrong} for wrong in wrong_data),
        *({**good, "params": wrong} for wrong in wrong_data[:3]),
        *({**good, "meta": {**meta, **wrong}} for wrong in wrong_meta),
    ]


@pytest.mark.parametrize("wire", [pytest.param(wire, id=str(number)) for number, wire in enumerate(wires())])
def test_what_is_no_reply_is_a_failure_of_unknown_outcome(wire: Any) -> None:
    arrived = received(wire)
    assert arrived.code == codes.NON_REPLY_RETURN
    assert arrived.data["outcome"] == "unknown"
