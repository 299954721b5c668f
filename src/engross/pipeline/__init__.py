"""The path of a call, one module per stage."""

from .afterwards import take_up_errands
from .answers import Answers, MemoryAnswers, RedisAnswers, fresh_since
from .fittings import Fittings
from .flights import Flights
from .path import walk
from .perform import (
    Performed,
    author_context,
    moved_since,
    perform,
    prepare,
    refuse_stale,
    stale,
)
from .request import Request
from .steps import Steps, adrive, drive
from .workers import Workers

__all__ = [
    "Answers",
    "Fittings",
    "Flights",
    "MemoryAnswers",
    "Performed",
    "RedisAnswers",
    "Request",
    "Steps",
    "Workers",
    "adrive",
    "author_context",
    "drive",
    "fresh_since",
    "moved_since",
    "perform",
    "prepare",
    "refuse_stale",
    "stale",
    "take_up_errands",
    "walk",
]
