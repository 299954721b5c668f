"""Who reads the daybook of an office."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engross.flows import Catalogue
from engross.office import Settings

from .daybook import Daybook
from .spans import spans_for


@contextmanager
def daybook_for(settings: Settings, catalogue: Catalogue, *, is_logged: bool) -> Iterator[Daybook]:
    """A daybook that is read for spans where the settings ask for them, and for the log."""
    daybook = Daybook()
    if is_logged:
        # Not everybody logs, and the libraries for it take their time.
        from .logs import CallLog

        daybook.readers.append(CallLog(catalogue).read)
    spans = spans_for(settings, catalogue)
    if spans is None:
        yield daybook
        return
    daybook.readers.append(spans.read)
    try:
        yield daybook
    finally:
        spans.close()
