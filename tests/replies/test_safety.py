"""Whatever a tool does, its caller gets one Reply."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from engross.replies import (
    Denied,
    Failed,
    Invalid,
    Reply,
    Trace,
    codes,
    configure_crash_log,
    crashes,
    current_trace,
    legacy,
    legacy_wraps,
    mcp_safe_tool,
    reply,
    set_strict,
    strict_mode,
    structured,
    tracing,
)

from .watching import CALLS, call_lines, crashes_in, fields


@pytest.fixture(autouse=True)
def crash_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(crashes, "_configured", None)
    monkeypatch.setattr(legacy, "_strict", True)
    configure_crash_log(tmp_path)
    return tmp_path


@mcp_safe_tool
def greet(name: str, *, loud: bool = False) -> Reply:
    """Say hello."""
    return reply(codes.READ_OK, data={"hello": name, "loud": loud})


def boom(*args: object, **kwargs: object) -> Reply:
    raise ValueError("password=hunter2 in /etc/shadow")


def run(tool: Callable[..., Any], *args: Any, **kwargs: Any) -> Reply:
    """Call a safe tool, whichever kind it is."""
    result: Any = tool(*args, **kwargs)
    answer = asyncio.run(cast(Coroutine[Any, Any, Reply], result)) if inspect.isawaitable(result) else result
    assert isinstance(answer, Reply)
    return answer


def giving(result: object) -> Callable[[], Any]:
    """A tool with this result."""
    return lambda: result


def calling(func: Callable[..., Any], *args: object) -> Callable[[], Any]:
    """A plain tool that passes on what another function gives."""
    return lambda: func(*args)


# --- what every call gets


@pytest.mark.requirement("REP-04", "REP-08")
def test_a_reply_comes_back_traced_named_and_timed() -> None:
    answer = greet("Ann", loud=True)
    assert (answer.code, answer.data) == (codes.READ_OK, {"hello": "Ann", "loud": True})
    assert answer.trace_id is not None
    assert (answer.tool, type(answer.duration_ms)) == ("greet", float)


@pytest.mark.requirement("REP-04")
def test_every_call_has_a_trace_of_its_own_and_the_tools_reply_is_not_touched() -> None:
    shared = reply(codes.READ_OK, data={"a": 1})
    tool = mcp_safe_tool(lambda: shared)
    first, second = tool(), tool()
    assert first.trace_id != second.trace_id
    assert shared.trace_id is None
    assert first.data is shared.data


@pytest.mark.requirement("REP-04")
def test_a_call_inside_a_trace_becomes_a_span_of_it() -> None:
    outer = Trace.from_headers("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    with tracing(outer):
        answer = greet("Ann")
    assert answer.trace is not None
    assert (answer.trace_id, answer.trace.parent_span_id) == (outer.trace_id, outer.span_id)


def test_the_tool_sees_its_own_trace_and_it_is_gone_afterwards() -> None:
    seen: list[Trace | None] = []

    @mcp_safe_tool
    def look() -> Reply:
        seen.append(current_trace())
        return reply(codes.READ_OK)

    assert look().trace == seen[0]
    assert current_trace() is None


def test_a_forwarded_reply_keeps_its_meaning() -> None:
    @mcp_safe_tool
    def inner() -> Reply:
        raise Denied(codes.WRITE_DENIED, data={"why": "policy"})

    @mcp_safe_tool
    def outer() -> Reply:
        return inner()

    answer = outer()
    assert (answer.code, answer.data, answer.tool) == (codes.WRITE_DENIED, {"why": "policy"}, "outer")


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (Invalid(codes.NO_CHANGES), codes.NO_CHANGES),
        (Denied(codes.READ_ONLY), codes.READ_ONLY),
        (Failed(codes.STORE_FULL), codes.STORE_FULL),
    ],
)
@pytest.mark.requirement("REP-04", "REP-08")
def test_a_coded_exception_becomes_its_reply(raised: Exception, code: str, crash_folder: Path) -> None:
    @mcp_safe_tool
    def tool() -> Reply:
        raise raised

    assert tool().code == code
    assert len(crashes_in(crash_folder)) == (1 if isinstance(raised, Failed) else 0)


@pytest.mark.requirement("REP-04")
def test_a_refusal_without_the_params_of_its_message_is_found_in_the_crash_log(crash_folder: Path) -> None:
    @mcp_safe_tool
    def tool() -> Reply:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "card"})

    answer = tool()
    assert answer.code == codes.RECORD_NOT_FOUND
    (told,) = crashes_in(crash_folder)
    assert told["trace_id"] == answer.trace_id
    assert "RECORD_NOT_FOUND needs params that were not given: id." in told["stack"]


# --- crashes


@pytest.mark.requirement("REP-04", "REP-05")
def test_a_crash_is_a_clean_error_with_the_stack_on_disk(crash_folder: Path) -> None:
    answer = mcp_safe_tool(boom)("x")
    assert (answer.code, answer.params, answer.data) == (codes.SYS_CRASH, {}, {})
    assert "shadow" not in str(structured(answer))
    (record,) = crashes_in(crash_folder)
    assert (record["trace_id"], record["tool"], record["error"]) == (answer.trace_id, "boom", "ValueError")
    assert "in boom" in record["stack"]


@pytest.mark.requirement("REP-04")
def test_a_call_that_does_not_fit_the_signature_is_a_crash_too() -> None:
    assert greet().code == codes.SYS_CRASH  # type: ignore[call-arg]


def test_a_group_of_exceptions_is_one_error_and_all_are_filed(crash_folder: Path) -> None:
    @mcp_safe_tool
    async def tool() -> Reply:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail("first"))
            group.create_task(fail("second"))
        return reply(codes.SYS_OK)

    async def fail(text: str) -> None:
        raise OSError(text)

    assert run(tool).code == codes.SYS_CRASH
    (record,) = crashes_in(crash_folder)
    assert "first" in record["stack"]
    assert "second" in record["stack"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
@pytest.mark.requirement("REP-04")
def test_an_interruption_is_logged_and_goes_on_upwards(interruption: type[BaseException]) -> None:
    @mcp_safe_tool
    def tool() -> Reply:
        raise interruption

    with call_lines() as lines, pytest.raises(interruption):
        tool()
    assert [fields(line)["interrupted"] for line in lines] == [interruption.__name__]
    assert current_trace() is None


def test_a_group_that_holds_an_interruption_goes_on_upwards() -> None:
    @mcp_safe_tool
    def tool() -> Reply:
        raise BaseExceptionGroup("mixed", [ValueError(), KeyboardInterrupt()])

    with pytest.raises(BaseExceptionGroup):
        tool()


@pytest.mark.requirement("REP-04")
def test_cancelling_a_running_tool_cancels_it() -> None:
    @mcp_safe_tool
    async def tool() -> Reply:
        started.set()
        await asyncio.Event().wait()
        return reply(codes.SYS_OK)

    async def main() -> None:
        task = asyncio.ensure_future(tool())
        await started.wait()
        task.cancel()
        await task

    started = asyncio.Event()
    with call_lines() as lines, pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert [fields(line)["interrupted"] for line in lines] == ["CancelledError"]


# --- kinds of callables


class Callable1:
    def __call__(self, number: int) -> Reply:
        return reply(codes.READ_OK, data={"number": number})


class Callable2:
    async def __call__(self, number: int) -> Reply:
        return reply(codes.READ_OK, data={"number": number})


class Holder:
    def method(self, number: int) -> Reply:
        return reply(codes.READ_OK, data={"number": number})

    async def coroutine(self, number: int) -> Reply:
        return reply(codes.READ_OK, data={"number": number})

    @mcp_safe_tool
    def decorated(self, number: int) -> Reply:
        return self.method(number)


def plain(number: int) -> Reply:
    return reply(codes.READ_OK, data={"number": number})


async def coroutine(number: int) -> Reply:
    await asyncio.sleep(0)
    return reply(codes.READ_OK, data={"number": number})


@functools.wraps(coroutine)
def passed_on(*args: Any, **kwargs: Any) -> Any:
    return coroutine(*args, **kwargs)


def two(first: str, number: int) -> Reply:
    return plain(number)


async def atwo(first: str, number: int) -> Reply:
    return plain(number)


KINDS: list[tuple[Any, bool]] = [
    (plain, False),
    (coroutine, True),
    (lambda number: plain(number), False),
    (lambda number: coroutine(number), False),
    (passed_on, True),
    (functools.partial(two, "x"), False),
    (functools.partial(atwo, "x"), True),
    (functools.partial(functools.partial(atwo), "x"), True),
    (Callable1(), False),
    (Callable2(), True),
    (Holder().method, False),
    (Holder().coroutine, True),
]


@pytest.mark.parametrize(("func", "is_async"), KINDS)
@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.requirement("REP-04", "REP-08")
def test_every_kind_of_callable_is_really_run(func: Any, is_async: bool, timeout: float | None) -> None:
    tool = mcp_safe_tool(func, strict=False, timeout=timeout)
    assert inspect.iscoroutinefunction(tool) is is_async
    answer = run(tool, 7)
    assert (answer.code, answer.data) == (codes.READ_OK, {"number": 7})


def test_a_decorated_method_is_still_a_method() -> None:
    assert Holder().decorated(3).data == {"number": 3}


@pytest.mark.requirement("REP-04")
def test_a_plain_function_that_gives_a_coroutine_is_awaited_inside_a_loop_too() -> None:
    tool: Any = mcp_safe_tool(calling(coroutine, 1), strict=False)

    async def main() -> Reply:
        with call_lines() as lines:
            answer: Reply = await tool()
            assert len(lines) == 1
        return answer

    assert asyncio.run(main()).data == {"number": 1}


def test_a_coroutine_that_crashes_late_is_an_error_too(crash_folder: Path) -> None:
    async def late() -> Reply:
        raise ValueError

    assert run(mcp_safe_tool(calling(late))).code == codes.SYS_CRASH
    assert len(crashes_in(crash_folder)) == 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


def generator() -> Iterator[int]:
    yield 1


class Generating:
    async def __call__(self) -> AsyncIterator[int]:
        yield 1


@pytest.mark.parametrize("func", [async_generator, generator, Generating(), functools.partial(async_generator)])
@pytest.mark.requirement("REP-04")
def test_a_generator_is_refused_when_it_is_decorated(func: Any) -> None:
    with pytest.raises(TypeError, match="generator"):
        mcp_safe_tool(func)


@pytest.mark.parametrize("strict", [True, False])
def test_a_generator_that_shows_up_at_run_time_is_an_error(strict: bool) -> None:
    answer = run(mcp_safe_tool(calling(async_generator), strict=strict))
    assert answer.reply_type == "E"


@pytest.mark.parametrize("func", [7, "tool", classmethod(lambda cls: None)])
def test_what_cannot_be_called_is_refused(func: Any) -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        mcp_safe_tool(func)


def test_wrapping_twice_is_noticed_however_it_is_hidden() -> None:
    @functools.wraps(greet)
    def around(*args: Any, **kwargs: Any) -> Reply:
        return greet(*args, **kwargs)

    for func in (greet, functools.partial(greet, "x"), around):
        with pytest.raises(TypeError, match="once"):
            mcp_safe_tool(func)


@pytest.mark.requirement("REP-08")
def test_name_docstring_and_parameters_stay_the_tools_own() -> None:
    assert (greet.__name__, greet.__doc__) == ("greet", "Say hello.")
    assert str(inspect.signature(greet)).startswith("(name: str, *, loud: bool = False) -> ")
    assert list(inspect.signature(mcp_safe_tool(functools.partial(two, "x"))).parameters) == ["number"]
    assert list(inspect.signature(mcp_safe_tool(Callable1())).parameters) == ["number"]


def test_the_signature_says_that_the_answer_is_a_reply() -> None:
    def raw(number: int) -> dict[str, int]:
        return {"number": number}

    tool = mcp_safe_tool(raw, strict=False)
    assert inspect.signature(tool).return_annotation is Reply
    assert tool.__annotations__ == {"number": int, "return": Reply}


def test_a_type_that_is_not_there_at_run_time_stays_a_name() -> None:
    def tool(drawer: Drawer) -> Reply:  # type: ignore[name-defined]  # noqa: F821
        return reply(codes.READ_OK)

    assert str(inspect.signature(mcp_safe_tool(tool))).startswith("(drawer: 'Drawer') -> ")


def test_a_function_without_a_signature_can_be_wrapped() -> None:
    assert run(mcp_safe_tool(dict, strict=False), a=1).data == {"result": {"a": 1}}


def test_a_tool_can_be_given_a_name() -> None:
    assert mcp_safe_tool(plain, name="count")(1).tool == "count"
    assert mcp_safe_tool(Callable1())(1).tool == "Callable1"
    assert mcp_safe_tool(functools.partial(two, "x"))(1).tool == "two"


# --- deadlines


@pytest.mark.requirement("REP-04")
def test_a_plain_function_past_its_deadline_is_a_timeout_with_unknown_outcome() -> None:
    release = threading.Event()

    @mcp_safe_tool(timeout=0.01)
    def slow(client_request_id: str) -> Reply:
        release.wait()
        return reply(codes.CREATED)

    answer = slow(client_request_id="req-00001")
    release.set()
    assert answer.code == codes.TIMEOUT
    assert answer.data == {"outcome": "unknown", "timeout_seconds": 0.01, "client_request_id": "req-00001"}


def test_a_timeout_keeps_a_key_that_came_without_its_name() -> None:
    @mcp_safe_tool(timeout=0.01)
    async def slow(card: str, client_request_id: str) -> Reply:
        await asyncio.Event().wait()
        return reply(codes.CREATED)

    assert run(slow, "c-1", "req-00001").data["client_request_id"] == "req-00001"
    assert run(slow, "c-1", client_request_id="req-00002").data["client_request_id"] == "req-00002"


@pytest.mark.requirement("REP-04")
def test_a_coroutine_past_its_deadline_is_a_timeout() -> None:
    @mcp_safe_tool(timeout=0.01)
    async def slow() -> Reply:
        await asyncio.Event().wait()
        return reply(codes.CREATED)

    answer = run(slow)
    assert (answer.code, answer.data) == (codes.TIMEOUT, {"outcome": "unknown", "timeout_seconds": 0.01})


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_timeout_of_the_tools_own_is_a_crash(timeout: float | None) -> None:
    @mcp_safe_tool(timeout=timeout)
    async def tool() -> Reply:
        raise TimeoutError("their server")

    assert run(tool).code == codes.SYS_CRASH


def test_what_a_late_tool_raises_is_still_filed(crash_folder: Path) -> None:
    release = threading.Event()

    @mcp_safe_tool(timeout=0.01)
    def slow() -> Reply:
        workers.append(threading.current_thread())
        release.wait()
        raise ValueError("too late")

    workers: list[threading.Thread] = []
    answer = slow()
    assert crashes_in(crash_folder) == []
    release.set()
    workers[0].join()
    assert [record["trace_id"] for record in crashes_in(crash_folder)] == [answer.trace_id]


def test_within_its_deadline_a_plain_function_sees_its_trace_and_raises_as_usual() -> None:
    @mcp_safe_tool(timeout=30)
    def look() -> Reply:
        trace = current_trace()
        assert trace is not None
        return reply(codes.READ_OK, data={"seen": trace.trace_id})

    @mcp_safe_tool(timeout=30)
    def stop() -> Reply:
        raise SystemExit

    answer = look()
    assert answer.data == {"seen": answer.trace_id}
    assert mcp_safe_tool(boom, timeout=30)().code == codes.SYS_CRASH
    with pytest.raises(SystemExit):
        stop()


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_a_deadline_lies_in_the_future(timeout: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        mcp_safe_tool(timeout=timeout)


# --- raw results

RAW: list[Any] = [{"a": 1}, [1, 2], "text", 7, 1.5, True, False, "", [], {}]
FAILURES: list[Any] = [
    {"success": False},
    {"ok": False, "data": 1},
    {"isError": True, "content": []},
    {"is_error": True},
    {"status": "error"},
    {"status": "FAILED"},
    {"error": "no such card"},
    {"errors": [{"code": 1}]},
    '{"success": false}',
    ' {"error": "x"}',
    None,
]
HARMLESS: list[Any] = [
    {"success": True, "error": None, "errors": []},
    {"status": "ok"},
    {"ok": 0},
    {"isError": False},
    {"status": 500},
    '{"success": true}',
    "{not json",
]


@pytest.mark.parametrize("result", RAW + HARMLESS)
@pytest.mark.requirement("REP-04", "REP-08")
def test_a_raw_result_is_wrapped_while_migrating(result: Any) -> None:
    answer = run(mcp_safe_tool(giving(result), strict=False))
    assert (answer.code, answer.data) == (codes.LEGACY_WRAP, {"result": result})


@pytest.mark.parametrize("result", FAILURES)
@pytest.mark.requirement("REP-04")
def test_a_raw_failure_is_never_a_success(result: Any) -> None:
    answer = run(mcp_safe_tool(giving(result), strict=False))
    assert answer.code == codes.NON_REPLY_RETURN


@pytest.mark.parametrize("result", RAW + FAILURES + HARMLESS)
@pytest.mark.requirement("REP-06", "REP-08")
def test_in_strict_mode_every_raw_result_is_an_error(result: Any) -> None:
    answer = run(mcp_safe_tool(giving(result), name="raw", strict=True))
    assert answer.code == codes.NON_REPLY_RETURN
    assert answer.params == {"tool": "raw", "kind": type(result).__name__}


@pytest.mark.requirement("REP-06")
def test_strict_is_the_default_and_can_be_set_for_all_who_did_not_choose() -> None:
    undecided = mcp_safe_tool(lambda: {"a": 1})
    decided = mcp_safe_tool(lambda: {"a": 1}, strict=True)
    assert strict_mode()
    assert run(undecided).code == codes.NON_REPLY_RETURN
    set_strict(False)
    assert not strict_mode()
    assert run(undecided).code == codes.LEGACY_WRAP
    assert run(decided).code == codes.NON_REPLY_RETURN


@pytest.mark.requirement("REP-04", "REP-08")
def test_wraps_are_counted_per_tool() -> None:
    before = legacy_wraps().get("counted-tool", 0)
    tool = mcp_safe_tool(lambda result: result, name="counted-tool", strict=False)
    threads = [threading.Thread(target=tool, args=(1,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tool(None)
    tool({"error": "x"})
    tool(reply(codes.READ_OK))
    tool(object())
    assert legacy_wraps()["counted-tool"] == before + 8


# --- what cannot be sent


@pytest.mark.parametrize("result", [object(), {"a": {1, 2}}, b"x", float("nan"), {"a": "\ud800"}, {1: 2}])
@pytest.mark.requirement("REP-04")
def test_a_raw_result_that_json_cannot_carry_is_an_error(result: Any) -> None:
    assert run(mcp_safe_tool(giving(result), strict=False)).code == codes.NOT_SERIALIZABLE


@pytest.mark.requirement("REP-04")
def test_a_reply_that_cannot_be_made_names_the_place() -> None:
    @mcp_safe_tool
    def tool() -> Reply:
        return reply(codes.READ_OK, data={"cards": [{"due": object()}]})

    answer = tool()
    assert (answer.code, answer.params) == (codes.NOT_SERIALIZABLE, {"pointer": "/cards/0/due"})


def test_a_reply_spoilt_after_it_was_made_is_an_error() -> None:
    spoilt = reply(codes.READ_OK, data={"a": 1})
    assert spoilt.data is not None
    dict.__setitem__(spoilt.data, "a", object())
    assert mcp_safe_tool(lambda: spoilt)().code == codes.NOT_SERIALIZABLE


def test_something_that_only_pretends_to_be_a_reply_is_an_error() -> None:
    hollow = object.__new__(Reply)
    assert mcp_safe_tool(lambda: hollow)().code == codes.SYS_CRASH


@pytest.mark.requirement("REP-04")
def test_an_answer_that_is_too_large_says_what_it_was() -> None:
    @mcp_safe_tool(max_bytes=1000)
    def tool() -> Reply:
        return reply(codes.CREATED, data={"text": "x" * 2000})

    answer = tool()
    assert (answer.code, answer.data) == (codes.RESPONSE_TOO_LARGE, {"answered": codes.CREATED})
    assert answer.params["limit"] == 1000
    assert answer.params["size"] > 2000


# --- one line in the log


@pytest.mark.parametrize(
    ("func", "level"),
    [
        (lambda: reply(codes.READ_OK), logging.INFO),
        (lambda: reply(codes.NO_CHANGES), logging.WARNING),
        (lambda: reply(codes.READ_ONLY), logging.WARNING),
        (boom, logging.ERROR),
        (lambda: None, logging.ERROR),
    ],
)
@pytest.mark.requirement("REP-04")
def test_every_call_leaves_one_line(func: Any, level: int) -> None:
    with call_lines() as lines:
        answer = run(mcp_safe_tool(func, name="tool"))
    (line,) = lines
    assert line.levelno == level
    assert fields(line) == {
        "tool": "tool",
        "reply_type": answer.reply_type,
        "code": answer.code,
        "duration_ms": answer.duration_ms,
        "trace_id": answer.trace_id,
        "span_id": answer.span_id,
    }
    assert line.getMessage().startswith("tool_end tool=tool")


@pytest.mark.requirement("REP-04")
def test_a_log_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise OSError("log disk full")

    with call_lines():
        monkeypatch.setattr(CALLS, "handle", broken)
        assert greet("Ann").code == codes.READ_OK
        assert mcp_safe_tool(boom)().code == codes.SYS_CRASH


# --- many at once


@pytest.mark.requirement("REP-04")
def test_calls_at_the_same_time_do_not_mix_up_their_traces() -> None:
    @mcp_safe_tool
    async def look() -> Reply:
        before = current_trace()
        await asyncio.sleep(0)
        after = current_trace()
        assert before is not None
        assert after is before
        return reply(codes.READ_OK, data={"seen": before.trace_id})

    async def main() -> list[Reply]:
        return await asyncio.gather(*(look() for _ in range(50)))

    answers = asyncio.run(main())
    assert all(answer.data == {"seen": answer.trace_id} for answer in answers)
    assert len({answer.trace_id for answer in answers}) == 50


@pytest.mark.requirement("REP-04")
def test_threads_do_not_mix_up_their_traces() -> None:
    gate = threading.Barrier(8)
    answers: list[Reply] = []

    @mcp_safe_tool
    def look() -> Reply:
        gate.wait()
        trace = current_trace()
        assert trace is not None
        return reply(codes.READ_OK, data={"seen": trace.trace_id})

    threads = [threading.Thread(target=lambda: answers.append(look())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answer.data == {"seen": answer.trace_id} for answer in answers)
    assert len({answer.trace_id for answer in answers}) == 8
