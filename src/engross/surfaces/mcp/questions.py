"""Questions of a flow as the protocol's own requests, and whether an answer fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel, ValidationError

from engross.calls import Question

from .window import RequestContext

PATIENCE_SECONDS = 600.0
"""How long a person may take. The token of a confirmation lives as long."""

Answers: TypeAlias = dict[str, Mapping[str, Any]]


class _Kind(NamedTuple):
    asked_by: type[types.InputRequest]
    answered_by: type[BaseModel]


_KINDS: Mapping[str, _Kind] = {
    "elicitation/create": _Kind(types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": _Kind(types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": _Kind(types.ListRootsRequest, types.ListRootsResult),
}


def request_of(question: Question) -> types.InputRequest:
    """The request that puts a question."""
    asked = {"method": question.method, "params": question.params}
    return _KINDS[question.method].asked_by.model_validate(asked, by_name=False)


def fits(question: Question, answer: Any) -> bool:
    """Is this an answer to the question at all?"""
    try:
        _KINDS[question.method].answered_by.model_validate(answer, by_name=False)
    except ValidationError:
        return False
    if question.method != "elicitation/create" or answer["action"] != "accept":
        return True
    from jsonschema_rs import is_valid

    return is_valid(question.params["requestedSchema"], answer.get("content") or {})


async def put(context: RequestContext, question: Question) -> Mapping[str, Any]:
    """Put a question to a client of the handshake era, and wait for its answer."""
    answer = await context.session.send_request(
        request_of(question),
        _KINDS[question.method].answered_by,
        PATIENCE_SECONDS,
        metadata=ServerMessageMetadata(related_request_id=context.request_id),
    )
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)
