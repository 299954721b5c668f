"""Flows and aggregates, from a document to data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from . import values
from .fault import Faults
from .model import (
    MISSING,
    Aggregate,
    CallStep,
    Example,
    Flow,
    HandlerStep,
    Input,
    LookupStep,
    Mapped,
    Mode,
    Place,
    Semantics,
    Step,
    Target,
)
from .node import Scalar
from .parameters import inputs, outputs, patience, query
from .shapes import Taken, parts
from .values import Names


class Calls(NamedTuple):
    """What can be called in a document."""

    operations: Mapping[str, Collection[str]]
    """The operations of each upstream."""
    flows: Collection[str]
    """The refs of its own flows."""

    def target(self, text: str | None, place: Place) -> Target:
        """What a call names: an operation if there is such an upstream, unless only a flow is called like that."""
        namespace, _, name = (text or ".").partition(".")
        consumed = namespace in self.operations
        if consumed and name not in self.operations[namespace] and text in self.flows:
            consumed = False
        return Target(namespace, name, place, "operation" if consumed else "flow")


def aggregate(namespace: str, taken: Taken, calls: Calls, faults: Faults, prefixes: Iterable[str] = ()) -> Aggregate:
    """An aggregate under this namespace."""
    known = tuple(dict.fromkeys((namespace, *prefixes)))
    flows = {
        name: flow(namespace, name, one, inputs(one.get("inputParameters"), faults), calls, faults, known)
        for name, one in parts(taken.get("flows"))
    }
    return Aggregate(namespace, taken.get("display", namespace), flows, taken.place, known)


def flow(
    namespace: str,
    name: str,
    taken: Taken,
    known: dict[str, Input],
    calls: Calls,
    faults: Faults,
    prefixes: tuple[str, ...] = (),
    semantics: Semantics | None = None,
) -> Flow:
    """A flow, of an aggregate or written inside an exposure."""
    names = Names(known.keys(), prefixes or (namespace,))
    mode = _mode(taken, faults)
    said = taken.get("semantics")
    return Flow(
        namespace=namespace,
        name=name,
        description=taken.get("description", ""),
        mode=mode,
        place=taken.place,
        semantics=semantics if said is None else Semantics(**dict(said.items())),
        inputs=known,
        given=values.given(taken.get("with"), names, faults),
        target=calls.target(taken.get("call"), taken.at("call")) if mode == "call" else None,
        steps={step: _step(step, one, names, calls, faults) for step, one in parts(taken.get("steps"))},
        mappings=tuple(_mapped(one, faults) for one in taken.get("mappings", ())),
        outputs=outputs(taken.get("outputParameters"), mode, taken.at("outputParameters"), faults),
        tags=tuple(taken.get("tags", ())),
        examples=tuple(_example(one, number) for number, one in enumerate(taken.get("examples", ()), 1)),
        patience=patience(taken),
        version=taken.get("version"),
    )


def _mode(taken: Taken, faults: Faults) -> Mode:
    called, stepped = "call" in taken, "steps" in taken
    if called and stepped:
        later = max("call", "steps", key=lambda key: taken.at(key))
        faults.error("V6", taken.at(later), "A flow has call or steps, not both.")
    if not called and not stepped and "outputParameters" not in taken:
        faults.error("V6", taken.place, "A flow needs call, or steps, or outputParameters with values.")
    if "mappings" in taken and not stepped:
        faults.error("V6", taken.at("mappings"), "mappings go with steps.")
    return "steps" if stepped else "call" if called else "mock"


def _step(name: str, taken: Taken, names: Names, calls: Calls, faults: Faults) -> Step:
    kind = taken.get("type")
    if kind == "lookup":
        text = taken.get("lookupValue", "")
        place = taken.at("lookupValue")
        looked_for = values.looked_for(Scalar(place, text, text, True), names, faults)
        fields = tuple(taken.get("outputParameters", ()))
        return LookupStep(name, taken.get("index", ""), taken.get("match", ""), looked_for, fields, taken.place)
    given = values.given(taken.get("with"), names, faults)
    if kind == "handler":
        return HandlerStep(name, taken.get("handler", ""), taken.place, given)
    return CallStep(name, calls.target(taken.get("call"), taken.at("call")), taken.place, given, patience(taken))


def _mapped(taken: Taken, faults: Faults) -> Mapped:
    text = taken.get("value", "$")
    place = taken.at("value")
    if not text.startswith("$"):
        faults.error("V16", place, f"{text} has to begin with $: a mapping names a step, as $.item.sku.")
    return Mapped(tuple(taken.get("target", "").split(".")), query(text, place, faults), taken.place)


def _example(taken: Taken, number: int) -> Example:
    return Example(
        taken.get("title", f"Example {number}"),
        _arguments(taken),
        taken.place,
        taken.get("answer", MISSING),
        taken.get("reply"),
        tuple((one.get("call", ""), _arguments(one)) for one in taken.get("given", ())),
    )


def _arguments(taken: Taken) -> dict[str, Any]:
    found = taken.get("arguments")
    return dict(found.items()) if found is not None else {}
