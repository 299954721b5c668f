"""Python: the office as a library."""

from .client import Client
from .connect import connect

__all__ = ["Client", "connect"]
