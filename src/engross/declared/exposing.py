"""What a document exposes, from a document to data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from . import values
from .fault import Faults
from .flowing import Calls, flow
from .model import (
    MISSING,
    Aggregate,
    Exposes,
    Flow,
    Hints,
    Input,
    McpExposes,
    McpPrompt,
    McpResource,
    McpTool,
    Offer,
    Place,
    PromptArgument,
    Ref,
    RestExposes,
    RestInput,
    RestOperation,
    RestResource,
    Semantics,
    Skill,
    SkillExposes,
    SkillTool,
)
from .parameters import inputs, outputs, require_told
from .shapes import Taken, parts
from .values import Names


class Around(NamedTuple):
    """What an exposure may refer to."""

    aggregates: Mapping[str, Aggregate]
    calls: Calls

    def find(self, ref: str) -> Flow | None:
        """The flow of the document with this ref."""
        namespace, _, name = ref.partition(".")
        found = self.aggregates.get(namespace)
        return found.flows.get(name) if found else None


LOCAL = ("localhost", "127.0.0.1", "::1")
VARIABLE = re.compile(r"\{\{?([^{}]+?)\}?\}")


def exposes(namespace: str, taken: Taken, around: Around, faults: Faults) -> Exposes | None:
    """An entry of `exposes`; None for one that has no place here."""
    return _KINDS[taken.get("type")](namespace, taken, around, faults)


def _mcp(namespace: str, taken: Taken, around: Around, faults: Faults) -> McpExposes:
    if not {"tools", "resources", "prompts"} & set(taken.places):
        faults.error("V3", taken.place, "An mcp entry needs tools, resources or prompts.")
    transport = taken.get("transport", "http")
    if transport == "stdio" and "port" in taken:
        faults.error("V12", taken.at("port"), "With the transport stdio there is no port.")
    if transport == "stdio" and "authentication" in taken:
        faults.warning("L4", taken.at("authentication"), "Over stdio nobody authenticates.")
    return McpExposes(
        namespace,
        taken.place,
        taken.get("description"),
        transport,
        taken.get("port"),
        taken.get("address", "localhost"),
        {name: _tool(namespace, name, one, around, faults) for name, one in parts(taken.get("tools"))},
        {name: _resource(namespace, name, one, around, faults) for name, one in parts(taken.get("resources"))},
        {name: _prompt(name, one, faults) for name, one in parts(taken.get("prompts"))},
    )


def _tool(namespace: str, name: str, taken: Taken, around: Around, faults: Faults) -> McpTool:
    said = taken.get("hints")
    hints = _hints(said)
    semantics = None if said is None else Semantics(hints.read_only, hints.idempotent, None, hints.destructive)
    offer = _offer(namespace, name, taken, taken.get("inputParameters"), around, faults, semantics)
    return McpTool(name, offer, taken.place, hints)


def _hints(taken: Taken | None) -> Hints:
    if taken is None:
        return Hints()
    return Hints(taken.get("readOnly"), taken.get("destructive"), taken.get("idempotent"), taken.get("openWorld"))


def _offer(
    namespace: str,
    name: str,
    taken: Taken,
    own: Taken | None,
    around: Around,
    faults: Faults,
    semantics: Semantics | None,
) -> Offer:
    """What a tool or an operation says itself: with a ref, or with a flow of its own."""
    if "ref" in taken:
        return _referring(namespace, taken, own, around, faults)
    require_told(own, faults)
    if not taken.get("description"):
        faults.error("V3", taken.place, f"{name} needs a description, or a ref to inherit it from.")
    inline = flow(namespace, flow_name(name), taken, inputs(own, faults), around.calls, faults, (namespace,), semantics)
    return Offer(flow=inline, display=taken.get("display"), description=taken.get("description"), tags=inline.tags)


def _referring(namespace: str, taken: Taken, own: Taken | None, around: Around, faults: Faults) -> Offer:
    for wrong in ("call", "steps", "mappings"):
        if wrong in taken:
            faults.error("V8", taken.at(wrong), f"With ref there is no {wrong}: the flow that is referred to says it.")
    ref = reference(taken.get("ref"), taken.at("ref"))
    base = around.find(ref.ref)
    if base is None:
        # What the flows of the office take is not known here, so nothing can be inherited one by one.
        require_told(own, faults)
    found = inputs(own, faults, base.inputs if base else None)
    said = taken.get("outputParameters")
    mode = base.mode if base and base.mode == "call" else "call" if isinstance(said, list) else "steps"
    return Offer(
        ref,
        None,
        taken.get("display"),
        taken.get("description") or None,
        tuple(taken.get("tags", ())),
        found,
        values.given(taken.get("with"), Names((found or (base.inputs if base else {})).keys(), (namespace,)), faults),
        outputs(said, mode, taken.at("outputParameters"), faults),
    )


def reference(text: str | None, place: Place) -> Ref:
    """What a ref names."""
    namespace, _, name = (text or ".").partition(".")
    return Ref(namespace, name, place)


def flow_name(name: str) -> str:
    """The name of a flow that is written inside a tool or an operation."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    joined = "-".join(word.lower() for word in words)
    return joined if joined[:1].isalpha() else f"flow-{joined}"


def _resource(namespace: str, name: str, taken: Taken, around: Around, faults: Faults) -> McpResource:
    ways = [way for way in ("call", "steps", "location") if way in taken]
    if len(ways) != 1:
        faults.error("V6", taken.place, "A resource has one of call, steps and location.")
    found = None
    if ways == ["call"] or ways == ["steps"]:
        variables = VARIABLE.findall(taken.get("uri", ""))
        known = {one: Input(one, "string", taken.at("uri"), f"The part {one} of the address.") for one in variables}
        semantics = Semantics(safe=True, idempotent=True)
        found = flow(
            namespace, f"{flow_name(name)}-resource", taken, known, around.calls, faults, (namespace,), semantics
        )
    return McpResource(
        name,
        taken.get("display", name),
        taken.get("uri", ""),
        taken.get("description", ""),
        taken.place,
        taken.get("mimeType"),
        found,
        taken.get("location"),
    )


def _prompt(name: str, taken: Taken, faults: Faults) -> McpPrompt:
    if ("template" in taken) == ("location" in taken):
        faults.error("V6", taken.place, "A prompt has a template or a location.")
    arguments = {
        key: PromptArgument(key, one.get("description", ""), one.place, one.get("display"), one.get("required", True))
        for key, one in parts(taken.get("arguments"))
    }
    messages = tuple((one.get("role", "user"), one.get("content", "")) for one in taken.get("template", ()))
    return McpPrompt(
        name,
        taken.get("display", name),
        taken.get("description", ""),
        taken.place,
        arguments,
        messages,
        taken.get("location"),
    )


def _rest(namespace: str, taken: Taken, around: Around, faults: Faults) -> RestExposes:
    resources = {
        name: _rest_resource(namespace, name, one, around, faults) for name, one in parts(taken.get("resources"))
    }
    return RestExposes(namespace, taken.place, taken.get("port"), taken.get("address", "localhost"), resources)


def _rest_resource(namespace: str, name: str, taken: Taken, around: Around, faults: Faults) -> RestResource:
    common = taken.get("inputParameters")
    methods: dict[str, Place] = {}
    operations: dict[str, RestOperation] = {}
    for key, one in parts(taken.get("operations")):
        operations[key] = operation = _rest_operation(namespace, key, one, common, around, faults)
        if operation.method in methods:
            told = f"{operation.method} is there twice on this path: in line {methods[operation.method].line} already."
            faults.error("V12", one.at("method"), told)
        methods.setdefault(operation.method, one.at("method"))
    return RestResource(
        name, as_template(taken.get("path", "/")), taken.at("path"), taken.get("description"), operations
    )


def as_template(path: str) -> str:
    """A path with its variables in single braces."""
    return VARIABLE.sub(lambda found: f"{{{found[1].strip()}}}", path)


def _rest_operation(
    namespace: str, name: str, taken: Taken, common: Taken | None, around: Around, faults: Faults
) -> RestOperation:
    own = _merged(common, taken.get("inputParameters"))
    method = taken.get("method", "GET")
    safe = method == "GET"
    semantics = Semantics(
        safe=safe, idempotent=safe or method in ("PUT", "DELETE"), destructive=method == "DELETE" or None
    )
    offer = _offer(namespace, name, taken, own, around, faults, semantics)
    found = {
        key: RestInput(key, one.get("in", "body"), one.place, one.get("value", MISSING)) for key, one in parts(own)
    }
    return RestOperation(name, method, offer, taken.place, found)


def _merged(common: Taken | None, own: Taken | None) -> Taken | None:
    if common is None or own is None:
        return common if own is None else own
    both = Taken(own.place)
    both.values = {**common.values, **own.values}
    both.places = {**common.places, **own.places}
    return both


def _skills(namespace: str, taken: Taken, _: Around, faults: Faults) -> SkillExposes:
    skills = {name: _skill(name, one, faults) for name, one in parts(taken.get("skills"))}
    return SkillExposes(
        namespace, taken.place, taken.get("description"), taken.get("port"), taken.get("address", "localhost"), skills
    )


def _skill(name: str, taken: Taken, faults: Faults) -> Skill:
    metadata = taken.get("metadata")
    return Skill(
        name,
        taken.get("description", ""),
        taken.place,
        taken.get("license"),
        taken.get("compatibility"),
        dict(parts(metadata)),
        taken.get("allowed-tools"),
        taken.get("argument-hint"),
        taken.get("user-invocable"),
        taken.get("disable-model-invocation"),
        taken.get("location"),
        {key: _skill_tool(name, key, one, "location" in taken, faults) for key, one in parts(taken.get("tools"))},
    )


def _skill_tool(skill: str, name: str, taken: Taken, located: bool, faults: Faults) -> SkillTool:
    derived, instructed = "from" in taken, "instruction" in taken
    if derived and instructed:
        faults.error("V15", taken.place, f"The tool {name} of the skill {skill} has from or instruction, not both.")
    if not derived and not instructed:
        faults.error("V15", taken.place, f"The tool {name} of the skill {skill} needs from or instruction.")
    if instructed and not located:
        told = f"The tool {name} has an instruction, but the skill {skill} has no location for it."
        faults.error("V15", taken.at("instruction"), told)
    source = taken.get("from")
    place = taken.at("from") if derived else taken.at("instruction") if instructed else taken.place
    return SkillTool(
        name,
        taken.get("description", ""),
        place,
        source.get("sourceNamespace") if source else None,
        source.get("action") if source else None,
        taken.get("instruction"),
    )


def _control(_: str, taken: Taken, __: Around, faults: Faults) -> None:
    """The office has health, metrics and logs of its own."""
    faults.warning("V3", taken.place, "A control entry has no effect here: the office has health and metrics itself.")
    if taken.get("address", "localhost") not in LOCAL:
        faults.warning("L4", taken.at("address"), "Whoever controls an engine should sit at localhost.")


_KINDS: dict[str, Callable[[str, Taken, Around, Faults], Exposes | None]] = {
    "mcp": _mcp,
    "rest": _rest,
    "skill": _skills,
    "control": _control,
}
