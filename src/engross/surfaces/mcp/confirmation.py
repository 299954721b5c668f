"""Asking the person before a change of high risk is committed at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Question
from engross.replies import Reply

from .state import State

NAME = "confirm_change"
FIELD = "confirm"
MOST_SHOWN = 4000

FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        FIELD: {"type": "boolean", "title": "Make this change", "description": "Yes commits it; no changes nothing."}
    },
    "required": [FIELD],
}


def confirmation(asked: Reply, title: str) -> Question:
    """The question whether to commit what a call would change."""
    changes = str(asked.data["diff_text"])
    if len(changes) > MOST_SHOWN:
        changes = f"{changes[:MOST_SHOWN]}\n... {len(changes) - MOST_SHOWN} more characters"
    return Question.form(f"{title} (risk tier {asked.data['risk_tier']}) would change this at once:\n{changes}", FORM)


def said(state: State) -> bool | None:
    """What the person said when they were asked; None if they were not, or gave no answer. What is no answer is no."""
    if state.token is None or not state.has(NAME):
        return None
    answer = state.answer(NAME, Question.form("", FORM))
    return answer is not None and says_yes(answer)


def says_yes(answer: Mapping[str, Any]) -> bool:
    """Did the person confirm?"""
    return answer["action"] == "accept" and (answer.get("content") or {}).get(FIELD) is True
