"""Step 2: a write. It states a fact; the fact, applied, becomes a row; nothing else ever writes that row."""

from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross import Aggregate, connect
from engross.flows import Described
from engross.ledger import Fact, Reader, State, Unit

BOOKS = """
CREATE TABLE books (
    tenant $text NOT NULL,
    id     $text NOT NULL,
    title  $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
"""

shelf = Aggregate("shelf", "A shelf of books", tables=["books"], migrations=[("books", BOOKS)])


class AddBook(TypedDict):
    """A new book."""

    title: Annotated[str, Described("Its title.", minLength=1, maxLength=200)]


class NoFilter(TypedDict):
    """All of them."""


@shelf.record(effect="create")
def add_book(unit: Unit, arguments: AddBook) -> Mapping[str, Any]:
    """Put a book on the shelf."""
    book = {"id": unit.new_id("book_"), "title": arguments["title"]}
    unit.append("BookAdded", book["id"], follows=0, payload=book)
    return {"book": book}


@shelf.applies("BookAdded")
def put_on_shelf(state: State, fact: Fact) -> None:
    """The one hand that writes books."""
    assert fact.payload is not None
    state.execute(
        "INSERT INTO books (tenant, id, title) VALUES (:tenant, :id, :title)",
        id=fact.subject,
        title=fact.payload["title"],
    )


@shelf.read
def list_books(reader: Reader, arguments: NoFilter) -> Mapping[str, Any]:
    """List the books."""
    return {"books": reader.rows("SELECT id, title FROM books WHERE tenant = :tenant ORDER BY title")}


if __name__ == "__main__":
    with TemporaryDirectory() as folder, connect(folder, shelf) as office:
        first = office.shelf.add_book(title="Dune", client_request_id="add-dune-1")
        again = office.shelf.add_book(title="Dune", client_request_id="add-dune-1")
        print(first.data["book"], again.data["idempotent_replay"])
        print(office.shelf.list_books().data)
