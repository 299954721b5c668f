"""The page of all actions: every flow of an office with all built-in domains, and everything that is promised about it.

It is written from the flows themselves. What nobody said about one of them keeps the page from being written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engross.flows import CONTROLS, LIMITS, Aggregate, Catalogue, Flow, Tool
from engross.governance import Knobs
from engross.office import Settings
from engross.office.built_in import DOMAINS
from engross.office.capabilities import catalogue_of
from engross.office.refusals import USUAL, Usual, own_refusals, store_failure
from engross.replies import REGISTRY, Entry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "actions.md"
NOTICE = "Generated from the flows themselves by `make docs` (tools/actions.py)."
TIERS = ("none", "low", "medium", "high", "critical")
SIZES = {"depth": "levels", "values": "values", "text": "characters in one text", "size": "characters in all"}


class Hole(Exception):
    """Something that the page has to tell and no flow says."""

    def __init__(self, holes: Iterable[str]) -> None:
        self.holes = list(holes)
        super().__init__("\n".join(self.holes))


def outputs() -> Mapping[Path, str]:
    """The page, with the text that it should have."""
    return {PAGE: page(catalogue_of(Settings(data=Path("no-office-here"), domains=",".join(DOMAINS))))}


def page(catalogue: Catalogue) -> str:
    """The whole page; Hole, with everything that is missing, where something is."""
    holes = [hole for flow in catalogue for hole in holes_in(flow)]
    if holes:
        raise Hole(holes)
    tools = {flow.ref: [tool for tool in catalogue.tools() if tool.flow is flow] for flow in catalogue}
    lines = [f"<!-- {NOTICE} -->", "", "# All actions", "", *_opening()]
    for aggregate in sorted(catalogue.aggregates, key=lambda one: one.namespace):
        lines += ["", *_aggregate(aggregate, tools)]
    return "\n".join([*lines, "", *_usual()]) + "\n"


def holes_in(flow: Flow) -> Iterator[str]:
    """What a flow leaves unsaid, each as a sentence that says where."""
    for name, field in flow.published["properties"].items():
        yield from _undescribed(f"{flow.ref} takes {name}", field)
    for name, field in flow.output["properties"].items():
        yield from _undescribed(f"{flow.ref} answers {name}", field)
    said = {
        "what it does": flow.description.strip(),
        "how consistent it is": flow.consistency.tier == "strong" or flow.consistency.max_delay_ms,
        "why it is not deterministic": flow.determinism.deterministic or flow.determinism.reason,
        "an example": flow.examples,
        "its version": flow.version,
    }
    yield from (f"{flow.ref} does not say {what}." for what, words in said.items() if not words)


def _undescribed(where: str, field: Mapping[str, Any]) -> Iterator[str]:
    if not str(field.get("description", "")).strip():
        yield f"{where} without saying what it is."


def _opening() -> list[str]:
    rates = Knobs().rate_limits
    classes = ", ".join(f"{name} `{rate}`" for name, rate in sorted(rates.items()))
    return [
        "Every flow that an office has without your own domains, with what is promised about it. Each is a REST",
        "operation, `POST /v1/{namespace}/{flow}`, a command, `engross call {namespace}.{flow}`, and a Python method;",
        "those with a tool are offered over MCP by that name. A running office says the same about all of its flows,",
        "yours included, in `GET /openapi.json`, and about one of them by the tool `describe_flow`.",
        "",
        "- **Errors** of a flow's own, those that it names and those that its examples show, stand with it.",
        "  [Those that any call may get](#any-call) stand at the end, once.",
        "- **Retry**: yes where a runtime may repeat the call unchanged, with the same `client_request_id`.",
        "- **Consistency**: strong, what a write returned is what the next read sees; or eventual, within the delay",
        "  given.",
        "- **Deterministic**: the same call on the same record gives the same answer; or the reason why it may not.",
        "- **Risk**: the [tier](policy.md), where from 3 on a direct commit asks for confirmation, and whether agents",
        "  propose or commit directly.",
        f"- **Limits**: the rate per caller and flow, over HTTP, unless the operator sets another ({classes});",
        "  the time one call may take; and the size of its arguments where it is not the usual one:",
        f"  {_sizes(LIMITS)}.",
    ]


def _aggregate(aggregate: Aggregate, tools: Mapping[str, list[Tool]]) -> list[str]:
    flows = [flow for _, flow in sorted(aggregate.flows.items())]
    lines = [f"## {aggregate.display}", ""]
    lines += ["| flow | tool | kind | tier | consistency | deterministic |", "|---|---|---|---|---|---|"]
    for flow in flows:
        names = ", ".join(f"`{tool.name}`" for tool in tools[flow.ref]) or "none"
        determined = "yes" if flow.determinism.deterministic else "no"
        told = (f"[{flow.ref}](#{_anchor(flow)})", names, _kind(flow), flow.tier, _consistency(flow), determined)
        lines.append(_row(*told))
    for flow in flows:
        lines += ["", *_flow(flow, tools[flow.ref])]
    return lines


def _flow(flow: Flow, tools: list[Tool]) -> list[str]:
    lines = [f"### {flow.ref}", ""]
    if flow.deprecated_since:
        lines += [f"**Deprecated since {flow.deprecated_since}.**", ""]
    lines += [_one_line(flow.description), "", *_facts(flow, tools), "", *_arguments(flow)]
    answers = {name: field for name, field in flow.output["properties"].items() if name != "reply"}
    if answers:
        lines += ["", "| answers | type | |", "|---|---|---|"]
        lines += [_row(f"`{name}`", _type(field), field["description"]) for name, field in answers.items()]
    return [*lines, "", *_errors(flow)]


def _facts(flow: Flow, tools: list[Tool]) -> list[str]:
    offered = ", ".join(f"`{tool.name}` in the toolset `{tool.exposure.toolset}`" for tool in tools)
    facts = {
        "tool": offered or "none; reached by its name, as `run_flow` and `engross call` do",
        "kind": f"{_kind(flow)}, version {flow.version}",
        "risk": _risk(flow),
        "consistency": _consistency(flow),
        "deterministic": "yes" if flow.determinism.deterministic else f"no: {flow.determinism.reason}",
        "limits": _limits(flow),
    }
    return [f"- {name}: {words}" for name, words in facts.items()]


def _kind(flow: Flow) -> str:
    return f"{flow.kind}, {flow.effect}" if flow.effect else flow.kind


def _risk(flow: Flow) -> str:
    if not flow.writes:
        return "tier 0, it changes nothing"
    posture = "agents commit directly" if flow.posture == "direct" else "agents propose"
    people = "; only for people" if flow.people_only else ""
    depends = "; more where it would change much" if flow.risk is not None else ""
    return f"tier {flow.tier}, {TIERS[flow.tier]}{depends}; {posture}{people}"


def _consistency(flow: Flow) -> str:
    if flow.consistency.tier == "strong":
        return "strong"
    return f"eventual, within {flow.consistency.max_delay_ms} ms"


def _limits(flow: Flow) -> str:
    rate = flow.rate or ("write" if flow.writes else "read")
    rate = f"`{rate}`" if "/" in rate else f"the rate of every {rate}"
    seconds = "the operator's `bulk_seconds`" if flow.bulk else f"{flow.timeout_seconds:g} s"
    sizes = "" if flow.limits == LIMITS else f", {_sizes(flow.limits)}"
    return f"{rate}, {seconds}{sizes}"


def _sizes(limits: Any) -> str:
    return ", ".join(f"{getattr(limits, name):,} {words}" for name, words in SIZES.items())


def _arguments(flow: Flow) -> list[str]:
    needed = flow.published.get("required", ())
    fields = flow.published["properties"]
    own = {name: field for name, field in fields.items() if name in flow.own_fields or name not in CONTROLS}
    steering = [f"`{name}`" for name in fields if name not in own]
    besides = [f"[Control fields](flows.md#control-fields): {', '.join(steering)}."] if steering else []
    if not own:
        return ["It takes no arguments of its own.", *(["", *besides] if besides else [])]
    lines = ["| takes | type | required | |", "|---|---|---|---|"]
    for name, field in own.items():
        lines.append(_row(f"`{name}`", _type(field), "yes" if name in needed else "", field["description"]))
    return [*lines, *(["", *besides] if besides else [])]


def _type(field: Mapping[str, Any]) -> str:
    kinds = field.get("type", "any")
    kind = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if kind == "array":
        inner = _type(field.get("items", {}))
        return "array" if inner == "any" else f"array of {inner}"
    chosen = field.get("enum")
    told = f"{kind}: {', '.join(f'`{one}`' for one in chosen)}" if chosen else kind
    return f"{told}; `{_spelled(field['default'])}` by default" if "default" in field else told


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _errors(flow: Flow) -> list[str]:
    concerned = [f"[{usual.name[0].lower()}{usual.name[1:]}](#{_slug(usual.name)})" for usual in _concerning(flow)]
    own = [*own_refusals(flow), REGISTRY.entry(store_failure(flow))]
    return [*_table(own), "", f"Besides: {', '.join(concerned)}."]


def _concerning(flow: Flow) -> list[Usual]:
    return [usual for usual in USUAL if usual.concerns(flow)]


def _table(entries: Iterable[Entry]) -> list[str]:
    lines = ["| error | HTTP | retry | |", "|---|---|---|---|"]
    for entry in entries:
        link = f"[`{entry.key}`](reply-codes.md#{_slug(f'{entry.code} {entry.key}')})"
        lines.append(_row(link, entry.http, "yes" if entry.retryable else "no", entry.title))
    return lines


def _usual() -> list[str]:
    lines = ["## What is no flow's own"]
    for usual in USUAL:
        lines += ["", f"### {usual.name}", "", *_table(REGISTRY.entry(code) for code in usual.codes)]
    return lines


def _row(*cells: object) -> str:
    return f"| {' | '.join(_one_line(str(cell)).replace('|', chr(92) + '|') for cell in cells)} |"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _anchor(flow: Flow) -> str:
    return _slug(flow.ref)


def _slug(heading: str) -> str:
    """A heading's name, as links spell it."""
    return "".join(one for one in heading.lower() if one.isalnum() or one in "-_ ").replace(" ", "-")
