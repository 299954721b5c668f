"""Step 4: a whole small domain.

Versioned rows, so that every read also answers as of an earlier position. A projection beside them. Input that people
write and a normaliser that understands it. A bulk write whose parsing happens off the writer. Old facts read through an
upcaster. A subject that can be erased. A book under an address of its own, to look up and to hear of when it changes;
words that start a job. Examples on every flow, which are run as tests, and what it refuses besides.
"""

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross import Aggregate, Example, connect
from engross.calls import Answer, FactDraft, Principal
from engross.flows import Described, Semantics
from engross.ledger import Fact, Reader, State, Unit, fields_touched
from engross.replies import Invalid, Issue, codes
from engross.store import FOREVER

TABLES = """
CREATE TABLE books (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,
    title         $text NOT NULL,
    folded        $text NOT NULL,
    author        $text,
    notes         $text,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
CREATE INDEX books_by_title ON books (tenant, folded, to_position);
CREATE INDEX books_by_author ON books (tenant, author, folded, id);

CREATE TABLE authors (
    tenant $text NOT NULL,
    author $text NOT NULL,
    books  $integer NOT NULL,
    PRIMARY KEY (tenant, author)
)$clustered;
"""

COLUMNS = "id, version, title, author, notes"
AS_OF = "from_position <= :as_of AND to_position > :as_of"
SETTABLE = ("title", "author", "notes")
MOST_IMPORTED = 500

shelf = Aggregate(
    "shelf",
    "A shelf of books",
    dialect="architecture",
    tables=["books", "authors"],
    migrations=[("books and authors", TABLES)],
)

BookId = Annotated[str, Described("The book's id.", minLength=1, maxLength=80)]
Title = Annotated[str, Described("Its title.", minLength=1, maxLength=200)]
Author = Annotated[str, Described("Who wrote it.", minLength=1, maxLength=100)]
Notes = Annotated[str | None, Described("Anything worth knowing; null takes the notes away.", maxLength=100_000)]

ExpectedVersion = Annotated[int, Described("Only if the book still has this version.", minimum=1)]


class AddBook(TypedDict):
    """A new book."""

    title: Title
    author: NotRequired[Author]
    notes: NotRequired[Annotated[str, Described("Anything worth knowing.", maxLength=100_000)]]


class ChangeBook(TypedDict):
    """What to change about a book. What is absent stays as it is."""

    id: BookId
    title: NotRequired[Title]
    author: NotRequired[Author]
    notes: NotRequired[Notes]
    expected_version: NotRequired[ExpectedVersion]


class RemoveBook(TypedDict):
    """A book that is to go."""

    id: BookId
    expected_version: NotRequired[ExpectedVersion]


class OneBook(TypedDict):
    """A book."""

    id: BookId


class ListBooks(TypedDict):
    """Which books."""

    author: NotRequired[Annotated[str, Described("Only books by this author.")]]
    limit: NotRequired[Annotated[int, Described("How many at the most.", minimum=1, maximum=500, default=50)]]
    after: NotRequired[Annotated[str, Described("The last id of the page before.")]]


class ImportBooks(TypedDict):
    """A list of books as text."""

    text: Annotated[str, Described("One book a line: title, author.", minLength=1, maxLength=1_000_000)]


class Nothing(TypedDict):
    """No filter."""


A_BOOK: tuple[str, dict[str, object]] = ("shelf.add-book", {"title": "Dune", "author": "Frank Herbert"})


@shelf.record(
    effect="create",
    state_at="book.version",
    examples=[
        Example("A book and its author", {"title": "Dune", "author": "Frank Herbert"}, reply="CREATED"),
        Example("The same title again", {"title": "dune"}, given=(A_BOOK,), reply="DUPLICATE_NAME"),
    ],
)
def add_book(unit: Unit, arguments: AddBook) -> Answer:
    """Put a book on the shelf."""
    refuse_taken(unit, arguments["title"])
    book = {"title": arguments["title"], "author": arguments.get("author"), "notes": arguments.get("notes")}
    identifier = unit.new_id("book_")
    unit.append("BookAdded", identifier, 0, book, fields=SETTABLE)
    warnings = () if book["notes"] else (missing_notes(),)
    return Answer({"book": {"id": identifier, "version": 1, **book}}, warnings=warnings)


@add_book.normalise
def tidy_title(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Blanks around and inside a title mean nothing; `writer` is what older clients say for `author`."""
    warnings = []
    if "writer" in arguments and "author" not in arguments:
        arguments["author"] = arguments.pop("writer")
        warnings.append(
            {"code": "ALIAS_USED", "message": "writer is now author", "field": "writer", "suggestion": "author"}
        )
    if isinstance(arguments.get("title"), str):
        arguments["title"] = " ".join(arguments["title"].split())
    return arguments, warnings


def next_steps(reader: Reader, answer: Mapping[str, Any]) -> list[str]:
    """What one might do after adding a book. It is found by a key."""
    author = answer["book"]["author"]
    if author is None:
        return ["Say who wrote it: shelf.change-book with author."]
    others = reader.value("SELECT books FROM authors WHERE tenant = :tenant AND author = :author", author=author)
    return [f"There are {others} books by {author}: shelf.list-books with author."] if (others or 0) > 1 else []


add_book.suggest(next_steps, inline=True)


@shelf.record(
    effect="update",
    tier=1,
    state_at="book.version",
    semantics=Semantics(destructive=True),
    refuses=[codes.DUPLICATE_NAME, codes.VERSION_CONFLICT],
    examples=[
        Example(
            "Another title",
            {"id": "$0.book.id", "title": "Dune Messiah", "expected_version": 1},
            given=(A_BOOK,),
            reply="UPDATED",
        ),
        Example("As it was", {"id": "$0.book.id", "title": "Dune"}, given=(A_BOOK,), reply="NO_EFFECT"),
        Example("Nothing to change", {"id": "$0.book.id"}, given=(A_BOOK,), reply="NO_CHANGES"),
        Example("No such book", {"id": "book_x", "title": "Emma"}, reply="RECORD_NOT_FOUND"),
    ],
)
def change_book(unit: Unit, arguments: ChangeBook) -> Mapping[str, Any]:
    """Change a book. Null notes are taken away; what is not named stays."""
    book = find_book(unit, arguments["id"])
    wanted = {name: arguments[name] for name in SETTABLE if name in arguments}  # type: ignore[literal-required]
    if not wanted:
        raise Invalid(codes.NO_CHANGES, suggestions={"allowed_fields": list(SETTABLE)})
    refuse_outdated(unit, book, arguments.get("expected_version"), wanted)
    changes = {name: value for name, value in wanted.items() if book[name] != value}
    if "title" in changes:
        refuse_taken(unit, changes["title"], unless=book["id"])
    if not changes:
        return {"book": book, "changed": False, "previous_version": book["version"], "new_version": book["version"]}
    unit.append("BookChanged", book["id"], book["version"], changes, before=book, fields=changes)
    after = {**book, **changes, "version": book["version"] + 1}
    return {"book": after, "changed": True, "previous_version": book["version"], "new_version": after["version"]}


@shelf.record(
    effect="delete",
    tier=3,
    semantics=Semantics(destructive=True, idempotent=True),
    refuses=[codes.VERSION_CONFLICT],
    examples=[
        Example("It must be confirmed", {"id": "$0.book.id"}, given=(A_BOOK,), reply="CONFIRMATION_REQUIRED"),
        Example("No such book", {"id": "book_x"}, reply="RECORD_NOT_FOUND"),
    ],
)
def remove_book(unit: Unit, arguments: RemoveBook) -> Mapping[str, Any]:
    """Take a book off the shelf."""
    book = find_book(unit, arguments["id"])
    refuse_outdated(unit, book, arguments.get("expected_version"), SETTABLE)
    unit.append("BookRemoved", book["id"], book["version"], {}, before=book, ends=True)
    return {"removed": book}


@shelf.record(
    effect="create",
    arguments=ImportBooks,
    refuses=[codes.DUPLICATE_NAME],
    examples=[
        Example("Two books", {"text": "Emma, Jane Austen\nUlysses, James Joyce"}, reply="CREATED"),
        Example("A line without a title", {"text": ", Jane Austen"}, reply="VALIDATION_ERROR"),
    ],
)
def import_books(unit: Unit, lines: list[AddBook]) -> Mapping[str, Any]:
    """Put many books on the shelf, or none of them."""
    books = []
    for number, line in enumerate(lines):
        refuse_taken(unit, line["title"], field=f"/text/{number}")
        identifier = unit.new_id("book_")
        book = {"title": line["title"], "author": line.get("author"), "notes": None}
        unit.append("BookAdded", identifier, 0, book, fields=SETTABLE)
        books.append({"id": identifier, "version": 1, **book})
    return {"books": books}


@import_books.prepare
def read_lines(reader: Reader, arguments: ImportBooks) -> list[AddBook]:
    """Parse the text while the writer does something else."""
    lines: list[AddBook] = []
    issues: list[Issue] = []
    for number, row in enumerate(csv.reader(io.StringIO(arguments["text"]), skipinitialspace=True)):
        if not row:
            continue
        if not row[0].strip():
            issues.append(Issue(codes.VALIDATION_ERROR, {"problem": "a title is missing"}, f"/text/{number}"))
            continue
        lines.append({"title": row[0].strip(), **({"author": row[1].strip()} if len(row) > 1 else {})})  # type: ignore[typeddict-item]
    if len(lines) > MOST_IMPORTED:
        issues.append(Issue(codes.LIMIT_EXCEEDED, {"what": "The number of books", "limit": MOST_IMPORTED}, "/text"))
    if issues:
        raise Invalid.many(issues)
    return lines


@shelf.read(
    inline=True,
    controls=("proposal_id", "as_of"),
    state_at="book.version",
    examples=[
        Example("A book", {"id": "$0.book.id"}, given=(A_BOOK,)),
        Example("No such book", {"id": "book_x"}, reply="RECORD_NOT_FOUND"),
    ],
)
def get_book(reader: Reader, arguments: OneBook) -> Mapping[str, Any]:
    """Show a book, now or as of a position of the ledger."""
    return {"book": find_book(reader, arguments["id"])}


@shelf.read(
    controls=("proposal_id", "as_of"),
    examples=[Example("By author", {"author": "Frank Herbert"}, given=(A_BOOK,))],
)
def list_books(reader: Reader, arguments: ListBooks) -> Mapping[str, Any]:
    """List books by id, a page at a time."""
    limit = arguments.get("limit", 50)
    rows = reader.rows(
        f"SELECT {COLUMNS} FROM books WHERE tenant = :tenant AND {AS_OF} AND id > :after"
        " AND (:author = '' OR author = :author) ORDER BY id LIMIT :limit",
        after=arguments.get("after", ""),
        author=arguments.get("author", ""),
        limit=limit + 1,
    )
    return {"books": rows[:limit], "next": rows[limit - 1]["id"] if len(rows) > limit else None}


@shelf.read(examples=[Example("All authors", {}, given=(A_BOOK,))])
def list_authors(reader: Reader, arguments: Nothing) -> Mapping[str, Any]:
    """List authors and how many of their books there are."""
    return {"authors": reader.rows("SELECT author, books FROM authors WHERE tenant = :tenant ORDER BY author")}


shelf.resource(
    "shelf://books/{id}", get_book, name="book", title="Book", description="A book. Subscribe to hear when it changes."
)
shelf.resource("shelf://authors", list_authors, name="authors", title="Authors", description="All authors.")

shelf.prompt(
    "catalogue-books",
    "Put a pile of books on the shelf, without doubles.",
    {"books": "The books, as you would tell a friend."},
    title="Catalogue books",
    text="Put these books on the shelf: {books}\n\nLook with listBooks which of them are there already. Try the others"
    " out with validateWrite, then add them with importBooks, and tell me what was added, proposed or left out.",
    needs=("shelf.list-books", "shelf.import-books"),
)


@shelf.applies("BookAdded", version=2)
def added(state: State, fact: Fact) -> None:
    """A first version, and one more book by its author."""
    book = fact.payload or {}
    write_version(state, fact, book)
    count(state, book["author"], 1)


@shelf.upcasts("BookAdded", from_version=1)
def writer_was_renamed(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first version of this fact said `writer`."""
    return {"title": payload["title"], "author": payload.get("writer"), "notes": payload.get("notes")}


@shelf.applies("BookChanged")
def changed(state: State, fact: Fact) -> None:
    """The next version, and the counts where the author changed."""
    before = current_row(state, fact.subject)
    after = {**before, **(fact.payload or {})}
    end_version(state, fact)
    write_version(state, fact, after)
    if before["author"] != after["author"]:
        count(state, before["author"], -1)
        count(state, after["author"], 1)


@shelf.applies("BookRemoved")
def removed(state: State, fact: Fact) -> None:
    """The last version ends here."""
    count(state, current_row(state, fact.subject)["author"], -1)
    end_version(state, fact)


@shelf.erases
def erased(state: State, fact: Fact) -> None:
    """Nothing of the book stays, in no version."""
    standing = state.row(f"SELECT author FROM books WHERE tenant = :tenant AND id = :id AND {AS_OF}", id=fact.subject)
    if standing:
        count(state, standing["author"], -1)
    state.execute("DELETE FROM books WHERE tenant = :tenant AND id = :id", id=fact.subject)


def find_book(reader: Reader, book_id: str) -> dict[str, Any]:
    """The book, or Invalid."""
    sql = f"SELECT {COLUMNS} FROM books WHERE tenant = :tenant AND id = :id AND {AS_OF}"
    book = reader.row(sql, id=book_id)
    if book is None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "book", "id": book_id}, field="id")
    return book


def refuse_taken(unit: Unit, title: str, *, unless: str = "", field: str = "title") -> None:
    """Invalid when another book has this title, with titles that are really free."""
    taken = unit.row(
        "SELECT id, title FROM books WHERE tenant = :tenant AND folded = :folded"
        f" AND {AS_OF} AND id <> :unless LIMIT 1",
        folded=title.casefold(),
        unless=unless,
    )
    if taken is not None:
        raise Invalid(
            codes.DUPLICATE_NAME,
            {"kind": "book"},
            field=field,
            suggestions={"existing_book": taken, "alternatives": free_titles(unit, title)},
        )


def free_titles(unit: Unit, title: str) -> list[str]:
    """Titles like this one that no book has."""
    tried = [f"{title} ({number})" for number in range(2, 8)]
    sql = f"SELECT 1 AS taken FROM books WHERE tenant = :tenant AND folded = :folded AND {AS_OF}"
    return [one for one in tried if unit.row(sql, folded=one.casefold()) is None][:3]


def refuse_outdated(unit: Unit, book: Mapping[str, Any], expected: int | None, wanted: Collection[str]) -> None:
    """Invalid when the caller had another version in mind."""
    if expected is None or expected == book["version"]:
        return
    touched = fields_touched(unit.reading, "shelf", book["id"], since=expected)
    raise Invalid(
        codes.VERSION_CONFLICT,
        {"expected": expected, "current": book["version"]},
        field="expected_version",
        suggestions={
            "current_version": book["version"],
            "changed_fields": sorted(touched),
            "overlapping_fields": sorted(touched & set(wanted)),
        },
    )


def current_row(state: State, book_id: str) -> dict[str, Any]:
    """The standing version of a book."""
    row = state.row(f"SELECT {COLUMNS} FROM books WHERE tenant = :tenant AND id = :id AND {AS_OF}", id=book_id)
    assert row is not None
    return row


def write_version(state: State, fact: Fact, book: Mapping[str, Any]) -> None:
    """A version that stands from this fact on."""
    state.execute(
        "INSERT INTO books (tenant, id, version, title, folded, author, notes, from_position, to_position)"
        " VALUES (:tenant, :id, :version, :title, :folded, :author, :notes, :from_position, :to_position)",
        id=fact.subject,
        version=fact.version,
        title=book["title"],
        folded=book["title"].casefold(),
        author=book["author"],
        notes=book["notes"],
        from_position=fact.position,
        to_position=FOREVER,
    )


def end_version(state: State, fact: Fact) -> None:
    """The standing version, until this fact."""
    state.execute(
        "UPDATE books SET to_position = :position WHERE tenant = :tenant AND id = :id AND to_position = :forever",
        id=fact.subject,
        position=fact.position,
        forever=FOREVER,
    )


def count(state: State, author: str | None, by: int) -> None:
    """Keep the projection: an author without books is not in it."""
    if author is None:
        return
    state.execute(
        "INSERT INTO authors (tenant, author, books) VALUES (:tenant, :author, :by)"
        " ON CONFLICT (tenant, author) DO UPDATE SET books = authors.books + :by",
        author=author,
        by=by,
    )
    if by < 0:
        state.execute("DELETE FROM authors WHERE tenant = :tenant AND author = :author AND books = 0", author=author)


def missing_notes() -> dict[str, Any]:
    """A warning that nobody is told anything about the book."""
    return {
        "code": "MISSING_NOTES",
        "message": "The book has no notes.",
        "field": "notes",
        "suggestion": "Add notes, so that others know why it is here.",
    }


@import_books.assess
def bulk_is_risky(arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """Many books at once are looked at more closely."""
    return 3 if len(facts) > 20 else 2


def walk(folder: Path) -> None:
    """What this step adds, one after the other."""
    admin = Principal("ada", "human", frozenset({"admin"}))
    with connect(folder, shelf, principal=admin) as office:
        added = office.shelf.import_books(text="Dune, Frank Herbert\nEmma, Jane Austen\nPersuasion, Jane Austen")
        print("a bulk write:      ", [book["title"] for book in added.data["books"]])
        print("a projection:      ", office.shelf.list_authors().data["authors"])
        dune = added.data["books"][0]["id"]
        changed = office.shelf.change_book(id=dune, title="Dune Messiah", expected_version=1)
        print("a new version:     ", changed.data["previous_version"], "->", changed.data["new_version"])
        earlier = office.shelf.get_book(id=dune, as_of=added.data["position"])
        print("as it was:         ", earlier.data["book"]["title"])
        print("an old version:    ", office.shelf.change_book(id=dune, notes="x", expected_version=1).message)
        asked = office.record.erase(aggregate="shelf", subject=dune)
        erased = office.record.erase(aggregate="shelf", subject=dune, confirm_token=asked.data["confirm_token"])
        print(
            "erased:            ", erased.data["payloads_erased"], "payloads;", office.shelf.get_book(id=dune).message
        )
        print("rebuilt from facts:", "the same" if office.office.rebuild(office.tenant).same else "NOT the same")


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        walk(Path(temporary))
