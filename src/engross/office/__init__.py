"""The office: everything put together, and what spans the domains."""

import logging

from engross.pipeline import Request

from .confirmation import confirm_token, declined
from .feed import Change, Feed
from .office import Office, Rebuilt, migrations
from .refusals import own_refusals, refusals_of
from .settings import Settings

# A library that nobody told where to log stays silent.
logging.getLogger("engross").addHandler(logging.NullHandler())

__all__ = [
    "Change",
    "Feed",
    "Office",
    "Rebuilt",
    "Request",
    "Settings",
    "confirm_token",
    "declined",
    "migrations",
    "own_refusals",
    "refusals_of",
]
