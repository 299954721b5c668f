"""The timeline."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader

from .arguments import GIVEN_BOTH, Answered, Limit, Offset
from .moments import asked_instant, end_of_day
from .rows import event_of
from .timeline import Wanted, count_events, page_of_events
from .ways import Ways


class ListTimelineEvents(TypedDict):
    """Which events, a page of them."""

    event_type: NotRequired[Annotated[str, Described("As InvoiceIssued.", minLength=1, maxLength=256)]]
    after_date: NotRequired[Annotated[str, Described("From here on, ISO 8601.", maxLength=64)]]
    before_date: NotRequired[Annotated[str, Described("Up to here, ISO 8601.", maxLength=64)]]
    source_record_id: NotRequired[Annotated[str, Described("Only of this record.", minLength=1, maxLength=128)]]
    limit: NotRequired[Limit]
    offset: NotRequired[Offset]


def add_timeline_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the timeline."""

    @memory.read(
        answers=None,
        examples=[
            Example("All of it", {}, given=GIVEN_BOTH),
            Example("Of a time", {"after_date": "1980-01-01", "before_date": "1980-12-31"}, given=GIVEN_BOTH),
            Example("No date", {"after_date": "yesterday"}, reply="VALIDATION_ERROR"),
        ],
    )
    def list_timeline_events(reader: Reader, arguments: ListTimelineEvents) -> Answered:
        """List dated events that sources tell of, latest first."""
        after, before = arguments.get("after_date"), arguments.get("before_date")
        wanted = Wanted(
            arguments.get("event_type"),
            None if after is None else _milliseconds(asked_instant(after, "after_date")),
            None if before is None else _milliseconds(end_of_day(before, "before_date")),
            arguments.get("source_record_id"),
        )
        rows = page_of_events(reader, wanted, limit=arguments["limit"], offset=arguments["offset"])
        return {"events": [event_of(row) for row in rows], "total": count_events(reader, wanted)}


def _milliseconds(instant: str) -> str:
    """An instant in the form in which events keep theirs."""
    return instant[:23] + "Z"
