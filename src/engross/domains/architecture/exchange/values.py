"""Values of properties as text: a definition says how it is read, and only what comes back is written under it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from .texts import SHOWN_LANGUAGE

Value = str | int | float | bool | None
Variant = Mapping[str, str]

VALUES = "all_values"
"""Where all values of a property are kept that has several, or says their language."""
FIRST_SHOWN = "values"
"""Where they were kept when only the first of them was shown."""
TEXT, NUMBER, TRUTH = "string", "number", "boolean"
KINDS = (TEXT, NUMBER, TRUTH, "currency", "date", "time")
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_TRUTHS = {"true": True, "false": False}


def as_text(value: Any) -> str:
    """A value as files hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def as_value(text: str, kind: str) -> Value:
    """What a text means under a definition of this kind: the text itself, if nothing else is written just so.

    No number and no truth is an empty text, so that one stands for none.
    """
    if kind not in (NUMBER, TRUTH):
        return text
    if not text:
        return None
    value = _TRUTHS.get(text) if kind == TRUTH else _number(text)
    return value if value is not None and as_text(value) == text else text


def survives(value: Any, kind: str) -> bool:
    """Does the value come back from a definition of this kind as what it is?"""
    back = as_value(as_text(value), kind)
    return type(back) is type(value) and back == value


def usual_kind(value: Any) -> str:
    """The kind of definition under which a value comes back as what it is."""
    if value is None or isinstance(value, bool):
        return TRUTH
    return NUMBER if isinstance(value, int | float) else TEXT


def shown_values(values: Sequence[Variant]) -> tuple[str, int]:
    """All values of a property in the language that is shown, one a line, and how many they are."""
    spoken = [one.get("lang") for one in values]
    shown = next((lang for lang in (None, SHOWN_LANGUAGE) if lang in spoken), spoken[0] if spoken else None)
    told = [one["value"] for one in values if one.get("lang") == shown]
    return "\n".join(told), len(told)


def current(value: str, extra: Mapping[str, Any], name: str) -> list[list[Variant]]:
    """The values of a property, those together that say the same in several languages.

    What was kept of a file counts as long as it is what is shown.
    """
    kept = extra.get(VALUES, {}).get(name, ())
    if kept and shown_values(kept)[0] == value:
        return _by_language(kept)
    former = extra.get(FIRST_SHOWN, {}).get(name, ())
    if any(one["value"] == value for one in former):
        return _by_language(former)
    return [[{"value": value}]]


def _by_language(values: Sequence[Variant]) -> list[list[Variant]]:
    together: list[list[Variant]] = []
    spoken: set[str | None] = set()
    for one in values:
        if not together or one.get("lang") in spoken:
            together.append([])
            spoken.clear()
        spoken.add(one.get("lang"))
        together[-1].append(one)
    return together


def _number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return value if -(2**63) <= (value := int(text)) < 2**63 else None
    try:
        fraction = float(text)
    except ValueError:
        return None
    return fraction if isfinite(fraction) else None
