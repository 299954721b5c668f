"""Tables come into being, and change, by numbered steps per room. Forward only.

The text of every step that ran is kept in the store, so that a backup carries the tables it needs with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import orjson

from engross.calls import instant, now
from engross.replies import Coded, Failed, codes

from .failures import FAILURES, translated
from .port import Engine
from .sql import WORDS, definition

EDITED = (
    "Put the old text of the step back, and make the change in a new step behind the last."
    " The store keeps the old text in the column source of its table migrations."
)


IN_THE_WAY = (
    "See that the step fits the tables that are there. Views, triggers, columns and tables that somebody added to the"
    " store by hand may be in its way: take them out first, and put them back behind it."
)


class Migration(NamedTuple):
    """One step of one room's tables, in the words of `store.sql`, or one text per engine."""

    room: str
    number: int
    name: str
    sql: str | Mapping[str, str]

    def text(self, engine: Engine) -> str:
        """The statements for an engine."""
        try:
            return definition(self.sql if isinstance(self.sql, str) else self.sql[engine], engine)
        except (KeyError, ValueError) as error:
            problem = {"problem": f"{error} is no word of ours", "allowed": sorted(WORDS[engine])}
            raise self.refused("Write it with the words that are allowed.", **problem) from error

    def refused(self, hint: str, **more: Any) -> Failed:
        """What is said of a step that cannot be used, and what whoever wrote it does about that."""
        data = {"step": self.name, **more, "suggestions": {"hint": hint}}
        return Failed(codes.CONFIG_INVALID, {"setting": f"migration {self.room} {self.number}"}, data=data)

    def lays_anew(self, engine: Engine) -> bool:
        """Whether it makes tables anew of those that are there, which needs room for their rows once more."""
        text = self.text(engine)
        return "INSERT INTO" in text and "DROP TABLE" in text

    @property
    def source(self) -> str:
        """The step as it is kept in the store."""
        return orjson.dumps(self.sql, option=orjson.OPT_SORT_KEYS).decode()

    @property
    def digest(self) -> str:
        """What tells a step that was edited after it ran."""
        return sha256(self.source.encode()).hexdigest()


class Executing(Protocol):
    """A raw connection of either engine."""

    def execute(self, sql: str, /) -> Any:
        """Run statements without parameters."""


def room(name: str, steps: Iterable[tuple[str, str | Mapping[str, str]]]) -> tuple[Migration, ...]:
    """A room's steps, numbered in their order."""
    return tuple(Migration(name, number, title, sql) for number, (title, sql) in enumerate(steps, start=1))


HISTORY = """
CREATE TABLE IF NOT EXISTS migrations (
    room       $text NOT NULL,
    number     $integer NOT NULL,
    name       $text NOT NULL,
    source     $text NOT NULL,
    digest     $text NOT NULL,
    applied_at $text NOT NULL,
    PRIMARY KEY (room, number)
)$clustered
"""

LOCK: Mapping[Engine, str] = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgres": "BEGIN; SELECT pg_advisory_xact_lock(727435)",
}

GUARD = """
DO $$ DECLARE t record; BEGIN
  FOR t IN SELECT c.table_name FROM information_schema.columns c JOIN pg_class k ON k.relname = c.table_name
      AND k.relnamespace = current_schema()::regnamespace
      WHERE c.column_name = 'tenant' AND c.table_schema = current_schema()
      AND c.table_name <> 'tenants' AND NOT k.relrowsecurity AND k.relkind = 'r'
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t.table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t.table_name);
    EXECUTE format('CREATE POLICY own_tenant ON %I USING (tenant = current_setting(''engross.tenant'', true))',
                   t.table_name);
  END LOOP;
END $$
"""


def migrate(
    connection: Executing,
    engine: Engine,
    known: Sequence[Migration],
    *,
    dry_run: bool = False,
    look: Callable[[Sequence[Migration]], None] = lambda steps: None,
) -> list[Migration]:
    """Run the steps that the store has not seen, all or none; with `dry_run`, only say which they are.

    `look` sees those that come to tables that are there already, before any runs, and may refuse them.
    """
    connection.execute(LOCK[engine])
    try:
        connection.execute(definition(HISTORY, engine))
        steps = pending(connection, known)
        if not dry_run:
            there = {row[0] for row in _history(connection)}
            look([step for step in steps if step.room in there])
            for step in steps:
                with translated(partial(_failure, step, engine)):
                    _apply(connection, engine, step)
            if steps and engine == "postgres":
                connection.execute(GUARD)
    except BaseException:
        # SQLite takes back by itself what it has no room for, and there is nothing left to take back.
        with suppress(Exception):
            connection.execute("ROLLBACK")
        raise
    connection.execute("ROLLBACK" if dry_run else "COMMIT")
    return steps


def pending(connection: Executing, known: Sequence[Migration]) -> list[Migration]:
    """The steps still to run. A store that is ahead of this program is refused."""
    applied = {(row[0], row[1]): row[2] for row in _history(connection)}
    for name in {step.room for step in known}:
        _refuse_newer(name, known, applied)
    for step in known:
        digest = applied.get((step.room, step.number))
        if digest not in (None, step.digest):
            raise step.refused(EDITED, problem="it was edited after it ran")
    return [step for step in known if (step.room, step.number) not in applied]


def applied_steps(rows: Iterable[Mapping[str, Any]]) -> list[Migration]:
    """The steps that a store's history holds, in the order they ran."""
    return [Migration(row["room"], row["number"], row["name"], orjson.loads(row["source"])) for row in rows]


def make_tables(connection: Executing, engine: Engine, step: Migration) -> None:
    """Run a step's statements."""
    cursor = connection.execute(step.text(engine))
    if engine == "sqlite":
        # The driver pauses at a statement that gives rows; those behind it run when the rows are fetched.
        cursor.fetchall()


def _refuse_newer(name: str, known: Sequence[Migration], applied: Mapping[tuple[str, int], str]) -> None:
    ours = max(step.number for step in known if step.room == name)
    theirs = max((number for room, number in applied if room == name), default=0)
    if theirs > ours:
        raise Failed(codes.STORE_NEWER, data={"room": name, "store": theirs, "program": ours})


def _history(connection: Executing) -> list[tuple[Any, ...]]:
    found = connection.execute("SELECT room, number, digest FROM migrations ORDER BY room, number")
    return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in found]


def _failure(step: Migration, engine: Engine, error: BaseException) -> BaseException:
    """What a step that failed means to whoever opens the store."""
    failure = FAILURES[engine](error)
    if failure is not error or isinstance(error, Coded):
        return failure
    return step.refused(IN_THE_WAY, problem=f"the store refuses it ({type(error).__name__})")


def _apply(connection: Executing, engine: Engine, step: Migration) -> None:
    make_tables(connection, engine, step)
    values = (step.room, str(step.number), step.name, step.source, step.digest, instant(now()))
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    connection.execute(f"INSERT INTO migrations (room, number, name, source, digest, applied_at) VALUES ({quoted})")
