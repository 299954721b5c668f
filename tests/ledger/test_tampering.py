"""One change anywhere in the ledger, whatever it is, is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engross.ledger.verify import Checkpoint, verify
from tests.ledger.cards import Desk, busy

KEYS = {"receipts": ("tenant", "position"), "facts": ("tenant", "position", "ordinal"), "seals": ("tenant", "number")}
Row = dict[str, Any]
ERASED_BY = 3


class Ledger:
    """A sealed ledger of two tenants, and copies of it to spoil."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "office.db"
        desk = Desk(self.path)
        busy(desk)
        for tenant in ("acme", "blue"):
            for number in range(3):
                desk.write_card(f"more-{number}", 0, "title", tenant)
                desk.seal(tenant)
        desk.close()
        self.public_key = desk.key.public
        self.checkpoint: Checkpoint = verify(self.path, public_key=self.public_key).checkpoint()
        connection = apsw.Connection(str(self.path))
        self.rows: dict[str, list[Row]] = {}
        for table, key in KEYS.items():
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY {', '.join(key)}")
            names = [column[0] for column in cursor.get_description()]
            self.rows[table] = [dict(zip(names, row, strict=True)) for row in cursor]
        connection.close()
        assert len(self.rows["receipts"]) == 30

    def copy(self, folder: str) -> tuple[Path, apsw.Connection]:
        path = Path(folder) / "office.db"
        shutil.copyfile(self.path, path)
        return path, apsw.Connection(str(path))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return Ledger(tmp_path_factory.mktemp("ledger"))


def where(table: str, row: Row) -> tuple[str, list[Any]]:
    key = KEYS[table]
    return " AND ".join(f"{column} = ?" for column in key), [row[column] for column in key]


def change(connection: apsw.Connection, table: str, row: Row, **values: Any) -> None:
    """Set columns of one row; text is written byte by byte, also where it is no text any more."""
    places = ", ".join(f"{column} = {'CAST(? AS TEXT)' if isinstance(row[column], str) else '?'}" for column in values)
    condition, key = where(table, row)
    given = [value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value for value in values.values()]
    try:
        connection.execute(f"UPDATE {table} SET {places} WHERE {condition}", [*given, *key])
    except apsw.ConstraintError:
        assume(False)


@st.composite
def flipped(draw: st.DrawFn, value: Any) -> Any:
    """A value with one bit changed; something instead of nothing."""
    if value is None:
        return draw(st.sampled_from(["", "x", b"x"]))
    if isinstance(value, int):
        return value ^ (1 << draw(st.integers(0, 40)))
    content = bytearray(value.encode() if isinstance(value, str) else value)
    assume(content)
    content[draw(st.integers(0, len(content) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(content).decode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(content)


@st.composite
def flips(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Flip one bit of one column of one row."""
    table = draw(st.sampled_from(sorted(KEYS)))
    row = draw(st.sampled_from(ledger.rows[table]))
    column = draw(st.sampled_from(sorted(row)))
    change(connection, table, row, **{column: draw(flipped(row[column]))})


@st.composite
def swaps(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Let two rows change places, or one value of each."""
    table = draw(st.sampled_from(sorted(KEYS)))
    one, other = draw(st.lists(st.sampled_from(ledger.rows[table]), min_size=2, max_size=2, unique_by=id))
    columns = draw(st.sampled_from([KEYS[table], *((column,) for column in one if column not in KEYS[table])]))
    assume(any(one[column] != other[column] for column in columns))
    if columns != KEYS[table]:
        change(connection, table, one, **{column: other[column] for column in columns})
        change(connection, table, other, **{column: one[column] for column in columns})
        return
    aside = {columns[-1]: -1}
    change(connection, table, one, **aside)
    change(connection, table, other, **{column: one[column] for column in columns})
    change(connection, table, {**one, **aside}, **{column: other[column] for column in columns})


@st.composite
def deletions(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Delete one row; not the last seal, which is a tail cut off."""
    table = draw(st.sampled_from(sorted(KEYS)))
    row = draw(st.sampled_from(ledger.rows[table]))
    last = max(each["number"] for each in ledger.rows["seals"])
    assume(table != "seals" or row["number"] != last)
    condition, key = where(table, row)
    connection.execute(f"DELETE FROM {table} WHERE {condition}", key)


@st.composite
def doublings(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Put one row in a second time, somewhere else."""
    table = draw(st.sampled_from(sorted(KEYS)))
    row = dict(draw(st.sampled_from(ledger.rows[table])))
    row[KEYS[table][-1]] += draw(st.integers(1, 1000))
    if table == "facts":
        row["version"] += draw(st.integers(1, 5))
    names, places = ", ".join(row), ", ".join("?" for _ in row)
    try:
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(row.values()))
    except apsw.ConstraintError:
        assume(False)


@st.composite
def fake_erasures(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Take a payload away as if it had been erased."""
    row = draw(st.sampled_from([row for row in ledger.rows["facts"] if row["payload"] is not None]))
    change(connection, "facts", row, payload=None, salt=None)


@st.composite
def cuts_inside(draw: st.DrawFn, ledger: Ledger, connection: apsw.Connection) -> None:
    """Cut off receipts with their facts, but leave the seals."""
    row = draw(st.sampled_from(ledger.rows["receipts"]))
    for table in ("receipts", "facts"):
        connection.execute(f"DELETE FROM {table} WHERE tenant = ? AND position >= ?", (row["tenant"], row["position"]))


MUTATIONS = [flips, swaps, deletions, doublings, fake_erasures, cuts_inside]
patient = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@pytest.mark.requirement("NEW-04")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@given(data=st.data())
@patient
def test_any_one_change_is_found(ledger: Ledger, mutation, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path, connection = ledger.copy(folder)
        data.draw(mutation(ledger, connection))
        connection.close()
        assert not verify(path, public_key=ledger.public_key).ok
        assert not verify(path, checkpoint=ledger.checkpoint).ok


@pytest.mark.requirement("NEW-04")
@given(tenant=st.sampled_from(["acme", "blue"]), keep=st.integers(0, 5))
@patient
def test_a_tail_cut_off_at_a_seal_is_found_with_a_checkpoint_only(ledger: Ledger, tenant: str, keep: int) -> None:
    with TemporaryDirectory() as folder:
        path, connection = ledger.copy(folder)
        upto = connection.execute(
            "SELECT coalesce(max(json_extract(body, '$.upto')), 0) FROM seals WHERE tenant = ? AND number <= ?",
            (tenant, keep),
        ).get
        connection.execute("DELETE FROM seals WHERE tenant = ? AND number > ?", (tenant, keep))
        for table in ("receipts", "facts"):
            connection.execute(f"DELETE FROM {table} WHERE tenant = ? AND position > ?", (tenant, upto))
        connection.close()
        alone = verify(path, public_key=ledger.public_key)
        # Whoever cuts off an erasure leaves payloads that are missing without a reason.
        assert alone.ok == (keep == 0 or keep >= ERASED_BY)
        assert "cut_off_tail" in {unknown.kind for unknown in alone.unknown}
        assert "cut_off" in {finding.kind for finding in verify(path, checkpoint=ledger.checkpoint).findings}


@pytest.mark.requirement("NEW-04")
@given(tenant=st.sampled_from(["acme", "blue"]), keep=st.integers(0, 5))
@patient
def test_seals_alone_cut_off_leave_receipts_that_are_not_sealed(ledger: Ledger, tenant: str, keep: int) -> None:
    with TemporaryDirectory() as folder:
        path, connection = ledger.copy(folder)
        connection.execute("DELETE FROM seals WHERE tenant = ? AND number > ?", (tenant, keep))
        connection.close()
        alone = verify(path, public_key=ledger.public_key)
        assert alone.ok
        assert alone.total.unsealed > 0
        assert "unsealed_receipts" in {unknown.kind for unknown in alone.unknown}
        assert "cut_off" in {finding.kind for finding in verify(path, checkpoint=ledger.checkpoint).findings}


def test_the_ledger_that_is_spoilt_here_verifies_as_it_is(ledger: Ledger) -> None:
    assert verify(ledger.path, public_key=ledger.public_key, checkpoint=ledger.checkpoint).ok


@pytest.mark.requirement("NEW-04")
@pytest.mark.parametrize("table", sorted(KEYS))
def test_a_row_of_a_tenant_whose_name_is_no_text_is_found(ledger: Ledger, table: str, tmp_path: Path) -> None:
    path, connection = ledger.copy(str(tmp_path))
    change(connection, table, ledger.rows[table][-1], tenant="blu\udce5")
    connection.close()
    report = verify(path, public_key=ledger.public_key)
    assert "unreadable" in {finding.kind for finding in report.findings}
