"""Flows that span all domains: trying a write out, reading the ledger, erasing a subject."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired

from msgspec.structs import replace
from typing_extensions import TypedDict

from engross.calls import Answer, Context
from engross.flows import Aggregate, Described, Example, Flow, NoArguments, Semantics, nearest, shortened
from engross.governance import NAMESPACE, audience_of, find_proposal, proposals_touching, refusal, seen_proposals
from engross.ledger import (
    Reader,
    Unit,
    erase_subject,
    facts_about,
    facts_after,
    facts_at,
    is_erased_subject,
    last_version,
    latest_facts,
    receipt_at,
)
from engross.ledger.reasons import Stated
from engross.pipeline import Fittings, Request, Steps, walk
from engross.replies import Failed, Invalid, Reply, codes, reply_of
from engross.store import Blobs, intend_erasure

from .blob_flows import OWNER, STEPS, TABLE_NAMES, Vouching, add_blob_flows
from .door.flows import require_keeper
from .door.tokens import NAMESPACE as DOOR
from .offers import offer_prompts, offer_resources
from .references import named_by
from .seen import seen_facts
from .why import add_why

PAGE = 100
NOWHERE = 2**60
MOST_LOOKED_AT = 1000
"""So many facts about a subject, or of a commit, tell whose it is: more are of one import, and alike."""


class ValidateWrite(TypedDict):
    """A write to try out."""

    operation: Annotated[str, Described("The write to check: a tool name or aggregate.flow.", maxLength=200)]
    payload: Annotated[dict[str, Any], Described("What you would send to it.")]


class ReadFacts(TypedDict):
    """A stretch of the ledger."""

    after: NotRequired[Annotated[int, Described("The last position you have seen.", minimum=0, default=0)]]
    limit: NotRequired[
        Annotated[int, Described("How many commits at the most.", minimum=1, maximum=1000, default=PAGE)]
    ]
    latest: NotRequired[Annotated[bool, Described("The last commits, instead of those behind a position.")]]


class ReadHistory(TypedDict):
    """All that happened to one subject."""

    aggregate: Annotated[str, Described("The aggregate that keeps the subject.", maxLength=100)]
    subject: Annotated[str, Described("The subject's id.", minLength=1, maxLength=200)]
    after: NotRequired[Annotated[int, Described("The last version you have seen.", minimum=0, default=0)]]
    limit: NotRequired[Annotated[int, Described("How many facts at the most.", minimum=1, maximum=1000, default=PAGE)]]


class GetReceipt(TypedDict):
    """A commit."""

    position: Annotated[int, Described("The commit's position in the ledger.", minimum=1)]


class Known(TypedDict):
    """Whom a credential stands for."""

    tenant: Annotated[str, Described("The tenant that it is good for.")]
    principal: Annotated[dict[str, Any], Described("Who it is: id, type and roles, and scopes where it has any.")]
    stands_for: Annotated[str, Described("The person or service whose work it is; for an agent, who gave it out.")]


class EraseSubject(TypedDict):
    """Whose data to erase."""

    aggregate: Annotated[str, Described("The aggregate that keeps the subject.", maxLength=100)]
    subject: Annotated[str, Described("The subject's id.", minLength=1, maxLength=200)]


def own_aggregate(fittings: Callable[[], Fittings], vouching: Callable[[], Vouching]) -> Aggregate:
    """The office's own flows. They need the office they are part of, which comes to be after them."""
    record = Aggregate("record", "The record", tables=TABLE_NAMES, migrations=STEPS, owned_by=OWNER)
    add_blob_flows(record, lambda tenant: fittings().blobs(tenant), vouching)

    @record.read(
        controls=(),
        answers=None,
        examples=[
            Example(
                "A write that would be refused",
                {"operation": "withdrawProposal", "payload": {"proposal_id": "prop_nowhere"}},
                reply="VALIDATION_DONE",
            ),
            Example("No such operation", {"operation": "withdraw", "payload": {}}, reply="UNKNOWN_OPERATION"),
        ],
    )
    def validate_write(context: Context, arguments: ValidateWrite) -> Steps[Answer]:
        """Check a write without making it: all errors, warnings, what would change, and how it would be decided.

        Call this before the write itself. Nothing is stored, whatever the answer.
        """
        return (yield from _validated(fittings(), context, arguments))

    @record.read(controls=(), examples=[Example("From the beginning", {"after": 0, "limit": 10})])
    def read_facts(reader: Reader, arguments: ReadFacts) -> dict[str, Any]:
        """Read the facts behind a position, in order: what happened, to whom it can be traced, decisions included."""
        after, most = arguments.get("after", 0), arguments.get("limit", PAGE)
        if arguments.get("latest"):
            found = latest_facts(reader.reading, most=most)
        else:
            found = facts_after(reader.reading, after, most=most)
        events = _events(fittings(), reader, found)
        return {"facts": events, "next": found[-1][0].position if found else after}

    @record.read(
        controls=(),
        examples=[
            Example("No such subject", {"aggregate": "shelf", "subject": "book_nowhere"}, reply="RECORD_NOT_FOUND")
        ],
    )
    def read_history(reader: Reader, arguments: ReadHistory) -> dict[str, Any]:
        """Read all facts about one subject, in order: how it came to be what it is, and by whose doing."""
        aggregate, subject, after = arguments["aggregate"], arguments["subject"], arguments.get("after", 0)
        most = arguments.get("limit", PAGE)
        found = facts_about(reader.reading, aggregate, subject, after_version=after, most=most + 1)
        facts = _events(fittings(), reader, found[:most])
        if not facts and not after:
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": aggregate, "id": subject[:80]}, field="subject")
        return {"facts": facts, "next": found[most - 1][0].version if len(found) > most else None}

    @record.read(controls=(), examples=[Example("No such commit", {"position": NOWHERE}, reply="RECORD_NOT_FOUND")])
    def get_receipt(reader: Reader, arguments: GetReceipt) -> dict[str, Any]:
        """Show the receipt of a commit: who, by which flow and policy, approved by whom."""
        position = arguments["position"]
        receipt = receipt_at(reader.reading, position)
        if receipt is None or _is_others(fittings(), reader, position):
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "receipt", "id": str(position)}, field="position")
        return {"receipt": receipt.body, "digest": receipt.digest}

    @record.read(controls=(), exposed=False, examples=[Example("With the credential of this call", {})])
    def who_am_i(reader: Reader, arguments: NoArguments) -> Known:
        """Tell whom the office takes the caller for, and with which roles."""
        principal, tenant = reader.context.principal, reader.context.tenant
        return {"tenant": tenant, "principal": principal.as_data(), "stands_for": principal.stands_for}

    @record.record(
        effect="delete",
        tier=3,
        semantics=Semantics(destructive=True, idempotent=True),
        exposed=False,
        examples=[
            Example(
                "No such subject",
                {"aggregate": "proposals", "subject": "prop_nowhere"},
                reply="RECORD_NOT_FOUND",
            )
        ],
    )
    def erase(unit: Unit, arguments: EraseSubject) -> Answer:
        """Erase what was recorded about a subject. The ledger keeps that there was something, and verifies.

        The bytes of its files go as well, unless something else on the record refers to them.
        """
        return _erased(fittings(), unit, arguments["aggregate"], arguments["subject"])

    @erase.prepare
    def prepare(reader: Reader, arguments: EraseSubject) -> EraseSubject:
        # A domain that nobody has used so far joins now: it knows how to forget. Who names none hears of all.
        catalogue = fittings().catalogue
        if catalogue.aggregate(arguments["aggregate"]) is None:
            catalogue.complete()
        return arguments

    add_why(record, fittings)
    offer_resources(record)
    offer_prompts(record)
    return record


def _events(fittings: Fittings, reader: Reader, found: Sequence[Stated]) -> list[dict[str, Any]]:
    """The facts that this caller may see, as events."""
    return [fact.cloudevent(receipt) for fact, receipt in seen_facts(fittings, reader, found)]


def _is_others(fittings: Fittings, reader: Reader, position: int) -> bool:
    """Whether a commit stated facts, and none that this caller may see."""
    stated = facts_at(reader.reading, position, most=MOST_LOOKED_AT)
    return bool(stated) and not _events(fittings, reader, stated)


def _validated(fittings: Fittings, context: Context, arguments: ValidateWrite) -> Steps[Answer]:
    flow = _operation(fittings, context, arguments["operation"])
    decision = fittings.policy.may_call(replace(context, flow=flow.ref), flow)
    if decision.verdict == "deny":
        # Whoever may not make the call need not know what it would say to its arguments.
        rehearsed = reply_of(refusal(decision, flow.ref))
    else:
        # Trying out counts as such, and takes nothing from the allowance of what is tried out.
        request = Request.within(context, flow.ref, arguments["payload"], dry_run=True, is_counted=False)
        rehearsed = yield from walk(fittings, request)
    return Answer({"operation": flow.ref, **_verdict(rehearsed)}, codes.VALIDATION_DONE)


def _operation(fittings: Fittings, context: Context, name: str) -> Flow:
    tool = fittings.catalogue.tool(name)
    flow = tool.flow if tool else fittings.catalogue.find(name)
    if flow is not None and flow.ref in context.hidden:
        flow = None
    if flow is None or not flow.writes:
        hint = "Only writes need to be tried out." if flow else "Pick one of did_you_mean or allowed_values."
        raise _no_such_write(fittings, context, name, hint)
    return flow


def _no_such_write(fittings: Fittings, context: Context, name: str, hint: str) -> Invalid:
    """Invalid, with the writes that this caller may make, by the names that agents know them by."""
    usable = [
        tool
        for tool in fittings.catalogue.tools()
        if tool.flow.writes
        and tool.flow.deprecated_since is None
        and tool.flow.ref not in context.hidden
        and fittings.policy.may_call(context, tool.flow).verdict != "deny"
    ]
    tools = {tool.name: tool.flow for tool in usable}
    by_ref = {flow.ref: tool for tool, flow in tools.items()}
    close = nearest(name, tools) or [by_ref[ref] for ref in nearest(name, by_ref)]
    return Invalid(
        codes.UNKNOWN_OPERATION,
        {"operation": shortened(name)},
        field="operation",
        suggestions={**({"did_you_mean": close} if close else {}), "allowed_values": sorted(tools), "hint": hint},
    )


def _verdict(rehearsed: Reply) -> dict[str, Any]:
    data: Mapping[str, Any] = rehearsed.data
    if rehearsed.ok:
        return dict(data)
    if rehearsed.reply_type == "E":
        raise Failed(rehearsed.code, rehearsed.params)
    refused = {
        "code": rehearsed.message_key,
        "reply_code": rehearsed.code,
        "message": rehearsed.message,
        "field": None,
        **({"details": data} if data else {}),
    }
    return {
        "valid": False,
        "errors": data.get("errors", [refused]),
        "warnings": data.get("warnings", []),
        "suggestions": [],
        "would": {"mode": "refused" if rehearsed.reply_type == "I" else "deny"},
    }


def _erased(fittings: Fittings, unit: Unit, aggregate: str, subject: str) -> Answer:
    if not fittings.book.erases(aggregate):
        forgetful = fittings.book.forgetful
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "there is no such aggregate, or it cannot forget a subject"},
            field="aggregate",
            suggestions={"did_you_mean": nearest(aggregate, forgetful), "allowed_values": forgetful},
        )
    if aggregate == DOOR:
        # A token that is erased is good for nothing, as if it had been revoked.
        require_keeper(fittings, unit.context)
    follows = last_version(unit, aggregate, subject)
    if not follows or not _is_known_to_caller(fittings, unit, aggregate, subject):
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": aggregate, "id": subject[:80]}, field="subject")
    proposals = _telling_about(unit, f"{aggregate}/{subject}")
    if not proposals and is_erased_subject(unit, aggregate, subject):
        return Answer({"subject": subject, "payloads_erased": 0, "proposals_erased": []})
    keeper = _keeper(fittings, aggregate)
    if keeper is not None:
        keeper(unit, subject)
    blobs = fittings.blobs(unit.context.tenant)
    gone = _erase(unit, blobs, aggregate, subject, follows)
    for proposal_id in proposals:
        version = find_proposal(unit, proposal_id).version
        gone += _erase(unit, blobs, NAMESPACE, proposal_id, version)
    return Answer({"subject": subject, "payloads_erased": gone, "proposals_erased": proposals}, codes.ERASED)


def _erase(unit: Unit, blobs: Blobs, aggregate: str, subject: str, follows: int) -> int:
    """Erase one subject, and have the bytes looked at that it may have been the last to refer to."""
    intend_erasure(unit.transaction, filter(blobs.has, named_by(unit, aggregate, subject)))
    return erase_subject(unit, aggregate, subject, follows)


def _is_known_to_caller(fittings: Fittings, unit: Unit, aggregate: str, subject: str) -> bool:
    """Whether the caller may know of all that was stated about a subject: who may not see it cannot erase it."""
    audience = audience_of(fittings.catalogue, unit.context.principal)
    if audience is None:
        return True
    if aggregate == NAMESPACE:
        return subject in seen_proposals(unit, [subject], audience)
    stated = facts_about(unit.reading, aggregate, subject, after_version=0, most=MOST_LOOKED_AT)
    owners = {fittings.book.owner(fittings.book.upcast(fact)) for fact, _ in stated}
    return owners <= {None, *audience.ids}


def _keeper(fittings: Fittings, aggregate: str) -> Callable[[Unit, str], None] | None:
    found = fittings.catalogue.aggregate(aggregate)
    return None if found is None else found.keeper


def _telling_about(unit: Unit, subject: str) -> list[str]:
    """The proposals that hold something of a subject. One that would only erase it does not."""
    context = unit.context
    found = [
        proposal_id
        for proposal_id in proposals_touching(unit, subject)
        if any(flow != context.flow for flow in find_proposal(unit, proposal_id).flows)
    ]
    if (context.proposal_id or context.causation_id) in found:
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "the proposal holds other changes too"},
            field="proposal_id",
            suggestions={"hint": "Propose the erasure by itself, or something of the subject stays in the proposal."},
        )
    return found
