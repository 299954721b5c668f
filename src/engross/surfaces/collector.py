"""The garbage collector in a process that serves an office, and does nothing else."""

from __future__ import annotations

import gc

YOUNG = 20_000
"""So many new objects are waited for before cycles are looked for: those of all requests under way are far fewer."""


def let_begin() -> None:
    """Let the collector wait while the program is loaded: it would find nothing, some fifty times over."""
    gc.set_threshold(YOUNG)


def spare_what_stays() -> None:
    """Let the collector never again walk through what is there when serving begins: all of that stays to the end.

    Else every full collection would stop all calls for a tenth of a second.
    """
    gc.freeze()
    gc.set_threshold(YOUNG)
