"""What the store really holds, seen from outside."""

from __future__ import annotations

from typing import Any

from engross.surfaces.client import Client


def rows(client: Client, sql: str, **params: Any) -> list[dict[str, Any]]:
    """What a query finds in the caller's tenant."""
    return client.office.store.read(client.tenant, lambda reading: reading.rows(sql, params))


def count(client: Client, table: str) -> int:
    """How many rows of the caller's tenant a table holds."""
    return int(rows(client, f"SELECT count(*) AS found FROM {table} WHERE tenant = :tenant")[0]["found"])


def change(client: Client, sql: str, **params: Any) -> int:
    """Do to the store what no flow would."""
    return client.office.store.write(client.tenant, lambda transaction: transaction.execute(sql, params))


def everything(client: Client) -> dict[str, list[str]]:
    """Every row of every table that the caller's tenant can see, positions included; seals come when it suits them."""
    connection: Any = client.office.store.connect()
    try:
        if client.office.store.engine == "postgres":
            connection.execute(f"SELECT set_config('engross.tenant', '{client.tenant}', false)")
            tables = "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()"
        else:
            tables = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        names = [_first(row) for row in connection.execute(tables).fetchall()]
        return {
            name: sorted(repr(row) for row in connection.execute(f"SELECT * FROM {name}").fetchall())
            for name in sorted(names)
            if name != "seals"
        }
    finally:
        connection.close()


def holds(client: Client, text: str) -> list[str]:
    """The tables in which a text stands."""
    return [name for name, found in everything(client).items() if any(text in row for row in found)]


def _first(row: Any) -> str:
    return str(next(iter(row.values())) if isinstance(row, dict) else row[0])
