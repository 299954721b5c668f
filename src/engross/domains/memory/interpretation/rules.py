"""The rules by which documents are recognised and read, from the file that states them; compiled when first needed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .dates import PATTERN as DATE
from .money import AMOUNT, NUMBER

Kind = Literal["token", "name", "names", "money", "number", "date", "currency", "email", "phone"]

LONGEST_NAME = 120

_RULES = Path(__file__).with_name("rules.toml")
_BETWEEN = r"\s*(?:[:#=]|\bis\b)?\s*"
_VALUES: dict[str, str] = {
    "token": r"(?P<value>(?=[\w\-/.]*\d)[A-Za-z0-9][\w\-/.]{0,80}\w|\d)",
    "name": rf"(?P<value>[^\s:#|][^\n]{{0,{LONGEST_NAME}}})",
    "names": r"(?P<value>[^\s:#|][^\n]{0,600})",
    "money": rf"(?P<value>{AMOUNT})",
    "number": rf"(?P<value>{NUMBER})",
    "date": rf"(?P<value>{DATE}|\d[\d/.\-]{{3,20}})",
    "email": r"(?P<value>[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8})",
    "phone": r"(?P<value>\+?\d[\d\s().\-]{5,24}\d)",
}


class Field(NamedTuple):
    """A field of a type: what kind of value it has, and how it is found."""

    name: str
    kind: Kind
    patterns: tuple[re.Pattern[str], ...]


class Signs(NamedTuple):
    """What a type is recognised by."""

    cues: tuple[re.Pattern[str], ...]
    filename: re.Pattern[str] | None


@cache
def signs() -> dict[str, Signs]:
    """The signs of every type, in the order in which types are preferred."""
    return {
        kind: Signs(
            tuple(_compiled(cue) for cue in rule["cues"]),
            _compiled(rule["filename"]) if "filename" in rule else None,
        )
        for kind, rule in _stated().items()
    }


@cache
def fields_known(kind: str) -> tuple[Field, ...]:
    """The fields that documents of a type can have."""
    stated = _stated().get(kind, {}).get("fields", {})
    return tuple(Field(name, rule["kind"], _patterns(rule)) for name, rule in stated.items())


def _patterns(rule: dict[str, Any]) -> tuple[re.Pattern[str], ...]:
    return tuple(
        _compiled(f"(?:{label}){_BETWEEN if label else ''}{_VALUES[rule['kind']]}") for label in rule["labels"]
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    # Blanks are not given back once they are taken: a page of them would be gone over again and again.
    thrifty = pattern.replace(r"\s+", r"\s++").replace(r"\s*", r"\s*+")
    return re.compile(thrifty.replace("{date}", DATE), re.IGNORECASE)


@cache
def _stated() -> dict[str, Any]:
    import tomllib

    return tomllib.loads(_RULES.read_text(encoding="utf-8"))
