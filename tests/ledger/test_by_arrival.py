"""The ledger's long rows lie in the order in which they came, also in a store that was made when they did not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from engross.ledger import LEDGER_ROOM, find_key
from engross.ledger.verify import verify
from engross.replies import Failed
from engross.store import STORE_ROOM, room
from engross.store.archive import back_up, restore
from tests.ledger import cards
from tests.ledger.cards import Desk, busy
from tests.ledger.test_keys import FLOW, remember

TABLES = ("facts", "receipts", "keys")
REFUSED = (apsw.ConstraintError, Failed)
"""What either engine says to a row that is there already."""
BEFORE = (*STORE_ROOM, *LEDGER_ROOM[:3], *room("cards", cards.cards().migrations))


def contents(desk: Desk) -> dict[str, list[dict[str, object]]]:
    """All rows of those tables, of both tenants."""
    return {
        f"{tenant} {table}": sorted(desk.rows(f"SELECT * FROM {table} WHERE tenant = :tenant", tenant), key=repr)
        for tenant in ("acme", "blue")
        for table in TABLES
    }


@pytest.fixture
def old(location: str | Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A busy desk whose store is as this program made it before."""
    monkeypatch.setattr(cards, "ROOMS", BEFORE)
    desk = Desk(location, unit_seconds=20)
    busy(desk)
    for tenant in ("acme", "blue"):
        remember(desk, "kept", tenant, answer='{"code":"KEPT"}')
        desk.seal(tenant)
    yield desk
    desk.close()


def renewed(location: str | Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk of today over a store of before."""
    monkeypatch.undo()
    return Desk(location, unit_seconds=20)


@pytest.mark.requirement("ECO-08")
def test_a_store_of_before_keeps_every_row_and_verifies(
    old: Desk, location: str | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(old)
    old.close()
    desk = renewed(location, monkeypatch)
    assert contents(desk) == before
    assert all(before.values())
    desk.write_card("later", 0, "behind the old ones")
    desk.seal()
    report = verify(location, public_key=desk.key.public)
    assert (report.ok, report.total.unsealed) == (True, 0)
    desk.close()


@pytest.mark.requirement("ECO-08")
def test_what_could_not_come_twice_still_cannot(
    old: Desk, location: str | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old.close()
    desk = renewed(location, monkeypatch)
    stored = desk.store.write("acme", lambda transaction: find_key(transaction, FLOW, "kept"))
    assert stored is not None
    assert stored.answer == '{"code":"KEPT"}'
    with pytest.raises(REFUSED):
        remember(desk, "kept")
    with pytest.raises(REFUSED):
        desk.write_card("card-5", 0, "as if it were new")
    desk.close()


@pytest.mark.requirement("ECO-08")
def test_a_backup_of_before_is_restored_and_brought_up_to_date(
    old: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(old.store, tmp_path, tmp_path / "backup.zip", public_key=old.key.public)
    before, place = contents(old), tmp_path / "again.db"
    restore(tmp_path / "backup.zip", place, tmp_path / "restored")
    desk = renewed(place, monkeypatch)
    assert contents(desk) == before
    desk.close()


@pytest.mark.requirement("ECO-08")
@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE VIEW report AS SELECT subject FROM facts",
        "ALTER TABLE keys ADD COLUMN theirs TEXT",
        "CREATE TABLE facts_by_arrival (x TEXT)",
    ],
    ids=["a view", "a column", "a table"],
)
def test_what_somebody_put_in_the_way_is_told_and_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    path = tmp_path / "office.db"
    monkeypatch.setattr(cards, "ROOMS", BEFORE)
    desk = Desk(path)
    busy(desk)
    before = contents(desk)
    desk.close()
    connection = apsw.Connection(str(path))
    connection.execute(theirs)
    connection.close()
    monkeypatch.setattr(cards, "ROOMS", (*STORE_ROOM, *LEDGER_ROOM, *room("cards", cards.cards().migrations)))
    with pytest.raises(Failed) as refused:
        Desk(path)
    assert refused.value.params == {"setting": "migration ledger 4"}
    assert "Views, triggers, columns" in (refused.value.data or {})["suggestions"]["hint"]
    monkeypatch.setattr(cards, "ROOMS", BEFORE)
    desk = Desk(path)
    assert {table: len(rows) for table, rows in contents(desk).items()} == {k: len(v) for k, v in before.items()}
    desk.close()


def test_rows_as_long_as_a_page_lie_one_behind_the_other(tmp_path: Path) -> None:
    """In the order of their keys they would lie on a page each, and whole rows in the branches of the tree."""
    path = tmp_path / "office.db"
    desk = Desk(path)
    for number in range(60):
        desk.write_card(f"card {number}", 0, "x" * 1_200)
    desk.close()
    pages = apsw.Connection(str(path)).execute("SELECT count(*) FROM dbstat WHERE name = 'facts'").get
    assert pages < 40
