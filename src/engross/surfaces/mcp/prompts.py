"""Prompts: the words that start a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from engross.flows import Prompt, as_declared, nearest
from engross.replies import codes, reply

from .calling import answered
from .completing import beginning_with, known_values
from .protocol import failed, unknown_cursor, unknown_prompt
from .window import RequestContext, Visit, Window


class Prompts:
    """What the requests about prompts answer."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def listed(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Answer `prompts/list`."""
        if params is not None and params.cursor is not None:
            raise unknown_cursor()
        visit = self._window.visit(context)
        return types.ListPromptsResult(prompts=[_told(one) for one in visit.desk.prompts(visit.caller, visit.surface)])

    async def get(
        self, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """Answer `prompts/get`: fill the words in, or have a read flow make them."""
        visit = self._window.visit(context)
        prompt = _found(visit, params.name)
        given = params.arguments or {}
        _refuse_misfits(prompt, given)
        if prompt.ref is None:
            return _result(prompt, prompt.filled(given))
        flow = visit.desk.catalogue.flow(prompt.ref)
        fields: Mapping[str, Any] = flow.published["properties"]
        arguments = {name: as_declared(value, fields.get(name, {})) for name, value in given.items()}
        outcome = await answered(context, params, visit, flow, arguments)
        if isinstance(outcome, types.InputRequiredResult):
            return outcome
        if not outcome.ok:
            raise failed(outcome)
        return _result(prompt, outcome.data.get("messages"))

    async def completed(self, name: str, argument: types.CompletionArgument, visit: Visit) -> list[str]:
        """Values for an argument of a prompt, where they are known."""
        prompt = _found(visit, name)
        known = next((one for one in prompt.arguments if one.name == argument.name), None)
        if known is None:
            return []
        return beginning_with(argument.value, known.choices or await known_values(known.name, prompt.ref, visit))


def _found(visit: Visit, name: str) -> Prompt:
    offered = {prompt.name: prompt for prompt in visit.desk.prompts(visit.caller, visit.surface)}
    if name not in offered:
        raise unknown_prompt(name, list(offered))
    return offered[name]


def _refuse_misfits(prompt: Prompt, given: Mapping[str, str]) -> None:
    known = [argument.name for argument in prompt.arguments]
    missing = [one.name for one in prompt.arguments if one.required and not given.get(one.name)]
    strange = {name: nearest(name, known) for name in given if name not in known}
    if missing or strange:
        data = {"missing": missing, "unknown": [{"did_you_mean": close} for close in strange.values()]}
        raise MCPError(INVALID_PARAMS, "Invalid prompt arguments", {**data, "allowed": known})


def _told(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.arguments
        ],
    )


def _result(prompt: Prompt, messages: Any) -> types.GetPromptResult:
    told = {"description": prompt.description, "messages": messages}
    try:
        return types.GetPromptResult.model_validate(told, by_name=False)
    except ValidationError:
        raise failed(reply(codes.NOT_SERIALIZABLE, {"pointer": "/messages"})) from None
