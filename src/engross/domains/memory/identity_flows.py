"""Saying that two entities are one, and taking that back."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example, Semantics
from engross.ledger import Unit, last_version
from engross.replies import Invalid, codes

from .arguments import Answered, EntityId, UserId
from .entities import own_row, require_entity, require_id
from .entity_rows import entity_rows
from .history import difference, held_now
from .identity import below
from .ids import entity_id
from .owners import owner_of
from .refusals import already_merged, malformed, no_such_entity, raise_all, target_merged
from .ways import Ways

ALIKE: Mapping[str, object] = {
    "entities": [
        {"entity_type": "person", "name": "Dr. Jane Doe", "email": "jane@example.com"},
        {"entity_type": "person", "name": "Jane Doe", "email": "jane@example.com"},
    ]
}
DOCTOR, JANE = entity_id("person", "Dr. Jane Doe"), entity_id("person", "Jane Doe")
GIVEN = (("memory.ingest-structured", ALIKE),)


class MergeEntities(TypedDict):
    """Which entity goes into which."""

    user_id: NotRequired[UserId]
    from_entity_id: EntityId
    to_entity_id: EntityId
    merge_reason: NotRequired[Annotated[str, Described("Why they are one.", minLength=1, maxLength=2000)]]


class UnmergeEntities(TypedDict):
    """Which entity stands for itself again."""

    user_id: NotRequired[UserId]
    entity_id: EntityId


def add_identity_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that merge entities."""

    @memory.record(
        effect="update",
        tier=3,
        owner_field="user_id",
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.ENTITY_ALREADY_MERGED, codes.MERGE_TARGET_ALREADY_MERGED],
        examples=[
            Example(
                "It must be confirmed",
                {"from_entity_id": DOCTOR, "to_entity_id": JANE},
                given=GIVEN,
                reply="CONFIRMATION_REQUIRED",
            ),
            Example(
                "With itself", {"from_entity_id": JANE, "to_entity_id": JANE}, given=GIVEN, reply="VALIDATION_ERROR"
            ),
        ],
    )
    def merge_entities(unit: Unit, arguments: MergeEntities) -> Answered:
        """Merge a duplicate into another entity, with all its relationships. unmerge_entities undoes it."""
        return _merged(unit, arguments)

    @memory.record(
        effect="update",
        tier=3,
        owner_field="user_id",
        semantics=Semantics(destructive=False),
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.ENTITY_NOT_MERGED],
        examples=[Example("One that stands alone", {"entity_id": JANE}, given=GIVEN, reply="ENTITY_NOT_MERGED")],
    )
    def unmerge_entities(unit: Unit, arguments: UnmergeEntities) -> Answered:
        """Undo a merge: the entity stands for itself again, with all that was said about it."""
        return _unmerged(unit, arguments["entity_id"])


def _merged(unit: Unit, arguments: MergeEntities) -> Answered:
    source = _required(unit, arguments["from_entity_id"], "from_entity_id")
    target = _required(unit, arguments["to_entity_id"], "to_entity_id")
    if source["survivor_id"]:
        raise already_merged(source["id"], source["survivor_id"], "from_entity_id")
    if target["survivor_id"]:
        raise target_merged(target["id"], target["survivor_id"], "to_entity_id")
    if source["id"] == target["id"]:
        raise_all([malformed("/to_entity_id", "an entity cannot be merged into itself", "Name two entities.")])
    if source["type"] != target["type"]:
        hint = "Correct the type at its source instead."
        raise_all([malformed("/to_entity_id", "the two are of different types", hint, from_type=source["type"])])
    owner = owner_of(unit.context)
    moved = _observations(unit, owner, source["id"])
    # Only a dry run looks: an answer that is kept must not keep what may be erased one day.
    before = held_now(require_entity(unit, target["id"])) if unit.context.dry_run else None
    said: dict[str, Any] = {
        "owner": owner,
        "from_id": source["id"],
        "to_id": target["id"],
        "merged_by": unit.context.principal.id,
    }
    reason = arguments.get("merge_reason")
    subject = f"{owner}/{source['id']}"
    unit.append(
        "EntityMerged",
        subject,
        last_version(unit, "memory", subject),
        {**said, "reason": reason} if reason else said,
        before={"to_id": None},
        fields=["from_id", "to_id", "reason"],
    )
    answer: dict[str, Any] = {
        "from_entity_id": source["id"],
        "to_entity_id": target["id"],
        "observations_moved": moved,
        "merged_at": unit.now,
    }
    if reason:
        answer["merge_reason"] = reason
    if before is not None:
        answer["difference"] = difference(before, held_now(require_entity(unit, target["id"])))
    return answer


def _unmerged(unit: Unit, identifier: str) -> Answered:
    row = _required(unit, identifier, "entity_id")
    survivor = row["survivor_id"]
    if not survivor:
        raise Invalid(codes.ENTITY_NOT_MERGED, {"id": identifier}, field="entity_id")
    owner = owner_of(unit.context)
    subject = f"{owner}/{identifier}"
    unit.append(
        "EntityUnmerged",
        subject,
        last_version(unit, "memory", subject),
        {"owner": owner, "from_id": identifier, "to_id": None, "survivor_id": survivor},
        before={"to_id": survivor},
        fields=["to_id"],
    )
    return {
        "entity_id": identifier,
        "was_merged_to_entity_id": survivor,
        "observations_returned": _observations(unit, owner, identifier),
        "unmerged_at": unit.now,
    }


def _required(unit: Unit, identifier: str, field: str) -> dict[str, Any]:
    row = own_row(unit, require_id(identifier, field))
    if row is None:
        raise no_such_entity(identifier, field)
    return row


def _observations(unit: Unit, owner: str, identifier: str) -> int:
    """How many observations stand about an entity and what was merged into it."""
    rows = entity_rows(unit, owner, [identifier, *below(unit, owner, identifier)])
    return sum(row["observations"] for row in rows.values())
