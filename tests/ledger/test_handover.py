"""One key takes over from another: where a store was restored without the old one, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import apsw
import orjson
import pytest

from engross.ledger import RESTORED, OfficeKey, Seal, last_seal, seal_receipts
from engross.ledger.canonical import canonical
from engross.ledger.checkpoint import Pin
from engross.ledger.verify import Checkpoint, Report, verify
from engross.replies import Failed, codes
from engross.store.archive import back_up, restore
from tests.ledger.cards import Desk, busy

OLD, NEW, THIEF = (OfficeKey(letter * 32) for letter in (b"o", b"n", b"t"))
SEALS_RESTORED = 3

pytestmark = pytest.mark.requirement("NEW-04")


class Restored(NamedTuple):
    """An office that was restored from another one's export, with a key of its own, and what is known elsewhere."""

    folder: Path
    desk: Desk
    elsewhere: Checkpoint

    def write(self, card: str) -> None:
        """One more sealed commit."""
        self.desk.write_card(card, 0, "t")
        self.seal(NEW, restored_at(self.folder))

    def seal(self, key: OfficeKey, restored: Checkpoint | None) -> None:
        """Seal what is not sealed yet."""
        now = self.desk.context().occurred_at
        assert self.desk.store.write("acme", lambda unit: seal_receipts(unit, key, now, restored))

    def forge(self, card: str, key: OfficeKey) -> None:
        """One more commit, with a seal whose key says that it takes over from the last one."""
        self.desk.write_card(card, 0, "t")
        last = self.last_seal()
        pin = Pin(last.number, last.digest, 0, last.body["key"])
        self.seal(key, Checkpoint(MappingProxyType({"acme": pin})))

    def intrude(self, card: str, key: OfficeKey) -> None:
        """One more commit, with a seal whose key says nothing of the one before."""
        self.forge(card, key)
        seal = self.last_seal()
        body = canonical({name: value for name, value in seal.body.items() if name != "takes_over"})
        told = f"body = '{body.decode()}', digest = '{sha256(body).hexdigest()}', signature = '{key.sign(body)}'"
        self.tamper(f"UPDATE seals SET {told} WHERE number = {seal.number}")

    def last_seal(self) -> Seal:
        """The end of the chain."""
        seal = self.desk.store.read("acme", last_seal)
        assert seal is not None
        return seal

    def tamper(self, sql: str) -> None:
        """Change rows behind the office's back."""
        connection = apsw.Connection(str(self.folder / "office.db"))
        connection.execute(sql).fetchall()
        connection.close()


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Restored]:
    """An office in which nothing was written since."""
    old = Desk(tmp_path / "old.db", OLD)
    busy(old, ("acme",))
    back_up(old.store, tmp_path, tmp_path / "export.zip", tenant="acme", public_key=OLD.public)
    old.close()
    checkpoint = verify(tmp_path / "export.zip", public_key=OLD.public).checkpoint()
    folder = tmp_path / "new"
    notes = {RESTORED: checkpoint.as_json(), "office.key": b"n" * 32}
    restore(tmp_path / "export.zip", folder / "office.db", folder, beside_key=lambda: notes)
    desk = Desk(folder / "office.db", NEW)
    yield Restored(folder, desk, checkpoint)
    desk.close()


def restored_at(folder: Path) -> Checkpoint:
    return Checkpoint.load(folder / "keys" / RESTORED)


def kinds(report: Report) -> set[str]:
    return {finding.kind for finding in report.findings}


def unknown(report: Report) -> set[str]:
    return {each.kind for each in report.unknown}


def tenures(report: Report) -> list[tuple[str, int, int]]:
    return [(each.public_key, each.first, each.last) for each in report.chains["acme"].keys]


def test_a_restored_office_verifies_before_it_has_signed_anything(restored: Restored) -> None:
    report = verify(restored.folder)
    assert report.ok
    assert tenures(report) == [(OLD.public, 1, 3)]
    assert {"own_key_unused", "key_from_store"} <= unknown(report)


def test_a_restored_office_carries_on_with_its_own_key_and_both_are_told(restored: Restored) -> None:
    restored.write("one")
    restored.write("two")
    report = verify(restored.folder)
    assert report.ok
    assert tenures(report) == [(OLD.public, 1, 3), (NEW.public, 4, 5)]
    assert unknown(report) == {"cut_off_tail", "handed_over", "key_from_store"}
    assert (report.public_key, report.key_source) == (NEW.public, "store")
    assert orjson.loads(orjson.dumps(report.as_data())) == report.as_data()
    bodies = [orjson.loads(row["body"]) for row in restored.desk.rows("SELECT body FROM seals WHERE tenant = :tenant")]
    assert [body.get("takes_over") for body in bodies] == [None, None, None, OLD.public, None]


def test_a_checkpoint_made_after_the_hand_over_names_the_new_key(restored: Restored) -> None:
    restored.write("one")
    checkpoint = verify(restored.folder).checkpoint()
    assert checkpoint.pins["acme"].public_key == NEW.public
    restored.write("two")
    assert verify(restored.folder, checkpoint=checkpoint).ok


@pytest.mark.parametrize(
    ("named", "fine", "told"),
    [
        ([OLD], False, False),
        ([NEW], True, True),
        ([OLD, NEW], True, False),
        ([THIEF], False, True),
        ([OLD, THIEF], False, False),
    ],
)
def test_only_the_keys_that_were_named_count(
    restored: Restored, named: list[OfficeKey], fine: bool, told: bool
) -> None:
    restored.write("one")
    report = verify(restored.folder, public_key=[key.public for key in named])
    assert report.ok == fine
    assert kinds(report) <= {"seal_by_other_key"}
    assert ("handed_over" in unknown(report)) == told


def test_a_checkpoint_of_the_old_office_needs_the_new_key_beside_it(restored: Restored) -> None:
    assert verify(restored.folder, checkpoint=restored.elsewhere).ok
    restored.write("one")
    assert kinds(verify(restored.folder, checkpoint=restored.elsewhere)) == {"seal_by_other_key"}
    both = verify(restored.folder, checkpoint=restored.elsewhere, public_key=NEW.public)
    assert both.ok
    assert unknown(both) == {"tail_since_checkpoint"}


def test_without_a_restore_a_new_key_takes_over_from_nobody(restored: Restored) -> None:
    (restored.folder / "keys" / RESTORED).unlink()
    restored.desk.write_card("one", 0, "t")
    with pytest.raises(Failed) as refused:
        restored.seal(NEW, None)
    assert refused.value.code == codes.CONFIG_INVALID
    report = verify(restored.folder)
    assert report.ok
    assert (report.total.seals, report.total.unsealed) == (SEALS_RESTORED, 1)
    restored.seal(OLD, None)
    assert verify(restored.folder).total.unsealed == 0, "whoever has the right key can seal it"


def test_a_key_that_sealed_without_taking_over_is_found(restored: Restored) -> None:
    (restored.folder / "keys" / RESTORED).unlink()
    restored.intrude("one", NEW)
    assert kinds(verify(restored.folder)) == {"seal_by_other_key"}
    assert verify(restored.folder, public_key=[OLD.public, NEW.public]).ok, "whoever knows both keys can say so"


def test_a_chain_that_went_on_since_it_was_restored_is_not_taken_over(restored: Restored) -> None:
    restored.desk.write_card("one", 0, "t")
    restored.seal(OLD, None)
    with pytest.raises(Failed):
        restored.write("two")
    restored.intrude("three", NEW)
    assert kinds(verify(restored.folder)) == {"seal_by_other_key"}


def test_an_office_that_gets_its_old_key_back_goes_on_with_it(restored: Restored) -> None:
    (restored.folder / "keys" / "office.key").write_bytes(b"o" * 32)
    restored.desk.write_card("one", 0, "t")
    restored.seal(OLD, restored_at(restored.folder))
    report = verify(restored.folder)
    assert report.ok
    assert tenures(report) == [(OLD.public, 1, 4)]


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_a_hand_over_to_a_key_that_is_not_the_folders_is_found(restored: Restored, noted: bool, used: bool) -> None:
    if used:
        restored.write("one")
    if not noted:
        (restored.folder / "keys" / RESTORED).unlink()
    restored.forge("forged", THIEF)
    assert kinds(verify(restored.folder)) == {"seal_by_other_key"}
    assert kinds(verify(restored.folder, public_key=[OLD.public, NEW.public])) == {"seal_by_other_key"}
    assert kinds(verify(restored.folder, checkpoint=restored.elsewhere)) == {"seal_by_other_key"}


def test_a_hand_over_from_a_key_that_did_not_make_the_seal_before_is_found(restored: Restored) -> None:
    restored.desk.write_card("one", 0, "t")
    pins = restored_at(restored.folder)
    restored.tamper(
        "UPDATE seals SET body = replace(body, '" + OLD.public + "', '" + THIEF.public + "') WHERE number = 3"
    )
    restored.seal(NEW, pins)
    restored.tamper(
        "UPDATE seals SET body = replace(body, '" + THIEF.public + "', '" + OLD.public + "') WHERE number = 3"
    )
    expected = {"seal_by_other_key", "chain_broken"}
    assert kinds(verify(restored.folder)) == expected
    assert "chain_broken" in kinds(verify(restored.folder, public_key=[OLD.public, NEW.public]))


def test_a_hand_over_that_was_written_in_later_is_found(restored: Restored) -> None:
    restored.intrude("one", THIEF)
    written_in = f'"takes_over":"{OLD.public}","tenant"'
    restored.tamper(f"""UPDATE seals SET body = replace(body, '"tenant"', '{written_in}') WHERE number = 4""")
    for report in (verify(restored.folder), verify(restored.folder, public_key=THIEF.public)):
        assert {"seal_altered", "seal_unsigned"} <= kinds(report)


def test_the_old_key_is_found_after_the_hand_over(restored: Restored) -> None:
    restored.write("one")
    restored.intrude("two", OLD)
    both = [OLD.public, NEW.public]
    for named in ([], [OLD.public], [NEW.public], both):
        assert "seal_by_other_key" in kinds(verify(restored.folder, public_key=named))


def test_the_old_key_cannot_take_over_again(restored: Restored) -> None:
    restored.write("one")
    restored.forge("two", OLD)
    both = [OLD.public, NEW.public]
    for named in ([], [OLD.public], [NEW.public], both):
        assert "seal_by_other_key" in kinds(verify(restored.folder, public_key=named))


def test_a_chain_cut_in_front_of_the_hand_over_is_found(restored: Restored) -> None:
    restored.write("one")
    upto = "(SELECT json_extract(body, '$.upto') FROM seals WHERE number = 3)"
    for table in ("facts", "receipts"):
        restored.tamper(f"DELETE FROM {table} WHERE position <= {upto}")
    restored.tamper(f"DELETE FROM seals WHERE number <= {SEALS_RESTORED}")
    for named in ([], [NEW.public]):
        assert {"seal_missing", "chain_broken"} <= kinds(verify(restored.folder, public_key=named))


def test_a_chain_cut_behind_the_hand_over_is_found_with_a_checkpoint_only(restored: Restored) -> None:
    restored.write("one")
    checkpoint = verify(restored.folder).checkpoint()
    cut(restored, SEALS_RESTORED)
    assert verify(restored.folder).ok, "it is the office as it was restored"
    assert "cut_off_tail" in unknown(verify(restored.folder))
    assert kinds(verify(restored.folder, public_key=NEW.public)) == {"seal_by_other_key"}
    assert "cut_off" in kinds(verify(restored.folder, checkpoint=checkpoint))


def test_what_was_restored_can_neither_be_cut_nor_written_anew_unnoticed(restored: Restored) -> None:
    cut(restored, SEALS_RESTORED - 1)
    assert "cut_off" in kinds(verify(restored.folder))
    restored.desk.write_card("told", 0, "another history")
    restored.seal(OLD, None)
    assert "rewritten" in kinds(verify(restored.folder)), "not even by the old key's holder"


def test_an_export_of_a_restored_office_verifies_and_is_taken_over_in_turn(restored: Restored, tmp_path: Path) -> None:
    restored.write("one")
    back_up(restored.desk.store, restored.folder, tmp_path / "second.zip", tenant="acme")
    report = verify(tmp_path / "second.zip")
    assert report.ok
    assert "handed_over" in unknown(report)
    folder = tmp_path / "third"
    notes = {RESTORED: report.checkpoint().as_json(), "office.key": b"3" * 32}
    restore(tmp_path / "second.zip", folder / "office.db", folder, beside_key=lambda: notes)
    assert verify(folder).ok
    third = Restored(folder, Desk(folder / "office.db"), report.checkpoint())
    third.desk.write_card("three", 0, "t")
    third.seal(OfficeKey(b"3" * 32), restored_at(folder))
    third.desk.close()
    last = verify(folder)
    assert last.ok
    assert [key for key, _, _ in tenures(last)] == [OLD.public, NEW.public, OfficeKey(b"3" * 32).public]


def test_a_backup_with_its_keys_knows_what_was_not_taken_over_yet(restored: Restored, tmp_path: Path) -> None:
    restored.desk.write_card("one", 0, "t", "blue")
    restored.desk.seal("blue")
    back_up(restored.desk.store, restored.folder, tmp_path / "whole.zip", public_key=NEW.public)
    assert verify(restored.folder).ok
    assert verify(tmp_path / "whole.zip").ok


def cut(restored: Restored, keep: int) -> None:
    """Leave so many seals, and what they cover."""
    upto = f"(SELECT json_extract(body, '$.upto') FROM seals WHERE number = {keep})"
    for table in ("facts", "receipts"):
        restored.tamper(f"DELETE FROM {table} WHERE position > {upto}")
    restored.tamper(f"DELETE FROM seals WHERE number > {keep}")
