"""Connections to a SQLite file, and reading rows from one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from .port import Engine, Params, Row
from .sql import for_apsw

STEPS_BETWEEN_LOOKS = 20_000
"""How many steps of SQLite's a reader takes before it looks whether its time is over."""


class Connection(apsw.Connection):
    """A connection that remembers the columns of the statements it has seen, and how long it may take."""

    def __init__(self, filename: str, **options: Any) -> None:
        super().__init__(filename, **options)
        self.columns: dict[str, tuple[str, ...]] = {}
        self.is_over: Callable[[], bool] = never
        # A cursor of its own for each statement would cost as much as a short one takes.
        self.run: Callable[..., object] = self.cursor().execute
        self.set_busy_handler(take_turns)
        self._place: tuple[Path, tuple[int, int]] | None = None

    def stay_at(self, path: Path) -> None:
        """Remember which file this is, so that it can be told from another one of that name."""
        self._place = path, _identity(path)

    @property
    def is_astray(self) -> bool:
        """Whether its file was taken away or replaced: what is written from now on, nobody will ever find."""
        if self._place is None:
            return False
        path, identity = self._place
        try:
            return _identity(path) != identity
        except OSError:
            return True


def _identity(path: Path) -> tuple[int, int]:
    about = os.stat(path)
    return about.st_dev, about.st_ino


def never() -> bool:
    """There is all the time in the world."""
    return False


def at_second_look() -> Callable[[], bool]:
    """Over at the second look: steps are counted over a statement's whole life, so the first may come at once."""
    looks = iter((False,))
    return lambda: next(looks, True)


def take_turns(tries: int) -> bool:
    """Wait a moment for whoever holds the file; False after half a minute of it."""
    # SQLite's own handler backs off to 100 ms, which starves one of two processes that both write.
    time.sleep(0.0005 if tries < 20 else 0.002)
    return tries < 15_000


class Severed(Connection):
    """Stands where a connection was that is no longer inside its unit's transaction: refuses everything."""

    def __init__(self, error: apsw.Error) -> None:
        super().__init__(":memory:")
        self._error = error
        self.run = self.execute

    def execute(self, *_: Any, **__: Any) -> apsw.Cursor:
        """Say again what ended the transaction."""
        raise self._error

    executemany = execute


class Selecting:
    """Queries of one tenant on one connection."""

    __slots__ = ("_connection", "tenant")

    engine: Engine = "sqlite"

    def __init__(self, connection: Connection, tenant: str) -> None:
        self._connection = connection
        self.tenant = tenant

    def rows(self, sql: str, params: Params) -> list[Row]:
        """All rows of a query."""
        params["tenant"] = self.tenant
        numbered, values = for_apsw(sql)
        cursor = self._connection.execute(numbered, values(params))
        names = self._connection.columns.get(sql)
        if names is None:
            return self._first_rows(sql, cursor)
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def watermark(self) -> int:
        """The last position that was committed when this look began."""
        return int(self._connection.execute("SELECT head FROM positions").get)

    def state(self) -> str:
        """Names what is committed, by the ledger's head: every unit that changes anything moves it."""
        return str(self.watermark())

    def _first_rows(self, sql: str, cursor: apsw.Cursor) -> list[Row]:
        """A cursor tells its columns only while it has a row; they are remembered from the first one on."""
        rows: list[Row] = []
        for row in cursor:
            names = self._connection.columns.get(sql) or tuple(column[0] for column in cursor.get_description())
            self._connection.columns[sql] = names
            rows.append(dict(zip(names, row, strict=True)))
        return rows
