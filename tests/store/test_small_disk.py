"""A real disk that is full, or cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from engross.ledger.verify import verify
from engross.replies import Failed, codes
from engross.store import Blobs, open_store
from engross.store.archive import back_up, restore
from tests.bed.small_disk import Disk, SmallDisk
from tests.ledger.cards import Desk, busy
from tests.store.archives import files_under
from tests.store.notes import ROOMS, note, notes

pytestmark = [pytest.mark.faults, pytest.mark.requirement("REL-04")]


def code_of(work: Callable[[], object]) -> str | None:
    """The code that some work fails with, if it does."""
    try:
        work()
    except Failed as failure:
        return failure.code
    return None


def write_until_full(disk: Disk) -> tuple[str | None, list[str], list[str]]:
    store = open_store(disk.folder / "office.db", ROOMS)
    disk.fill()
    kept, failure = [], None
    for number in range(1000):
        failure = code_of(partial(store.write, "acme", note(f"{number:03}", "x" * 20_000)))
        if failure is not None:
            break
        kept.append(f"{number:03}")
    seen = notes(store)
    disk.make_room()
    store.write("acme", note("after"))
    store.close()
    again = open_store(disk.folder / "office.db", ROOMS)
    assert notes(again) == [*kept, "after"]
    again.close()
    return failure, kept, seen


def test_a_full_disk_is_a_clean_failure_and_room_mends_it(small_disk: SmallDisk) -> None:
    failure, kept, seen = small_disk.run(8, write_until_full)
    assert failure == codes.STORE_FULL
    assert seen == kept


def put_on_a_full_disk(disk: Disk) -> tuple[str | None, int]:
    blobs = Blobs(disk.folder / "blobs", "acme")
    disk.fill()
    failure = code_of(lambda: blobs.put(b"x" * 100_000))
    left = sum(path.is_file() for path in (disk.folder / "blobs").rglob("*"))
    disk.make_room()
    assert blobs.get(blobs.put(b"x" * 100_000)) == b"x" * 100_000
    return failure, left


def test_a_blob_that_finds_no_room_is_not_there(small_disk: SmallDisk) -> None:
    assert small_disk.run(4, put_on_a_full_disk) == (codes.STORE_FULL, 0)


def back_up_to_a_full_disk(disk: Disk, place: Path) -> tuple[str | None, list[str]]:
    desk = Desk(place)
    busy(desk)
    disk.fill()
    failure = code_of(lambda: back_up(desk.store, disk.folder, disk.folder / "backup.zip"))
    left = sorted(files_under(disk.folder))
    disk.make_room()
    back_up(desk.store, disk.folder, disk.folder / "backup.zip")
    assert verify(disk.folder / "backup.zip").ok
    desk.close()
    return failure, left


def test_a_backup_that_finds_no_room_is_not_there(small_disk: SmallDisk, tmp_path: Path) -> None:
    failure, left = small_disk.run(4, back_up_to_a_full_disk, tmp_path / "office.db")
    assert (failure, left) == (codes.STORE_FULL, ["ballast"])


def restore_to_a_small_disk(disk: Disk, archive: Path) -> tuple[str | None, list[str]]:
    failure = code_of(lambda: restore(archive, disk.folder / "new" / "office.db", disk.folder / "new"))
    return failure, sorted(path.name for path in disk.folder.iterdir())


def test_a_restore_that_finds_no_room_leaves_nothing_behind(small_disk: SmallDisk, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "office.db")
    Blobs(tmp_path / "blobs", "acme").put(bytes(range(256)) * 20_000)
    busy(desk)
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    desk.close()
    assert small_disk.run(2, restore_to_a_small_disk, tmp_path / "backup.zip") == (codes.STORE_FULL, [])


def open_on_a_protected_disk(disk: Disk) -> tuple[str | None, list[str]]:
    store = open_store(disk.folder / "office.db", ROOMS)
    store.write("acme", note("before"))
    store.close()
    disk.protect()
    failure = code_of(lambda: open_store(disk.folder / "office.db", ROOMS))
    disk.release()
    store = open_store(disk.folder / "office.db", ROOMS)
    store.write("acme", note("after"))
    found = notes(store)
    store.close()
    return failure, found


def test_a_read_only_file_system_is_a_clean_failure(small_disk: SmallDisk) -> None:
    assert small_disk.run(8, open_on_a_protected_disk) == (codes.STORE_UNAVAILABLE, ["after", "before"])
