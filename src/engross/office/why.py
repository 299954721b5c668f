"""Why something is what it is, whichever domain keeps it.

A domain tells it by a read flow whose name begins with `why-` and that takes a `ref`: an id or a name. Its answer
names the `subject`, so that what is still proposed about it can be told as well; `subjects` are what the ledger calls
it, where those are others. A refusal that is about the argument `field` comes from a domain that knows it. What no
domain knows may be in a proposal.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.calls import Answer, Context
from engross.flows import Aggregate, Described, Example, Flow, nearest
from engross.pipeline import Fittings, Request, Steps, walk
from engross.replies import Invalid, Reply, codes

from .pending import only_proposed, undecided_about

WHY = "why-"
HINT = "Name an element or an entity by id, name or Type/Name, and a document by its path."

Refusals = list[tuple[str, Reply]]
"""What domains answered that do not tell, each with its namespace."""


class Why(TypedDict):
    """What to account for."""

    of: Annotated[str, Described("An id, a name or a path.", minLength=1, maxLength=1024)]
    field: NotRequired[Annotated[str, Described("Only what set this field.", minLength=1, maxLength=300)]]
    aggregate: NotRequired[Annotated[str, Described("Only ask this aggregate.", maxLength=100)]]


def add_why(record: Aggregate, fittings: Callable[[], Fittings]) -> None:
    """Give the office's own aggregate the flow that asks every domain."""

    @record.read(
        controls=(),
        answers=None,
        exposed=False,
        refuses=[codes.NEEDS_DISAMBIGUATION, codes.FIELD_NOT_FOUND],
        examples=[Example("Nobody knows it", {"of": "Nobody's child"}, reply="RECORD_NOT_FOUND")],
    )
    def why(context: Context, arguments: Why) -> Steps[Answer]:
        """Tell why something is what it is: its facts, who wanted and who approved them, receipts, open proposals."""
        return (yield from _accounted(fittings(), context, arguments))


def _accounted(fittings: Fittings, context: Context, arguments: Why) -> Steps[Answer]:
    found: list[dict[str, Any]] = []
    refusals: Refusals = []
    for flow in _asked(fittings.catalogue, arguments.get("aggregate")):
        namespace = flow.aggregate.namespace
        answer = yield from walk(fittings, Request.within(context, flow.ref, _question(flow, arguments)))
        if answer.ok:
            targets = [f"{namespace}/{one}" for one in answer.data.get("subjects", (answer.data["subject"],))]
            proposals = yield from undecided_about(fittings, context, targets)
            found.append({"aggregate": namespace, **answer.data, "proposals": proposals})
        else:
            refusals.append((namespace, answer))
    ambiguous = _candidates(refusals)
    if not found and not ambiguous and not _about_field(refusals):
        namespaces = [namespace for namespace, _ in refusals]
        found = yield from only_proposed(fittings, context, arguments["of"], namespaces)
    if not found:
        raise _several(arguments["of"], ambiguous) if ambiguous else _unknown(arguments, refusals)
    return Answer({"of": arguments["of"], "found": found, **({"ambiguous": ambiguous} if ambiguous else {})})


def _asked(catalogue: Iterable[Flow], aggregate: str | None) -> list[Flow]:
    telling = [flow for flow in catalogue if flow.kind == "read" and flow.name.startswith(WHY)]
    asked = [flow for flow in telling if aggregate in (None, flow.aggregate.namespace)]
    if aggregate is not None and not asked:
        raise _no_such_aggregate(aggregate, sorted({flow.aggregate.namespace for flow in telling}))
    return asked


def _no_such_aggregate(aggregate: str, telling: Sequence[str]) -> Invalid:
    suggestions = {
        "did_you_mean": nearest(aggregate, telling),
        "allowed_values": telling,
        "hint": "Leave it out to ask all of them.",
    }
    told = {"kind": "aggregate", "id": aggregate[:80]}
    return Invalid(codes.RECORD_NOT_FOUND, told, field="aggregate", suggestions=suggestions)


def _question(flow: Flow, arguments: Why) -> dict[str, Any]:
    asked: dict[str, Any] = {"ref": arguments["of"]}
    if "field" in arguments and "field" in flow.own_fields:
        asked["field"] = arguments["field"]
    return asked


def _candidates(refusals: Refusals) -> list[dict[str, Any]]:
    """What a name may mean in the domains that know several of it."""
    return [
        {"aggregate": namespace, **candidate}
        for namespace, answer in refusals
        if answer.code == codes.NEEDS_DISAMBIGUATION
        for candidate in answer.data["suggestions"]["candidates"]
    ]


def _several(of: str, candidates: list[dict[str, Any]]) -> Invalid:
    suggestions = {"candidates": candidates, "hint": "Name one of them by its id."}
    return Invalid(codes.NEEDS_DISAMBIGUATION, {"reference": of[:80]}, field="of", suggestions=suggestions)


def _unknown(arguments: Why, refusals: Refusals) -> Invalid:
    """Nobody knows it, or nobody knows the field of it."""
    for answer in _about_field(refusals):
        told = {"id": arguments["of"][:80], "field": arguments.get("field", "")[:80]}
        return Invalid(codes.FIELD_NOT_FOUND, told, field="field", suggestions=answer.data.get("suggestions"))
    similar = [one for _, answer in refusals for one in _similar(answer)]
    return Invalid(
        codes.RECORD_NOT_FOUND,
        {"kind": "subject", "id": arguments["of"][:80]},
        field="of",
        suggestions={"similar": similar, "hint": HINT},
    )


def _about_field(refusals: Refusals) -> list[Reply]:
    """The refusals of domains that know the subject, and no such field of it."""
    return [answer for _, answer in refusals if answer.data.get("field") == "field"]


def _similar(answer: Reply) -> list[Any]:
    suggestions = answer.data.get("suggestions") or {}
    return [one for name, listed in suggestions.items() if name.startswith("similar") for one in listed]
