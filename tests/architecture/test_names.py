"""Names and the words inside them."""

import pytest

from engross.domains.architecture.names import clean, folded, postings, words


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
    assert clean("e\u0301") == "é"


def test_a_name_says_more_than_a_description() -> None:
    found = postings("Order Service", "Takes the orders of an office")
    assert found["order"] == found["order service"] == 2
    assert found["takes"] > found["order"]
    assert "the" not in found
