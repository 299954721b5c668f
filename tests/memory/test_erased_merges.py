"""What erasing leaves of merges: whoever is still told of can be read, and a rebuild agrees."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engross.domains.memory.ids import entity_id
from engross.domains.memory.tables import MIGRATIONS
from engross.ledger import LEDGER_ROOM
from engross.store import STORE_ROOM, Reading, Transaction, open_store, room
from tests.memory.kept import Library, done
from tests.memory.people import (
    confirmed,
    correct,
    fields,
    listed,
    merge,
    person,
    relate,
    retract,
    snapshot,
    tell,
    unmerge,
)


def told(library: Library, names: str) -> tuple[dict[str, str], dict[str, str]]:
    """People, each from a source of their own: their ids, and those of the sources, by name."""
    sources = {}
    for name in names:
        library.offices.clock.pass_(minutes=1)
        sources[name] = tell(library.clara, {"entity_type": "person", "name": name, "letter": name})["source_id"]
    return {name: entity_id("person", name) for name in names}, sources


def erase(library: Library, subject: str) -> None:
    """Erase a subject of Clara's memory."""
    library.offices.clock.pass_(minutes=1)
    admin = library.clara.as_("clara", "human", ["admin", "curator"])
    gone = confirmed(admin, "record.erase", {"aggregate": "memory", "subject": subject})
    assert gone.message_key == "ERASED"


def everyone(library: Library, **more: Any) -> tuple[set[str], int]:
    """The ids of all who are listed, and how many there are said to be."""
    answer = done(library.clara.call("memory.retrieve-entities", {"entity_type": "person", **more}))
    return {one["id"] for one in answer["entities"]}, answer["total"]


def rebuilt(library: Library) -> bool:
    """Whether the facts lead to the same state once more."""
    return library.clara.office.rebuild(library.tenant).same


@pytest.mark.requirement("MEM-22")
def test_who_was_merged_into_one_that_is_erased_speaks_for_itself(library: Library):
    ids, sources = told(library, "ABC")
    merge(library.clara, ids["A"], ids["B"])
    erase(library, sources["B"])
    seen = snapshot(library.clara, ids["A"])
    assert (seen["entity_id"], seen["snapshot"]["letter"], seen["observation_count"]) == (ids["A"], "A", 1)
    now = library.offices.clock().isoformat()
    assert snapshot(library.clara, ids["A"], at_ingested=now)["entity_id"] == ids["A"]
    gone = library.clara.call("memory.get-entity-snapshot", {"entity_id": ids["B"]})
    assert gone.message_key == "ENTITY_NOT_FOUND"
    both = {ids["A"], ids["C"]}
    assert everyone(library) == everyone(library, include_merged=True) == (both, 2)
    alone = library.clara.call("memory.unmerge-entities", {"entity_id": ids["A"]})
    assert alone.message_key == "ENTITY_NOT_MERGED"
    assert done(library.clara.call("memory.why-entity", {"ref": ids["A"]}))["reasons_in_all"] == 1
    correct(library.clara, ids["A"], "city", "Bern")
    assert fields(library.clara, ids["A"])["city"] == "Bern"
    assert rebuilt(library)


@pytest.mark.requirement("MEM-22")
def test_who_is_erased_and_told_of_again_speaks_again_for_whom_was_merged_into_it(library: Library):
    ids, sources = told(library, "AB")
    merge(library.clara, ids["A"], ids["B"])
    erase(library, sources["B"])
    person(library.clara, "B", city="Thun")
    assert snapshot(library.clara, ids["A"])["entity_id"] == ids["B"]
    assert fields(library.clara, ids["B"]) == {"name": "B", "letter": "A", "city": "Thun"}
    assert everyone(library) == ({ids["B"]}, 1)
    unmerge(library.clara, ids["A"])
    assert everyone(library) == ({ids["A"], ids["B"]}, 2)
    assert rebuilt(library)


@pytest.mark.requirement("MEM-22")
def test_both_erased_one_is_told_of_again_and_can_be_merged_elsewhere(library: Library):
    ids, sources = told(library, "ABC")
    merge(library.clara, ids["A"], ids["B"])
    erase(library, sources["A"])
    erase(library, sources["B"])
    assert everyone(library) == ({ids["C"]}, 1)
    person(library.clara, "A", letter="again")
    assert fields(library.clara, ids["A"])["letter"] == "again"
    merge(library.clara, ids["A"], ids["C"])
    assert snapshot(library.clara, ids["A"])["entity_id"] == ids["C"]
    # The later merge counts, also when the first one's survivor comes back.
    person(library.clara, "B")
    assert snapshot(library.clara, ids["A"])["entity_id"] == ids["C"]
    assert everyone(library) == ({ids["B"], ids["C"]}, 2)
    assert rebuilt(library)


@pytest.mark.requirement("MEM-22")
def test_a_chain_leads_to_the_last_who_was_not_erased(library: Library):
    ids, sources = told(library, "ABCD")
    for source, target in ("AB", "BC", "CD"):
        merge(library.clara, ids[source], ids[target])
    erase(library, sources["C"])
    assert {snapshot(library.clara, ids[name])["entity_id"] for name in "ABD"} == {ids["D"]}
    erase(library, sources["D"])
    assert {snapshot(library.clara, ids[name])["entity_id"] for name in "AB"} == {ids["B"]}
    assert snapshot(library.clara, ids["A"])["observation_count"] == 2
    assert everyone(library, include_merged=True) == ({ids["A"], ids["B"]}, 2)
    erase(library, sources["B"])
    assert everyone(library) == ({ids["A"]}, 1)
    person(library.clara, "C")
    assert {snapshot(library.clara, ids[name])["entity_id"] for name in "AC"} == {ids["C"]}
    assert rebuilt(library)


def test_two_that_were_one_only_by_a_third_can_be_related_once_that_is_erased(library: Library):
    ids, sources = told(library, "ABC")
    merge(library.clara, ids["A"], ids["C"])
    merge(library.clara, ids["B"], ids["C"])
    erase(library, sources["C"])
    done(relate(library.clara, "PART_OF", ids["A"], ids["B"]))
    assert relate(library.clara, "PART_OF", ids["B"], ids["A"]).message_key == "CYCLE_DETECTED"
    assert [one["target_entity_id"] for one in listed(library.clara, ids["A"])] == [ids["B"]]
    assert rebuilt(library)


def test_one_withdrawn_still_speaks_until_it_is_erased(library: Library):
    ids, sources = told(library, "AB")
    merge(library.clara, ids["A"], ids["B"])
    retract(library.clara, sources["B"])
    assert snapshot(library.clara, ids["A"])["entity_id"] == ids["B"]
    erase(library, sources["B"])
    assert snapshot(library.clara, ids["A"])["entity_id"] == ids["A"]
    assert rebuilt(library)


@pytest.mark.requirement("GOV-03")
def test_a_merge_is_erased_after_what_rested_on_it_was_undone(library: Library):
    ids, sources = told(library, "ABC")
    merge(library.clara, ids["A"], ids["B"])
    merge(library.clara, ids["B"], ids["C"])
    unmerge(library.clara, ids["A"])
    erase(library, f"clara/{ids['B']}")
    assert rebuilt(library)
    retract(library.clara, sources["B"])
    assert everyone(library) == ({ids["A"], ids["C"]}, 2)
    library.clara.office.rebuild("main", keep=True)
    assert everyone(library) == ({ids["A"], ids["C"]}, 2)


@pytest.mark.requirement("GOV-03")
def test_a_merge_of_a_user_who_is_called_schema_is_erased_like_any_other(library: Library):
    called = library.clara.as_("schema", "human", ["curator"])
    a, b = (person(called, name) for name in "AB")
    merge(called, a, b)
    erase(library, f"schema/{a}")
    assert snapshot(called, a)["entity_id"] == a
    assert rebuilt(library)


@pytest.mark.requirement("GOV-03")
@pytest.mark.parametrize("kind", ["note", "note/short", "ent_note"])
def test_a_schema_is_erased_whatever_its_type_is_called(small: Library, kind: str):
    fields_ = {"name": {"type": "string"}, "tags": {"type": "array"}}
    version = {"entity_type": kind, "schema_version": "1.0"}
    wish = {**version, "fields": fields_, "merge_policies": {"tags": {"strategy": "merge_array"}}}
    done(small.clara.call("memory.register-schema", wish))
    done(confirmed(small.clara, "memory.activate-schema", version))
    for tag in "xy":
        tell(small.clara, {"entity_type": kind, "name": "N", "tags": [tag]})
        small.offices.clock.pass_(minutes=1)
    noted = entity_id(kind, "N")
    assert fields(small.clara, noted)["tags"] == ["y", "x"]
    erase(small, f"schema/{kind}")
    assert fields(small.clara, noted)["tags"] == ["y"]
    assert done(small.clara.call("memory.list-schemas", {"entity_type": kind}))["total"] == 0
    assert rebuilt(small)


def rows_of(table: str, key: str, reading: Reading) -> list[dict[str, Any]]:
    """All rows of a table, in order."""
    return reading.rows(f"SELECT * FROM {table} WHERE tenant = :tenant ORDER BY {key}", {})


def test_a_store_in_which_the_erased_still_speak_is_mended(
    small: Library, store_kind: str, tmp_path: Path, request: Any
):
    ids, sources = told(small, "ABCDEFG")
    for source, target in ("AB", "BC", "DE", "FG"):
        merge(small.clara, ids[source], ids[target])
    retract(small.clara, sources["D"])
    for name in "CE":
        erase(small, sources[name])
    tables = {"memory_redirects": "from_id", "memory_entities": "id", "memory_directory": "entity_id"}
    mended = {table: small.rows(f"SELECT * FROM {table} ORDER BY {key}") for table, key in tables.items()}
    broken = {ids["A"]: ids["C"], ids["B"]: ids["C"], ids["D"]: ids["E"]}
    assert {row["entity_id"] for row in mended["memory_directory"]} == {ids["B"], ids["G"]}
    assert {row["id"]: row["survivor_id"] for row in mended["memory_entities"]} == {
        **{ids["A"]: ids["B"], ids["B"]: None, ids["D"]: ""},
        **{ids["F"]: ids["G"], ids["G"]: None},
    }

    def before(table: str, row: dict[str, Any]) -> dict[str, Any] | None:
        """The row as it was left by a program that let the erased speak."""
        one = row[tables[table]]
        if table == "memory_directory":
            return None if one in broken else row
        merged_at = "2026-11-16T09:08:00.000000Z" if table == "memory_entities" else row["merged_at"]
        absorbed = {"absorbed": 0, "merged_at": merged_at} if table == "memory_entities" else {}
        return {**row, "survivor_id": broken[one], **absorbed} if one in broken else row

    def fill(transaction: Transaction) -> None:
        for table, rows in mended.items():
            for row in filter(None, (before(table, row) for row in rows)):
                held = {name: value for name, value in row.items() if name != "tenant"}
                places = ", ".join(f":{name}" for name in held)
                transaction.execute(f"INSERT INTO {table} (tenant, {', '.join(held)}) VALUES (:tenant, {places})", held)

    where = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else tmp_path / "old.db"
    house = [*STORE_ROOM, *LEDGER_ROOM]
    old = open_store(where, [*house, *room("memory", MIGRATIONS[:2])])
    for tenant in ("main", "other"):
        old.write(tenant, fill)
    old.close()
    new = open_store(where, [*house, *room("memory", MIGRATIONS)])
    for tenant in ("main", "other"):
        for table, key in tables.items():
            found = new.read(tenant, partial(rows_of, table, key))
            assert found == [{**row, "tenant": tenant} for row in mended[table]], table
    new.close()
