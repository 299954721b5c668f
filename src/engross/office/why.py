"""Why something is what it is, whichever domain keeps it.

A domain tells it by a read flow whose name begins with `why-` and that takes a `ref`: an id or a name. Its answer
names the `subject`, so that what is still proposed about it can be told as well; `subjects` are what the ledger calls
it, where those are others. A refusal that is about the argument `field` comes from a domain that knows it. Of all other
aggregates the ledger tells what it holds about the subject of an id. What nobody knows may be in a proposal.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple, NotRequired

from typing_extensions import TypedDict

from engross.calls import Answer, Context
from engross.flows import Aggregate, Catalogue, Described, Example, Flow, nearest
from engross.governance import audience_of
from engross.ledger import Reader, stated_aggregates
from engross.pipeline import Fittings, Request, Steps, walk
from engross.pipeline.steps import Work, time_left
from engross.replies import Invalid, Reply, codes, reply_of
from engross.store import Reading

from .pending import only_proposed, undecided_about

WHY = "why-"
HISTORY = "record.read-history"
HINT = "Name an element or an entity by id, name or Type/Name, a document by its path, and anything else by its id."

Refusals = list[tuple[str, Reply]]
"""What domains answered that do not tell, each with its namespace."""


class Accounts(NamedTuple):
    """What was found out about a subject, each with its aggregate, and what was refused."""

    found: list[dict[str, Any]]
    refusals: Refusals


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
    of, aggregate, telling = arguments["of"], arguments.get("aggregate"), _telling(fittings.catalogue)
    own = yield from _of_their_own(fittings, context, arguments, telling)
    general = yield from _by_the_ledger(fittings, context, arguments, telling)
    refusals = own.refusals + general.refusals
    found = []
    for one in own.found + general.found:
        targets = [f"{one['aggregate']}/{subject}" for subject in one.get("subjects", (one["subject"],))]
        found.append({**one, "proposals": (yield from undecided_about(fittings, context, targets))})
    ambiguous = _candidates(refusals)
    if not found and not ambiguous and not _about_field(refusals):
        namespaces = fittings.catalogue.namespaces if aggregate is None else (aggregate,)
        found = yield from only_proposed(fittings, context, of, namespaces)
    if not found:
        raise _several(of, ambiguous) if ambiguous else _unknown(arguments, refusals)
    return Answer({"of": of, "found": found, **({"ambiguous": ambiguous} if ambiguous else {})})


def _telling(catalogue: Catalogue) -> list[Flow]:
    """The flows by which domains give an account of their own."""
    return [
        flow for flow in catalogue if flow.kind == "read" and flow.name.startswith(WHY) and "ref" in flow.own_fields
    ]


def _of_their_own(fittings: Fittings, context: Context, arguments: Why, telling: Iterable[Flow]) -> Steps[Accounts]:
    """What the domains say that give an account of their own."""
    accounts = Accounts([], [])
    for flow in telling:
        namespace = flow.aggregate.namespace
        if arguments.get("aggregate") in (None, namespace):
            answer = yield from walk(fittings, Request.within(context, flow.ref, _question(flow, arguments)))
            if answer.ok:
                accounts.found.append({"aggregate": namespace, **answer.data})
            else:
                accounts.refusals.append((namespace, answer))
    return accounts


def _by_the_ledger(fittings: Fittings, context: Context, arguments: Why, telling: Iterable[Flow]) -> Steps[Accounts]:
    """What the ledger says about the subject of an id, of the aggregates that give no account of their own."""
    aggregate, told = arguments.get("aggregate"), {flow.aggregate.namespace for flow in telling}
    if aggregate in told:
        return Accounts([], [])

    def look(reading: Reading) -> Accounts:
        reader = Reader(reading, context)
        stated = stated_aggregates(reading)
        if aggregate is not None:
            _require_known(fittings, reader, aggregate, stated)
        asked = [one for one in stated if one not in told and aggregate in (None, one)]
        return _looked_up(fittings, reader, arguments, asked if _may_read_history(fittings, context) else ())

    accounts: Accounts = yield Work(
        fittings.workers,
        lambda: fittings.store.read(context.tenant, look, timeout=time_left(context)),
        context.deadline or 0.0,
    )
    return accounts


def _may_read_history(fittings: Fittings, context: Context) -> bool:
    """Who may not read histories is told none by another name."""
    return fittings.policy.may_call(context, fittings.catalogue.flow(HISTORY)).verdict != "deny"


def _looked_up(fittings: Fittings, reader: Reader, arguments: Why, asked: Iterable[str]) -> Accounts:
    from .account import account_of

    accounts = Accounts([], [])
    for namespace in asked:
        try:
            told = account_of(fittings, reader, namespace, arguments["of"], arguments.get("field"))
        except Invalid as refused:
            accounts.refusals.append((namespace, reply_of(refused)))
        else:
            accounts.found.extend([told] if told else [])
    return accounts


def _require_known(fittings: Fittings, reader: Reader, aggregate: str, stated: Sequence[str]) -> None:
    """Refuse an aggregate that there is not. What one stated that is not there now, only those see who see all."""
    sees_all = audience_of(fittings.catalogue, reader.context.principal) is None
    known = sorted({*fittings.catalogue.namespaces, *(stated if sees_all else ())})
    if aggregate not in known:
        raise _no_such_aggregate(aggregate, known)


def _no_such_aggregate(aggregate: str, known: Sequence[str]) -> Invalid:
    suggestions = {
        "did_you_mean": nearest(aggregate, known),
        "allowed_values": known,
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
