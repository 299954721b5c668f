"""Exceptions inside, replies at the boundary: the three coded exceptions and what becomes of them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engross.replies import (
    REGISTRY,
    Coded,
    Denied,
    Entry,
    Failed,
    Invalid,
    Issue,
    NotSerializable,
    codes,
    reply_of,
    serialise,
)


@pytest.mark.parametrize(("kind", "letter"), [(Invalid, "I"), (Denied, "D"), (Failed, "E"), (Coded, "IDE")])
@pytest.mark.parametrize("entry", list(REGISTRY), ids=lambda entry: entry.code)
@pytest.mark.requirement("REP-03")
def test_an_exception_takes_only_codes_of_its_own_type(kind: Any, letter: str, entry: Any) -> None:
    if entry.type in letter:
        assert reply_of(kind(entry.code)).code == entry.code
    else:
        with pytest.raises(ValueError, match=entry.code):
            kind(entry.code)


def test_its_text_is_code_and_key_only() -> None:
    raised = Denied(codes.OUTSIDE_SCOPE, {"path": "/secret"}, data={"password": "hunter2"})
    assert str(raised) == "EN-WRITE-D-002 OUTSIDE_SCOPE"


@pytest.mark.parametrize(
    "raised",
    [
        Invalid(codes.VERSION_CONFLICT, {"expected": 1}),
        Invalid.many([Issue(codes.UNKNOWN_FIELD, {"field": "a"}), Issue(codes.VERSION_CONFLICT, {"expected": 1})]),
    ],
    ids=["its own", "an issue's"],
)
def test_whoever_leaves_out_a_param_of_the_message_is_told_which(raised: Invalid) -> None:
    (note,) = raised.__notes__
    assert raised.is_incomplete
    assert "VERSION_CONFLICT" in note
    assert "current" in note
    assert "expected" not in note


def test_a_message_that_has_its_params_is_not_remarked_on() -> None:
    raised = Invalid(codes.VERSION_CONFLICT, {"expected": 1, "current": 2})
    assert not raised.is_incomplete
    assert not hasattr(raised, "__notes__")


def test_an_invalid_names_field_details_and_suggestions() -> None:
    raised = Invalid(
        codes.UNKNOWN_FIELD,
        {"field": "titel"},
        field="/cards/0/titel",
        details={"seen": 1},
        suggestions={"did_you_mean": ["title"]},
        data={"more": True},
    )
    answer = reply_of(raised)
    issue = {
        "code": "UNKNOWN_FIELD",
        "reply_code": codes.UNKNOWN_FIELD,
        "message": REGISTRY.message(codes.UNKNOWN_FIELD, {"field": "titel"}),
        "field": "cards.0.titel",
        "pointer": "/cards/0/titel",
        "details": {"seen": 1},
        "suggestions": {"did_you_mean": ["title"]},
    }
    assert answer.code == codes.UNKNOWN_FIELD
    assert answer.params == {"field": "titel"}
    assert answer.data == {
        "errors": [issue],
        "field": "cards.0.titel",
        "details": {"seen": 1},
        "suggestions": {"did_you_mean": ["title"]},
        "more": True,
    }


@pytest.mark.parametrize("entry", [one for one in REGISTRY if one.type == "I"], ids=lambda one: one.key)
def test_an_issue_that_brings_no_help_of_its_own_brings_the_registrys(entry: Entry) -> None:
    params = {name: 1 if kind == "integer" else "x" for name, kind in entry.params.items()}
    assert Issue(entry.code, params).as_data()["suggestions"] == {"hint": entry.advice}
    helpful = Issue(entry.code, params, suggestions={"did_you_mean": ["x"]})
    assert helpful.as_data()["suggestions"] == {"did_you_mean": ["x"]}


@pytest.mark.parametrize(
    ("given", "pointer", "field"),
    [
        (None, "", None),
        ("title", "/title", "title"),
        ("a.b", "/a/b", "a.b"),
        ("/a/b", "/a/b", "a.b"),
        ("/a~1b/c~0d", "/a~1b/c~0d", "a/b.c~d"),
        ("x~y", "/x~0y", "x~y"),
    ],
)
def test_a_field_may_be_given_as_name_path_or_pointer(given: str | None, pointer: str, field: str | None) -> None:
    issue = Invalid(codes.NO_CHANGES, field=given).issues[0]
    assert (issue.pointer, issue.field) == (pointer, field)


def test_several_issues_with_one_code_answer_with_it() -> None:
    issues = [Issue(codes.UNKNOWN_FIELD, {"field": name}, f"/{name}") for name in "ab"]
    answer = reply_of(Invalid.many(issues, data={"extra": 1}))
    assert (answer.code, answer.params) == (codes.UNKNOWN_FIELD, {"field": "a"})
    assert answer.data is not None
    assert [error["field"] for error in answer.data["errors"]] == ["a", "b"]
    assert (answer.data["field"], answer.data["extra"]) == ("a", 1)


def test_issues_with_different_codes_answer_as_a_validation_error() -> None:
    issues = [
        Issue(codes.UNKNOWN_FIELD, {"field": "a"}, "/a"),
        Issue(codes.LIMIT_EXCEEDED, {"what": "b", "limit": 1}),
    ]
    answer = reply_of(Invalid.many(issues))
    assert answer.code == codes.VALIDATION_ERROR
    assert answer.data is not None
    assert [error["code"] for error in answer.data["errors"]] == ["UNKNOWN_FIELD", "LIMIT_EXCEEDED"]


def test_no_issue_is_no_invalid_and_an_issue_is_never_a_denial() -> None:
    with pytest.raises(ValueError, match="no issue"):
        Invalid.many([])
    with pytest.raises(ValueError, match=codes.WRITE_DENIED):
        Invalid(codes.VALIDATION_ERROR, issues=[Issue(codes.WRITE_DENIED)])


def test_half_a_character_in_the_callers_own_words_does_not_make_it_our_error() -> None:
    answer = reply_of(Invalid.many([Issue(codes.UNKNOWN_FIELD, {"field": "x"}, "/\ud800")]))
    assert answer.reply_type == "I"
    assert orjson.loads(serialise(answer))["field"] == "?"


@pytest.mark.parametrize("kind", [Denied, Failed])
def test_denials_and_failures_carry_the_data_given_and_no_more(kind: Any) -> None:
    code = codes.CONFIRMATION_REQUIRED if kind is Denied else codes.STORE_UNAVAILABLE
    assert reply_of(kind(code)).data == {}
    assert reply_of(kind(code, data={"confirm_token": "t"})).data == {"confirm_token": "t"}


class Evil(Coded):
    def answer(self) -> dict[str, Any]:
        raise RuntimeError("nothing works")


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("/etc/passwd"),
        KeyboardInterrupt("sql"),
        ExceptionGroup("g", [OSError("dsn")]),
        Evil(codes.TIMEOUT),
    ],
)
@pytest.mark.requirement("REP-05")
def test_of_any_other_exception_nothing_is_told(failure: BaseException) -> None:
    answer = reply_of(failure)
    assert (answer.code, answer.params, answer.data) == (codes.SYS_CRASH, {}, {})


def test_what_cannot_be_sent_says_where() -> None:
    for failure in (NotSerializable("/a/b"), Failed(codes.TIMEOUT, data={"a": {"b": object()}})):
        answer = reply_of(failure)
        assert (answer.code, answer.params) == (codes.NOT_SERIALIZABLE, {"pointer": "/a/b"})


def test_a_cause_stays_with_its_exception() -> None:
    cause = OSError("disk")
    with pytest.raises(Failed) as raised:
        raise Failed(codes.STORE_FULL) from cause
    assert raised.value.__cause__ is cause
