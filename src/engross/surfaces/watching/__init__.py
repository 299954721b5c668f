"""Watching: the daybook of the calls, and who reads it: the log and the spans. Whoever counts them reads it too."""

from .daybook import Daybook, Ended, Reader

__all__ = ["Daybook", "Ended", "Reader"]
