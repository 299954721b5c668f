"""Writing relationships."""

from __future__ import annotations

from typing import Any, NamedTuple

from engross.calls import Answer
from engross.ledger import Unit
from engross.replies import Invalid, Issue

from .checks import model_for, outdated
from .elements import find_element, no_such_element, of_another_model, referred
from .metamodel import metamodel
from .models import effective_model
from .notices import isolated
from .pace import pace_notices
from .refusals import already_related, malformed, no_such_relationship_type, raise_all
from .relationships import (
    all_tied_to,
    find_relationship,
    left_alone,
    no_such_relationship,
    relationship_between,
    require_relationship,
)
from .rows import brief, citation
from .rules import End, relating_issues
from .stating import NOTHING_TOLD, Arguments, Told, add_relationship, end_relationship
from .ways import Habits

ATTRIBUTES = {"access_type": "Access", "modifier": "Influence", "is_directed": "Association"}
USUAL_ACCESS = "Access"


class Meant(NamedTuple):
    """A relationship as it is meant, and what speaks against it."""

    kind: str | None
    source: End | None
    target: End | None
    issues: list[Issue]


def create_relationship(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A relationship between two elements of one model, if the metamodel knows such a one."""
    kind, source, target, issues = _meant(unit, arguments, NOTHING_TOLD)
    raise_all(issues)
    assert kind is not None
    assert source is not None
    assert target is not None
    more = {name: arguments[name] for name in ("name", "description", *ATTRIBUTES) if arguments.get(name) is not None}
    if kind == "Access":
        more.setdefault("access_type", USUAL_ACCESS)
    relationship = add_relationship(unit, source.thing["model_id"], kind, source.id, target.id, **more)
    data = {
        "relationship": relationship,
        "source": _shown_end(source),
        "target": _shown_end(target),
        "version": relationship["version"],
        "citation": citation(relationship),
    }
    return Answer(data, warnings=tuple(pace_notices(unit)))


def relationship_issues(unit: Unit, arguments: Arguments, told: Told) -> list[Issue]:
    """What speaks against a relationship, as far as it was told what it is to join."""
    return _meant(unit, arguments, told).issues


def delete_relationship(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A relationship goes, and those that were tied to it."""
    raise_all(ending_issues(unit, arguments))
    relationship = require_relationship(unit, arguments["id"])
    gone = [*all_tied_to(unit, relationship["id"]), relationship]
    for one in gone:
        end_relationship(unit, one)
    data = {
        "deleted_relationship": relationship,
        "deleted_relationships": sorted(one["id"] for one in gone),
        "citation": citation(relationship),
    }
    return Answer(data, warnings=tuple(isolated(one) for one in left_alone(unit, gone)))


def ending_issues(unit: Unit, arguments: Arguments) -> list[Issue]:
    """What speaks against deleting a relationship."""
    if "id" not in arguments:
        return []
    relationship = find_relationship(unit, arguments["id"])
    if relationship is None:
        return [no_such_relationship(arguments["id"])]
    return outdated(unit, relationship, arguments.get("expected_version"), ("type",))


def _meant(unit: Unit, arguments: Arguments, told: Told) -> Meant:
    issues: list[Issue] = []
    word = arguments.get("type")
    meant = metamodel().relationship_type(word)
    kind = meant.type if meant else None
    if kind:
        issues += _attribute_issues(kind, arguments)
    elif word is not None:
        issues.append(no_such_relationship_type(word))
    source, target = (_end(unit, arguments, side, issues, told) for side in ("source", "target"))
    model_id = model_for(unit, arguments["model_id"], issues) if "model_id" in arguments else None
    if source and target and not issues:
        issues += _model_issues(arguments, model_id, source, target)
    if kind and source and target and not issues:
        issues += relating_issues(unit, kind, source, target) or _double_issues(unit, kind, source, target)
    return Meant(kind, source, target, issues)


def _attribute_issues(kind: str, arguments: Arguments) -> list[Issue]:
    return [
        malformed(f"/{name}", f"{name} only goes with {owner}", f"Leave {name} out.")
        for name, owner in ATTRIBUTES.items()
        if arguments.get(name) is not None and kind != owner
    ]


def _double_issues(unit: Unit, kind: str, source: End, target: End) -> list[Issue]:
    existing = relationship_between(unit, kind, source.id, target.id)
    return [already_related(existing)] if existing else []


def _end(unit: Unit, arguments: Arguments, side: str, issues: list[Issue], told: Told) -> End | None:
    by_id, by_name = f"{side}_id", f"{side}_ref"
    if by_id in told or by_name in told:
        return None
    if (by_id in arguments) == (by_name in arguments):
        issues.append(malformed(f"/{by_id}", f"give either {by_id} or {by_name}", "An id is never ambiguous."))
        return None
    if by_id in arguments:
        thing = find_element(unit, arguments[by_id]) or find_relationship(unit, arguments[by_id])
        if thing is None:
            issues.append(no_such_element(unit, arguments[by_id], by_id))
        return End(thing) if thing else None
    try:
        model_id = effective_model(unit, arguments.get("model_id") or _other_model(unit, arguments))
        return End(referred(unit, model_id, arguments[by_name], by_name))
    except Invalid as refused:
        issues.extend(refused.issues)
        return None


def _other_model(unit: Unit, arguments: Arguments) -> str | None:
    """The model of the end that is named by its id, for an end that is named otherwise."""
    for name in ("source_id", "target_id"):
        if name in arguments and (found := find_element(unit, arguments[name])):
            return str(found["model_id"])
    return None


def _model_issues(arguments: Arguments, model_id: str | None, source: End, target: End) -> list[Issue]:
    wanted = model_id or source.thing["model_id"]
    for side, end in (("source", source), ("target", target)):
        if end.thing["model_id"] != wanted:
            field = f"{side}_id" if f"{side}_id" in arguments else f"{side}_ref"
            return [of_another_model(end.id, field, "Relationships stay within one.")]
    return []


def _shown_end(end: End) -> dict[str, Any]:
    thing = end.thing
    return brief(thing) if "name" in thing else {"id": thing["id"], "type": thing["type"]}
