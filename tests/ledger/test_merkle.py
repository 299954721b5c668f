"""The root of a Merkle tree."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.ledger.merkle import MerkleTree, merkle_root

digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
lists = st.lists(digests, max_size=40)
LEAVES = [sha256(bytes([number])).hexdigest() for number in range(64)]


def root_by_the_book(leaves: list[str]) -> bytes:
    """RFC 6962, section 2.1, as it is written there."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + bytes.fromhex(leaves[0])).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_by_the_book(leaves[:split]) + root_by_the_book(leaves[split:])).digest()


def streamed(leaves: list[str]) -> str:
    tree = MerkleTree()
    for leaf in leaves:
        tree.add(leaf)
    assert tree.leaves == len(leaves)
    return tree.root()


@pytest.mark.parametrize("count", range(33))
def test_the_root_is_that_of_the_standard(count: int) -> None:
    leaves = LEAVES[:count]
    assert merkle_root(leaves) == streamed(leaves) == root_by_the_book(leaves).hex()


@given(lists)
def test_leaves_that_come_one_by_one_have_the_same_root(leaves: list[str]) -> None:
    assert streamed(leaves) == merkle_root(leaves)


@pytest.mark.requirement("NEW-04")
@given(lists, lists)
def test_another_content_or_order_is_another_root(one: list[str], other: list[str]) -> None:
    assert (merkle_root(one) == merkle_root(other)) == (one == other)


@pytest.mark.requirement("NEW-04")
@given(st.lists(digests, min_size=2, max_size=40, unique=True), st.data())
def test_moving_dropping_doubling_or_changing_a_leaf_changes_the_root(leaves: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(leaves) - 1))
    other = data.draw(st.integers(0, len(leaves) - 1).filter(lambda number: number != place))
    swapped = [*leaves]
    swapped[place], swapped[other] = swapped[other], swapped[place]
    dropped = leaves[:place] + leaves[place + 1 :]
    doubled = leaves[: place + 1] + leaves[place:]
    changed = [*leaves]
    changed[place] = f"{int(changed[place][0], 16) ^ 1:x}" + changed[place][1:]
    for spoilt in (swapped, dropped, doubled, changed):
        assert merkle_root(spoilt) != merkle_root(leaves)


def test_a_node_cannot_pass_for_a_leaf() -> None:
    inner = (
        sha256(b"\x00" + bytes.fromhex(LEAVES[0])).hexdigest() + sha256(b"\x00" + bytes.fromhex(LEAVES[1])).hexdigest()
    )
    assert sha256(b"\x01" + bytes.fromhex(inner)).hexdigest() == merkle_root(LEAVES[:2])
    assert sha256(b"\x00" + bytes.fromhex(inner)).hexdigest() != merkle_root(LEAVES[:2])
