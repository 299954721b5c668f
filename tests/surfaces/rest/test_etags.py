"""Tags: they begin with the version, and change with whatever is shown."""

from __future__ import annotations

from typing import Any

import pytest

from engross.flows import Aggregate, Flow, NoArguments
from engross.replies.envelopes import JSON, REPLY_JSON
from engross.surfaces.rest.etags import content_tag, is_known, state_in, state_tag


def showing(state_at: str | None) -> Flow:
    def show(reader: object, arguments: NoArguments) -> dict[str, Any]:
        """Show something."""
        return {}

    return Aggregate("things", "Things").read(state_at=state_at)(show)


@pytest.mark.parametrize(
    ("state_at", "data", "state"),
    [
        ("version", {"version": 3, "title": "Dune"}, 3),
        ("book.version", {"book": {"version": 3}, "author": {"version": 1}}, 3),
        ("hash", {"hash": "00ff", "version": 3}, "00ff"),
        ("version", {"book": {"version": 3}}, None),
        ("book.version", {"book": [{"version": 3}]}, None),
        ("book.version", {"book": None}, None),
        ("version", {"version": True}, None),
        ("version", {"version": None}, None),
        ("version", {}, None),
        (None, {"version": 3, "book": {"id": "b", "version": 3}}, None),
    ],
)
def test_an_answer_shows_the_state_that_its_flow_says(state_at: str | None, data: dict[str, Any], state: Any) -> None:
    assert showing(state_at).state_in(data) == state


@pytest.mark.parametrize(
    ("state", "tag"),
    [(3, '"3"'), (0, '"0"'), ("00ff", '"00ff"'), (None, None), ("", None), ('a"b', None), ("1-2", None), ("é", None)],
)
def test_a_state_that_fits_into_a_header_is_a_tag(state: Any, tag: str | None) -> None:
    assert state_tag(state) == tag
    assert content_tag({}, JSON, state).startswith('W/"' if tag is None else tag[:-1] + "-")


def test_a_tag_changes_with_what_is_shown_beside_the_record() -> None:
    one = content_tag({"book": {"version": 3}, "readers": 1}, JSON, 3)
    other = content_tag({"book": {"version": 3}, "readers": 2}, JSON, 3)
    assert one != other
    assert state_in(one) == state_in(other) == "3"


def test_a_tag_is_of_one_form_of_an_answer() -> None:
    data = {"book": {"version": 3}}
    assert content_tag(data, JSON, 3) != content_tag(data, REPLY_JSON, 3)
    assert state_in(content_tag(data, REPLY_JSON, 3)) == "3"


def test_what_has_no_state_has_a_weak_tag() -> None:
    assert content_tag({"books": []}, JSON).startswith('W/"')
    assert state_in(content_tag({"books": []}, JSON)) is None


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ('"3-abc"', True),
        ('W/"3-abc"', True),
        ('"x", "3-abc" , "y"', True),
        ("*", True),
        ('"3"', False),
        ("3-abc", False),
        ("", False),
        ('"3-abc', False),
    ],
)
def test_a_client_knows_what_it_names(header: str, known: bool) -> None:
    assert is_known('"3-abc"', header) is known
    assert is_known('W/"3-abc"', header) is known
