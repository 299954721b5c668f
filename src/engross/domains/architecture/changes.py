"""Many writes in one call: all of them or none, or each on its own with its own key and outcome.

An item may refer to what an earlier one made: `"#0"`, or `{"$ref": "#0"}`, stands for the id of the first item's
element, relationship, capability or component.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import orjson
from msgspec.structs import asdict, replace

from engross.calls import Answer
from engross.flows import Aggregate, Checker, Flow, Misshapen, shortened
from engross.ledger import Unit, clear_key, find_key, fingerprint, key_row, keys
from engross.replies import Invalid, Issue, codes

from .element_writes import create_capability, create_element, delete_element, update_element
from .refusals import malformed, raise_all, too_many
from .relationship_writes import create_relationship, delete_relationship
from .relationships import relationships_of
from .stating import NOTHING_TOLD, Arguments, Write
from .templates import add_component_to_capability, create_capability_structure
from .ways import Habits

REFERENCE = re.compile(r"#(\d{1,4})")
REFERRING = ("id", "ref")
"""How fields end that may refer to what an earlier operation made."""
MADE = ("element", "capability", "component", "relationship")
"""What a write made, the thing itself before the relationship that holds it."""
# A replay by an item's key gives the answer that the write itself would give, so it is kept with that answer's code.
EFFECTS = {
    "create": codes.CREATED,  # reply-lint: L7 because it is the answer of the write that the key belongs to
    "update": codes.UPDATED,  # reply-lint: L7 because it is the answer of the write that the key belongs to
    "delete": codes.DELETED,  # reply-lint: L7 because it is the answer of the write that the key belongs to
}


class Operation(NamedTuple):
    """A write that can be part of a call for many."""

    flow: Flow
    write: Write


class Item(NamedTuple):
    """One change of many: checked, or with what is wrong with its shape."""

    operation: str
    arguments: Mapping[str, Any] | None
    """Those of its payload that have the right shape; None where there is nothing to look at."""
    issues: tuple[Issue, ...] = ()
    refused: Invalid | None = None
    """What is wrong with the shape of its payload."""
    warnings: tuple[Mapping[str, Any], ...] = ()
    key: str | None = None


class Outcome(NamedTuple):
    """What became of one item."""

    status: str
    answer: Mapping[str, Any] | None = None
    issues: tuple[Issue, ...] = ()
    warnings: tuple[Mapping[str, Any], ...] = ()

    def as_data(self, index: int, operation: str) -> dict[str, Any]:
        """The outcome as the caller gets it."""
        told: dict[str, Any] = {"index": index, "operation": operation, "status": self.status}
        if self.answer is not None:
            told["answer"] = self.answer
        if self.issues:
            told["errors"] = [issue.as_data() for issue in self.issues]
        return told


WRITES: tuple[Write, ...] = (
    create_element,
    create_relationship,
    update_element,
    delete_element,
    delete_relationship,
    create_capability,
    create_capability_structure,
    add_component_to_capability,
)


def operations_of(architecture: Aggregate, names: Sequence[str]) -> dict[str, Operation]:
    """The writes that can be part of a call for many, by the names of their tools."""
    return {
        name: Operation(architecture.flows[write.__name__.replace("_", "-")], write)
        for name, write in zip(names, WRITES, strict=True)
    }


def checked_items(
    operations: Mapping[str, Operation], checker: Checker, given: Sequence[object], mode: str
) -> list[Item]:
    """Hold every item to the schema of items and to that of its own write, and keep what is wrong with it."""
    return [_checked(operations, checker, f"/operations/{index}", item, mode) for index, item in enumerate(given)]


def apply_changes(
    unit: Unit, items: Sequence[Item], mode: str, operations: Mapping[str, Operation], habits: Habits
) -> Answer:
    """Make the changes; with `atomic`, a single one that cannot be made refuses them all."""
    if len(items) > habits.max_bulk:
        raise Invalid.many([too_many("/operations", "The number of operations", habits.max_bulk, len(items))])
    outcomes: list[Outcome] = []
    for index, item in enumerate(items):
        outcomes.append(_outcome(unit, index, item, outcomes, operations, habits, own_keys=mode == "per_item"))
    results = [one.as_data(index, items[index].operation) for index, one in enumerate(outcomes)]
    issues = [issue for one in outcomes for issue in one.issues]
    if issues and mode == "atomic":
        raise Invalid.many(issues, data={"results": [_verdict(result) for result in results]})
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
    data = {"mode": mode, "results": results, "counts": counts}
    return Answer(data, warnings=tuple(_warnings(unit, outcomes)))


def changes_issues(
    unit: Unit, items: Sequence[Item], operations: Mapping[str, Operation], habits: Habits
) -> list[Issue]:
    """What speaks against making all of these changes."""
    try:
        apply_changes(unit, items, "atomic", operations, habits)
    except Invalid as refused:
        return list(refused.issues)
    return []


def _checked(operations: Mapping[str, Operation], checker: Checker, place: str, item: object, mode: str) -> Item:
    issues = [_moved(issue, place) for issue in checker.check(item)]
    given: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    key, name = given.get("client_request_id"), given.get("operation")
    if key is not None and mode == "atomic":
        problem = "an operation has a key of its own only with mode per_item"
        issues.append(malformed(f"{place}/client_request_id", problem, "Leave it out: the whole call may have one."))
    operation = operations.get(name) if isinstance(name, str) else None
    if operation is None or not isinstance(given.get("payload"), Mapping):
        return Item(shortened(name), None, tuple(issues))
    try:
        checked = operation.flow.check(_spelled(given["payload"]))
    except Misshapen as refused:
        return Item(shortened(name), refused.rest and refused.rest.checked.arguments, tuple(issues), refused)
    except Invalid as refused:
        return Item(shortened(name), None, tuple(issues), refused)
    issues += [
        malformed(f"{place}/payload/{field}", f"{field} is said once for the whole call", "Leave it out here.")
        for field, value in asdict(checked.controls).items()
        if value is not None
    ]
    return Item(shortened(name), checked.arguments, tuple(issues), None, tuple(checked.warnings), key)


def _spelled(payload: Any) -> Any:
    """References as plain text, whichever way they were written."""
    if not isinstance(payload, Mapping):
        return payload
    return {
        name: value["$ref"] if isinstance(value, Mapping) and list(value) == ["$ref"] else value
        for name, value in payload.items()
    }


def _outcome(
    unit: Unit,
    index: int,
    item: Item,
    before: Sequence[Outcome],
    operations: Mapping[str, Operation],
    habits: Habits,
    *,
    own_keys: bool,
) -> Outcome:
    place = f"/operations/{index}"
    if item.issues or item.refused:
        return Outcome("failed", issues=(*item.issues, *_payload_issues(unit, item, before, place, operations)))
    try:
        arguments = _resolved(item.arguments or {}, before)
    except _Unmade:
        return Outcome("not_attempted")
    except Invalid as refused:
        return Outcome("failed", issues=tuple(_moved(issue, f"{place}/payload") for issue in refused.issues))
    operation = operations[item.operation]
    try:
        known = _recalled(unit, operation.flow, item.key, arguments) if own_keys and item.key else None
    except Invalid as refused:
        return Outcome("failed", issues=tuple(_moved(issue, place) for issue in refused.issues))
    if known is not None:
        return Outcome("replayed", {**known, "idempotent_replay": True})
    try:
        answer = operation.write(unit, arguments, habits)
    except Invalid as refused:
        return Outcome("failed", issues=tuple(_moved(issue, f"{place}/payload") for issue in refused.issues))
    if own_keys and item.key:
        _remember(unit, operation.flow, item.key, arguments, answer)
    return Outcome("done", answer.data, warnings=(*item.warnings, *answer.warnings))


class _Unmade(Exception):
    """What an item refers to was not made."""


def _payload_issues(
    unit: Unit, item: Item, before: Sequence[Outcome], place: str, operations: Mapping[str, Operation]
) -> list[Issue]:
    """All that is wrong with what an item is about, when it is refused anyway."""
    found = _looked_into(unit, item, before, operations)
    if isinstance(item.refused, Misshapen):
        found = item.refused.joined(found).issues
    elif item.refused is not None:
        found = item.refused.issues
    return [_moved(issue, f"{place}/payload") for issue in found]


def _looked_into(
    unit: Unit, item: Item, before: Sequence[Outcome], operations: Mapping[str, Operation]
) -> tuple[Issue, ...]:
    """What the write itself has to say against an item, as far as that has the right shape."""
    examiner = operations[item.operation].flow.examiner if item.arguments is not None else None
    if examiner is None:
        return ()
    rest = item.refused.rest if isinstance(item.refused, Misshapen) else None
    try:
        examined = examiner(unit, _resolved(item.arguments or {}, before), rest.told if rest else NOTHING_TOLD)
    except _Unmade:
        return ()
    except Invalid as refused:
        return refused.issues
    return tuple(cast(Iterable[Issue], examined))


def _resolved(arguments: Arguments, before: Sequence[Outcome]) -> dict[str, Any]:
    """The arguments with every reference replaced by the id that it stands for."""
    issues: list[Issue] = []
    resolved: dict[str, Any] = {}
    unmade = False
    for name, value in arguments.items():
        match = REFERENCE.fullmatch(value) if isinstance(value, str) and name.endswith(REFERRING) else None
        try:
            resolved[name] = _made_by(int(match[1]), before, f"/{name}") if match else value
        except _Unmade:
            unmade = True
        except Invalid as refused:
            issues += refused.issues
    raise_all(issues)
    if unmade:
        raise _Unmade
    return resolved


def _made_by(index: int, before: Sequence[Outcome], pointer: str) -> str:
    if index >= len(before):
        issue = malformed(pointer, f"there is no earlier operation #{index}", "Refer to an operation further up.")
        raise Invalid.many([issue])
    answer = before[index].answer
    if answer is None:
        raise _Unmade
    for name in MADE:
        if name in answer:
            return str(answer[name]["id"])
    problem = f"operation #{index} makes nothing to refer to"
    raise Invalid.many([malformed(pointer, problem, "Refer to one that creates or changes something.")])


def _moved(issue: Issue, place: str) -> Issue:
    return issue._replace(pointer=f"{place}{issue.pointer}")


def _verdict(result: Mapping[str, Any]) -> dict[str, Any]:
    status = "valid" if result["status"] == "done" else result["status"]
    return {"index": result["index"], "operation": result["operation"], "status": status}


def _warnings(unit: Unit, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """All warnings, each with its place; what was alone at first may have been related since."""
    found = []
    for index, outcome in enumerate(outcomes):
        for one in outcome.warnings:
            alone = one.get("element_id") if one["code"] == "ISOLATED_ELEMENT" else None
            if alone is not None and relationships_of(unit, [alone], most=1):
                continue
            place = f"operations.{index}"
            found.append({**one, "field": f"{place}.payload.{one['field']}" if one.get("field") else place})
    return found


def _mark(unit: Unit, flow: Flow, arguments: Mapping[str, Any]) -> str:
    # The same as that of the write by itself, so that a retry of one item alone is recognised as well. What an item
    # refers to by its place in the list is part of the request by its id: in another list it is something else.
    context = unit.context
    return fingerprint(
        {
            "operation": flow.ref,
            "arguments": arguments,
            "proposal_id": context.proposal_id,
            "commit_mode": context.commit_mode,
            "model": context.pins.get("model_id"),
        }
    )


def _recalled(unit: Unit, flow: Flow, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The answer that an item's key stands for already."""
    stored = find_key(unit.transaction, flow.ref, key)
    if stored is None:
        return None
    if stored.is_past(unit.now):
        clear_key(unit.transaction, flow.ref, key, unit.now)
        return None
    if stored.principal != unit.context.principal.id:
        raise Invalid(codes.IDEMPOTENCY_KEY_REUSED, field="client_request_id")
    if stored.state == "erased":
        raise Invalid(codes.PAYLOAD_ERASED, {"kind": "answer to", "id": key}, field="client_request_id")
    if stored.fingerprint != _mark(unit, flow, arguments):
        raise Invalid(
            codes.IDEMPOTENCY_KEY_REUSED,
            field="client_request_id",
            details={"original_request_time": stored.created_at},
            suggestions={"hint": "Use a new client_request_id for a different request."},
        )
    answer: dict[str, Any] = orjson.loads(stored.answer or "{}")
    data: Mapping[str, Any] = answer.get("data", {})
    return data


def _remember(unit: Unit, flow: Flow, key: str, arguments: Mapping[str, Any], answer: Answer) -> None:
    """Keep an item's answer under its own key, in the transaction of its change."""
    context = replace(unit.context, flow=flow.ref, client_request_id=key)
    position = unit.transaction.position
    data = {
        **answer.data,
        "status": "committed",
        "warnings": list(answer.warnings),
        "facts": [],
        "position": position,
        "idempotent_replay": False,
    }
    code = EFFECTS[flow.effect or "create"]
    text = orjson.dumps(
        {"code": code, "params": {}, "data": data, "trace_id": context.trace.trace_id}, default=dict
    ).decode()
    row = key_row(context, _mark(unit, flow, arguments), state="done", position=position, answer=text)
    unit.transaction.execute(keys.INSERT, row)
