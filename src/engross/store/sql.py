"""One SQL text for two engines: `:name` parameters, and a few words that differ in table definitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from string import Template

from .port import Engine

WORDS: dict[Engine, dict[str, str]] = {
    "sqlite": {"text": "TEXT", "integer": "INTEGER", "bytes": "BLOB", "clustered": " WITHOUT ROWID"},
    "postgres": {"text": 'TEXT COLLATE "C"', "integer": "BIGINT", "bytes": "BYTEA", "clustered": ""},
}

_NAMED = re.compile(r"'(?:[^']|'')*'|::\w+|:([a-z_][a-z0-9_]*)|%")


def definition(sql: str, engine: Engine) -> str:
    """A migration's text with the engine's own words filled in (`$text`, `$integer`, `$bytes`, `$clustered`)."""
    return Template(sql).substitute(WORDS[engine])


@lru_cache(maxsize=2048)
def for_psycopg(sql: str) -> str:
    """`:name` as psycopg spells it. Quoted text and `::casts` stay."""
    return _NAMED.sub(_spelled, sql)


def as_one(statements: Sequence[str]) -> str:
    """Several statements as a single one, with the parameters of the n-th called `:name_n`."""
    return _joined(tuple(statements))


@lru_cache(maxsize=512)
def _joined(statements: tuple[str, ...]) -> str:
    *first, last = (_NAMED.sub(partial(_numbered, number=n), sql) for n, sql in enumerate(statements))
    if not first:
        return last
    parts = ", ".join(f"part_{n} AS ({sql})" for n, sql in enumerate(first))
    return f"WITH {parts} {last}"


def _numbered(match: re.Match[str], number: int) -> str:
    name = match.group(1)
    return f":{name}_{number}" if name and name != "tenant" else match.group()


def _spelled(match: re.Match[str]) -> str:
    if match.group() == "%":
        return "%%"
    if name := match.group(1):
        return f"%({name})s"
    return match.group().replace("%", "%%")
