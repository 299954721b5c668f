"""What a definition has to keep to. Each rule gives its complaint, or None."""

from __future__ import annotations

import re
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING

from engross.replies import REGISTRY, codes

from .controls import CONTROLS, NEVER_OWN
from .definition import FlowDefinitionError
from .names import is_kebab
from .typed import complaint_about

if TYPE_CHECKING:
    from .flow import Flow

DIALECTS = ("plain", "architecture", "memory", "documents")
EFFECTS = ("create", "update", "delete")
POSTURES = ("proposal", "direct")

_VERSION = re.compile(r"\d+\.\d+\.\d+(\+[0-9A-Za-z.-]+)?")
_PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_RATE = re.compile(r"[1-9]\d*/(second|minute|hour|day)|upload")


def verify(flow: Flow) -> None:
    """Raise, with every complaint, if the flow cannot work as defined."""
    complaints = [complaint for rule in _RULES if (complaint := rule(flow))]
    if complaints:
        raise FlowDefinitionError(flow.ref, complaints)


def _name(flow: Flow) -> str | None:
    if not is_kebab(flow.name):
        return f"{flow.name!r} is no name for a flow: use lower-case words joined by hyphens."
    return None


def _description(flow: Flow) -> str | None:
    return None if flow.description.strip() else "Say what it does: write a docstring."


def _version(flow: Flow) -> str | None:
    return None if _VERSION.fullmatch(flow.version) else f"The version {flow.version!r} is not of the form 1.0.0."


def _semantics(flow: Flow) -> str | None:
    if flow.kind == "read" and not flow.semantics.safe:
        return "A read changes nothing: leave semantics.safe on, or make it a record flow."
    if flow.kind != "read" and flow.semantics.safe:
        return "A safe flow is a read: define it with .read."
    return None


def _effect(flow: Flow) -> str | None:
    if flow.kind == "read" and flow.effect is not None:
        return "A read has no effect: drop effect."
    if flow.kind == "record" and flow.effect not in EFFECTS:
        return "A record flow says what it does to the record: give effect= create, update or delete."
    if flow.effect is not None and flow.effect not in EFFECTS:
        return f"The effect is create, update or delete, not {flow.effect!r}."
    return None


def _tier(flow: Flow) -> str | None:
    if flow.kind == "read":
        return None if flow.tier == 0 else "A read is tier 0: drop tier."
    return None if flow.tier in (1, 2, 3, 4) else f"The tier of a write is 1 (low) to 4 (critical), not {flow.tier}."


def _refuses(flow: Flow) -> str | None:
    for code in flow.refuses:
        if not isinstance(code, str) or code not in REGISTRY:
            meant = f"codes.{code}" if hasattr(codes, str(code)) else "a code of engross.replies.codes"
            return f"It cannot refuse with {code!r}, which is no reply code: give {meant}."
        entry = REGISTRY.entry(code)
        if entry.type == "S" or entry.status != "active":
            return f"It cannot refuse with {entry.key}: that is a success, or may not be sent."
    if len(set(flow.refuses)) < len(flow.refuses):
        return "A code is named twice in refuses: drop one of the two."
    return None


def _synchronous(flow: Flow) -> str | None:
    if iscoroutinefunction(flow.handler):
        return "Handlers are plain functions: define it without async."
    return None


def _inline(flow: Flow) -> str | None:
    return "Only a read can be inline: drop inline." if flow.inline and flow.writes else None


def _posture(flow: Flow) -> str | None:
    return None if flow.posture in POSTURES else f"The posture is proposal or direct, not {flow.posture!r}."


def _dialect(flow: Flow) -> str | None:
    return None if flow.dialect in DIALECTS else f"The dialect is one of {', '.join(DIALECTS)}, not {flow.dialect!r}."


def _rate(flow: Flow) -> str | None:
    if flow.rate is None or _RATE.fullmatch(flow.rate):
        return None
    return f"The rate {flow.rate!r} is neither of the form 100/minute (second, minute, hour or day) nor upload."


def _timeout(flow: Flow) -> str | None:
    return None if flow.timeout_seconds > 0 else "A flow needs time: give a timeout_seconds above 0."


def _arguments(flow: Flow) -> str | None:
    complaint = complaint_about(flow.arguments)
    return f"Arguments: {complaint}" if complaint else None


def _answers(flow: Flow) -> str | None:
    complaint = complaint_about(flow.answers) if flow.answers is not None else None
    return f"Answers: {complaint}" if complaint else None


def _state(flow: Flow) -> str | None:
    if flow.expects is not None and flow.expects not in flow.own_fields:
        return f"It expects {flow.expects!r}, which is none of its arguments: add the argument, or drop expects."
    if flow.state_at is not None and not _PLACE.fullmatch(flow.state_at):
        return f"state_at is a place in the answer, such as book.version, not {flow.state_at!r}."
    return None


def _controls(flow: Flow) -> str | None:
    strange = [name for name in flow.controls if name not in CONTROLS]
    if strange:
        return f"There is no control field {strange[0]!r}; they are {', '.join(CONTROLS)}."
    taken = [name for name in NEVER_OWN if name in flow.own_fields]
    if taken:
        return f"{taken[0]} is a control field with one meaning everywhere: take it out of the arguments."
    return None


_RULES = (
    *(_name, _description, _version, _semantics, _effect, _tier, _posture, _dialect, _rate, _timeout),
    *(_arguments, _answers, _state, _controls, _refuses, _synchronous, _inline),
)
