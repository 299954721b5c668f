"""Why something is what it is, whichever domain keeps it.

A domain tells it by a read flow whose name begins with `why-` and that takes a `ref`: an id or a name. Its answer
names the `subject`, so that what is still proposed about it can be told as well.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.calls import Answer, Context
from engross.flows import Aggregate, Described, Example, Flow
from engross.pipeline import Fittings, Request, Steps, walk
from engross.replies import Invalid, Reply, codes

WHY = "why-"
LIST_PROPOSALS = "proposals.list-proposals"
UNDECIDED = ("draft", "proposed", "in_review")
MOST_PROPOSALS = 20


class Why(TypedDict):
    """What to account for."""

    of: Annotated[str, Described("An id or a name.", minLength=1, maxLength=400)]
    field: NotRequired[Annotated[str, Described("Only what set this field.", minLength=1, maxLength=300)]]
    aggregate: NotRequired[Annotated[str, Described("Only ask this aggregate.", maxLength=100)]]


def add_why(record: Aggregate, fittings: Callable[[], Fittings]) -> None:
    """Give the office's own aggregate the flow that asks every domain."""

    @record.read(
        controls=(),
        answers=None,
        exposed=False,
        examples=[Example("Nobody knows it", {"of": "Nobody's child"}, reply="RECORD_NOT_FOUND")],
    )
    def why(context: Context, arguments: Why) -> Steps[Answer]:
        """Tell why something is what it is: its facts, who wanted and who approved them, receipts, open proposals."""
        return (yield from _accounted(fittings(), context, arguments))


def _accounted(fittings: Fittings, context: Context, arguments: Why) -> Steps[Answer]:
    found: list[dict[str, Any]] = []
    refusals: list[Reply] = []
    for flow in _asked(fittings, arguments.get("aggregate")):
        answer = yield from walk(fittings, Request.within(context, flow.ref, _question(flow, arguments)))
        if answer.ok:
            proposals = yield from _undecided(fittings, context, f"{flow.aggregate.namespace}/{answer.data['subject']}")
            found.append({"aggregate": flow.aggregate.namespace, **answer.data, "proposals": proposals})
        else:
            refusals.append(answer)
    if not found:
        raise _unknown(arguments["of"], refusals)
    return Answer({"of": arguments["of"], "found": found})


def _asked(fittings: Fittings, aggregate: str | None) -> list[Flow]:
    return [
        flow
        for flow in fittings.catalogue
        if flow.kind == "read" and flow.name.startswith(WHY) and aggregate in (None, flow.aggregate.namespace)
    ]


def _question(flow: Flow, arguments: Why) -> dict[str, Any]:
    asked: dict[str, Any] = {"ref": arguments["of"]}
    if "field" in arguments and "field" in flow.own_fields:
        asked["field"] = arguments["field"]
    return asked


def _undecided(fittings: Fittings, context: Context, target: str) -> Steps[list[Mapping[str, Any]]]:
    asked = {"target": target, "limit": MOST_PROPOSALS}
    listed = yield from walk(fittings, Request.within(context, LIST_PROPOSALS, asked))
    if not listed.ok:
        return []
    shown = ("id", "status", "proposed_by", "summary", "reason", "risk_tier", "created_at")
    return [
        {name: proposal[name] for name in shown if proposal.get(name) is not None}
        for proposal in listed.data["proposals"]
        if proposal["status"] in UNDECIDED
    ]


def _unknown(of: str, refusals: list[Reply]) -> Invalid:
    """Nobody knows it; a domain that knows several of the name says which."""
    for answer in refusals:
        if answer.code == codes.NEEDS_DISAMBIGUATION:
            return Invalid(answer.code, answer.params, field="of", suggestions=answer.data.get("suggestions"))
    similar = [one for answer in refusals for one in _similar(answer)]
    return Invalid(
        codes.RECORD_NOT_FOUND,
        {"kind": "subject", "id": of[:80]},
        field="of",
        suggestions={
            "similar": similar,
            "hint": "Name an element by id or as Type/Name; ask explain_field of a memory, blame_document of a text.",
        },
    )


def _similar(answer: Reply) -> list[Any]:
    suggestions = answer.data.get("suggestions") or {}
    return [one for name, listed in suggestions.items() if name.startswith("similar") for one in listed]
