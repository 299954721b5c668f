"""Writes that make a whole structure at once: everything of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.calls import Answer
from engross.ledger import Unit
from engross.replies import Issue, codes

from .checks import model_for, name_for
from .elements import elements_named, find_element, no_such_element
from .metamodel import metamodel
from .names import folded
from .notices import Notices, profile_missing
from .refusals import malformed, name_taken, profile_issues, raise_all
from .relationships import relationship_between
from .rows import citation
from .stating import Arguments, add_element, add_relationship
from .ways import Habits


class Building:
    """What a template makes, in the order in which it makes it."""

    def __init__(self, unit: Unit, model_id: str) -> None:
        self._unit = unit
        self._model_id = model_id
        self.elements: list[dict[str, Any]] = []
        self.relationships: list[dict[str, Any]] = []
        self.reused: list[dict[str, Any]] = []

    def element(self, kind: str, name: str, **fields: Any) -> dict[str, Any]:
        """Add an element."""
        made = add_element(self._unit, self._model_id, kind, name=name, **fields)
        self.elements.append(made)
        return made

    def reuse(self, existing: dict[str, Any]) -> dict[str, Any]:
        """Take an element that is there already."""
        self.reused.append(existing)
        return existing

    def relate(self, kind: str, source: Mapping[str, Any], target: Mapping[str, Any]) -> None:
        """Add a relationship, unless the two are related like this already."""
        if relationship_between(self._unit, kind, source["id"], target["id"]) is None:
            made = add_relationship(self._unit, self._model_id, kind, source["id"], target["id"])
            self.relationships.append(made)

    def answer(self, name: str, main: dict[str, Any], warnings: Notices) -> Answer:
        """What was made, around the main thing of it."""
        data = {
            name: main,
            "created_elements": self.elements,
            "created_relationships": self.relationships,
            "reused_elements": self.reused,
            "version": main["version"],
            "citation": citation(main),
        }
        return Answer(data, warnings=tuple(warnings))


def create_capability_structure(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A capability, what it is composed of, and the value streams that it serves."""
    issues: list[Issue] = []
    model_id = model_for(unit, arguments.get("model_id"), issues)
    streams, parts = arguments.get("value_streams", []), arguments.get("sub_capabilities", [])
    issues += _repeated("value_streams", streams) + _repeated("sub_capabilities", parts, [arguments["name"]])
    warnings = name_for(unit, habits, model_id, "Capability", arguments["name"], issues)
    known_streams = _known(unit, habits, model_id, "ValueStream", "value_streams", streams, issues)
    known_parts = _known(unit, habits, model_id, "Capability", "sub_capabilities", parts, issues)
    issues += profile_issues("Capability", arguments.get("profile"), whole="profile" in arguments)
    raise_all(issues)
    building = Building(unit, model_id or "")
    capability = building.element(
        "Capability",
        arguments["name"],
        description=arguments.get("description"),
        profile=arguments.get("profile"),
    )
    for name in streams:
        stream = _made(building, "ValueStream", name, known_streams)
        building.relate("Serving", capability, stream)
    for name in parts:
        building.relate("Composition", capability, _made(building, "Capability", name, known_parts))
    if "profile" not in arguments:
        warnings.append(profile_missing("Capability", ", ".join(metamodel().profiles["Capability"]["required"])))
    return building.answer("capability", {**capability, "revision": capability["version"]}, warnings)


def add_component_to_capability(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An application component that realizes a capability, and the services that it realizes besides."""
    issues: list[Issue] = []
    capability = find_element(unit, arguments["capability_id"])
    if capability is None or capability["type"] != "Capability":
        issues.append(_no_capability(unit, arguments["capability_id"], capability))
    model_id = capability["model_id"] if capability else None
    services = arguments.get("services", [])
    issues += _repeated("services", services)
    named = ("ApplicationComponent", arguments["component_name"])
    warnings = name_for(unit, habits, model_id, *named, issues, field="component_name")
    known = _known(unit, habits, model_id, "ApplicationService", "services", services, issues)
    raise_all(issues)
    assert capability is not None
    building = Building(unit, capability["model_id"])
    component = building.element(
        "ApplicationComponent", arguments["component_name"], description=arguments.get("component_description")
    )
    building.relate("Realization", component, capability)
    for name in services:
        building.relate("Realization", component, _made(building, "ApplicationService", name, known))
    return building.answer("component", component, warnings)


def _made(building: Building, kind: str, name: str, known: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    existing = known.get(folded(name))
    return building.reuse(existing) if existing else building.element(kind, name)


def _repeated(field: str, names: Sequence[str], besides: Sequence[str] = ()) -> list[Issue]:
    seen = {folded(name) for name in besides}
    issues = []
    for index, name in enumerate(names):
        if folded(name) in seen:
            issues.append(malformed(f"/{field}/{index}", "this name is there twice", "Name each one once."))
        seen.add(folded(name))
    return issues


def _known(
    unit: Unit,
    habits: Habits,
    model_id: str | None,
    kind: str,
    field: str,
    names: Sequence[str],
    issues: list[Issue],
) -> dict[str, dict[str, Any]]:
    """The elements that are there already; a house that does not reuse them refuses their names."""
    found: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(names):
        existing = elements_named(unit, model_id, name, [kind])[:1] if model_id else []
        for one in existing:
            found[folded(name)] = one
            if not habits.template_reuse:
                issues.append(name_taken(unit, one, name, f"{field}/{index}"))
    return found


def _no_capability(unit: Unit, asked: str, found: Mapping[str, Any] | None) -> Issue:
    issue = no_such_element(unit, asked, "capability_id")
    if found is None:
        return issue
    hint = f"This is a {found['type']}; a component is added to a Capability."
    return Issue(
        codes.ELEMENT_NOT_FOUND,
        issue.params,
        issue.pointer,
        suggestions={**(issue.suggestions or {}), "hint": hint},
    )
