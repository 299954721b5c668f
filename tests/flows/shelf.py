"""A small aggregate that several tests look at: books on shelves."""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Flow


class Binding(TypedDict):
    """How a book is bound."""

    cover: Annotated[str, Described("The material.")]
    pages: NotRequired[Annotated[int, Described("How many pages.", minimum=1)]]


class AddBook(TypedDict):
    title: Annotated[str, Described("The title.", minLength=1, maxLength=80)]
    kind: NotRequired[Annotated[Literal["Novel", "Essay", "ShortStory"], Described("What it is.", default="Novel")]]
    year: NotRequired[Annotated[int, Described("Year of print.", minimum=1400, maximum=2100)]]
    tags: NotRequired[Annotated[list[str], Described("Words to find it by.", maxItems=5)]]
    binding: NotRequired[Annotated[Binding, Described("How it is bound.")]]
    notes: NotRequired[Annotated[dict[str, Any], Described("Anything else.")]]
    isbn: NotRequired[Annotated[str, Described("The number on the back.", pattern="^[0-9-]{10,17}$")]]
    printed_on: NotRequired[Annotated[str, Described("The day.", format="date")]]
    subtitle: NotRequired[Annotated[str | None, Described("Below the title; null takes it away.")]]


class Book(TypedDict):
    id: Annotated[str, Described("Its id.")]
    title: Annotated[str, Described("Its title.")]


class Added(TypedDict):
    book: Annotated[Book, Described("As it stands now.")]


def add_book_flow() -> Flow:
    """A fresh `shelf.add-book`."""
    shelf = Aggregate("shelf", "Shelf")

    @shelf.record(effect="create")
    def add_book(unit: object, arguments: AddBook) -> Added:
        """Put a book on the shelf."""
        return {"book": {"id": "b1", "title": arguments["title"]}}

    return add_book
