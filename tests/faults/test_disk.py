"""The disk is full, read-only or broken: a clean E, nothing by halves, and it goes on when the disk does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any
from unittest.mock import patch

import apsw
import orjson
import pytest

from engross.ledger.verify import verify
from engross.office import Office, Settings
from engross.office.examination import REMEDIES, examine
from engross.replies import REGISTRY, Failed, Reply, codes, record_crash
from engross.store import open_store
from engross.store.log import log_bytes
from engross.store.sqlite import ROOM_TO_LAY_ANEW, SqliteStore
from engross.surfaces.client import Client
from tests.bed.postgres import PostgresServer
from tests.bed.small_disk import Disk, SmallDisk
from tests.bed.unprivileged import Unprivileged
from tests.faults.audit import audit, read_books
from tests.faults.crash import copy_as_it_lies
from tests.faults.writer import open_office
from tests.ledger import cards
from tests.ledger.cards import Desk
from tests.ledger.test_by_arrival import BEFORE
from tests.store.faulty import FaultyDisk

pytestmark = [pytest.mark.faults, pytest.mark.requirement("REL-04")]
# Nothing that could be stored in less.
LONG = Random(0).randbytes(20_000).hex()


def add_book(client: Client, number: int) -> Reply:
    return client.call(
        "shelf.add-book",
        {"title": f"Book {number}", "notes": LONG, "client_request_id": f"book-number-{number}"},
    )


def told(answer: Reply) -> Mapping[str, Any]:
    """The fields of an answer."""
    return answer.data or {}


def opening_fails_with(open_it: Callable[[], Client]) -> str | None:
    """The message key with which an office does not open; None when it does."""
    try:
        open_it().close()
    except Failed as failure:
        return REGISTRY.entry(failure.code).key
    return None


def fill_up_and_recover(disk: Disk, client: Client, location: str | Path) -> dict[str, Any]:
    """Write until there is no room, look around, make room, and write what was refused."""
    record_crash(None, RuntimeError("so that the last block of the crash log is half full"))
    disk.fill()
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda number: add_book(client, number), range(200)))
    refused = [number for number, answer in enumerate(answers) if not answer.ok]
    shown = client.call("shelf.list-books", {"limit": 1})
    held = read_books(client)
    whole = verify(location).ok
    disk.make_room()
    again = [add_book(client, number) for number in refused[:10]]
    return {
        "refusals": {answer.message_key for answer in answers if not answer.ok},
        "acknowledged": len(answers) - len(refused),
        "held": len(held.facts),
        "shown": shown.ok,
        "whole": whole,
        "crashes": crashes_are_readable(client.office.settings.data),
        "again": {(answer.message_key, told(answer).get("idempotent_replay")) for answer in again},
        "facts": len(audit(client).facts),
        "expected": len(answers) - len(refused) + len(again),
    }


def crashes_are_readable(folder: Path) -> bool:
    """Whether every line of the crash log is a whole one."""
    return all(orjson.loads(line) for line in (folder / "logs" / "crashes.jsonl").read_bytes().splitlines())


def full_under_sqlite(disk: Disk) -> dict[str, Any]:
    folder = disk.folder / "office"
    with open_office(folder, None, disk.folder / "pages") as client:
        assert add_book(client, 5000).ok
        seen = fill_up_and_recover(disk, client, folder)
    return seen


def full_under_postgres(disk: Disk) -> dict[str, Any]:
    server = PostgresServer()
    try:
        dsn = server.create_database(disk.folder / "tables")
        with open_office(server.folder / "office", dsn, server.folder / "pages") as client:
            assert add_book(client, 5000).ok
            return fill_up_and_recover(disk, client, dsn)
    finally:
        server.stop()


@pytest.mark.parametrize(("store", "megabytes"), [("sqlite", 16), ("postgres", 32)])
def test_a_full_disk_refuses_cleanly_and_needs_nothing_but_room(
    small_disk: SmallDisk, request: pytest.FixtureRequest, store: str, megabytes: int
) -> None:
    if store == "postgres":
        request.getfixturevalue("postgres_server")
    seen = small_disk.run(megabytes, full_under_postgres if store == "postgres" else full_under_sqlite)
    assert seen["refusals"] == {"STORE_FULL"}
    assert seen["held"] == seen["acknowledged"] + 1
    assert seen["shown"]
    assert seen["whole"]
    assert seen["crashes"]
    assert seen["again"] == {("CREATED", False)}
    assert seen["facts"] == seen["expected"] + 1


def print_on_a_full_disk(disk: Disk) -> dict[str, Any]:
    with open_office(disk.folder / "office", None, disk.folder / "pages") as client:
        assert client.call("press.print-page", {"name": "cover", "text": "a cover"}).ok
        disk.fill()
        page = {"name": "cover", "text": "c" * 900_000, "client_request_id": "large-cover"}
        refused = client.call("press.print-page", page)
        left = [path.name for path in disk.folder.rglob("*.staged")]
        disk.make_room()
        again = client.call("press.print-page", page)
        audit(client, disk.folder / "pages")
    return {"refused": refused.message_key, "left": left, "again": again.message_key}


def test_a_file_that_does_not_fit_leaves_nothing_lying_about(small_disk: SmallDisk) -> None:
    seen = small_disk.run(8, print_on_a_full_disk)
    assert seen == {"refused": "STORE_FULL", "left": [], "again": "UPDATED"}


def lay_anew_on_a_full_disk(disk: Disk, looks: bool) -> dict[str, Any]:
    place = disk.folder / "office.db"
    with patch.object(cards, "ROOMS", BEFORE), closing(Desk(place)) as desk:
        for number in range(60):
            desk.write_card(f"card {number}", 0, LONG)
    disk.fill()
    disk.make_room(place.stat().st_size // 2)
    unlooked = nullcontext() if looks else patch.object(SqliteStore, "require_room", lambda store, steps: None)
    with unlooked, pytest.raises(Failed) as refused:
        Desk(place)
    told = refused.value.data or {}
    disk.make_room()
    with closing(Desk(place)) as desk:
        desk.write_card("later", 0, "when there was room")
        facts = desk.rows("SELECT count(*) AS found FROM facts WHERE tenant = :tenant")[0]["found"]
    return {
        "refused": REGISTRY.entry(refused.value.code).key,
        "told": sorted(told),
        "facts": facts,
        "whole": verify(place).ok,
    }


@pytest.mark.parametrize("looks", [True, False], ids=["looked at before", "found out on the way"])
def test_tables_that_cannot_be_laid_anew_stay_as_they_are_until_there_is_room(
    small_disk: SmallDisk, looks: bool
) -> None:
    seen = small_disk.run(32, lay_anew_on_a_full_disk, looks)
    told = ["free_bytes", "needed_bytes", "problem"] if looks else []
    assert seen == {"refused": "STORE_FULL", "told": told, "facts": 61, "whole": True}


def lay_anew_what_is_in_the_log(disk: Disk) -> dict[str, Any]:
    place, running = disk.folder / "office.db", disk.folder / "running"
    running.mkdir()
    with patch.object(cards, "ROOMS", BEFORE), closing(Desk(running / "office.db")) as desk:
        for number in range(60):
            desk.write_card(f"card {number}", 0, LONG)
        copy_as_it_lies(running, disk.folder)
    rmtree(running)
    in_file, in_log = place.stat().st_size, log_bytes(place)
    disk.fill()
    # Enough for what is in the file, were that all.
    disk.make_room(ROOM_TO_LAY_ANEW * in_file + 1_000_000)
    with pytest.raises(Failed) as refused:
        Desk(place)
    told = refused.value.data or {}
    return {
        "refused": REGISTRY.entry(refused.value.code).key,
        "mostly in the log": in_log > 10 * in_file,
        "needed": told.get("needed_bytes") == ROOM_TO_LAY_ANEW * (in_file + in_log),
        "whole": verify(place).ok,
    }


def test_the_room_that_laying_anew_needs_is_that_of_the_log_too(small_disk: SmallDisk) -> None:
    seen = small_disk.run(32, lay_anew_what_is_in_the_log)
    assert seen == {"refused": "STORE_FULL", "mostly in the log": True, "needed": True, "whole": True}


def open_on_a_full_disk(disk: Disk, new: bool) -> list[str | None]:
    opening = partial(open_office, disk.folder / "office", None, disk.folder / "pages")
    if not new:
        opening().close()
    disk.fill()
    full = opening_fails_with(opening)
    disk.make_room()
    return [full, opening_fails_with(opening)]


@pytest.mark.parametrize("new", [True, False], ids=["a new one", "one that was there"])
def test_an_office_on_a_full_disk_does_not_open_and_later_does(small_disk: SmallDisk, new: bool) -> None:
    assert small_disk.run(4, open_on_a_full_disk, new) == ["STORE_FULL", None]


def examine_on_a_full_disk(disk: Disk) -> dict[str, str | None]:
    settings = Settings(data=disk.folder / "office", domains="")
    Office(settings).close()
    disk.fill()
    return {finding.check: finding.advice for finding in examine(settings) if finding.status == "fail"}


def test_the_doctor_advises_to_make_room_on_a_full_disk(small_disk: SmallDisk) -> None:
    advice = small_disk.run(4, examine_on_a_full_disk)
    assert advice["store"] == REMEDIES[codes.STORE_FULL]


def open_on_a_read_only_disk(disk: Disk) -> list[str | None]:
    opening = partial(open_office, disk.folder / "office", None, disk.folder / "pages")
    disk.protect()
    fresh = opening_fails_with(opening)
    disk.release()
    with opening() as client:
        assert add_book(client, 1).ok
    disk.protect()
    used = opening_fails_with(opening)
    disk.release()
    with opening() as client:
        assert add_book(client, 1).ok
        assert len(audit(client).facts) == 1
    return [fresh, used]


def test_an_office_on_a_read_only_disk_does_not_open_and_later_does(small_disk: SmallDisk) -> None:
    assert small_disk.run(8, open_on_a_read_only_disk) == ["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]


def open_and_add(folder: Path, number: int) -> str | None:
    opening = partial(open_office, folder / "office", None, folder / "pages")
    if refusal := opening_fails_with(opening):
        return refusal
    with opening() as client:
        return add_book(client, number).message_key


def permit(folder: Path, *, writing: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod((0o700 if path.is_dir() else 0o600) if writing else (0o500 if path.is_dir() else 0o400))


def test_an_office_whose_folder_may_not_be_written_does_not_open_and_later_does(
    tmp_path: Path, unprivileged: Unprivileged
) -> None:
    assert unprivileged.run(open_and_add, tmp_path, 1) == "CREATED"
    permit(tmp_path / "office", writing=False)
    assert unprivileged.run(open_and_add, tmp_path, 2) == "STORE_UNAVAILABLE"
    permit(tmp_path / "office", writing=True)
    assert unprivileged.run(open_and_add, tmp_path, 2) == "CREATED"
    with open_office(tmp_path / "office", None, tmp_path / "pages") as client:
        assert len(audit(client).facts) == 2


def print_without_permission(folder: Path) -> list[list[str]]:
    pages = folder / "pages"
    pages.mkdir()
    with open_office(folder / "office", None, pages) as client:
        pages.chmod(0o500)
        answer = client.call("press.print-page", {"name": "cover", "text": "a cover"})
        outcome, before = [*told(answer)["published"].values()], os.listdir(pages)
        pages.chmod(0o700)
        client.office.tidy()
        return [outcome, before, os.listdir(pages)]


def test_a_page_that_may_not_be_written_waits_until_it_may(tmp_path: Path, unprivileged: Unprivileged) -> None:
    assert unprivileged.run(print_without_permission, tmp_path) == [["pending"], [], ["cover"]]


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    """A disk that fails on demand, under every office that opens."""
    disk = FaultyDisk()
    monkeypatch.setattr("engross.office.office.open_store", partial(open_store, vfs=disk.name))
    return disk


def test_a_write_that_could_not_be_synced_is_refused_and_can_be_repeated(faulty: FaultyDisk, tmp_path: Path) -> None:
    with open_office(tmp_path / "office", None, tmp_path / "pages", seal_seconds=3600.0) as client:
        assert add_book(client, 1).ok
        faulty.fail("sync", apsw.IOError)
        refused = [add_book(client, number) for number in (2, 3)]
        assert {answer.message_key for answer in refused} == {"STORE_UNAVAILABLE"}
        assert {told(answer).get("outcome") for answer in refused} == {"unknown"}
        assert len(read_books(client).facts) == 1
        faulty.heal()
        again = add_book(client, 2)
        assert told(again)["idempotent_replay"] is False
        assert len(audit(client).facts) == 2


def test_a_write_that_was_not_synced_and_outlives_a_crash_is_a_replay(faulty: FaultyDisk, tmp_path: Path) -> None:
    with open_office(tmp_path / "office", None, tmp_path / "pages", seal_seconds=3600.0) as client:
        assert add_book(client, 1).ok
        faulty.fail("sync", apsw.IOError)
        assert not add_book(client, 2).ok
        after = tmp_path / "after the crash"
        copy_as_it_lies(tmp_path / "office", after)
        faulty.heal()
    with open_office(after, None, tmp_path / "pages") as client:
        again = add_book(client, 2)
        assert told(again)["idempotent_replay"] is True
        assert len(audit(client).facts) == 2
