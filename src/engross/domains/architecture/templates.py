"""Writes that make a whole structure at once: everything of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engross.calls import Answer
from engross.ledger import Unit
from engross.replies import Issue, codes

from .checks import model_for, name_for
from .elements import elements_named, find_element, no_such_element, require_element
from .names import folded
from .notices import Notices, isolated, undescribed
from .refusals import malformed, name_taken, profile_issues, raise_all
from .relationships import relationship_between
from .remarks import lacks_profile, likenesses
from .rows import citation
from .stating import Arguments, add_element, add_relationship
from .ways import Habits

Known = Mapping[str, Mapping[str, dict[str, Any]]]


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


class Structure(NamedTuple):
    """A template as it is filled in: where it goes, what of it is there already, and what is to be said about it."""

    model_id: str | None
    known: Known
    """By the field that names them, then by their folded names."""
    warnings: Notices
    issues: list[Issue]


def create_capability_structure(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A capability, what it is composed of, and the value streams that it serves."""
    model_id, known, warnings, issues = _meant_structure(unit, arguments, habits)
    raise_all(issues)
    assert model_id is not None
    streams, parts = arguments.get("value_streams", []), arguments.get("sub_capabilities", [])
    warnings += _structure_remarks(unit, arguments, model_id, known)
    building = Building(unit, model_id)
    capability = building.element(
        "Capability",
        arguments["name"],
        description=arguments.get("description"),
        profile=arguments.get("profile"),
    )
    for name in streams:
        building.relate("Serving", capability, _made(building, "ValueStream", name, known["value_streams"]))
    for name in parts:
        building.relate("Composition", capability, _made(building, "Capability", name, known["sub_capabilities"]))
    if not streams and not parts:
        warnings.append(isolated(capability))
    return building.answer("capability", {**capability, "revision": capability["version"]}, warnings)


def structure_issues(unit: Unit, arguments: Arguments, habits: Habits) -> list[Issue]:
    """What speaks against a structure, as far as it was told what it is to hold."""
    return _meant_structure(unit, arguments, habits).issues


def add_component_to_capability(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An application component that realizes a capability, and the services that it realizes besides."""
    model_id, known, warnings, issues = _meant_component(unit, arguments, habits)
    raise_all(issues)
    assert model_id is not None
    capability = require_element(unit, arguments["capability_id"])
    warnings += _component_remarks(unit, arguments, model_id, known)
    building = Building(unit, model_id)
    component = building.element(
        "ApplicationComponent", arguments["component_name"], description=arguments.get("component_description")
    )
    building.relate("Realization", component, capability)
    for name in arguments.get("services", []):
        building.relate("Realization", component, _made(building, "ApplicationService", name, known["services"]))
    return building.answer("component", component, warnings)


def component_issues(unit: Unit, arguments: Arguments, habits: Habits) -> list[Issue]:
    """What speaks against adding a component, as far as it was told what it is to be."""
    return _meant_component(unit, arguments, habits).issues


def _meant_structure(unit: Unit, arguments: Arguments, habits: Habits) -> Structure:
    issues: list[Issue] = []
    model_id = model_for(unit, arguments.get("model_id"), issues)
    name = arguments.get("name")
    streams, parts = arguments.get("value_streams", []), arguments.get("sub_capabilities", [])
    issues += _repeated("value_streams", streams) + _repeated("sub_capabilities", parts, [name] if name else [])
    warnings = name_for(unit, habits, model_id, "Capability", name, issues)
    known = {
        "value_streams": _known(unit, habits, model_id, "ValueStream", "value_streams", streams, issues),
        "sub_capabilities": _known(unit, habits, model_id, "Capability", "sub_capabilities", parts, issues),
    }
    issues += profile_issues("Capability", arguments.get("profile"), whole="profile" in arguments)
    return Structure(model_id, known, warnings, issues)


def _meant_component(unit: Unit, arguments: Arguments, habits: Habits) -> Structure:
    issues: list[Issue] = []
    asked = arguments.get("capability_id")
    capability = None if asked is None else find_element(unit, asked)
    if asked is not None and (capability is None or capability["type"] != "Capability"):
        issues.append(_no_capability(unit, asked, capability))
    model_id = capability["model_id"] if capability else None
    services = arguments.get("services", [])
    issues += _repeated("services", services)
    named = ("ApplicationComponent", arguments.get("component_name"))
    warnings = name_for(unit, habits, model_id, *named, issues, field="component_name")
    known = {"services": _known(unit, habits, model_id, "ApplicationService", "services", services, issues)}
    return Structure(model_id, known, warnings, issues)


def _structure_remarks(unit: Unit, arguments: Arguments, model_id: str, known: Known) -> Notices:
    """What could be better, said before anything is made: what is made together is no double of each other."""
    found = [undescribed()] if not arguments.get("description") else []
    if "profile" not in arguments:
        found.append(lacks_profile("Capability"))
    found += likenesses(unit, model_id, arguments["name"])
    return [*found, *_likenesses_of_new(unit, arguments, model_id, known)]


def _component_remarks(unit: Unit, arguments: Arguments, model_id: str, known: Known) -> Notices:
    found = [undescribed("component_description")] if not arguments.get("component_description") else []
    found += likenesses(unit, model_id, arguments["component_name"], "component_name")
    return [*found, *_likenesses_of_new(unit, arguments, model_id, known)]


def _likenesses_of_new(unit: Unit, arguments: Arguments, model_id: str, known: Known) -> Notices:
    return [
        one
        for field, reused in known.items()
        for index, name in enumerate(arguments.get(field, []))
        if folded(name) not in reused
        for one in likenesses(unit, model_id, name, f"{field}.{index}")
    ]


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
    hint = f"This is of type {found['type']}; a component is added to a Capability."
    return Issue(
        codes.ELEMENT_NOT_FOUND,
        issue.params,
        issue.pointer,
        suggestions={**(issue.suggestions or {}), "hint": hint},
    )
