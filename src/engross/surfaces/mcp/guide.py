"""Three tools that reach every flow a caller may use: find one, read what it takes, run it.

They are shaped and checked like flows, but they are no flows of the office: what they do depends on the desk.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Exposure, Flow, Semantics, Tool, nearest, shortened
from engross.office import refusals_of
from engross.replies import Invalid, codes

from .window import Visit

FEW = 10
LIKENESS = 45.0
"""Below this, of 100, a flow has nothing to do with the words."""

WORDS = {
    "create": "create add new make insert put",
    "update": "update change edit set modify rename",
    "delete": "delete remove drop discard erase take away",
    None: "read show get list look find search",
}
"""What people say when they mean a flow of that effect."""

guide = Aggregate("guide", "Guide", naming="snake")


class FindFlow(TypedDict):
    """What to look for."""

    words: NotRequired[Annotated[str, Described("What you want to do, in a few words; none lists all.", maxLength=200)]]
    limit: NotRequired[Annotated[int, Described("How many at the most.", minimum=1, maximum=100, default=FEW)]]


class OneFlow(TypedDict):
    """A flow."""

    flow: Annotated[str, Described("A tool name or aggregate.flow.", maxLength=200)]


class RunFlow(OneFlow):
    """A call."""

    arguments: NotRequired[Annotated[dict[str, Any], Described("What the flow takes: see describe_flow.")]]
    dry_run: NotRequired[Annotated[bool, Described("Only say what a write would do.")]]


@guide.read(controls=())
def find_flow(visit: Visit, arguments: FindFlow) -> Mapping[str, Any]:
    """Find calls by what they do, also such as are not listed as tools."""
    tools = list(visit.reachable())
    words = arguments.get("words", "").strip()
    found = ranked(words, tools) if words else tools
    limit = arguments.get("limit", FEW)
    return {"flows": [_outline(tool) for tool in found[:limit]], "found": len(found)}


@guide.read(controls=())
def describe_flow(visit: Visit, arguments: OneFlow) -> Mapping[str, Any]:
    """Show all about a call: what it takes and answers, examples, errors, risk."""
    tool = visit.desk.find(arguments["flow"])
    if tool is None or not visit.may_use(tool):
        raise _unknown(visit, arguments["flow"])
    flow = tool.flow
    return {
        **_outline(tool),
        "description": tool.description,
        "version": flow.version,
        "dialect": flow.dialect,
        "inputSchema": flow.published,
        "outputSchema": flow.output,
        "hints": tool.hints,
        "risk_tier": flow.tier,
        "consistency": flow.consistency.tier,
        "max_delay_ms": flow.consistency.max_delay_ms,
        "deterministic": flow.determinism.deterministic,
        "deprecated_since": flow.deprecated_since,
        "examples": [
            {"title": one.title, "arguments": one.arguments, "given": list(one.given), "reply": one.reply}
            for one in flow.examples
        ],
        "errors": [
            {
                "message_key": entry.key,
                "code": entry.code,
                "type": entry.type,
                "retryable": entry.retryable,
                "advice": entry.advice,
            }
            for entry in refusals_of(flow)
        ],
    }


@guide.reach(controls=(), semantics=Semantics(destructive=True))
def run_flow(visit: Visit, arguments: RunFlow) -> Mapping[str, Any]:
    """Run any call you may use, by tool name or aggregate.flow. Same checks, same answer as the tool itself."""
    # One that names a call is that call; what comes here names none.
    raise _unknown(visit, arguments["flow"])


GUIDES: dict[str, Flow] = {"find_flow": find_flow, "describe_flow": describe_flow, "run_flow": run_flow}
_HARMLESS = {"readOnly": True, "destructive": False}


def guide_tools(*, read_only: bool) -> list[Tool]:
    """The three as tools. In an office that only reads, running a flow changes nothing either."""
    return [
        Tool(Exposure("guide", name, flow.ref, {"hints": _HARMLESS} if read_only else {}), flow)
        for name, flow in GUIDES.items()
    ]


class Meant(NamedTuple):
    """The call that one of `run_flow` stands for."""

    flow: Flow
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]


def meant(visit: Visit, arguments: Mapping[str, Any]) -> Meant | None:
    """What a call of `run_flow` runs; None if it names nothing. Whether the caller may, that call will tell."""
    try:
        checked = run_flow.check(arguments).arguments
    except Invalid:
        return None
    tool = visit.desk.find(checked["flow"])
    if tool is None:
        return None
    return Meant(tool.flow, checked.get("arguments", {}), {"dry_run": True} if checked.get("dry_run") else {})


def ranked(words: str, tools: list[Tool]) -> list[Tool]:
    """The tools that have to do with these words, best first."""
    from rapidfuzz import fuzz, utils

    asked = utils.default_process(words)

    def score(tool: Tool) -> float:
        room = tool.exposure.toolset or tool.flow.aggregate.namespace
        named = utils.default_process(f"{tool.name} {tool.flow.name} {tool.title} {room}")
        told = utils.default_process(f"{tool.title} {tool.description} {WORDS[tool.flow.effect]}")
        return max(
            fuzz.token_set_ratio(asked, named),
            0.6 * fuzz.token_set_ratio(asked, told) + 0.4 * fuzz.partial_token_set_ratio(asked, named),
        )

    scored = sorted(((-score(tool), tool.name or tool.flow.ref, tool) for tool in tools), key=lambda found: found[:2])
    return [tool for likeness, _, tool in scored if -likeness >= LIKENESS]


def _unknown(visit: Visit, name: str) -> Invalid:
    offered = list(visit.reachable())
    close = nearest(name, [one.name for one in offered if one.name]) or nearest(name, [one.flow.ref for one in offered])
    return Invalid(
        codes.UNKNOWN_OPERATION,
        {"operation": shortened(name)},
        field="flow",
        suggestions={"did_you_mean": close, "hint": "Look for it with find_flow."},
    )


def _outline(tool: Tool) -> dict[str, Any]:
    return {
        "tool": tool.name or None,
        "flow": tool.flow.ref,
        "toolset": tool.exposure.toolset or None,
        "writes": tool.flow.writes,
        "description": tool.description.partition("\n")[0],
    }
