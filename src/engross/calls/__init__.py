"""Frozen data about one call that every room may hold: who asks, for what, what would change, what was decided."""

from .answer import Answer, Errand
from .caller import Caller
from .context import NO_PINS, SURFACES, Context, Surface
from .decision import Decision, Verdict
from .ids import derived_id, new_message_id
from .instant import Clock, days_after, instant, instant_after, now, parse_instant
from .plan import FactDraft, Plan
from .principal import Principal, PrincipalType

__all__ = [
    "NO_PINS",
    "SURFACES",
    "Answer",
    "Caller",
    "Clock",
    "Context",
    "Decision",
    "Errand",
    "FactDraft",
    "Plan",
    "Principal",
    "PrincipalType",
    "Surface",
    "Verdict",
    "days_after",
    "derived_id",
    "instant",
    "instant_after",
    "new_message_id",
    "now",
    "parse_instant",
]
