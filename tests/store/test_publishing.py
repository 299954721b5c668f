"""Files as published copies of blobs: every crash leaves nothing to do, or something that recovery does."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from engross.replies import Failed, codes
from engross.store import Blobs, Publication, Store, file_digest, publish
from engross.store.publishing import pending_publications
from tests.store.notes import note, notes, rows, write_note


class Crash(BaseException):
    """The process ends here."""


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


class Press:
    """A store, its blobs and a file to publish."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.blobs = Blobs(folder / "blobs", "acme")
        self.file = folder / "out" / "deep" / "file.txt"

    def intend(self, content: bytes, replaces: bytes | None, identifier: str, file: Path | None = None) -> None:
        """Put the blob, and commit the intent with a note."""
        replaced = None if replaces is None else digest(replaces)
        publication = Publication(identifier, str(file or self.file), self.blobs.put(content), replaced)

        def work(transaction) -> None:
            publication.intend(transaction)
            write_note(transaction, identifier)

        self.store.write("acme", work)

    def publish(self) -> dict[str, str]:
        return dict(publish(self.store, "acme", self.blobs))

    def states(self) -> dict[str, str]:
        found = rows(self.store, "SELECT id, state FROM effects WHERE tenant = :tenant")
        return {row["id"]: row["state"] for row in found}


@pytest.fixture
def press(store: Store, tmp_path: Path) -> Press:
    return Press(store, tmp_path)


def test_a_file_is_published_with_its_folder_and_mode(press: Press) -> None:
    press.intend(b"new", None, "1")
    assert press.publish() == {"1": "done"}
    assert press.file.read_bytes() == b"new"
    assert press.file.stat().st_mode & 0o777 == 0o644
    assert press.states() == {"1": "done"}
    assert press.publish() == {}


def test_a_file_is_replaced_if_it_is_what_it_was_taken_for(press: Press) -> None:
    press.intend(b"old", None, "1")
    press.publish()
    press.intend(b"new", b"old", "2")
    assert press.publish() == {"2": "done"}
    assert press.file.read_bytes() == b"new"


@pytest.mark.parametrize("replaces", [None, b"old"])
def test_what_somebody_else_wrote_is_left_alone(press: Press, replaces: bytes | None) -> None:
    press.file.parent.mkdir(parents=True)
    press.file.write_bytes(b"theirs")
    press.intend(b"new", replaces, "1")
    assert press.publish() == {"1": "conflict"}
    assert press.file.read_bytes() == b"theirs"
    assert press.states() == {"1": "conflict"}
    assert press.publish() == {}


def test_a_file_that_somebody_took_away_is_a_conflict(press: Press) -> None:
    press.intend(b"new", b"old", "1")
    assert press.publish() == {"1": "conflict"}
    assert not press.file.exists()


def test_an_intent_of_a_unit_that_failed_is_none(press: Press) -> None:
    publication = Publication("1", str(press.file), press.blobs.put(b"new"), None)

    def work(transaction) -> None:
        publication.intend(transaction)
        raise Crash

    with pytest.raises(Crash):
        press.store.write("acme", work)
    assert press.publish() == {}
    assert not press.file.exists()


def crash_in(patch: pytest.MonkeyPatch, place: str, press: Press) -> None:
    def crash(*args: object, **kwargs: object) -> None:
        raise Crash

    def crash_afterwards(action: Callable[..., object]) -> Callable[..., None]:
        def act(*args: object, **kwargs: object) -> None:
            action(*args, **kwargs)
            raise Crash

        return act

    if place == "while staging":
        patch.setattr(os, "fsync", crash)
    elif place == "before the rename":
        patch.setattr(os, "replace", crash)
    elif place == "after the rename":
        patch.setattr(os, "replace", crash_afterwards(os.replace))
    else:
        patch.setattr(press.store, "write", crash)
    # Who dies does not tidy up.
    patch.setattr(os, "unlink", lambda path: None)


@pytest.mark.faults
@pytest.mark.parametrize("place", ["while staging", "before the rename", "after the rename", "before the mark"])
def test_wherever_publishing_crashes_recovery_completes_it(
    press: Press, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    press.intend(b"old", None, "1")
    press.publish()
    press.intend(b"new", b"old", "2")
    with monkeypatch.context() as patch:
        crash_in(patch, place, press)
        with pytest.raises(Crash):
            press.publish()
    assert press.states()["2"] == "pending"
    assert press.file.read_bytes() in (b"old", b"new")
    assert press.publish() == {"2": "done"}
    assert press.file.read_bytes() == b"new"


@pytest.mark.faults
def test_several_versions_of_one_file_survive_a_crash_before_any_is_marked(
    press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    for identifier, content, replaces in (("1", b"a", None), ("2", b"b", b"a"), ("3", b"c", b"b")):
        press.intend(content, replaces, identifier)
    with monkeypatch.context() as patch:
        crash_in(patch, "before the mark", press)
        with pytest.raises(Crash):
            press.publish()
    assert press.file.read_bytes() == b"c"
    assert press.publish() == {"1": "done", "2": "done", "3": "done"}
    assert press.file.read_bytes() == b"c"


def test_what_the_disk_refuses_stays_pending_and_holds_nothing_else_up(press: Press, tmp_path: Path) -> None:
    stolen = tmp_path / "stolen"
    stolen.mkdir()
    press.intend(b"one", None, "1", stolen)
    press.intend(b"two", None, "2")
    with pytest.raises(Failed) as raised:
        press.publish()
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert press.states() == {"1": "pending", "2": "done"}
    stolen.rmdir()
    assert press.publish() == {"1": "done"}
    assert stolen.read_bytes() == b"one"


def test_a_tenant_publishes_only_its_own(press: Press) -> None:
    press.intend(b"new", None, "1")
    press.store.write("blue", note("other"))
    assert pending_publications(press.store, "blue") == []
    assert publish(press.store, "blue", press.blobs) == {}
    assert notes(press.store) == ["1"]


def test_a_file_that_is_not_there_has_no_digest(tmp_path: Path) -> None:
    assert file_digest(tmp_path / "none") is None
