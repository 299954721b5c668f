"""The writes themselves: each looks at everything first, tells all that is wrong, and only then states facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engross.calls import Answer
from engross.ledger import Unit, fields_touched
from engross.replies import Invalid, Issue, codes

from .elements import elements_named, find_element, no_such_element, referred, require_element, whole_element
from .metamodel import metamodel
from .models import effective_model
from .patch import changed, patched, spread, value_of
from .refusals import (
    already_related,
    immutable,
    malformed,
    name_taken,
    no_possible_parent,
    no_such_element_type,
    no_such_relationship_type,
    profile_issues,
    raise_all,
    warning,
)
from .relationships import (
    all_tied_to,
    find_relationship,
    relationship_between,
    relationships_of,
    require_relationship,
)
from .rows import brief, citation, element_of, relationship_of
from .rules import End, relating_issues
from .search import similar
from .ways import Habits

Arguments = Mapping[str, Any]
Warnings = list[dict[str, Any]]
Write = Callable[[Unit, Arguments, Habits], Answer]

NAMESPACE = "architecture"
ELEMENT_FIELDS = ("name", "description", "properties", "profile")
IMMUTABLE = ("type", "model_id")
ATTRIBUTES = {"access_type": "Access", "modifier": "Influence", "is_directed": "Association"}
USUAL_ACCESS = "Access"
MOST_ISOLATED = 10


def create_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element, and where a parent is named, the composition that holds it."""
    issues: list[Issue] = []
    kind = _element_type(arguments["type"], issues)
    model_id = _model(unit, arguments, issues)
    parent = _parent(unit, arguments, kind, model_id, issues)
    warnings = _duplicate(unit, habits, model_id, kind, arguments["name"], issues)
    if kind:
        issues += profile_issues(kind, arguments.get("profile"), whole="profile" in arguments)
    raise_all(issues)
    assert kind is not None
    assert model_id is not None
    element = add_element(unit, model_id, kind, **_given(arguments))
    data: dict[str, Any] = {"element": element, "version": element["version"], "citation": citation(element)}
    if parent is not None:
        data["relationship"] = add_relationship(unit, model_id, "Composition", parent["id"], element["id"])
    else:
        warnings.append(isolated(element))
    return Answer(data, warnings=(*warnings, *_about(unit, element)))


def create_capability(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A capability with its whole profile."""
    issues: list[Issue] = []
    model_id = _model(unit, arguments, issues)
    parent = _parent(unit, arguments, "Capability", model_id, issues)
    warnings = _duplicate(unit, habits, model_id, "Capability", arguments["name"], issues)
    issues += profile_issues("Capability", arguments.get("profile"))
    raise_all(issues)
    assert model_id is not None
    element = add_element(unit, model_id, "Capability", **_given(arguments))
    capability = {**element, "revision": element["version"]}
    data: dict[str, Any] = {"capability": capability, "version": element["version"], "citation": citation(element)}
    if parent is not None:
        data["relationship"] = add_relationship(unit, model_id, "Composition", parent["id"], element["id"])
    return Answer(data, warnings=(*warnings, *_about(unit, element)))


def update_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """What is named changes; what is absent stays."""
    hint = "Delete the element and create another one."
    issues = [immutable(name, hint) for name in IMMUTABLE if name in arguments]
    element = whole_element(unit, arguments["id"])
    if element is None:
        issues.append(no_such_element(unit, arguments["id"], "id"))
    wanted = spread({name: arguments[name] for name in ELEMENT_FIELDS if name in arguments})
    if not wanted and not issues:
        issues.append(Issue(codes.NO_CHANGES, suggestions={"allowed_fields": list(ELEMENT_FIELDS)}))
    if element is None:
        raise Invalid.many(issues)
    issues += outdated(unit, element, arguments.get("expected_version"), wanted)
    changes = changed(element, wanted)
    warnings: Warnings = []
    if "name" in changes:
        warnings = _duplicate(
            unit, habits, element["model_id"], element["type"], changes["name"], issues, unless=element["id"]
        )
    after = patched(element, changes)
    if "profile" in arguments:
        issues += profile_issues(element["type"], after["profile"])
    raise_all(issues)
    version = element["version"]
    if changes:
        before = {field: value_of(element, field) for field in changes}
        unit.append("ElementUpdated", element["id"], version, changes, before=before, fields=changes)
        after["version"] = version + 1
    shown = element_of(after)
    data = {
        "element": shown,
        "changed": bool(changes),
        "previous_version": version,
        "new_version": shown["version"],
        "version": shown["version"],
        "citation": citation(shown),
    }
    return Answer(data, warnings=tuple(warnings))


def delete_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element goes, and its relationships with it; no other element does."""
    element = require_element(unit, arguments["id"])
    raise_all(outdated(unit, element, arguments.get("expected_version"), ELEMENT_FIELDS))
    tied = all_tied_to(unit, element["id"])
    if tied and not arguments.get("cascade", True):
        raise Invalid(
            codes.ELEMENT_HAS_RELATIONSHIPS,
            {"id": element["id"], "count": len(tied)},
            field="cascade",
            suggestions={
                "relationship_ids": [one["id"] for one in tied][:100],
                "hint": "Delete them first, or leave cascade on.",
            },
        )
    for relationship in tied:
        end_relationship(unit, relationship)
    unit.append("ElementDeleted", element["id"], element["version"], {}, before=element, ends=True)
    data = {
        "deleted_element": element,
        "deleted_relationships": sorted(one["id"] for one in tied),
        "citation": citation(element),
    }
    return Answer(data, warnings=tuple(_left_alone(unit, tied)))


def create_relationship(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A relationship between two elements of one model, if the metamodel knows such a one."""
    issues: list[Issue] = []
    kind = _relationship_type(arguments["type"], issues)
    issues += _attribute_issues(kind, arguments)
    source, target = (_end(unit, arguments, side, issues) for side in ("source", "target"))
    if source and target:
        issues += _model_issues(unit, arguments, source, target)
    if kind and source and target and not issues:
        issues += relating_issues(unit, kind, source, target)
    if kind and source and target and not issues:
        existing = relationship_between(unit, kind, source.id, target.id)
        issues += [already_related(existing)] if existing else []
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
    return Answer(data)


def delete_relationship(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A relationship goes, and those that were tied to it."""
    relationship = require_relationship(unit, arguments["id"])
    raise_all(outdated(unit, relationship, arguments.get("expected_version"), ("type",)))
    tied = all_tied_to(unit, relationship["id"])
    for one in (*tied, relationship):
        end_relationship(unit, one)
    data = {
        "deleted_relationship": relationship,
        "deleted_relationships": sorted([relationship["id"], *(one["id"] for one in tied)]),
        "citation": citation(relationship),
    }
    return Answer(data, warnings=tuple(_left_alone(unit, [*tied, relationship])))


def add_element(unit: Unit, model_id: str, kind: str, **fields: Any) -> dict[str, Any]:
    """State that there is a new element; what it looks like to callers."""
    said = {"model_id": model_id, "type": kind, **{name: value for name, value in fields.items() if value}}
    identifier = unit.new_id("el_")
    unit.append("ElementCreated", identifier, 0, said, fields=said)
    return element_of({"id": identifier, "version": 1, **said})


def add_relationship(
    unit: Unit, model_id: str, kind: str, source_id: str, target_id: str, **fields: Any
) -> dict[str, Any]:
    """State that there is a new relationship; what it looks like to callers."""
    said = {"model_id": model_id, "type": kind, "source_id": source_id, "target_id": target_id, **fields}
    identifier = unit.new_id("rel_")
    unit.append("RelationshipCreated", identifier, 0, said, fields=said)
    return relationship_of({"id": identifier, "version": 1, **said})


def end_relationship(unit: Unit, relationship: Mapping[str, Any]) -> None:
    """State that a relationship is gone."""
    unit.append("RelationshipDeleted", relationship["id"], relationship["version"], {}, before=relationship, ends=True)


def outdated(
    unit: Unit, thing: Mapping[str, Any], expected: int | None, wanted: Sequence[str] | Arguments
) -> list[Issue]:
    """The caller had another version in mind; with what was changed since."""
    if expected is None or expected == thing["version"]:
        return []
    touched = fields_touched(unit.reading, NAMESPACE, thing["id"], since=expected)
    return [
        Issue(
            codes.VERSION_CONFLICT,
            {"expected": expected, "current": thing["version"]},
            "/expected_version",
            suggestions={
                "current_version": thing["version"],
                "changed_fields": sorted(touched),
                "overlapping_fields": sorted(touched & set(wanted)),
            },
        )
    ]


def isolated(element: Mapping[str, Any]) -> dict[str, Any]:
    """A warning that nothing is related to an element."""
    return warning(
        "ISOLATED_ELEMENT",
        f"{element['name']} is not related to anything.",
        None,
        "Relate it with createRelationship.",
        element_id=element["id"],
    )


def name_warning(existing: Mapping[str, Any]) -> dict[str, Any]:
    """A warning that a name is taken."""
    return warning(
        "DUPLICATE_NAME",
        f"There is another {existing['type']} with this name.",
        "name",
        "Use the existing element, or choose a name that tells them apart.",
        existing_element=brief(existing),
    )


def _given(arguments: Arguments) -> dict[str, Any]:
    properties = {
        key: value for key, value in (arguments.get("properties") or {}).items() if not isinstance(value, Mapping)
    }
    return {
        "name": arguments["name"],
        "description": arguments.get("description"),
        "properties": properties,
        "profile": arguments.get("profile"),
    }


def _element_type(word: object, issues: list[Issue]) -> str | None:
    meant = metamodel().element_type(word)
    if meant is None:
        issues.append(no_such_element_type(word))
    return meant.type if meant else None


def _relationship_type(word: object, issues: list[Issue]) -> str | None:
    meant = metamodel().relationship_type(word)
    if meant is None:
        issues.append(no_such_relationship_type(word))
    return meant.type if meant else None


def _model(unit: Unit, arguments: Arguments, issues: list[Issue]) -> str | None:
    """The model that a write is about: named, or its parent's, or the caller's."""
    if "model_id" not in arguments and (parent_id := arguments.get("parent_id")):
        parent = find_element(unit, parent_id)
        if parent is not None:
            return str(parent["model_id"])
    try:
        return effective_model(unit, arguments.get("model_id"))
    except Invalid as refused:
        issues.extend(refused.issues)
        return None


def _parent(
    unit: Unit, arguments: Arguments, kind: str | None, model_id: str | None, issues: list[Issue]
) -> dict[str, Any] | None:
    parent_id = arguments.get("parent_id")
    if parent_id is None:
        return None
    parent = find_element(unit, parent_id)
    if parent is None or (model_id is not None and parent["model_id"] != model_id):
        issues.append(no_such_element(unit, parent_id, "parent_id", model_id))
        return None
    if kind is not None and not metamodel().allows("Composition", parent["type"], kind):
        issues.append(no_possible_parent(parent["type"], kind))
    return parent


def _duplicate(
    unit: Unit,
    habits: Habits,
    model_id: str | None,
    kind: str | None,
    name: str,
    issues: list[Issue],
    unless: str = "",
) -> Warnings:
    """Refuse a name that is taken, or warn of it, as the house sees fit."""
    policy = habits.on_duplicate(unit.context)
    if model_id is None or kind is None or policy == "allow":
        return []
    taken = [one for one in elements_named(unit, model_id, name, [kind]) if one["id"] != unless]
    if not taken:
        return []
    if policy == "warn":
        return [name_warning(taken[0])]
    issues.append(name_taken(unit, taken[0], name))
    return []


def _about(unit: Unit, element: Mapping[str, Any]) -> Warnings:
    """What could be better about a new element."""
    found: Warnings = []
    if not element["description"] and not metamodel().is_junction(element["type"]):
        found.append(
            warning(
                "MISSING_DESCRIPTION",
                "Element has no description.",
                "description",
                "Add a description for better discoverability.",
            )
        )
    if element["type"] in metamodel().profiles and "profile" not in element:
        needed = ", ".join(metamodel().profiles[element["type"]]["required"])
        found.append(
            warning("PROFILE_MISSING", f"The {element['type']} has no profile.", "profile", f"Say its {needed}.")
        )
    if unit.context.dry_run:
        # A real write does without this look; its suggestions, made after the commit, name what is similar.
        found += [
            _similar_warning(one)
            for one in similar(unit, element["model_id"], element["name"], most=3, unless=element["id"])
        ]
    return found


def _similar_warning(other: Mapping[str, Any]) -> dict[str, Any]:
    return warning(
        "SIMILAR_ELEMENT",
        f"Similar element '{other['name']}' exists.",
        "name",
        "Consider if this is a duplicate.",
        similar_element=dict(other),
    )


def _attribute_issues(kind: str | None, arguments: Arguments) -> list[Issue]:
    if kind is None:
        return []
    return [
        malformed(f"/{name}", f"{name} only goes with {owner}", f"Leave {name} out.")
        for name, owner in ATTRIBUTES.items()
        if arguments.get(name) is not None and kind != owner
    ]


def _end(unit: Unit, arguments: Arguments, side: str, issues: list[Issue]) -> End | None:
    by_id, by_name = f"{side}_id", f"{side}_ref"
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


def _model_issues(unit: Unit, arguments: Arguments, source: End, target: End) -> list[Issue]:
    wanted = arguments.get("model_id") or source.thing["model_id"]
    for side, end in (("source", source), ("target", target)):
        if end.thing["model_id"] != wanted:
            field = f"{side}_id" if f"{side}_id" in arguments else f"{side}_ref"
            issue = no_such_element(unit, end.id, field, wanted)
            hint = "It belongs to another model; relationships stay within one."
            return [issue._replace(suggestions={**(issue.suggestions or {}), "hint": hint})]
    return []


def _shown_end(end: End) -> dict[str, Any]:
    thing = end.thing
    return brief(thing) if "name" in thing else {"id": thing["id"], "type": thing["type"]}


def _left_alone(unit: Unit, gone: Sequence[Mapping[str, Any]]) -> Warnings:
    """Elements that lost their last relationship."""
    ends = sorted({one[end] for one in gone for end in ("source_id", "target_id")})[:MOST_ISOLATED]
    alone = [end for end in ends if not relationships_of(unit, [end], most=1)]
    return [isolated(found) for end in alone if (found := find_element(unit, end))]
