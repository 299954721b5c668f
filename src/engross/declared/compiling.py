"""From a checked document to aggregates that nobody can tell from those written in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from engross.flows import (
    Aggregate,
    Determinism,
    Example,
    Facets,
    Kind,
    Listener,
    PromptArgument,
    Route,
    Skill,
    SkillTool,
)
from engross.flows import Flow as Compiled
from engross.flows import Semantics as Promised
from engross.flows.names import title

from .attachments import attachment
from .bearing_out import Bearing
from .engine import Engine
from .exposing import flow_name
from .model import (
    Document,
    Exposes,
    Flow,
    Hints,
    McpExposes,
    McpPrompt,
    McpResource,
    McpTool,
    Offer,
    RestExposes,
    RestOperation,
    RestResource,
    Semantics,
    SkillExposes,
    Target,
)
from .model import Skill as DeclaredSkill
from .routing import route_fields
from .schemas import RESULT, input_schema, output_schema
from .semantics import is_destructive, is_safe
from .spoken import offer_folder, speaker_of

RISKY, USUAL = 3, 2
LONGEST_HEADING = 60
FIRST_VERSION = "1.0.0"
_KINDS: dict[type, Literal["mcp", "rest", "skill"]] = {McpExposes: "mcp", RestExposes: "rest", SkillExposes: "skill"}
_REPLIES = {"read": "READ_OK", "reach": "DONE"}


class Declared(Aggregate):
    """An aggregate that a document declares."""

    def __init__(self, namespace: str, display: str, engine: Engine) -> None:
        super().__init__(namespace, display)
        self.engine = engine
        self.document = engine.document


def compiled(engine: Engine, bearing: Bearing) -> tuple[Declared, ...]:
    """The aggregates of a document: those it declares, and one for each exposure that is called otherwise."""
    return _Compiler(engine, bearing).aggregates()


class _Compiler:
    def __init__(self, engine: Engine, bearing: Bearing) -> None:
        self._engine = engine
        self._document: Document = engine.document
        self._bearing = bearing
        self._made: dict[str, Declared] = {}

    def aggregates(self) -> tuple[Declared, ...]:
        """All of them."""
        # A document that exposes nothing in particular offers everything.
        offered = not self._document.exposes
        for one in self._document.aggregates.values():
            aggregate = self._made[one.namespace] = Declared(one.namespace, one.display, self._engine)
            for flow in one.flows.values():
                made = self._flow(aggregate, flow, exposed=offered)
                if offered:
                    aggregate.expose(made, flow.name)
        for exposes in self._document.exposes.values():
            self._expose(exposes)
        return tuple(self._made.values())

    def _home(self, exposes: Exposes) -> Declared:
        namespace = exposes.namespace
        if namespace not in self._made:
            display = _heading(getattr(exposes, "description", None)) or namespace
            self._made[namespace] = Declared(namespace, display, self._engine)
        return self._made[namespace]

    def _expose(self, exposes: Exposes) -> None:
        home = self._home(exposes)
        if exposes.port is not None:
            kind = _KINDS[type(exposes)]
            home.listen(Listener(exposes.namespace, kind, exposes.address, exposes.port))
        if isinstance(exposes, McpExposes):
            for tool in exposes.tools.values():
                self._tool(home, tool)
            for resource in exposes.resources.values():
                self._resource(home, resource)
            for prompt in exposes.prompts.values():
                self._prompt(home, prompt)
        elif isinstance(exposes, RestExposes):
            for path in exposes.resources.values():
                for operation in path.operations.values():
                    self._route(home, path, operation)
        else:
            for skill in exposes.skills.values():
                self._skill(home, exposes, skill)

    def _flow(
        self, home: Declared, flow: Flow, *, exposed: bool = False, offer: Offer | None = None, name: str | None = None
    ) -> Compiled:
        """A flow, or what an exposure makes of it with inputs, `with` and outputs of its own."""
        inputs = offer.inputs or flow.inputs if offer else flow.inputs
        given, outputs = (offer.given, offer.outputs) if offer else ({}, ())
        kind: Kind = "read" if is_safe(flow) else "reach"
        promised = _promised(flow, kind)
        facets: Facets = {
            "name": _free(home, name or flow.name),
            "description": flow.description,
            "version": self._version(flow),
            "arguments": input_schema(inputs),
            "answers": output_schema(flow, outputs),
            "semantics": promised,
            "examples": [_example(one, kind) for one in flow.examples] if offer is None else [],
            "hint_style": "said" if flow.semantics is None else "derived",
            "exposed": exposed,
        }
        if flow.mode != "mock":
            facets["determinism"] = Determinism(False, "it asks other systems")
        if kind == "read":
            facets["controls"] = ()
        else:
            facets["tier"] = RISKY if is_destructive(self._document, flow) else USUAL
            facets["rehearses"] = True
        return home.define(kind, self._engine.handler(flow, given, outputs), **facets)

    def _version(self, flow: Flow) -> str:
        """Which version ran is in every receipt: the document's digest is part of it."""
        info = self._document.info
        said = flow.version or (info.version if info and _is_version(info.version) else None) or FIRST_VERSION
        return f"{said}+{self._document.digest[:12]}"

    def _offered(
        self, home: Declared, name: str, offer: Offer, *, own_inputs: bool, semantics: Semantics | None = None
    ) -> str:
        """The ref of the flow behind an offer, made here if the offer says anything of its own about running it."""
        if offer.flow is not None:
            return self._flow(home, offer.flow).ref
        assert offer.ref is not None
        base = self._document.flow(offer.ref.ref)
        if not offer.given and not offer.outputs and not own_inputs:
            return offer.ref.ref
        if base is None:
            base = self._bearing.flow(_call_of(offer, home.namespace, name, semantics))
            offer = Offer(ref=offer.ref, inputs=offer.inputs)
        described = replace(base, description=offer.description or base.description)
        return self._flow(home, described, offer=offer, name=flow_name(name)).ref

    def _tool(self, home: Declared, tool: McpTool) -> None:
        offer = tool.offer
        hints = tool.hints
        said_so = hints.read_only is not None
        semantics = Semantics(hints.read_only, hints.idempotent, None, hints.destructive) if said_so else None
        ref = self._offered(home, tool.name, offer, own_inputs=bool(offer.inputs), semantics=semantics)
        said: dict[str, Any] = {
            "title": offer.display or _title(tool.name, ref),
            "description": offer.description,
            "hints": _hints(self._bearing.hints(tool)),
        }
        told = {name: value for name, value in said.items() if value}
        home.expose(ref, tool.name, home.namespace, **told)

    def _resource(self, home: Declared, resource: McpResource) -> None:
        if resource.flow is None:
            offer_folder(home, resource, self._document)
            return
        flow = self._flow(home, resource.flow)
        outputs = resource.flow.outputs
        text = RESULT if len(outputs) == 1 and outputs[0].type == "string" and resource.flow.mode == "call" else None
        home.resource(
            resource.uri,
            flow,
            name=resource.name,
            title=resource.display,
            description=resource.description,
            mime_type=resource.mime_type or ("text/plain" if text else "application/json"),
            text=text,
            changes="",
        )

    def _prompt(self, home: Declared, prompt: McpPrompt) -> None:
        """A prompt whose words a read flow puts together: braces mean nothing there but around an argument."""
        messages = prompt.template
        if prompt.location is not None:
            files = self._document.files[attachment(prompt.location, prompt.place)]
            messages = (("user", files.get("", b"").decode("utf-8", "replace")),)
        fields = {one.name: {"type": "string", "description": one.description} for one in prompt.arguments.values()}
        flow = home.define(
            "read",
            speaker_of(messages),
            name=f"{flow_name(prompt.name)}-prompt",
            description=prompt.description,
            arguments={"type": "object", "properties": fields, "additionalProperties": False},
            answers=None,
            exposed=False,
            controls=(),
        )
        arguments = [PromptArgument(one.name, one.description, one.required) for one in prompt.arguments.values()]
        home.prompt(prompt.name, prompt.description, arguments, flow=flow, title=prompt.display)

    def _route(self, home: Declared, resource: RestResource, operation: RestOperation) -> None:
        offer = operation.offer
        base = offer.flow or (self._document.flow(offer.ref.ref) if offer.ref else None)
        foreign = base is not None and any(name not in base.inputs for name in offer.inputs)
        own_inputs = foreign or (base is None and bool(offer.inputs))
        semantics = Semantics(safe=operation.method == "GET")
        ref = self._offered(home, operation.name, offer, own_inputs=own_inputs, semantics=semantics)
        taken = offer.inputs or (base.inputs if base else None)
        home.route(
            Route(
                home.namespace,
                operation.name,
                operation.method,
                resource.path,
                ref,
                route_fields(resource, operation, taken) if taken is not None else None,
                offer.display,
                offer.description or (base.description if base else None) or resource.description,
                offer.tags or (base.tags if base else ()),
            )
        )

    def _skill(self, home: Declared, exposes: SkillExposes, skill: DeclaredSkill) -> None:
        about = {
            "license": skill.license,
            "compatibility": skill.compatibility,
            "metadata": dict(skill.metadata) or None,
            "allowed-tools": skill.allowed_tools,
            "argument-hint": skill.argument_hint,
            "user-invocable": skill.user_invocable,
            "disable-model-invocation": skill.disable_model_invocation,
        }
        tools = tuple(
            SkillTool(
                tool.name,
                tool.description,
                tool.source_namespace,
                tool.action,
                self._mode(tool.source_namespace),
                tool.instruction,
            )
            for tool in skill.tools.values()
        )
        told = {name: value for name, value in about.items() if value is not None}
        files = self._document.files[attachment(skill.location, skill.place)] if skill.location else None
        home.skill(Skill(exposes.namespace, skill.name, skill.description, told, tools, files))

    def _mode(self, namespace: str | None) -> Any:
        source = self._document.exposes.get(namespace or "")
        return "mcp" if isinstance(source, McpExposes) else "rest" if isinstance(source, RestExposes) else None


def _free(home: Declared, name: str) -> str:
    """A name that no flow has here yet: those written inside exposures are called after them."""
    number, wanted = 2, name
    while name in home.flows:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _promised(flow: Flow, kind: str) -> Promised:
    said = flow.semantics
    safe = kind == "read"
    if said is None:
        return Promised(safe=safe, idempotent=safe)
    destructive = None if safe else said.destructive
    return Promised(safe, bool(said.idempotent), bool(said.cacheable), destructive)


def _is_version(text: str | None) -> bool:
    parts = (text or "").split(".")
    return len(parts) == 3 and all(part.isdecimal() for part in parts)


def _example(one: Any, kind: str) -> Example:
    return Example(one.title, one.arguments, one.given, one.reply or _REPLIES[kind])


def _hints(said: Hints) -> dict[str, bool | None]:
    told = {
        "readOnly": said.read_only,
        "destructive": said.destructive,
        "idempotent": said.idempotent,
        "openWorld": said.open_world,
    }
    return {name: value for name, value in told.items() if value is not None}


def _title(tool: str, ref: str) -> str | None:
    """Tools of one flow under several names have headings that differ too."""
    return None if ref.endswith(f".{tool}") or tool != tool.lower() else title(tool)


def _heading(text: str | None) -> str | None:
    """The beginning of a description, short enough for a heading."""
    if text is None or len(text) <= LONGEST_HEADING:
        return text
    return f"{text[: LONGEST_HEADING - 3].rstrip()}..."


def _call_of(offer: Offer, namespace: str, name: str, semantics: Semantics | None) -> Flow:
    """A flow of the office with arguments of its own: a flow here that calls it.

    What it promises is the exposure's word; the office governs the inner call whatever that says.
    """
    assert offer.ref is not None
    target = Target(offer.ref.namespace, offer.ref.name, offer.ref.place, "flow")
    return Flow(
        namespace,
        flow_name(name),
        offer.description or f"Calls {offer.ref.ref}.",
        "call",
        offer.ref.place,
        semantics=semantics,
        inputs=offer.inputs,
        given=offer.given,
        target=target,
        outputs=offer.outputs,
    )
