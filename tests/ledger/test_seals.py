"""Seals: each tenant's own chain, behind the watermark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from threading import Event

import orjson
import pytest

from engross.ledger import OfficeKey, canonical, last_seal, signed_by
from engross.ledger.merkle import merkle_root
from tests.ledger.cards import Desk


def receipts(desk: Desk, tenant: str = "acme") -> list[dict[str, object]]:
    return desk.rows("SELECT position, digest FROM receipts WHERE tenant = :tenant ORDER BY position", tenant)


@pytest.mark.requirement("NEW-04")
def test_a_seal_covers_the_receipts_since_the_last_one_and_that_one(desk: Desk) -> None:
    for number in range(3):
        desk.write_card(str(number), 0, "t")
    first = desk.seal()
    for number in range(3, 5):
        desk.write_card(str(number), 0, "t")
    second = desk.seal()
    assert first is not None
    assert second is not None
    found = receipts(desk)
    digests = [str(row["digest"]) for row in found]
    assert (first.body["previous"], first.body["after"], first.body["receipts"]) == (None, 0, 3)
    assert first.body["upto"] == found[2]["position"]
    assert first.body["root"] == merkle_root(digests[:3])
    assert (second.body["previous"], second.body["after"]) == (first.digest, first.body["upto"])
    assert second.body["root"] == merkle_root(digests[3:])
    assert [first.number, second.number] == [1, 2]


@pytest.mark.requirement("NEW-04")
def test_a_seal_is_signed_by_the_office(desk: Desk) -> None:
    desk.write_card("one", 0, "t")
    desk.seal()
    (row,) = desk.rows("SELECT digest, signature, body FROM seals WHERE tenant = :tenant")
    text = row["body"].encode()
    assert text == canonical(orjson.loads(text))
    assert sha256(text).hexdigest() == row["digest"]
    assert signed_by(desk.key.public, text, row["signature"])
    assert not signed_by(OfficeKey(b"x" * 32).public, text, row["signature"])
    assert not signed_by(desk.key.public, text + b" ", row["signature"])


def test_there_is_nothing_to_seal_twice(desk: Desk) -> None:
    assert desk.seal() is None
    desk.write_card("one", 0, "t")
    assert desk.seal() is not None
    assert desk.seal() is None


def test_every_tenant_has_a_chain_of_its_own(desk: Desk) -> None:
    for tenant in ("acme", "blue", "acme"):
        desk.write_card(f"card-{len(receipts(desk, tenant))}", 0, "t", tenant)
        desk.seal(tenant)
    chains = {
        tenant: [row["number"] for row in desk.rows("SELECT number FROM seals WHERE tenant = :tenant", tenant)]
        for tenant in ("acme", "blue")
    }
    assert chains == {"acme": [1, 2], "blue": [1]}
    last = desk.store.read("blue", last_seal)
    assert last is not None
    assert last.body["tenant"] == "blue"
    assert last.body["previous"] is None


def test_a_commit_that_is_not_finished_is_left_to_the_next_seal(desk: Desk) -> None:
    desk.write_card("done", 0, "t")
    entered, gate = Event(), Event()

    def slow(unit) -> None:
        unit.append("Written", "slow", 0, {"title": "t", "colour": None})
        entered.set()
        assert gate.wait(15)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(desk.commit, slow)
        assert entered.wait(15)
        sealing = pool.submit(desk.seal)
        if desk.store.engine == "postgres":
            desk.write_card("overtaking", 0, "t")
            sealing.result()
            seal = desk.seal()
            assert seal is None, "what overtook the slow one waits with it"
        gate.set()
        writing.result()
        sealing.result()
    desk.seal()
    seals = desk.rows("SELECT body FROM seals WHERE tenant = :tenant ORDER BY number")
    assert sum(orjson.loads(row["body"])["receipts"] for row in seals) == len(receipts(desk))


def test_sealers_in_several_threads_make_one_chain(desk: Desk) -> None:
    for number in range(4):
        desk.write_card(str(number), 0, "t")
        with ThreadPoolExecutor(3) as pool:
            for sealing in [pool.submit(desk.seal) for _ in range(3)]:
                sealing.result()
    rows = desk.rows("SELECT number, body FROM seals WHERE tenant = :tenant ORDER BY number")
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(orjson.loads(row["body"])["receipts"] for row in rows) == 4


def test_a_long_stretch_is_sealed_in_pieces(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engross.ledger.seals.LARGEST_SEAL", 2)
    for number in range(5):
        desk.write_card(str(number), 0, "t")
    pieces = []
    while seal := desk.seal():
        pieces.append(seal.body["receipts"])
    assert pieces == [2, 2, 1]
