"""What a request brings along from its earlier rounds: answers, and the token of what is to be confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
import orjson

from engross.calls import Question

from .questions import fits, request_of


class State:
    """Answers by the name of their question. Those of earlier rounds were sealed by us, the latest are the client's."""

    def __init__(self, answers: Mapping[str, Any], token: str | None) -> None:
        self._answers = answers
        self.token = token

    @classmethod
    def of(cls, params: types.InputResponseRequestParams) -> State:
        """The state of a request; the boundary has unsealed it already."""
        if params.request_state is None and params.input_responses is None:
            return NO_STATE
        kept = orjson.loads(params.request_state) if params.request_state else {}
        latest = {
            name: response.model_dump(by_alias=True, mode="json", exclude_none=True)
            for name, response in (params.input_responses or {}).items()
        }
        return cls({**kept.get("answers", {}), **latest}, kept.get("token"))

    def has(self, name: str) -> bool:
        """Did the client send anything to this question?"""
        return name in self._answers

    def answer(self, name: str, question: Question) -> Mapping[str, Any] | None:
        """The answer to a question; None if there is none that fits it."""
        answer: Mapping[str, Any] | None = self._answers.get(name)
        return answer if answer is not None and fits(question, answer) else None

    def asking(self, questions: Mapping[str, Question], token: str | None = None) -> types.InputRequiredResult:
        """The answer that asks a client of the later era. Its state is sealed on the way out."""
        kept = {name: answer for name, answer in self._answers.items() if name not in questions}
        return types.InputRequiredResult(
            input_requests={name: request_of(question) for name, question in questions.items()},
            request_state=orjson.dumps({"answers": kept, "token": token}).decode(),
        )


NO_STATE = State({}, None)
