"""One SQL text for two engines: `:name` parameters, and a few words that differ in table definitions."""

from __future__ import annotations

import re
from functools import lru_cache
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


def _spelled(match: re.Match[str]) -> str:
    if match.group() == "%":
        return "%%"
    if name := match.group(1):
        return f"%({name})s"
    return match.group().replace("%", "%%")
