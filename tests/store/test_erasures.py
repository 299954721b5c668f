"""Bytes that nobody refers to: every crash leaves nothing to do, or something that whoever comes next does."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engross.store import (
    Arrivals,
    Blobs,
    Reading,
    Standing,
    Store,
    are_here_to_stay,
    erase_unreferenced,
    erasures,
    intend_erasure,
    intend_unless_held,
)
from engross.store.erasures import AT_ONCE
from tests.store.notes import rows, write_note

HELLO = sha256(b"hello").hexdigest()


class Crash(BaseException):
    """The process ends here."""


class Shelf:
    """A store, a tenant's blobs, and a judge who says of each what he was told."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.folder = folder / "blobs"
        self.blobs = Blobs(self.folder, "acme")
        self.standings: dict[str, Standing] = {}

    def judge(self, reading: Reading, digest: str) -> Standing:
        assert reading.tenant == "acme"
        return self.standings.get(digest, "free")

    def intend(self, *digests: str) -> None:
        def work(transaction: Any) -> None:
            intend_erasure(transaction, digests)
            write_note(transaction, "erased")

        self.store.write("acme", work)

    def erase(self) -> int:
        return erase_unreferenced(self.store, "acme", self.blobs, self.judge)

    def states(self) -> dict[str, str]:
        found = rows(self.store, "SELECT digest, state FROM erasures WHERE tenant = :tenant")
        return {row["digest"]: row["state"] for row in found}

    def stays(self, digest: str) -> bool:
        return self.store.write("acme", lambda transaction: are_here_to_stay(transaction, self.blobs, digest))


@pytest.fixture
def shelf(store: Store, tmp_path: Path) -> Shelf:
    return Shelf(store, tmp_path)


def test_bytes_that_are_free_go_and_not_even_their_digest_is_left(shelf: Shelf) -> None:
    shelf.blobs.put(b"hello")
    shelf.intend(HELLO, HELLO)
    assert shelf.erase() == 1
    assert (shelf.blobs.has(HELLO), shelf.states()) == (False, {})
    assert shelf.erase() == 0


def test_bytes_that_are_held_stay_and_nothing_is_left_to_do(shelf: Shelf) -> None:
    shelf.blobs.put(b"hello")
    shelf.standings[HELLO] = "held"
    shelf.intend(HELLO)
    assert (shelf.erase(), shelf.blobs.get(HELLO), shelf.states()) == (0, b"hello", {})


def test_bytes_that_are_awaited_are_looked_at_again(shelf: Shelf) -> None:
    shelf.blobs.put(b"hello")
    shelf.standings[HELLO] = "awaited"
    shelf.intend(HELLO)
    assert (shelf.erase(), shelf.blobs.has(HELLO), shelf.states()) == (0, True, {HELLO: "pending"})
    shelf.standings[HELLO] = "free"
    assert (shelf.erase(), shelf.blobs.has(HELLO)) == (1, False)


def test_more_than_are_settled_at_once_go_all(shelf: Shelf) -> None:
    digests = [shelf.blobs.put(bytes([number])) for number in range(AT_ONCE * 2 + 3)]
    shelf.standings[digests[3]] = "held"
    shelf.intend(*digests)
    assert shelf.erase() == len(digests) - 1
    assert list(shelf.blobs) == [digests[3]]


def test_what_came_in_is_told_once_and_not_before_its_time(shelf: Shelf) -> None:
    arrivals = Arrivals()
    blobs = Blobs(shelf.folder, "acme", arrivals)
    blobs.put(b"hello")
    with blobs.arriving() as arriving:
        arriving.write(b"hello there")
        there = arriving.keep()
    with blobs.arriving() as left:
        left.write(b"never kept")
    assert (arrivals.tenants(), arrivals.taken("acme", older_than=3600.0)) == (["acme"], [])
    assert arrivals.taken("other", older_than=0.0) == []
    assert arrivals.taken("acme", older_than=0.0) == sorted([HELLO, there])
    assert (arrivals.tenants(), arrivals.taken("acme", older_than=0.0)) == ([], [])


@pytest.mark.parametrize(("standing", "is_intended"), [("held", False), ("awaited", True), ("free", True)])
def test_of_what_came_in_all_is_looked_at_that_nothing_holds(
    shelf: Shelf, standing: Standing, is_intended: bool
) -> None:
    shelf.standings[shelf.blobs.put(b"hello")] = standing
    intend_unless_held(shelf.store, "acme", [HELLO], shelf.judge)
    assert shelf.states() == ({HELLO: "pending"} if is_intended else {})


def test_an_intent_is_gone_with_the_transaction_that_was_taken_back(shelf: Shelf) -> None:
    def work(transaction: Any) -> None:
        intend_erasure(transaction, [HELLO])
        raise Crash

    shelf.blobs.put(b"hello")
    with pytest.raises(Crash):
        shelf.store.write("acme", work)
    assert (shelf.erase(), shelf.blobs.has(HELLO)) == (0, True)


def _ends(function: Callable[..., Any], when: str) -> Callable[..., Any]:
    def ending(*args: Any) -> None:
        if when == "after":
            function(*args)
        raise Crash

    return ending


@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["_settle", "erase", "_forget"])
def test_a_crash_at_any_step_leaves_what_the_next_one_does(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    shelf.blobs.put(b"hello")
    shelf.intend(HELLO)
    owner: Any = Blobs if step == "erase" else erasures
    with monkeypatch.context() as ending:
        ending.setattr(owner, step, _ends(getattr(owner, step), when))
        with pytest.raises(Crash):
            shelf.erase()
    assert shelf.states() == {HELLO: "pending" if (step, when) == ("_settle", "before") else "going"}
    assert shelf.erase() == 1
    assert (shelf.blobs.has(HELLO), shelf.states()) == (False, {})
    shelf.blobs.put(b"hello")
    assert shelf.stays(HELLO)
    assert (shelf.erase(), shelf.blobs.has(HELLO)) == (0, True)


def test_whoever_names_bytes_is_told_whether_they_are_here_to_stay(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not shelf.stays(HELLO)
    shelf.blobs.put(b"hello")
    assert shelf.stays(HELLO)
    shelf.intend(HELLO)
    # Whoever settles it sees who named them before.
    assert shelf.stays(HELLO)
    with monkeypatch.context() as ending:
        ending.setattr(Blobs, "erase", _ends(Blobs.erase, "before"))
        with pytest.raises(Crash):
            shelf.erase()
    assert shelf.blobs.has(HELLO)
    assert not shelf.stays(HELLO)


def test_what_a_crash_left_staged_goes_with_the_bytes(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as ending:
        # Not even tidying up is possible any more.
        ending.setattr(os, "replace", crash)
        ending.setattr(os, "unlink", crash)
        with pytest.raises(Crash):
            shelf.blobs.put(b"hello")
    assert [path.read_bytes() for path in shelf.folder.rglob("*") if path.is_file()] == [b"hello"]
    shelf.blobs.put(b"hello")
    shelf.intend(HELLO)
    assert shelf.erase() == 1
    assert [path.name for path in shelf.folder.rglob("*") if path.is_file()] == [".erasing"]


def test_bytes_are_put_though_somebody_takes_the_staged_ones_away(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, taken = os.replace, list[str]()

    def lose_the_first(staged: Any, target: Any) -> None:
        if not taken:
            taken.append(HELLO)
            shelf.blobs.erase(HELLO)
        replace(staged, target)

    monkeypatch.setattr(os, "replace", lose_the_first)
    assert shelf.blobs.put(b"hello") == HELLO
    assert (shelf.blobs.get(HELLO), taken) == (b"hello", [HELLO])
