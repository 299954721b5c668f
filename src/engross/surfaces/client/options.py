"""What may be said about a call besides its arguments, held to what it can mean before it goes either way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from engross.replies import Invalid, codes

LONGEST_SECONDS = 1_000_000.0
"""As good as for ever, and still a time that every clock on the way can count."""


class Options(TypedDict, total=False):
    """What may be said about a call besides its arguments."""

    dry_run: bool
    timeout: float | None
    traceparent: str | None
    tracestate: str | None
    correlation_id: str | None
    causation_id: str | None
    break_glass: bool
    pins: Mapping[str, str]


def checked(options: Options) -> Options:
    """The options as every office takes them; Invalid where one has a value that means nothing."""
    if not options:
        return options
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"{name!r} is no option of a call: use {', '.join(Options.__annotations__)}")
    if not isinstance(options.get("pins", {}), Mapping):
        raise Invalid(codes.VALIDATION_ERROR, {"problem": "pins are names with values"}, field="pins")
    seconds: object = options.get("timeout")
    if seconds is None:
        return options
    # What is no number is not above 0 either.
    if not isinstance(seconds, int | float) or not seconds >= 0:
        problem = "timeout takes a number of seconds, and none below 0"
        raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field="timeout")
    return {**options, "timeout": float(min(seconds, LONGEST_SECONDS))}
