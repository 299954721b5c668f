"""Step 3: rules, versions and risk. An agent's change waits for a person; a removal is confirmed."""

from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross import Aggregate, connect
from engross.flows import Described, Semantics
from engross.ledger import Fact, Reader, State, Unit
from engross.replies import Invalid, codes

BOOKS = """
CREATE TABLE books (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    title   $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
CREATE UNIQUE INDEX books_by_title ON books (tenant, title);
"""

shelf = Aggregate("shelf", "A shelf of books", tables=["books"], migrations=[("books", BOOKS)])

BookId = Annotated[str, Described("The book's id.", maxLength=80)]
Title = Annotated[str, Described("Its title.", minLength=1, maxLength=200)]


class AddBook(TypedDict):
    """A new book."""

    title: Title


class RenameBook(TypedDict):
    """A better title."""

    id: BookId
    title: Title
    expected_version: NotRequired[Annotated[int, Described("Only if the book still has this version.", minimum=1)]]


class OneBook(TypedDict):
    """A book."""

    id: BookId


@shelf.record(effect="create")
def add_book(unit: Unit, arguments: AddBook) -> Mapping[str, Any]:
    """Put a book on the shelf. No two books have the same title."""
    refuse_taken_title(unit, arguments["title"])
    book = {"id": unit.new_id("book_"), "title": arguments["title"]}
    unit.append("BookAdded", book["id"], 0, book, fields=["title"])
    return {"book": {**book, "version": 1}}


@shelf.record(effect="update")
def rename_book(unit: Unit, arguments: RenameBook) -> Mapping[str, Any]:
    """Give a book another title."""
    book = find_book(unit, arguments["id"])
    expected = arguments.get("expected_version", book["version"])
    if expected != book["version"]:
        raise Invalid(
            codes.VERSION_CONFLICT, {"expected": expected, "current": book["version"]}, field="expected_version"
        )
    refuse_taken_title(unit, arguments["title"])
    unit.append(
        "BookRenamed", book["id"], book["version"], {"title": arguments["title"]}, before=book, fields=["title"]
    )
    return {"book": {**book, "title": arguments["title"], "version": book["version"] + 1}}


@shelf.record(effect="delete", tier=3, semantics=Semantics(destructive=True, idempotent=True))
def remove_book(unit: Unit, arguments: OneBook) -> Mapping[str, Any]:
    """Take a book off the shelf for good."""
    book = find_book(unit, arguments["id"])
    unit.append("BookRemoved", book["id"], book["version"], {}, before=book, ends=True)
    return {"removed": book}


@shelf.read
def get_book(reader: Reader, arguments: OneBook) -> Mapping[str, Any]:
    """Show a book."""
    return {"book": find_book(reader, arguments["id"])}


@shelf.applies("BookAdded")
def added(state: State, fact: Fact) -> None:
    """A new row."""
    state.execute(
        "INSERT INTO books (tenant, id, version, title) VALUES (:tenant, :id, 1, :title)",
        id=fact.subject,
        title=(fact.payload or {})["title"],
    )


@shelf.applies("BookRenamed")
def renamed(state: State, fact: Fact) -> None:
    """The row with its new title."""
    state.execute(
        "UPDATE books SET title = :title, version = :version WHERE tenant = :tenant AND id = :id",
        id=fact.subject,
        version=fact.version,
        title=(fact.payload or {})["title"],
    )


@shelf.applies("BookRemoved")
def removed(state: State, fact: Fact) -> None:
    """No row."""
    state.execute("DELETE FROM books WHERE tenant = :tenant AND id = :id", id=fact.subject)


def find_book(reader: Reader, book_id: str) -> dict[str, Any]:
    """The book, or Invalid."""
    book = reader.row("SELECT id, version, title FROM books WHERE tenant = :tenant AND id = :id", id=book_id)
    if book is None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "book", "id": book_id}, field="id")
    return book


def refuse_taken_title(reader: Reader, title: str) -> None:
    """Invalid when another book is called like this."""
    taken = reader.row("SELECT id FROM books WHERE tenant = :tenant AND title = :title", title=title)
    if taken:
        raise Invalid(codes.DUPLICATE_NAME, {"kind": "book"}, field="title", suggestions={"existing_book": taken["id"]})


if __name__ == "__main__":
    with TemporaryDirectory() as folder, connect(folder, shelf) as curator:
        agent = curator.as_("scout", "agent", ["agent"])
        proposed = agent.shelf.add_book(title="Dune", client_request_id="scout-adds-dune")
        print(proposed.message, "-", proposed.data["diff_text"])
        shown = curator.proposals.get_proposal(proposal_id=proposed.data["proposal"]["id"])
        done = curator.proposals.review_proposal(
            proposal_id=proposed.data["proposal"]["id"],
            decision="approve",
            approval_token=shown.data["approval_token"],
        )
        print(done.message)
        book = done.data["results"][0]["answer"]["book"]
        refused = curator.shelf.remove_book(id=book["id"])
        print(refused.message)
        print(curator.shelf.remove_book(id=book["id"], confirm_token=refused.data["confirm_token"]).message)
