"""A Reply: one outcome, made in one place, never changed."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from engross.replies import (
    REGISTRY,
    NotSerializable,
    Reply,
    Trace,
    UnknownCode,
    codes,
    reply,
)


@pytest.mark.parametrize("entry", list(REGISTRY), ids=lambda entry: entry.code)
@pytest.mark.requirement("REP-01", "REP-02")
def test_everything_about_a_reply_follows_from_its_code(entry: Any) -> None:
    answer = reply(entry.code)
    assert (answer.reply_type, answer.message_key, answer.layer) == (entry.type, entry.key, entry.layer)
    assert (answer.http_status, answer.retryable, answer.ok) == (
        entry.http,
        entry.retryable,
        entry.type == "S",
    )
    assert answer.message


@pytest.mark.requirement("REP-01")
def test_a_reply_carries_code_key_params_data_and_trace() -> None:
    trace = Trace.new()
    answer = reply(codes.RECORD_NOT_FOUND, {"kind": "card", "id": "c"}, {"near": ["d"]}).traced(trace, "getCard", 1.5)
    assert (answer.code, answer.message_key) == (codes.RECORD_NOT_FOUND, "RECORD_NOT_FOUND")
    assert (answer.params, answer.data) == ({"kind": "card", "id": "c"}, {"near": ["d"]})
    assert (answer.trace_id, answer.span_id, answer.traceparent) == (
        trace.trace_id,
        trace.span_id,
        trace.traceparent,
    )
    assert (answer.tool, answer.duration_ms) == ("getCard", 1.5)


def test_before_it_is_traced_a_reply_knows_no_trace() -> None:
    answer = reply(codes.READ_OK)
    assert (answer.trace_id, answer.span_id, answer.traceparent, answer.data) == (None, None, None, {})


@pytest.mark.requirement("REP-01", "REP-04")
def test_tracing_makes_a_new_reply_and_leaves_the_old_one() -> None:
    plain = reply(codes.READ_OK, data={"a": 1})
    traced = plain.traced(Trace.new(), "t", 1.0)
    assert plain.trace_id is None
    assert (traced.code, traced.data) == (plain.code, plain.data)


@pytest.mark.requirement("REP-01")
def test_a_reply_is_made_only_by_its_one_constructor() -> None:
    with pytest.raises(TypeError):
        Reply("MCP-SYS-S-001")
    with pytest.raises(TypeError):
        dataclasses.replace(reply(codes.READ_OK), code=codes.SYS_CRASH)
    with pytest.raises(TypeError):
        type("Special", (Reply,), {})


@pytest.mark.parametrize("name", ["code", "params", "data", "trace", "tool", "duration_ms", "entry", "message", "new"])
@pytest.mark.requirement("REP-01")
def test_nothing_about_a_reply_can_be_set(name: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(reply(codes.READ_OK), name, "x")


@pytest.mark.requirement("REP-01")
def test_a_reply_does_not_follow_the_data_it_was_made_from() -> None:
    data = {"items": [1]}
    answer = reply(codes.READ_OK, data=data)
    data["items"].append(2)
    assert answer.data == {"items": [1]}


@pytest.mark.parametrize("code", ["WA-RES-I-999", "", "CREATED", "EN-MODE-D-001"])
@pytest.mark.requirement("REP-02")
def test_an_unregistered_code_cannot_be_sent(code: str) -> None:
    with pytest.raises(UnknownCode):
        reply(code)


@pytest.mark.parametrize("data", [{"x": object()}, [1], "text"])
def test_data_is_a_json_object_or_nothing(data: Any) -> None:
    with pytest.raises(NotSerializable):
        reply(codes.READ_OK, data=data)


def test_data_cannot_take_the_place_where_the_reply_itself_is_sent() -> None:
    with pytest.raises(ValueError, match="reply"):
        reply(codes.READ_OK, data={"reply": "mine"})


def test_data_may_say_whether_a_runtime_may_try_again() -> None:
    assert reply(codes.TIMEOUT).retryable
    assert not reply(codes.TIMEOUT, data={"retryable": False}).retryable


def test_replies_are_values() -> None:
    one = reply(codes.READ_OK, {"a": 1}, {"b": [2]})
    assert one == reply(codes.READ_OK, {"a": 1}, {"b": [2]})
    assert one != reply(codes.READ_OK, {"a": 1}, {"b": [3]})
    assert len({one, reply(codes.READ_OK, {"a": 1}, {"b": [2]})}) == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert codes.READ_OK in repr(one)
