"""Calls of flows for clients: with a conversation while they run, and a confirmation where one is needed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias, cast

import mcp_types as types
from pydantic import TypeAdapter, ValidationError

from engross.flows import Flow
from engross.office import confirm_token, declined
from engross.replies import Coded, Reply, codes, mcp_result, record_crash, reply, reply_of

from .confirmation import NAME, confirmation, said, says_yes
from .guide import GUIDES, meant, run_flow
from .protocol import is_modern, lacking_capability, unknown_tool
from .questions import put
from .state import State
from .talk import Talk
from .window import RequestContext, Visit, Window

Outcome: TypeAlias = Reply | types.InputRequiredResult
Result: TypeAlias = types.CallToolResult | types.InputRequiredResult


@cache
def _blocks() -> TypeAdapter[list[types.ContentBlock]]:
    return TypeAdapter(list[types.ContentBlock])


class Calling:
    """What `tools/call` answers."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def __call__(self, context: RequestContext, params: types.CallToolRequestParams) -> Result:
        """Answer a call: a Reply for everything but a tool that is not there."""
        visit = self._window.visit(context)
        arguments = params.arguments or {}
        if params.name in GUIDES:
            return await _guided(context, params, visit, arguments)
        tool = visit.desk.find(params.name)
        if tool is None or tool.name != params.name:
            raise unknown_tool(visit, params.name)
        return await _called(context, params, visit, tool.flow, arguments)


async def answered(
    context: RequestContext,
    params: types.InputResponseRequestParams,
    visit: Visit,
    flow: Flow,
    arguments: Mapping[str, Any],
    **options: Any,
) -> Outcome:
    """The Reply of a call, or the questions that have to be answered first."""
    state = State.of(params)
    confirmed = said(state)
    token = {"confirm_token": state.token} if confirmed else {}
    outcome = await _talked(context, state, visit, flow, {**arguments, **token}, options)
    if isinstance(outcome, types.InputRequiredResult) or confirm_token(outcome) is None:
        return outcome
    if confirmed is False:
        return declined(outcome)
    return await _confirmed(context, state, visit, flow, arguments, outcome)


async def _confirmed(
    context: RequestContext, state: State, visit: Visit, flow: Flow, arguments: Mapping[str, Any], asked: Reply
) -> Outcome:
    """Ask the person, if the client can; else the caller has to repeat the call with the token."""
    if not Talk(context, state).can_ask("elicitation"):
        return asked
    question, token = confirmation(asked, flow.title), confirm_token(asked)
    if is_modern(context):
        return state.asking({NAME: question}, token)
    try:
        answer = await put(context, question)
    except Exception:
        # Whatever became of the question, nobody said no: the token is still good.
        return asked
    if not says_yes(answer):
        return declined(asked)
    return await _talked(context, state, visit, flow, {**arguments, "confirm_token": token}, {})


async def _talked(
    context: RequestContext,
    state: State,
    visit: Visit,
    flow: Flow,
    arguments: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Outcome:
    """Make a call, in a conversation if there can be one."""
    call = visit.call(flow.ref, arguments, **options)
    if not may_speak(flow) and (context.meta or {}).get("progress_token") is None:
        return await call
    talk = Talk(context, state)
    answer = await talk.during(call)
    if answer.code == codes.INPUT_REQUIRED and is_modern(context):
        if talk.lacking:
            raise lacking_capability(answer, talk.lacking)
        if talk.asked is not None:
            return state.asking(talk.asked)
    return answer


def may_speak(flow: Flow) -> bool:
    """Does any of its code run where a conversation is possible? The writer has no time for one."""
    return flow.preparer is not None if flow.kind == "record" else not flow.inline


async def _called(
    context: RequestContext,
    params: types.CallToolRequestParams,
    visit: Visit,
    flow: Flow,
    arguments: Mapping[str, Any],
    **options: Any,
) -> Result:
    outcome = await answered(context, params, visit, flow, arguments, **options)
    if isinstance(outcome, types.InputRequiredResult):
        return outcome
    if flow.content:
        outcome = _with_sound_blocks(outcome, flow)
    return _result(mcp_result(outcome, flow.dialect, blocks=flow.content))


async def _guided(
    context: RequestContext, params: types.CallToolRequestParams, visit: Visit, arguments: Mapping[str, Any]
) -> Result:
    """Answer one of the three tools that reach every flow."""
    started = time.perf_counter()
    flow = GUIDES[params.name]
    wanted = meant(visit, arguments) if flow is run_flow else None
    if wanted is not None:
        return await _called(context, params, visit, wanted.flow, wanted.arguments, **wanted.options)
    try:
        visit.counted(flow)
        checked = flow.check(arguments).arguments
        answer = reply(codes.SYS_OK, data=cast(Mapping[str, Any], flow.handler(visit, checked)))
    except Coded as refusal:
        answer = reply_of(refusal)
    return _result(mcp_result(visit.settle(answer, params.name, arguments, started)))


def _result(wire: dict[str, Any]) -> Result:
    """A result in its wire form. The SDK takes that as well, and need not take it apart first."""
    wire["resultType"] = "complete"
    return cast(Result, wire)


def _with_sound_blocks(answer: Reply, flow: Flow) -> Reply:
    """The answer, unless what it calls content blocks are none: then nobody could read it."""
    if not answer.ok or "content" not in answer.data:
        return answer
    try:
        _blocks().validate_python(answer.data["content"], by_name=False)
    except ValidationError as unsound:
        assert answer.trace is not None
        record_crash(answer.trace.trace_id, unsound, flow.ref)
        refused = reply(codes.NOT_SERIALIZABLE, {"pointer": "/content"})
        return refused.traced(answer.trace, answer.tool, answer.duration_ms)
    return answer
