"""Names and the words inside them."""

from unicodedata import normalize

import pytest

from engross.domains.architecture.names import clean, folded, postings, words
from engross.domains.architecture.tidy import trimmed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OrderService", ["order", "service"]),
        ("order_service-API 2", ["order", "service", "api", "2"]),
        ("Prüfung der Größe", ["prüfung", "der", "grösse"]),
        ("XMLParser", ["xmlparser"]),
        ("e\u0301t\u00e9", ["été"]),
        ("", []),
    ],
)
def test_words_are_found_in_every_way_of_writing(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_names_count_as_the_same_whatever_their_capitals_and_blanks() -> None:
    assert folded("  Order\tSERVICE ") == folded("order service")
    assert folded("STRASSE") == folded("Straße")
    assert folded("e\u200b\u0301") == folded("É")
    assert folded("Order\u3164Service") == folded("order service")
    assert clean("e\u0301") == "é"


@pytest.mark.parametrize(
    "name",
    [
        "\u200b",
        "\u200b \u2060\ufeff",
        "\u00ad",
        "\u3164",
        "\u2800\u00a0",
        "\ufe0f",
        "\u202e\u2066",
        "\U000e0041",
        "\u0301",
    ],
)
def test_what_nobody_can_see_is_no_name(name: str) -> None:
    assert clean(name) == trimmed(name) == ""


@pytest.mark.parametrize(
    "name", ["a\u200bb", "\u2764\ufe0f", "\U0001f469\u200d\U0001f680", "\u05d0\u200f", "\u0e19\u0e49\u0e33", "e\u0301"]
)
def test_invisible_characters_may_be_part_of_a_name(name: str) -> None:
    assert clean(name) == trimmed(name) == normalize("NFC", name)


def test_a_name_says_more_than_a_description() -> None:
    found = postings("Order Service", "Takes the orders of an office")
    assert found["order"] == found["order service"] == 2
    assert found["takes"] > found["order"]
    assert "the" not in found
