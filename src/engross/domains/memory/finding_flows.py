"""Finding entities: all of them, by an identifier, by words, and those that are there twice."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader
from engross.replies import codes

from .arguments import ACME_ID, GIVEN_BOTH, Answered, EntityId, EntityType, Limit, Offset, UserId
from .entities import count_entities, page_of_entities, require_entity
from .owners import owner_of
from .refusals import malformed, raise_all
from .ways import Ways

if TYPE_CHECKING:
    from engross.searching.meaning import Meaning, Shelf

    from .duplicates import Pair


class RetrieveEntities(TypedDict):
    """Which entities, and how much of them."""

    entity_type: NotRequired[EntityType]
    user_id: NotRequired[UserId]
    limit: NotRequired[Limit]
    offset: NotRequired[Offset]
    include_snapshots: NotRequired[Annotated[bool, Described("With their fields.", default=True)]]
    include_merged: NotRequired[Annotated[bool, Described("Also those merged into others.", default=False)]]


class GetEntityByIdentifier(TypedDict):
    """What somebody is known by."""

    identifier: Annotated[str, Described("Name, e-mail, phone, tax id, domain or entity id.", maxLength=400)]
    entity_type: NotRequired[EntityType]


class SearchMemory(TypedDict):
    """What to look for."""

    query: Annotated[str, Described("What you look for, in words.", maxLength=1000)]
    entity_type: NotRequired[EntityType]
    limit: NotRequired[Annotated[int, Described("At most so many.", minimum=1, maximum=100, default=10)]]


class ListDuplicateCandidates(TypedDict):
    """Of what to look for duplicates."""

    entity_id: NotRequired[EntityId]
    entity_type: NotRequired[EntityType]
    limit: NotRequired[Annotated[int, Described("At most so many.", minimum=1, maximum=100, default=20)]]


def add_finding_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that find entities."""
    _add_listing(memory)
    _add_searching(memory, ways)


def _add_listing(memory: Aggregate) -> None:
    @memory.read(
        owner_field="user_id",
        answers=None,
        examples=[
            Example("All companies", {"entity_type": "company"}, given=GIVEN_BOTH),
            Example("Without their fields", {"include_snapshots": False, "limit": 1}, given=GIVEN_BOTH),
        ],
    )
    def retrieve_entities(reader: Reader, arguments: RetrieveEntities) -> Answered:
        """List entities by id, with what is true about them."""
        kind, merged = arguments.get("entity_type"), arguments["include_merged"]
        page = page_of_entities(reader, kind, merged=merged, limit=arguments["limit"], offset=arguments["offset"])
        return {
            "entities": [one.shown(snapshot=arguments["include_snapshots"]) for one in page],
            "total": count_entities(reader, kind, merged=merged),
            "excluded_merged": not merged,
        }

    @memory.read(
        inline=True,
        answers=None,
        examples=[
            Example("By a name", {"identifier": "ACME corp."}, given=GIVEN_BOTH),
            Example("By an e-mail address", {"identifier": "John@Example.com"}, given=GIVEN_BOTH),
            Example("By nothing", {"identifier": "  "}, reply="VALIDATION_ERROR"),
        ],
    )
    def get_entity_by_identifier(reader: Reader, arguments: GetEntityByIdentifier) -> Answered:
        """Find an entity by name, e-mail, phone, tax id, domain or id."""
        from .finding import by_identifier

        if not arguments["identifier"].strip():
            raise_all([malformed("/identifier", "it is empty")])
        found = by_identifier(reader, arguments["identifier"], arguments.get("entity_type"))
        return {
            "entities": [{**one.entity.shown(), "matched_by": one.by} for one in found.matches],
            "total": len(found.matches),
            "match_mode": found.tier,
        }


def _add_searching(memory: Aggregate, ways: Ways) -> None:
    embedder = ways.embedder

    @memory.read(
        answers=None,
        arguments=SearchMemory,
        examples=[Example("By words", {"query": "doe example"}, given=GIVEN_BOTH)],
    )
    def search_memory(reader: Reader, asked: Any) -> Answered:
        """Search entities by what is said about them, misspelled or not."""
        from engross.searching.meaning import NO_MEANING

        from .finding import search

        arguments, meaning = (asked, NO_MEANING) if embedder is None else asked
        _refuse_empty(arguments)
        hits = search(
            reader,
            arguments["query"],
            most=arguments["limit"],
            entity_type=arguments.get("entity_type"),
            meaning=meaning,
        )
        results = [{**hit.entity.shown(), "score": hit.score} for hit in hits.best]
        return {"results": results, "total": len(results), **hits.near.told()}

    if embedder is not None:

        @search_memory.prepare
        def meant(shelf: "Shelf", arguments: SearchMemory) -> "tuple[SearchMemory, Meaning]":
            from .meanings import VECTORS, told_of

            _refuse_empty(arguments)
            owner = owner_of(shelf.context)
            return arguments, VECTORS.meaning(shelf, embedder, lambda _: owner, arguments["query"], told_of)

    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND],
        examples=[
            Example("Of an entity", {"entity_id": ACME_ID}, given=GIVEN_BOTH),
            Example("Of all people", {"entity_type": "person"}, given=GIVEN_BOTH),
        ],
    )
    def list_duplicate_candidates(reader: Reader, arguments: ListDuplicateCandidates) -> Answered:
        """List entities that are probably the same, ranked, with reasons. Merge them with merge_entities."""
        from .duplicates import all_candidates, candidates_for

        if "entity_id" in arguments:
            entity = require_entity(reader, arguments["entity_id"])
            pairs = candidates_for(reader, entity, arguments["limit"])
        else:
            pairs = all_candidates(reader, arguments.get("entity_type"), arguments["limit"])
        return {"candidates": [_pair(pair) for pair in pairs], "total": len(pairs)}


def _refuse_empty(arguments: SearchMemory) -> None:
    if not arguments["query"].strip():
        raise_all([malformed("/query", "it is empty")])


def _pair(pair: "Pair") -> Mapping[str, Any]:
    return {
        "entities": [one.shown(snapshot=False) for one in (pair.first, pair.second)],
        "score": pair.score,
        "reasons": [reason.as_data() for reason in pair.reasons],
    }
