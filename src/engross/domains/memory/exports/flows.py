"""The flow that hands memory out."""

from base64 import b64encode
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader

from ..arguments import GIVEN_ACME, Answered, EntityType


class ExportMemory(TypedDict):
    """What to hand out, and how."""

    format: NotRequired[
        Annotated[Literal["prov_jsonld", "markdown", "csv", "parquet"], Described("Its format.", default="prov_jsonld")]
    ]
    table: NotRequired[
        Annotated[
            Literal["facts", "entities", "observations", "relationships", "events", "records"],
            Described("Of csv and parquet.", default="facts"),
        ]
    ]
    entity_type: NotRequired[EntityType]
    cursor: NotRequired[Annotated[str, Described("From the page before.", minLength=1, maxLength=4000)]]
    limit: NotRequired[Annotated[int, Described("Things a page.", minimum=1, maximum=5000, default=500)]]


def add_export_flows(memory: Aggregate) -> None:
    """Give an aggregate the flow that hands it out."""

    @memory.read(
        answers=None,
        timeout_seconds=120.0,
        examples=[
            Example("As PROV", {}, given=GIVEN_ACME),
            Example("As Markdown", {"format": "markdown"}, given=GIVEN_ACME),
            Example("As a table", {"format": "csv", "table": "entities"}, given=GIVEN_ACME),
            Example("From nowhere", {"cursor": "nowhere"}, reply="VALIDATION_ERROR"),
        ],
    )
    def export_memory(reader: Reader, arguments: ExportMemory) -> Answered:
        """Export memory with its sources, a page at a time: PROV as JSON-LD, Markdown, or tables as CSV or Parquet."""
        return _exported(reader, arguments)


def _exported(reader: Reader, arguments: ExportMemory) -> dict[str, Any]:
    # What one format needs, another does without.
    format, limit = arguments["format"], arguments["limit"]
    cursor, entity_type = arguments.get("cursor"), arguments.get("entity_type")
    if format == "prov_jsonld":
        from .prov import as_prov

        document, following = as_prov(reader, cursor, entity_type, limit)
        return {"format": format, "document": document, "next_cursor": following}
    if format == "markdown":
        from .markdown import as_markdown

        text, following = as_markdown(reader, cursor, entity_type, limit)
        return {"format": format, "text": text, "next_cursor": following}
    return _tabulated(reader, arguments)


def _tabulated(reader: Reader, arguments: ExportMemory) -> dict[str, Any]:
    from .tables import TABLES, read_table

    table, cursor = arguments["table"], arguments.get("cursor")
    page = read_table(reader, table, cursor, arguments.get("entity_type"), arguments["limit"])
    columns = TABLES[table].columns
    told = {"format": arguments["format"], "table": table, "rows": len(page.things), "next_cursor": page.cursor}
    if arguments["format"] == "csv":
        from .spreadsheet import as_csv

        return {**told, "text": as_csv(list(columns), page.things, header=cursor is None)}
    from .columns import as_parquet

    return {**told, "content_base64": b64encode(as_parquet(columns, page.things)).decode()}
