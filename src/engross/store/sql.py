"""One SQL text for two engines: `:name` parameters, and a few words that differ in table definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from string import Template
from typing import Any

from .port import Engine, Params

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


Values = Callable[[Params], Sequence[Any]]
"""Takes the values of a statement's parameters in their order."""


@lru_cache(maxsize=2048)
def for_apsw(sql: str) -> tuple[str, Values]:
    """The statement with numbered parameters, and what takes their values.

    SQLite finds the name of a parameter by walking through all names before it, each time it is bound.
    """
    names: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        name = match.group(1)
        return match.group() if name is None else f"?{names.setdefault(name, len(names) + 1)}"

    return _NAMED.sub(numbered, sql), _values_of(tuple(names))


def _values_of(names: tuple[str, ...]) -> Values:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda params: [params[name] for name in names]


@lru_cache(maxsize=512)
def one_row(table: str, columns: tuple[str, ...]) -> str:
    """A statement that inserts a row: its parameters are the tenant, then the columns in their order."""
    return f"INSERT INTO {table} (tenant, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"


@lru_cache(maxsize=512)
def many_rows(table: str, columns: tuple[str, ...], count: int) -> tuple[str, tuple[str, ...]]:
    """A statement that inserts so many rows at once, and what its parameters are called, row by row."""
    names = [[f"{column}_{number}" for column in columns] for number in range(count)]
    rows = ", ".join(f"(:tenant, {', '.join(f':{name}' for name in row)})" for row in names)
    sql = f"INSERT INTO {table} (tenant, {', '.join(columns)}) VALUES {rows}"
    return sql, tuple(name for row in names for name in row)


def about_tenant(sql: str, tenant: str) -> str:
    """A query whose only parameter is `:tenant`, about the one that another expression names."""
    return _NAMED.sub(lambda match: tenant if match.group(1) == "tenant" else match.group(), sql)


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
