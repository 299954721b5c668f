"""The plan token: what it holds together, and what breaks it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.flows import CONTROLS
from engross.governance import Binding, PlanTokens
from engross.replies import Failed, Invalid, codes

TOKENS = PlanTokens(b"a secret of more than sixteen bytes")
NOW = "2026-11-16T12:00:00.000000Z"
LATER = "2026-11-16T12:10:00.000000Z"
BOUND = Binding(
    tenant="acme",
    principal="ada",
    flows={"cards.update-card": "1.0.0"},
    arguments="sha256:" + "a" * 64,
    policy="sha256:" + "b" * 64,
    base={"cards/c-1": 3, "cards/c-2": 1},
)
TOKEN = TOKENS.make("confirm", BOUND, LATER)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
bindings = st.builds(
    Binding,
    tenant=texts,
    principal=texts,
    flows=st.dictionaries(texts, texts, max_size=4),
    arguments=texts,
    policy=texts,
    base=st.dictionaries(texts, st.integers(0, 2**31), max_size=6),
)


def many(count: int, version: int = 1) -> dict[str, int]:
    # Ids like those of many calls: hardly anything in them repeats.
    return {f"cards/{sha256(b'%d' % number).hexdigest()[:32]}": version for number in range(count)}


def refused(token: Any, binding: Binding = BOUND, purpose: Any = "confirm", now: str = NOW) -> Invalid:
    with pytest.raises(Invalid) as caught:
        TOKENS.check(token, purpose, binding, now)
    return caught.value


def moved(token: str, binding: Binding) -> list[dict[str, Any]]:
    drift = refused(token, binding)
    assert drift.code == codes.PLAN_DRIFT
    assert drift.data is not None
    found: list[dict[str, Any]] = drift.data["moved"]
    return found


def test_a_token_is_good_for_what_it_was_made_for() -> None:
    TOKENS.check(TOKEN, "confirm", BOUND, NOW)


def test_the_order_of_the_parts_does_not_matter() -> None:
    TOKENS.check(TOKEN, "confirm", BOUND._replace(base={"cards/c-2": 1, "cards/c-1": 3}), NOW)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"flows": {"cards.update-card": "1.1.0"}},
            [{"what": "flow", "flow": "cards.update-card", "from": "1.0.0", "to": "1.1.0"}],
        ),
        (
            {"flows": {}},
            [{"what": "flow", "flow": "cards.update-card", "from": "1.0.0", "to": None}],
        ),
        ({"arguments": "sha256:" + "c" * 64}, [{"what": "arguments"}]),
        ({"policy": "sha256:x"}, [{"what": "policy", "from": "sha256:" + "b" * 64, "to": "sha256:x"}]),
        (
            {"base": {"cards/c-1": 5, "cards/c-2": 1}},
            [{"what": "base", "subject": "cards/c-1", "from": 3, "to": 5}],
        ),
        (
            {"base": {"cards/c-1": 3, "cards/c-3": 7}},
            [
                {"what": "base", "subject": "cards/c-2", "from": 1, "to": None},
                {"what": "base", "subject": "cards/c-3", "from": None, "to": 7},
            ],
        ),
    ],
    ids=["flow-version", "flow-gone", "arguments", "policy", "one-subject", "other-subjects"],
)
@pytest.mark.requirement("NEW-02")
def test_drift_is_refused_and_names_exactly_what_moved(change: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert moved(TOKEN, BOUND._replace(**change)) == expected


@pytest.mark.requirement("NEW-02")
def test_everything_that_moved_is_named_at_once() -> None:
    now = BOUND._replace(arguments="other", policy="other", flows={"cards.update-card": "2.0.0"}, base={})
    assert [move["what"] for move in moved(TOKEN, now)] == ["flow", "arguments", "policy", "base", "base"]


@pytest.mark.parametrize(
    ("change", "purpose", "now"),
    [
        ({"principal": "bob"}, "confirm", NOW),
        ({"tenant": "other"}, "confirm", NOW),
        ({}, "approve", NOW),
        ({}, "confirm", LATER),
        ({}, "confirm", "2027-01-01T00:00:00.000000Z"),
    ],
    ids=["another-principal", "another-tenant", "another-purpose", "the-moment-it-ends", "long-ended"],
)
def test_a_token_for_somebody_or_something_else_is_no_token(change: dict[str, Any], purpose: str, now: str) -> None:
    assert refused(TOKEN, BOUND._replace(**change), purpose, now).code == codes.TOKEN_INVALID


def test_a_token_lives_until_the_moment_it_ends() -> None:
    TOKENS.check(TOKEN, "confirm", BOUND, "2026-11-16T12:09:59.999999Z")


def test_a_moment_may_be_written_in_any_way() -> None:
    token = TOKENS.make("confirm", BOUND, "2026-11-16T13:10:00+01:00")
    TOKENS.check(token, "confirm", BOUND, "2026-11-16T12:09:59Z")
    assert refused(token, now="2026-11-16T12:10:00Z").code == codes.TOKEN_INVALID


def test_what_moved_is_not_told_to_somebody_else() -> None:
    drift = refused(TOKEN, BOUND._replace(principal="bob", arguments="other"))
    assert drift.code == codes.TOKEN_INVALID


def test_a_token_made_with_another_secret_is_forged() -> None:
    forged = PlanTokens(b"another secret of sixteen").make("confirm", BOUND, LATER)
    assert refused(forged).code == codes.TOKEN_INVALID


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("ABCabc019-_"))
def test_no_letter_of_a_token_can_be_changed(place: int, letter: str) -> None:
    changed = TOKEN[:place] + letter + TOKEN[place + 1 :]
    if changed != TOKEN:
        assert refused(changed).code == codes.TOKEN_INVALID


@given(st.text(max_size=300) | st.binary(max_size=60).map(lambda raw: raw.hex()))
def test_any_garbage_is_refused_as_no_token(garbage: str) -> None:
    assert refused(garbage).code == codes.TOKEN_INVALID


@pytest.mark.parametrize("odd", ["", "=", "A", TOKEN + "=", TOKEN + "\n", TOKEN[:-1], "\ud800", None, 7, b"x"])
def test_odd_things_are_refused_as_no_token(odd: Any) -> None:
    assert refused(odd).code == codes.TOKEN_INVALID


@given(bindings, bindings)
def test_a_token_fits_its_own_binding_and_no_other(mine: Binding, other: Binding) -> None:
    token = TOKENS.make("approve", mine, LATER)
    TOKENS.check(token, "approve", mine, NOW)
    if mine != other:
        assert refused(token, other, "approve").code in (codes.TOKEN_INVALID, codes.PLAN_DRIFT)


@pytest.mark.parametrize("count", [0, 1, 20, 21, 100, 130, 1000, 20_000])
def test_a_token_fits_into_its_field_however_much_a_plan_touches(count: int) -> None:
    bound = BOUND._replace(base=many(count))
    token = TOKENS.make("confirm", bound, LATER)
    assert len(token) <= CONTROLS["confirm_token"]["maxLength"]
    TOKENS.check(token, "confirm", bound, NOW)


@pytest.mark.requirement("NEW-02")
@pytest.mark.parametrize("count", [20, 130])
def test_which_of_many_subjects_moved_is_still_named(count: int) -> None:
    base = many(count)
    token = TOKENS.make("confirm", BOUND._replace(base=base), LATER)
    subject = sorted(base)[7]
    assert moved(token, BOUND._replace(base={**base, subject: 9})) == [
        {"what": "base", "subject": subject, "from": 1, "to": 9}
    ]


def test_that_a_subject_is_gone_is_noticed_even_where_it_cannot_be_named() -> None:
    base = many(130)
    token = TOKENS.make("confirm", BOUND._replace(base=base), LATER)
    base.popitem()
    assert moved(token, BOUND._replace(base=base)) == [{"what": "base", "subject": None, "from": 1, "to": None}]


@pytest.mark.requirement("NEW-02")
def test_of_a_huge_plan_it_is_told_that_its_base_moved() -> None:
    base = many(1000)
    token = TOKENS.make("confirm", BOUND._replace(base=base), LATER)
    changed = {**base, sorted(base)[0]: 2}
    assert moved(token, BOUND._replace(base=changed)) == [{"what": "base", "subject": None, "from": None, "to": None}]


def test_a_token_can_be_part_of_an_address() -> None:
    assert set(TOKEN) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(Failed) as caught:
        PlanTokens(b"short")
    assert caught.value.code == codes.CONFIG_INVALID
