"""W3C trace context: taken over when sound, ignored when not, never an error."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.replies import Trace, current_trace, tracing

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.requirement("REP-04")
def test_a_new_trace_has_ids_of_the_right_shape_and_no_two_are_alike() -> None:
    one, other = Trace.new(), Trace.new()
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", one.traceparent)
    assert (one.trace_id, one.span_id) != (other.trace_id, other.span_id)
    assert one.parent_span_id is None


def test_a_callers_trace_goes_on_with_a_span_of_our_own() -> None:
    trace = Trace.from_headers(GOOD, "vendor=abc,other=1")
    assert (trace.trace_id, trace.parent_span_id, trace.tracestate) == (TRACE, SPAN, "vendor=abc,other=1")
    assert trace.span_id != SPAN
    assert trace.sampled


@pytest.mark.parametrize(("flags", "sampled"), [("00", False), ("01", True), ("02", False), ("03", True), ("ff", True)])
def test_the_sampled_flag_is_forwarded(flags: str, sampled: bool) -> None:
    trace = Trace.from_headers(f"00-{TRACE}-{SPAN}-{flags}")
    assert trace.trace_id == TRACE
    assert trace.sampled is sampled
    assert trace.traceparent.endswith("-01" if sampled else "-00")


def test_a_later_version_is_read_as_far_as_it_is_known() -> None:
    assert Trace.from_headers(f"cc-{TRACE}-{SPAN}-01").trace_id == TRACE
    assert Trace.from_headers(f"cc-{TRACE}-{SPAN}-01-what-ever").trace_id == TRACE


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        7,
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f" {GOOD}",
        f"{GOOD}\n",
        f"cc-{TRACE}-{SPAN}-01more",
        GOOD.replace("4", "٤"),
    ],
)
def test_a_malformed_header_is_ignored_with_its_state(header: object) -> None:
    trace = Trace.from_headers(header, "vendor=abc")
    assert trace.trace_id != TRACE
    assert (trace.parent_span_id, trace.tracestate) == (None, None)


@pytest.mark.parametrize("state", [None, 3, "", "a=1\n", "ä=1", ",".join(["a=1"] * 33), "a=" + "x" * 5000])
def test_an_unfit_state_is_dropped_and_the_trace_kept(state: object) -> None:
    trace = Trace.from_headers(GOOD, state)
    assert (trace.trace_id, trace.tracestate) == (TRACE, None)


def test_thirty_two_members_are_carried() -> None:
    state = ",".join(f"k{number}=1" for number in range(32))
    assert Trace.from_headers(GOOD, state).tracestate == state


@settings(deadline=None)
@given(st.text() | st.from_regex(r"[0-9a-f]{2}-[0-9a-f]{31,33}-[0-9a-f]{16}-[0-9a-f]{2}.?"), st.text())
def test_no_header_is_ever_an_error(header: str, state: str) -> None:
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]", Trace.from_headers(header, state).traceparent)


def test_a_child_stays_in_the_trace_under_its_parent() -> None:
    parent = Trace.from_headers(GOOD, "a=1")
    child = parent.child()
    assert (child.trace_id, child.parent_span_id, child.tracestate) == (TRACE, parent.span_id, "a=1")
    assert child.span_id != parent.span_id


def test_the_current_trace_is_set_for_a_while_and_for_one_thread() -> None:
    seen: list[Trace | None] = []
    with tracing(Trace.new()) as trace:
        assert current_trace() is trace
        other = threading.Thread(target=lambda: seen.append(current_trace()))
        other.start()
        other.join()
    assert seen == [None]
    assert current_trace() is None
