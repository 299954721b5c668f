"""Random tools of random kinds: the wrapper always gives one sound answer and one line in the log."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.replies import (
    REGISTRY,
    Denied,
    Failed,
    Invalid,
    Reply,
    configure_crash_log,
    crashes,
    legacy_wraps,
    mcp_result,
    mcp_safe_tool,
    parse,
    reply,
    structured,
)
from engross.replies.envelopes import DIALECTS

from .watching import call_lines


class Nasty(Exception):
    """Nothing about it works."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


CODES = [entry.code for entry in REGISTRY]
KINDS = {"I": Invalid, "D": Denied, "E": Failed}
texts = st.text(max_size=30)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=10)
    | st.builds(object)
    | st.just(Nasty),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | st.integers(), inner, max_size=3)
        | st.tuples(inner)
        | st.fixed_dictionaries({"success": inner, "error": inner})
    ),
    max_leaves=8,
)
objects = st.dictionaries(texts, anything, max_size=3)


def raising(failure: Exception) -> Callable[[], object]:
    def tool() -> object:
        raise failure

    return tool


def coded(code: str, params: dict[str, Any], data: dict[str, Any]) -> Callable[[], object]:
    def tool() -> object:
        kind = REGISTRY.entry(code).type
        if kind == "S":
            return reply(code, params, data)
        raise KINDS[kind](code, params, data=data)

    return tool


behaviours = st.one_of(
    anything.map(lambda value: lambda: value),
    st.builds(coded, st.sampled_from(CODES), objects, objects),
    st.sampled_from(
        [ValueError, OSError, RecursionError, MemoryError, StopIteration, TimeoutError, AssertionError]
    ).flatmap(lambda kind: texts.map(lambda text: raising(kind(text)))),
    st.just(raising(Nasty())),
    texts.map(lambda text: raising(ExceptionGroup("many", [ValueError(text), Nasty()]))),
)


def as_coroutine(work: Callable[[], object]) -> Callable[[], object]:
    async def tool() -> object:
        await asyncio.sleep(0)
        return work()

    return tool


def as_object(work: Callable[[], object]) -> Callable[[], object]:
    class Tool:
        def __call__(self) -> object:
            return work()

    return Tool()


def as_hidden_coroutine(work: Callable[[], object]) -> Callable[[], object]:
    awaiting = as_coroutine(work)
    return lambda: awaiting()


disguises = st.sampled_from(
    [
        lambda work: work,
        functools.partial,
        as_object,
        as_coroutine,
        as_hidden_coroutine,
        lambda work: functools.partial(as_coroutine(work)),
    ]
)


@pytest.fixture(scope="module", autouse=True)
def _crashes_go_to_a_folder_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crashes, "_configured", None)
        folder: Path = tmp_path_factory.mktemp("crashes")
        configure_crash_log(folder)
        yield


@settings(deadline=None, max_examples=300)
@given(behaviours, disguises, st.booleans(), st.sampled_from([None, 30.0]), st.sampled_from([200, 4_000_000]))
@pytest.mark.requirement("REP-04", "REP-06")
def test_every_tool_gets_a_sound_answer_and_one_line(
    work: Callable[[], object], disguise: Any, strict: bool, timeout: float | None, max_bytes: int
) -> None:
    tool = mcp_safe_tool(disguise(work), strict=strict, timeout=timeout, max_bytes=max_bytes, name="tool")
    wrapped_before = legacy_wraps()
    with call_lines() as lines:
        result: Any = tool()
        is_pending = inspect.iscoroutine(result)
        answer = asyncio.run(result) if is_pending else result
    assert isinstance(answer, Reply)
    assert len(lines) == 1
    assert answer.trace_id is not None
    for dialect in DIALECTS:
        wire = orjson.loads(orjson.dumps(structured(answer, dialect)))
        assert parse(dialect, wire) == (answer.reply_type, answer.code)
        assert parse("mcp", mcp_result(answer, dialect)) == (answer.reply_type, answer.code)
    assert not strict or legacy_wraps() == wrapped_before
