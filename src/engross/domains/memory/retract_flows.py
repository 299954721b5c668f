"""Taking a source back, with everything that depends on it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Unit
from engross.replies import Invalid, codes

from .arguments import GIVEN_ACME, Answered, UserId
from .dependants import MOST_SHOWN, dependants
from .derivations import resting_on
from .ids import RECORD_ID
from .owners import owner_of
from .records import find_record
from .refusals import malformed, raise_all
from .ways import Ways


class RetractSource(TypedDict):
    """Which source, or payload."""

    user_id: NotRequired[UserId]
    source_id: Annotated[str, Described("Source or payload to withdraw.", minLength=1, maxLength=128)]


def add_retract_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flow that takes a source back."""

    @memory.record(
        effect="delete",
        tier=3,
        owner_field="user_id",
        answers=None,
        refuses=[codes.SOURCE_NOT_FOUND],
        examples=[
            Example(
                "It must be confirmed",
                {"source_id": "$0.source_id"},
                given=GIVEN_ACME,
                reply="CONFIRMATION_REQUIRED",
            ),
            Example("No such source", {"source_id": "nowhere"}, reply="SOURCE_NOT_FOUND"),
        ],
    )
    def retract_source(unit: Unit, arguments: RetractSource) -> Answered:
        """Withdraw a source and everything that rests on it, as one change. The ledger still shows what it said."""
        return _retracted(unit, arguments["source_id"])


def _retracted(unit: Unit, identifier: str) -> Answered:
    if not RECORD_ID.fullmatch(identifier):
        raise_all([malformed("/source_id", "this is no source id")])
    record = find_record(unit, identifier)
    if record is None:
        raise Invalid(codes.SOURCE_NOT_FOUND, {"id": identifier}, field="source_id")
    standing = [one for one in (record, *resting_on(unit, record)) if one["retracted_at"] is None]
    payloads = [one["id"] for one in standing if one is not record]
    told = {
        "payloads_withdrawn": len(payloads),
        "payload_ids": payloads[:MOST_SHOWN],
        **dependants(unit, [one["id"] for one in standing]),
    }
    _withdraw(unit, identifier, standing, told)
    return {"source_id": identifier, "retracted_at": record["retracted_at"] or unit.now, **told}


def _withdraw(unit: Unit, source: str, records: Sequence[Mapping[str, Any]], told: Mapping[str, Any]) -> None:
    """State that records are withdrawn. The first of the facts says what goes with them all."""
    owner = owner_of(unit.context)
    said: dict[str, Any] = {"depends": {name: told[name] for name in ("entity_ids", "relationship_ids")}}
    shown = {name: value for name, value in told.items() if value}
    for record in records:
        unit.append(
            "RecordRetracted",
            record["id"],
            record["version"],
            {"owner": owner, **said},
            before={name: record[name] for name in ("type", "name", "content_hash")} | shown,
            ends=True,
        )
        said = shown = {"rests_on": source}
