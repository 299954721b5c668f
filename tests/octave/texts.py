"""Short texts, and what becomes of them."""

from __future__ import annotations

from engross.octave import OctaveError, emit, parse


def wrapped(body: str) -> str:
    """A body in an envelope."""
    return f"===D===\n{body}\n===END===\n"


def canonical(body: str) -> str:
    """The canonical text of a body."""
    text = emit(parse(wrapped(body)))
    return text.removeprefix("===D===\n").removesuffix("===END===\n").rstrip("\n")


def value(text: str) -> str:
    """How a value behind a key is written canonically."""
    return canonical(f"K::{text}").removeprefix("K::")


def code(text: str) -> str:
    """The code of the error that a text is refused with."""
    try:
        parse(text)
    except OctaveError as error:
        return error.code
    return "no error"
