"""Tags: they begin with the version, and change with whatever is shown."""

from __future__ import annotations

from typing import Any

import pytest

from engross.replies.envelopes import JSON, REPLY_JSON
from engross.surfaces.rest.etags import content_tag, is_known, version_in, version_of, version_tag


@pytest.mark.parametrize(
    ("data", "version"),
    [
        ({"version": 3, "title": "Dune"}, 3),
        ({"book": {"version": 3}, "warnings": [], "status": "committed"}, 3),
        ({"book": {"version": 3}, "author": {"version": 1}}, None),
        ({"book": {"id": "b", "version": 3}, "read_context": {"as_of": 7}, "citations": [{"version": 9}]}, 3),
        ({"rules": {"version": 9}, "book": {"id": "b", "version": 3}, "author": {"id": "a", "version": 1}}, 3),
        ({"book": {"id": "b", "version": "3"}, "read_context": {}}, None),
        ({"book": {"title": "Dune"}}, None),
        ({"books": [{"version": 3}]}, None),
        ({"version": "1.0.0"}, None),
        ({"version": True}, None),
        ({"version": None, "book": {"version": 4}}, 4),
        ({}, None),
    ],
)
def test_an_answer_has_the_version_of_the_one_record_it_is_about(data: dict[str, Any], version: int | None) -> None:
    assert version_of(data) == version
    assert version_tag(data) == (None if version is None else f'"{version}"')


def test_a_tag_changes_with_what_is_shown_beside_the_record() -> None:
    one = content_tag({"book": {"version": 3}, "readers": 1}, JSON)
    other = content_tag({"book": {"version": 3}, "readers": 2}, JSON)
    assert one != other
    assert version_in(one) == version_in(other) == "3"


def test_a_tag_is_of_one_form_of_an_answer() -> None:
    data = {"book": {"version": 3}}
    assert content_tag(data, JSON) != content_tag(data, REPLY_JSON)
    assert version_in(content_tag(data, REPLY_JSON)) == "3"


def test_what_has_no_version_has_a_weak_tag() -> None:
    assert content_tag({"books": []}, JSON).startswith('W/"')
    assert version_in(content_tag({"books": []}, JSON)) is None


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
