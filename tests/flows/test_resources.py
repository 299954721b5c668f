"""Reads under addresses of their own."""

from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import Address, Aggregate, Catalogue, Described, Flow, FlowDefinitionError, Topic


class OneBook(TypedDict):
    id: Annotated[str, Described("Its id.")]
    page: NotRequired[Annotated[int, Described("Which page.")]]
    loud: NotRequired[Annotated[bool, Described("Aloud.")]]
    speed: NotRequired[Annotated[float, Described("How fast.")]]


class Anything(TypedDict):
    path: NotRequired[Annotated[str, Described("Where.")]]


def library() -> tuple[Aggregate, Flow]:
    aggregate = Aggregate("library", "Library")

    @aggregate.read
    def get_book(reader: object, arguments: OneBook) -> dict[str, Any]:
        """Show a book."""
        return {}

    @aggregate.read
    def look(reader: object, arguments: Anything) -> dict[str, Any]:
        """Look around."""
        return {}

    @aggregate.record(effect="delete")
    def remove_book(unit: object, arguments: OneBook) -> dict[str, Any]:
        """Remove a book."""
        return {}

    return aggregate, get_book


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("library://books/{id}", "library://books/b-1", {"id": "b-1"}),
        ("library://books/{id}", "library://books/a%2Fb%20c", {"id": "a/b c"}),
        ("library://books/{id}/pages/{page}", "library://books/b/pages/3", {"id": "b", "page": "3"}),
        ("docs://{+path}", "docs://a/b/c.md", {"path": "a/b/c.md"}),
        ("library://all", "library://all", {}),
    ],
)
def test_an_address_is_read_backwards(template: str, uri: str, values: dict[str, str]) -> None:
    address = Address(template)
    assert address.read(uri) == values
    assert address.read(address.fill(values)) == values


@pytest.mark.parametrize(
    "uri",
    ["library://books/", "library://books/a/b", "library://books/a?x=1", "library://books/%ff", "other://books/a", ""],
)
def test_another_address_is_another_one(uri: str) -> None:
    assert Address("library://books/{id}").read(uri) is None


def test_a_very_long_address_is_nobodys() -> None:
    assert Address("library://books/{id}").read("library://books/" + "x" * 5000) is None


@pytest.mark.parametrize(
    "template",
    ["books", "Library://x", "library://{id", "library://{?id}", "library://{a}/{a}", "library://{a}{b}", "a://b c"],
)
def test_an_address_that_cannot_be_read_backwards_is_refused(template: str) -> None:
    with pytest.raises(FlowDefinitionError):
        Address(template)


def test_text_becomes_what_the_schema_says_and_what_does_not_fit_stays() -> None:
    aggregate, get_book = library()
    aggregate.resource("library://{id}/{page}/{loud}/{speed}", get_book)
    catalogue = Catalogue([aggregate])

    def arguments(uri: str) -> dict[str, Any]:
        found = catalogue.resource(uri)
        assert found is not None
        return found.arguments

    assert arguments("library://7/3/true/1.5") == {"id": "7", "page": 3, "loud": True, "speed": 1.5}
    assert arguments("library://7/x/y/z") == {"id": "7", "page": "x", "loud": "y", "speed": "z"}
    assert arguments("library://7/1_0/no/1_0") == {"id": "7", "page": "1_0", "loud": "no", "speed": "1_0"}


def test_the_most_particular_address_is_meant() -> None:
    aggregate, get_book = library()
    aggregate.resource("library://books/{id}", get_book)
    aggregate.resource("library://{id}/{page}", get_book)
    aggregate.resource("library://books/newest", get_book, arguments={"id": "newest"})
    catalogue = Catalogue([aggregate])
    assert [one.address.template for one in catalogue.resources] == [
        "library://books/newest",
        "library://books/{id}",
        "library://{id}/{page}",
    ]
    found = catalogue.resource("library://books/newest")
    assert found is not None
    assert (found.resource.is_template, found.arguments) == (False, {"id": "newest"})
    assert catalogue.resource("library://elsewhere") is None


@pytest.mark.parametrize(
    ("template", "changes", "uri", "topic"),
    [
        ("library://books/{id}", None, "library://books/b", ("library", "b")),
        ("library://books/{id}/{page}", None, "library://books/b/1", ("library", None)),
        ("library://books/{id}", "{id}/x", "library://books/b", ("b", "x")),
        ("library://books/{id}", "*/*", "library://books/b", (None, None)),
        ("library://books/{id}", "", "library://books/b", None),
    ],
)
def test_a_resource_says_whose_facts_change_it(
    template: str, changes: str | None, uri: str, topic: tuple[str | None, str | None] | None
) -> None:
    aggregate, get_book = library()
    aggregate.resource(template, get_book, changes=changes)
    found = Catalogue([aggregate]).resource(uri)
    assert found is not None
    assert found.topic == topic


def test_a_topic_covers_what_it_names() -> None:
    assert Topic("library", "b").covers("library", "b")
    assert Topic("library", None).covers("library", "c")
    assert Topic(None, None).covers("desk", "d")
    assert not Topic("library", "b").covers("library", "c")
    assert not Topic("library", None).covers("desk", "b")


@pytest.mark.parametrize(
    ("template", "ref", "more"),
    [
        ("library://{id}", "library.lose-book", {}),
        ("library://{id}", "library.remove-book", {}),
        ("library://{number}", "library.look", {}),
        ("library://all", "library.get-book", {}),
        ("library://{id}", "library.get-book", {"arguments": {"colour": "red"}}),
        ("library://{id}", "library.get-book", {"changes": "library/{page}"}),
    ],
)
def test_a_resource_that_cannot_work_is_refused_when_the_catalogue_is_built(
    template: str, ref: str, more: dict[str, Any]
) -> None:
    aggregate, _ = library()
    aggregate.resource(template, ref, **more)
    with pytest.raises(FlowDefinitionError) as refused:
        Catalogue([aggregate])
    assert len(refused.value.complaints) == 1


def test_two_resources_at_one_address_are_refused() -> None:
    aggregate, get_book = library()
    aggregate.resource("library://{id}", get_book)
    aggregate.resource("library://{path}", "library.look")
    with pytest.raises(FlowDefinitionError):
        Catalogue([aggregate])


def test_a_resource_is_text_or_a_blob() -> None:
    aggregate, get_book = library()
    with pytest.raises(FlowDefinitionError):
        aggregate.resource("library://{id}", get_book, text="a", blob="b")
