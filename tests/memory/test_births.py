"""Entities and what was observed about them lie in the order in which they were first heard of."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engross.domains.memory.tables import MIGRATIONS
from engross.ledger import LEDGER_ROOM
from engross.store import STORE_ROOM, Reading, open_store, room
from engross.surfaces.client import connect
from tests.memory.kept import Library
from tests.memory.people import approve, confirmed, retract, tell

MOVED = ("memory_entities", "memory_observations", "memory_runs", "facts")
ADDED = {"memory_observations": {"born", "fact", "withdrawn_position"}}
SAID = [
    {"entity_type": "person", "name": "Ann", "email": "ann@example.org"},
    {"entity_type": "person", "name": "Bob"},
    {"entity_type": "company", "name": "Acme Corp", "domain": "acme.example"},
]


def everything(library: Library) -> dict[str, list[dict[str, Any]]]:
    """All rows that the step moves."""
    return {table: library.rows(f"SELECT * FROM {table} WHERE tenant = :tenant ORDER BY id") for table in MOVED}


def rows_of(table: str, reading: Reading) -> list[dict[str, Any]]:
    """All rows of a table."""
    return reading.rows(f"SELECT * FROM {table} WHERE tenant = :tenant ORDER BY id", {})


def said(library: Library) -> dict[str, list[dict[str, Any]]]:
    """The rows that a few observations leave."""
    assert library.clara.call("memory.ingest-structured", {"entities": SAID}).ok
    assert library.clara.call("memory.ingest-structured", {"entities": [{**SAID[0], "email": "ann@home.example"}]}).ok
    return everything(library)


@pytest.mark.requirement("ECO-08")
def test_rows_of_a_store_from_before_are_laid_out_anew(small, store_kind, tmp_path, request):
    said(small)
    proposed = tell(small.agent, SAID[1], {**SAID[0], "email": "ann@work.example"}, commit_mode="proposal")
    proposal = proposed["proposal"]["id"]
    for priority in (200, 300):
        again = [{"entity_type": "person", "name": "Cid"}, SAID[0]]
        tell(small.agent, *again, source_priority=priority, proposal_id=proposal)
    approve(small.clara, proposal)
    retract(small.clara, tell(small.clara, {"entity_type": "person", "name": "Dan"}, SAID[1])["source_id"])
    rows = everything(small)
    assert {row["fact"] for row in rows["memory_observations"]} == {0, 1, 2}
    assert sorted(row["entities_created"] for row in rows["memory_runs"]) == [0, 0, 0, 1, 1, 3]
    where = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else tmp_path / "old.db"
    house = [*STORE_ROOM, *LEDGER_ROOM]
    old = open_store(where, [*house, *room("memory", MIGRATIONS[:1])])
    tenants = ("acme", "umbrella")

    def fill(transaction: Any) -> None:
        for table, kept in rows.items():
            for row in kept:
                held = {name: row[name] for name in row.keys() - {"tenant", *ADDED.get(table, ())}}
                if table == "memory_runs":
                    held["entities_created"] = 7
                places = ", ".join(f":{name}" for name in held)
                transaction.execute(f"INSERT INTO {table} (tenant, {', '.join(held)}) VALUES (:tenant, {places})", held)

    for tenant in tenants:
        old.write(tenant, fill)
    old.close()
    new = open_store(where, [*house, *room("memory", MIGRATIONS)])
    for tenant in tenants:
        for table, kept in rows.items():
            found = new.read(tenant, partial(rows_of, table))
            assert found == [{**row, "tenant": tenant} for row in kept]
    assert new.read("stranger", partial(rows_of, "memory_entities")) == []
    new.close()


def test_what_was_observed_moves_with_its_entity_when_its_first_source_is_erased(library):
    said(library)
    first, second = library.rows(
        "SELECT DISTINCT record_id, position FROM memory_observations WHERE tenant = :tenant ORDER BY position"
    )
    admin = library.clara.as_("clara", "human", ["admin", "curator"])
    assert confirmed(
        admin, "record.erase", {"aggregate": "memory", "subject": first["record_id"], "reason": "asked"}
    ).ok
    (ann,) = library.rows("SELECT id, born FROM memory_entities WHERE tenant = :tenant")
    (left,) = library.rows("SELECT entity_id, born, position FROM memory_observations WHERE tenant = :tenant")
    assert left == {"entity_id": ann["id"], "born": ann["born"], "position": second["position"]}
    assert ann["born"] >> 20 == second["position"]
    assert len(library.clara.call("memory.list-observations", {"entity_id": ann["id"]}).data["observations"]) == 1
    assert library.clara.office.rebuild("main").same


def test_memory_begins_where_there_is_no_room_to_lay_anything_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(tmp_path / "office", domains="memory") as office:
        monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=0))
        assert office.call("memory.list-schemas", {}).ok
