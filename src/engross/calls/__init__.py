"""Frozen data about one call that every room may hold: who asks, for what, what would change, what was decided."""

from .answer import Answer, Errand
from .caller import DEFAULT_TENANT, Caller
from .context import NO_PINS, SURFACES, Context, Surface
from .conversation import CONVERSATION, Conversation, Question, ask, can_ask, remark, report, unanswered
from .decision import Decision, Verdict
from .ids import derived_id, new_message_id
from .instant import Clock, days_after, instant, instant_after, now, parse_instant, present, zoned_instant
from .overtaken import Overtaken
from .plan import FactDraft, Plan
from .principal import ROLES, Principal, PrincipalType, Role

__all__ = [
    "CONVERSATION",
    "DEFAULT_TENANT",
    "NO_PINS",
    "ROLES",
    "SURFACES",
    "Answer",
    "Caller",
    "Clock",
    "Context",
    "Conversation",
    "Decision",
    "Errand",
    "FactDraft",
    "Overtaken",
    "Plan",
    "Principal",
    "PrincipalType",
    "Question",
    "Role",
    "Surface",
    "Verdict",
    "ask",
    "can_ask",
    "days_after",
    "derived_id",
    "instant",
    "instant_after",
    "new_message_id",
    "now",
    "parse_instant",
    "present",
    "remark",
    "report",
    "unanswered",
    "zoned_instant",
]
