"""Did you mean."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.flows import nearest

TYPES = [
    *(
        "ApplicationComponent",
        "ApplicationEvent",
        "ApplicationFunction",
        "ApplicationService",
        "BusinessActor",
    ),
    *("BusinessProcess", "BusinessRole", "BusinessService", "Capability", "DataObject", "Device", "Node"),
    *("TechnologyService", "ValueStream"),
]


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("AppComponent", "ApplicationComponent"),
        ("application component", "ApplicationComponent"),
        ("application_component", "ApplicationComponent"),
        ("appcomponent", "ApplicationComponent"),
        ("Aplication Component", "ApplicationComponent"),
        ("AppServ", "ApplicationService"),
        ("BizProcess", "BusinessProcess"),
        ("BusinesProcess", "BusinessProcess"),
        ("Component", "ApplicationComponent"),
        ("capabilty", "Capability"),
        ("DataObj", "DataObject"),
        ("node", "Node"),
        ("value-stream", "ValueStream"),
    ],
)
def test_the_first_suggestion_is_the_right_one(word: str, first: str) -> None:
    assert nearest(word, TYPES)[0] == first


@pytest.mark.parametrize("word", ["zzz", "", "?", "q", None, 3, ["Node"], "x" * 10_000])
def test_nothing_is_suggested_where_nothing_is_near(word: object) -> None:
    assert nearest(word, TYPES) == []


def test_no_more_than_the_limit_is_suggested() -> None:
    assert len(nearest("Service", TYPES)) == 3
    assert len(nearest("Service", TYPES, limit=1)) == 1


def test_the_order_of_the_candidates_does_not_matter() -> None:
    shuffled = TYPES.copy()
    Random(7).shuffle(shuffled)
    for word in ("Service", "Application", "BusinessProces", "Event"):
        assert nearest(word, TYPES) == nearest(word, shuffled)


def test_equals_are_given_in_alphabetical_order() -> None:
    assert nearest("shelf-x", ["shelf-c", "shelf-a", "shelf-b"]) == ["shelf-a", "shelf-b", "shelf-c"]


@given(st.text(), st.lists(st.text()))
def test_whatever_the_texts_suggestions_are_candidates(word: str, candidates: list[str]) -> None:
    found = nearest(word, candidates)
    assert len(found) <= 3
    assert set(found) <= set(candidates)


@given(st.text(min_size=1, max_size=100))
def test_the_word_itself_comes_first_among_strangers(word: str) -> None:
    assert nearest(word, [word]) == [word]
