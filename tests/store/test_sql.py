"""One SQL text for two engines."""

from __future__ import annotations

import pytest

from engross.store.sql import definition, for_apsw, for_psycopg


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SELECT :a, :b_2", "SELECT %(a)s, %(b_2)s"),
        ("SELECT ':a', 'it''s :b', :c", "SELECT ':a', 'it''s :b', %(c)s"),
        ("SELECT x::text, :a::bigint", "SELECT x::text, %(a)s::bigint"),
        ("SELECT 1 % :a", "SELECT 1 %% %(a)s"),
        ("SELECT * FROM t WHERE x LIKE '100%'", "SELECT * FROM t WHERE x LIKE '100%%'"),
    ],
)
def test_named_parameters_are_spelled_as_the_driver_wants_them(ours: str, theirs: str) -> None:
    assert for_psycopg(ours) == theirs


@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        ("SELECT :a, :b_2, :a", "SELECT ?1, ?2, ?1", [1, 2]),
        ("SELECT ':a', 'it''s :b', :c", "SELECT ':a', 'it''s :b', ?1", [3]),
        ("SELECT 1 % 2", "SELECT 1 % 2", []),
    ],
)
def test_named_parameters_are_numbered_where_that_is_quicker(ours: str, theirs: str, values: list[int]) -> None:
    numbered, taken = for_apsw(ours)
    assert numbered == theirs
    assert list(taken({"a": 1, "b_2": 2, "c": 3, "tenant": "acme"})) == values


def test_words_that_differ_are_filled_in() -> None:
    text = "CREATE TABLE t (a $text, b $integer, c $bytes)$clustered"
    assert definition(text, "sqlite") == "CREATE TABLE t (a TEXT, b INTEGER, c BLOB) WITHOUT ROWID"
    assert definition(text, "postgres") == 'CREATE TABLE t (a TEXT COLLATE "C", b BIGINT, c BYTEA)'
