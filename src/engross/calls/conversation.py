"""Talking with whoever waits for a call, while it runs.

A surface that can carry words back and forth puts a conversation into the context of a call. Code that runs on a worker
(a read, a call to another system, the preparation of a write) speaks through the functions here. Where nobody listens,
what is told is lost and what is asked is Invalid; nothing has to know on which surface it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, Protocol

from engross.replies import Invalid, codes

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
Means = Literal["elicitation", "sampling", "roots"]


class Question(NamedTuple):
    """Something to ask of the other side, as the protocol's own request."""

    method: str
    params: Mapping[str, Any]

    @classmethod
    def form(cls, message: str, schema: Mapping[str, Any]) -> Question:
        """A question to the person: a message and the schema of a flat form."""
        return cls("elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema})

    @classmethod
    def sampling(cls, messages: Sequence[Mapping[str, Any]], max_tokens: int, **more: Any) -> Question:
        """A question to the person's model."""
        return cls("sampling/createMessage", {"messages": list(messages), "maxTokens": max_tokens, **more})

    @classmethod
    def roots(cls) -> Question:
        """Which folders are the person's to work on?"""
        return cls("roots/list", {})

    @property
    def means(self) -> str:
        """What the other side must be capable of to answer."""
        return self.method.partition("/")[0]


class Conversation(Protocol):
    """The other side of a call, as a surface reaches it. Called from any thread."""

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Pass on how far the call is."""

    def remark(self, data: Any, level: Level) -> None:
        """Pass on something worth knowing."""

    def can_ask(self, means: Means) -> bool:
        """Can the other side answer such questions?"""

    def ask(self, questions: Mapping[str, Question]) -> dict[str, Mapping[str, Any]]:
        """The answers, when all of them are there."""


CONVERSATION: ContextVar[Conversation | None] = ContextVar("engross.conversation", default=None)
"""The conversation of the call at hand. A surface sets it."""


def report(done: float, total: float | None = None, message: str | None = None) -> None:
    """Tell whoever waits how far the call is."""
    conversation = CONVERSATION.get()
    if conversation is not None:
        conversation.report(done, total, message)


def remark(data: Any, level: Level = "info") -> None:
    """Tell whoever waits something worth knowing."""
    conversation = CONVERSATION.get()
    if conversation is not None:
        conversation.remark(data, level)


def can_ask(means: Means) -> bool:
    """Can whoever waits be asked such a thing?"""
    conversation = CONVERSATION.get()
    return conversation is not None and conversation.can_ask(means)


def ask(**questions: Question) -> dict[str, Mapping[str, Any]]:
    """Ask whoever waits, and go on with the answers; Invalid where there is nobody to ask.

    The code that asks may be run again from its beginning once the answers are there: ask before doing anything.
    """
    conversation = CONVERSATION.get()
    if conversation is None:
        raise unanswered(questions)
    return conversation.ask(questions)


def unanswered(questions: Mapping[str, Question]) -> Invalid:
    """What a call ends with while nobody answers."""
    asked = {name: {"method": question.method, "params": question.params} for name, question in questions.items()}
    return Invalid(codes.INPUT_REQUIRED, {"questions": ", ".join(questions)}, data={"questions": asked})
