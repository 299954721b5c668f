"""The office: everything put together, and what spans the domains."""

import logging

from engross.pipeline import Request

from .office import Office, Rebuilt, migrations
from .settings import Settings

# A library that nobody told where to log stays silent.
logging.getLogger("engross").addHandler(logging.NullHandler())

__all__ = ["Office", "Rebuilt", "Request", "Settings", "migrations"]
