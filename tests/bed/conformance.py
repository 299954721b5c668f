"""The published MCP conformance suite, where npm can get it."""

from __future__ import annotations

from conformance.suite import Suite, SuiteMissing
from tests.bed.programs import Unavailable


def installed_suite() -> Suite:
    """The suite, installed now if it was not before."""
    try:
        return Suite()
    except SuiteMissing as reason:
        raise Unavailable(str(reason)) from reason
