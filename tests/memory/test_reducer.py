"""The reducer: what wins, and that neither order nor batches change a byte."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.domains.memory.reducer import (
    CORRECTION,
    Claimed,
    merge,
    provenance_of,
    read,
    reduced,
    snapshot_of,
    written,
)
from engross.domains.memory.schema import LAST_WRITE, STRATEGIES, TIE_BREAKERS, Policy

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2, width=16) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=1), inner, max_size=2),
    max_leaves=4,
)
CLAIMS = st.builds(
    Claimed,
    st.integers(0, 30).map(lambda number: f"obs_{number:02d}"),
    st.integers(0, 4).map(lambda day: f"2025-01-0{day + 1}T00:00:00.000000Z"),
    st.sampled_from([0, 100, 100, CORRECTION]),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.dictionaries(st.sampled_from("abc"), JSON, max_size=3),
)
POLICIES = st.dictionaries(
    st.sampled_from("abc"),
    st.builds(Policy, st.sampled_from(STRATEGIES), st.sampled_from(TIE_BREAKERS)).map(
        lambda policy: LAST_WRITE if policy == LAST_WRITE else policy
    ),
)
OBSERVED = st.lists(CLAIMS, max_size=12, unique_by=lambda claim: claim.id)


def claim(identifier: str, at: int, value: Any, priority: int = 0, specificity: float | None = 0.5) -> Claimed:
    return Claimed(f"obs_{identifier}", f"2025-01-{at:02d}T00:00:00.000000Z", priority, specificity, {"f": value})


def value(*claims: Claimed, policy: Policy = LAST_WRITE) -> Any:
    """The value that all orders of the claims agree about."""
    found = [snapshot_of(reduced(order, {"f": policy})) for order in permutations(claims)]
    assert all(one == found[0] for one in found)
    return found[0].get("f")


@pytest.mark.requirement("REL-08", "MEM-31", "MEM-33")
@settings(max_examples=300, deadline=None)
@given(OBSERVED, POLICIES, st.randoms(use_true_random=False), st.integers(1, 5))
def test_neither_order_nor_batches_change_a_byte(claims, policies, chance, batches):
    whole = written(reduced(claims, policies))
    shuffled = list(claims)
    chance.shuffle(shuffled)
    assert written(reduced(shuffled, policies)) == whole
    boards = [reduced(shuffled[start::batches], policies) for start in range(batches)]
    chance.shuffle(boards)
    together = boards[0]
    for board in boards[1:]:
        merge(together, board, policies)
    assert written(together) == whole
    assert written(read(whole)) == whole


@settings(max_examples=200, deadline=None)
@given(OBSERVED, POLICIES)
def test_every_field_has_its_provenance_and_no_field_is_null(claims, policies):
    board = reduced(claims, policies)
    snapshot = snapshot_of(board)
    assert list(snapshot) == list(provenance_of(board))
    assert None not in snapshot.values()
    ids = {one.id for one in claims}
    assert {one for told in provenance_of(board).values() for one in told.split(",") if one} <= ids


@settings(max_examples=200, deadline=None)
@given(OBSERVED, POLICIES)
def test_a_correction_wins_whatever_the_strategy(claims, policies):
    snapshot = snapshot_of(reduced(claims, policies))
    for field in "abc":
        corrections = [one for one in claims if one.priority >= CORRECTION and field in one.fields]
        if corrections:
            newest = max(one.at for one in corrections)
            winner = min((one for one in corrections if one.at == newest), key=lambda one: one.id)
            assert snapshot.get(field) == winner.fields[field]


@pytest.mark.requirement("MEM-31")
def test_the_last_write_wins_by_default_and_of_two_at_once_the_lower_id():
    assert value(claim("a", 1, "old"), claim("b", 2, "new")) == "new"
    assert value(claim("b", 1, "higher"), claim("a", 1, "lower")) == "lower"
    assert value(claim("a", 1, "old", priority=500), claim("b", 2, "new", priority=1)) == "new"


@pytest.mark.requirement("MEM-31")
def test_the_other_strategies_and_their_tie_breakers():
    by_priority = Policy("highest_priority")
    assert value(claim("a", 1, "more", 100), claim("b", 2, "less", 50), policy=by_priority) == "more"
    assert value(claim("a", 1, "old", 100), claim("b", 2, "new", 100), policy=by_priority) == "new"
    specific = Policy("most_specific")
    assert value(claim("a", 1, "sharp", 0, 0.9), claim("b", 2, "vague", 0, None), policy=specific) == "sharp"
    assert value(claim("a", 1, "old", 9, 0.5), claim("b", 2, "new", 0, 0.5), policy=specific) == "new"
    weighty = Policy("most_specific", "source_priority")
    assert value(claim("a", 1, "weighty", 9, 0.5), claim("b", 2, "new", 0, 0.5), policy=weighty) == "weighty"


@pytest.mark.requirement("MEM-31")
def test_lists_are_merged_newest_first_without_repetition():
    merged = Policy("merge_array")
    claims = [claim("a", 1, ["x", "y"]), claim("b", 2, ["z", "x"]), claim("c", 3, "w"), claim("d", 3, [1, 1.0, True])]
    assert value(*claims, policy=merged) == ["w", 1, True, "z", "x", "y"]
    board = reduced(claims, {"f": merged})
    assert provenance_of(board) == {"f": "obs_c,obs_d,obs_b,obs_a"}
    assert value(*claims, claim("e", 1, ["only"], CORRECTION), policy=merged) == ["only"]


def test_null_says_nothing_and_a_corrections_null_takes_the_field_away():
    assert value(claim("a", 1, "kept"), claim("b", 2, None)) == "kept"
    assert value(claim("a", 1, "kept"), claim("b", 2, None, CORRECTION), claim("c", 3, "later")) is None
    nothing_much: list[Any] = ["", 0, False, {}, []]
    for nearly in nothing_much:
        assert value(claim("a", 1, "kept"), claim("b", 2, nearly)) == nearly
