"""A store whose seals are by another key than the folder's: nothing is signed behind them unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import pytest

from engross.ledger import Seal, newest_seals
from engross.ledger.verify import Report, verify
from engross.office import Settings
from engross.office.examination import examine
from engross.office.maintenance import verify_ledger
from engross.replies import Failed, codes
from engross.store import Store
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices, shelf
from tests.bed.patience import eventually

pytestmark = pytest.mark.requirement("NEW-04")


class Places:
    """The folder of an office, and another one beside the same rows: those on a server, or a copy of its file."""

    def __init__(self, offices: Offices, tmp_path: Path) -> None:
        self.store = offices.store
        self.right, self.wrong = offices.folder, tmp_path / "elsewhere"
        with self.open(self.right) as office:
            assert office.shelf.add_book(title="Dune").ok
        self.wrong.mkdir()
        if self.store is None:
            copy(self.right / "office.db", self.wrong)

    def open(self, folder: Path, **settings: Any) -> Client:
        """An office there."""
        return connect(folder, shelf(), store=self.store, **settings)

    def settings(self, folder: Path) -> Settings:
        """How it is set up."""
        return Settings(data=folder, store=self.store, domains="")

    def verified(self, folder: Path) -> Report:
        """What a verification from there finds."""
        return verify(self.store or folder, keys=folder / "keys")

    def complaints(self, folder: Path) -> list[str]:
        """The checks that fail there."""
        return [finding.check for finding in examine(self.settings(folder)) if finding.status == "fail"]

    def take_over(self, folder: Path) -> None:
        """What the hint advises."""
        told = folder / "keys" / "restored.json"
        verify_ledger(self.settings(folder), checkpoint=None, public_key=(), save_checkpoint=told)


def code_of(work: Callable[[], object]) -> str | None:
    """The code that some work fails with, if it does."""
    try:
        work()
    except Failed as refused:
        return refused.code
    return None


@pytest.fixture
def places(offices: Offices, tmp_path: Path) -> Places:
    """An office with a book, closed."""
    return Places(offices, tmp_path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_without_a_key_gets_none_beside_seals_of_another_one(places: Places, read_only: bool) -> None:
    with pytest.raises(Failed) as refused:
        places.open(places.wrong, read_only=read_only)
    assert refused.value.code == codes.CONFIG_INVALID
    assert refused.value.data is not None
    assert refused.value.data["file"] == str(places.wrong / "keys" / "office.key")
    assert refused.value.data["hint"]
    assert list((places.wrong / "keys").iterdir()) == []
    assert places.complaints(places.wrong) == ["seals"]
    assert places.verified(places.right).ok


def test_a_checkpoint_that_is_none_of_these_seals_gets_it_no_key_either(places: Places) -> None:
    (places.wrong / "keys").mkdir()
    (places.wrong / "keys" / "restored.json").write_text("{}")
    assert code_of(lambda: places.open(places.wrong)) == codes.CONFIG_INVALID
    assert not (places.wrong / "keys" / "office.key").exists()


def test_a_folder_with_a_key_of_its_own_seals_nothing_behind_those_of_another_one(
    places: Places, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(places.wrong / "of its own", shelf()) as own:
        assert own.shelf.add_book(title="Emma").ok
    copytree(places.wrong / "of its own" / "keys", places.wrong / "keys")
    with places.open(places.wrong, seal_seconds=3600.0) as office:
        assert office.shelf.add_book(title="Ulysses").ok
        eventually(lambda: code_of(office.office.seal) == codes.CONFIG_INVALID)
    assert any("another key" in record.getMessage() for record in caplog.records)
    report = places.verified(places.wrong)
    assert report.ok
    assert report.total.unsealed == 1
    assert places.complaints(places.wrong) == ["seals"]


def test_with_the_keys_of_the_office_the_other_folder_goes_on_as_it(places: Places) -> None:
    copytree(places.right / "keys", places.wrong / "keys")
    with places.open(places.wrong) as office:
        assert office.shelf.add_book(title="Ulysses").ok
    report = places.verified(places.wrong)
    assert report.ok
    assert (report.total.unsealed, [len(chain.keys) for chain in report.chains.values()]) == (0, [1])
    assert places.complaints(places.wrong) == []


@pytest.mark.parametrize("has_key", [False, True])
def test_another_key_takes_over_on_the_record_when_it_is_told_to(places: Places, tmp_path: Path, has_key: bool) -> None:
    if has_key:
        connect(tmp_path / "own", shelf()).close()
        copytree(tmp_path / "own" / "keys", places.wrong / "keys")
    else:
        with pytest.raises(Failed):
            places.open(places.wrong)
    places.take_over(places.wrong)
    with places.open(places.wrong) as office:
        assert office.shelf.add_book(title="Ulysses").ok
    report = places.verified(places.wrong)
    assert report.ok
    assert (report.total.unsealed, [len(chain.keys) for chain in report.chains.values()]) == (0, [2])
    assert places.complaints(places.wrong) == []


def test_a_key_that_another_process_made_meanwhile_is_no_other_key(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile: list[Client] = []

    def while_another_opens(store: Store) -> list[Seal]:
        monkeypatch.setattr("engross.office.office.newest_seals", newest_seals)
        meanwhile.append(offices.open())
        assert meanwhile[0].shelf.add_book(title="Dune").ok
        eventually(lambda: meanwhile[0].office.seal() > 0 or any(True for _ in newest_seals(store)))
        return list(newest_seals(store))

    monkeypatch.setattr("engross.office.office.newest_seals", while_another_opens)
    assert offices.open().office.public_key == meanwhile[0].office.public_key
