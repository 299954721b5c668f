"""Who reads the daybook of an office."""

from __future__ import annotations

import logging

from engross.flows import Catalogue
from engross.office import Settings

from .daybook import Daybook
from .spans import spans_for


def have_served_calls_read(daybook: Daybook, settings: Settings, catalogue: Catalogue) -> None:
    """Have calls read for the log, and for spans where the settings or OpenTelemetry's own variables ask for them."""
    _have_logged(daybook, catalogue)
    _have_traced(daybook, settings, catalogue, by_variables=True)


def have_piped_calls_read(daybook: Daybook, settings: Settings, catalogue: Catalogue, *, log_level: str | None) -> None:
    """Have calls read for the log if somebody wants it, and for spans where the settings ask for them.

    Variables that whoever starts the program has for purposes of their own are no wish of anybody's. And where nothing
    is logged, standard error stays silent.
    """
    if log_level is not None:
        from .logs import configure_logs

        configure_logs(log_level)
        _have_logged(daybook, catalogue)
    else:
        # What nobody takes, Python writes there by itself.
        logging.getLogger().addHandler(logging.NullHandler())
    _have_traced(daybook, settings, catalogue, by_variables=False)


def _have_logged(daybook: Daybook, catalogue: Catalogue) -> None:
    # Not everybody logs, and the libraries for it take their time.
    from .logs import CallLog

    daybook.readers.append(CallLog(catalogue).read)


def _have_traced(daybook: Daybook, settings: Settings, catalogue: Catalogue, *, by_variables: bool) -> None:
    spans = spans_for(settings, catalogue, by_variables=by_variables)
    if spans is not None:
        daybook.readers.append(spans.read)
        daybook.closing.append(spans.close)
