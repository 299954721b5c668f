"""A press: a small domain whose writes end in files. What was printed last belongs on the page, whatever happens."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Fact, Reader, State, Unit
from engross.store import Blobs, Publication

PAGES = """
CREATE TABLE pages (
    tenant  $text NOT NULL,
    name    $text NOT NULL,
    version $integer NOT NULL,
    digest  $text NOT NULL,
    PRIMARY KEY (tenant, name)
)$clustered;
"""


class PrintPage(TypedDict):
    """A page and what to print on it."""

    name: Annotated[str, Described("The page.", minLength=1, maxLength=40)]
    text: Annotated[str, Described("What to print on it.", maxLength=1_000_000)]


def press(data: Path, pages: Path) -> Aggregate:
    """The press of an office with that data folder; its pages lie in `pages`."""
    aggregate = Aggregate("press", "A press", tables=["pages"], migrations=[("pages", PAGES)])

    @aggregate.record(effect="update", arguments=PrintPage)
    def print_page(unit: Unit, page: Mapping[str, Any]) -> Mapping[str, Any]:
        """Print a page anew."""
        sql = "SELECT version, digest FROM pages WHERE tenant = :tenant AND name = :name"
        before = unit.row(sql, name=page["name"]) or {"version": 0, "digest": None}
        unit.append("PagePrinted", page["name"], before["version"], {"digest": page["digest"], "text": page["text"]})
        path = str(pages / page["name"])
        unit.publish(Publication(unit.new_id(), path, page["digest"], replaces=before["digest"]))
        return {"page": {"name": page["name"], "version": before["version"] + 1, "digest": page["digest"]}}

    @print_page.prepare
    def keep_content(reader: Reader, arguments: PrintPage) -> Mapping[str, Any]:
        return {
            **arguments,
            "digest": Blobs(data / "blobs", reader.context.tenant).put(arguments["text"].encode()),
        }

    @aggregate.applies("PagePrinted")
    def printed(state: State, fact: Fact) -> None:
        assert fact.payload is not None
        state.execute(
            "INSERT INTO pages (tenant, name, version, digest) VALUES (:tenant, :name, :version, :digest)"
            " ON CONFLICT (tenant, name) DO UPDATE SET version = :version, digest = :digest",
            name=fact.subject,
            version=fact.version,
            digest=fact.payload["digest"],
        )

    return aggregate


def printed_text(text: str) -> str:
    """The digest of a text as the press keeps it."""
    return sha256(text.encode()).hexdigest()
