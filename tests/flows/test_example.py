"""Examples: references into earlier answers."""

import pytest

from engross.flows import Example, FlowDefinitionError, filled

ANSWERS: list[dict[str, object]] = [{"book": {"id": "b1", "tags": ["old", "rare"]}}, {"shelf": {"id": "s1"}}]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("$0.book.id", "b1"),
        ("$1.shelf.id", "s1"),
        ("$0.book.tags.1", "rare"),
        ("$0.book", {"id": "b1", "tags": ["old", "rare"]}),
        ({"ids": ["$0.book.id", {"deep": "$1.shelf.id"}]}, {"ids": ["b1", {"deep": "s1"}]}),
        (("$0.book.id",), ["b1"]),
        ("costs $0.50 each", "costs $0.50 each"),
        ("$0", "$0"),
        ("$", "$"),
        (3, 3),
        (None, None),
    ],
)
def test_references_are_replaced_and_the_rest_is_left_alone(value: object, result: object) -> None:
    assert filled(value, ANSWERS) == result


@pytest.mark.parametrize(
    "reference", ["$2.book.id", "$0.book.name", "$0.book.tags.2", "$0.book.id.x", "$0.book.tags.x"]
)
def test_a_reference_that_leads_nowhere_is_refused(reference: str) -> None:
    with pytest.raises(FlowDefinitionError):
        filled(reference, ANSWERS)


def test_an_example_expects_a_read_unless_it_says_otherwise() -> None:
    example = Example("Look", {})
    assert (example.given, example.reply) == ((), "READ_OK")
