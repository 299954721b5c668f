"""The flows by which proposals are read, sent, decided and brought up to date."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from typing_extensions import NotRequired, TypedDict

from engross.calls import Answer, Context, Errand
from engross.flows import Aggregate, Described, NoArguments
from engross.governance import (
    Proposal,
    StoredPlan,
    diff,
    diff_text,
    find_proposal,
    list_proposals,
    move,
    overdue_proposals,
    proposals_aggregate,
)
from engross.ledger import Reader, Unit
from engross.pipeline import Fittings, author_context, moved_since, replay, stale
from engross.replies import Denied, Invalid, codes

from .approval import approval_binding, may_approve
from .cursor import read_cursor, write_cursor
from .rebase import rebase

TOOLSET = "review"
PAGE = 50

ProposalId = Annotated[str, Described("The proposal's id.", minLength=1, maxLength=128)]


class ListProposals(TypedDict):
    """Which proposals to list."""

    status: NotRequired[
        Annotated[
            Literal["draft", "proposed", "in_review", "accepted", "rejected", "withdrawn", "rebased"],
            Described("Only proposals in this state."),
        ]
    ]
    author: NotRequired[Annotated[str, Described("Only proposals by this principal.")]]
    target: NotRequired[Annotated[str, Described("Only proposals that touch this subject: aggregate/subject.")]]
    risk: NotRequired[Annotated[int, Described("Only proposals of this risk tier.", minimum=0, maximum=4)]]
    limit: NotRequired[Annotated[int, Described("How many at the most.", minimum=1, maximum=200, default=PAGE)]]
    cursor: NotRequired[Annotated[str, Described("Where the last page ended.", maxLength=512)]]


class OneProposal(TypedDict):
    """A proposal."""

    proposal_id: ProposalId


class ReviewProposal(TypedDict):
    """A person's decision."""

    proposal_id: ProposalId
    decision: Annotated[
        Literal["approve", "reject", "request_changes"], Described("Commit it, refuse it, or hand it back.")
    ]
    rationale: NotRequired[
        Annotated[str, Described("Why; required unless approving.", minLength=1, maxLength=2000)]
    ]
    approval_token: NotRequired[
        Annotated[str, Described("From getProposal: binds the approval to what was shown.", maxLength=4096)]
    ]
    operations: NotRequired[
        Annotated[
            list[int], Described("Approve only these operations: makes a new proposal of them to be reviewed.")
        ]
    ]


Prepared = tuple[dict[str, Any], list[Any], int]


def review_aggregate(fittings: Callable[[], Fittings]) -> Aggregate:
    """Proposals, with their flows. They need the office they are part of, which comes to be after them."""
    proposals = proposals_aggregate()

    @proposals.read(controls=())
    def list_proposals(reader: Reader, arguments: ListProposals) -> dict[str, Any]:
        """List proposals in the order they were opened, a page at a time."""
        return _page(reader, arguments)

    @proposals.read(controls=())
    def get_proposal(reader: Reader, arguments: OneProposal) -> dict[str, Any]:
        """Show a proposal: what it would change, on what it builds, who decided what, and whether it is stale."""
        return _shown(fittings(), reader, find_proposal(reader, arguments["proposal_id"]))

    @proposals.record(effect="update", tier=1, posture="direct", controls=CONTROLS)
    def submit_proposal(unit: Unit, arguments: OneProposal) -> Answer:
        """Send a draft to be reviewed. One that was sent already stays as it is."""
        proposal = find_proposal(unit, arguments["proposal_id"])
        if proposal.current_status(unit.now) != "proposed":
            proposal.require("submit", unit.now)
            _require_own(proposal, unit.context, or_roles=("curator", "admin"))
            move(unit, proposal, "ProposalSubmitted", "proposed")
        return _answer(unit, proposal.id, codes.PROPOSAL_SUBMITTED)

    @proposals.record(effect="update", tier=1, posture="direct", controls=CONTROLS)
    def withdraw_proposal(unit: Unit, arguments: OneProposal) -> Answer:
        """Take back a proposal that is not decided yet."""
        proposal = find_proposal(unit, arguments["proposal_id"])
        proposal.require("withdraw", unit.now)
        _require_own(proposal, unit.context, or_roles=("admin",))
        move(unit, proposal, "ProposalWithdrawn", "withdrawn", by=unit.context.principal.id)
        return _answer(unit, proposal.id, codes.PROPOSAL_WITHDRAWN)

    @proposals.record(effect="update", tier=1, posture="direct", controls=CONTROLS)
    def rebase_proposal(unit: Unit, arguments: OneProposal) -> Answer:
        """Bring a stale proposal up to date as a new one, where the changes since do not overlap with it."""
        proposal = find_proposal(unit, arguments["proposal_id"])
        proposal.require("rebase", unit.now)
        _require_own(proposal, unit.context, or_roles=("curator", "admin"))
        made = rebase(fittings(), unit, proposal, proposal.plans)
        return _answer(unit, made, codes.PROPOSAL_REBASED, rebased_from=proposal.id)

    @proposals.record(effect="update", tier=1, posture="direct", people_only=True, controls=CONTROLS,
                      arguments=ReviewProposal)
    def review_proposal(unit: Unit, prepared: Prepared) -> Answer:
        """Decide about a proposal: approve and commit it, reject it, or ask for changes. For people only."""
        arguments, pieces, version = prepared
        proposal = find_proposal(unit, arguments["proposal_id"])
        proposal.require("review", unit.now)
        may_approve(fittings(), unit.context, proposal)
        if arguments["decision"] != "approve":
            return _turn_down(unit, proposal, arguments)
        _check_token(fittings(), unit, proposal, arguments)
        if "operations" in arguments:
            return _approve_in_part(fittings(), unit, proposal, arguments["operations"])
        if proposal.version != version:
            raise stale(proposal, moved_since(unit, proposal))
        return _approve(fittings(), unit, proposal, pieces, arguments.get("rationale"))

    @review_proposal.prepare
    def prepare_review(reader: Reader, arguments: dict[str, Any]) -> Prepared:
        proposal = find_proposal(reader, arguments["proposal_id"])
        approving = arguments["decision"] == "approve"
        pieces = [_prepared(fittings(), reader, plan, proposal) for plan in proposal.plans if approving]
        return arguments, pieces, proposal.version

    @proposals.record(effect="update", tier=1, posture="direct", controls=(), exposed=False)
    def expire_proposals(unit: Unit, arguments: NoArguments) -> dict[str, Any]:
        """End the proposals that nobody decided about in time."""
        return {"expired": [_expired(unit, proposal_id) for proposal_id in overdue_proposals(unit)]}

    for flow in list(proposals.flows.values()):
        if flow.exposed:
            proposals.expose(flow, toolset=TOOLSET)
    return proposals


CONTROLS = ("client_request_id", "reason")


def _expired(unit: Unit, proposal_id: str) -> str:
    move(unit, find_proposal(unit, proposal_id), "ProposalWithdrawn", "withdrawn", by="engross", expired=True)
    return proposal_id


def _page(reader: Reader, arguments: ListProposals) -> dict[str, Any]:
    limit = arguments.get("limit", PAGE)
    found = list_proposals(
        reader,
        status=arguments.get("status"),
        author=arguments.get("author"),
        target=arguments.get("target"),
        risk=arguments.get("risk"),
        after=read_cursor(arguments.get("cursor")),
        most=limit + 1,
    )
    page = found[:limit]
    more = len(found) > limit
    return {
        "proposals": [_outline(reader, proposal) for proposal in page],
        "next_cursor": write_cursor(page[-1].created_at, page[-1].id) if more else None,
    }


def _outline(reader: Reader, proposal: Proposal) -> dict[str, Any]:
    hidden = ("operations", "decisions", "approvals")
    data = proposal.as_data(reader.now)
    return {name: value for name, value in data.items() if name not in hidden}


def _shown(fittings: Fittings, reader: Reader, proposal: Proposal) -> dict[str, Any]:
    moved = moved_since(reader, proposal) if proposal.current_status(reader.now) in OPEN else []
    facts = [fact for plan in proposal.plans for fact in plan.facts]
    data = {
        **proposal.as_data(reader.now),
        "operations": [_operation(plan) for plan in proposal.plans],
        "based_on": proposal.base,
        "stale": bool(moved),
        "moved": moved,
    }
    shown: dict[str, Any] = {"proposal": data, "diff": diff(facts), "diff_text": diff_text(facts)}
    if not moved and fittings.policy.may_approve(
        reader.context, proposal.author, proposal.tier, proposal.flows
    ).verdict == "commit":
        binding = approval_binding(fittings, reader.context, proposal)
        shown["approval_token"] = fittings.tokens.make("approve", binding, proposal.expires_at)
    return shown


OPEN = ("draft", "proposed", "in_review")


def _operation(plan: StoredPlan) -> dict[str, Any]:
    return {
        "ordinal": plan.ordinal,
        "operation": plan.flow,
        "version": plan.flow_version,
        "arguments": plan.arguments,
        "preview": plan.answer,
        "risk_tier": plan.tier,
        "warnings": list(plan.warnings),
        "policy_version": plan.policy_version,
    }


def _answer(unit: Unit, proposal_id: str, code: str, **more: Any) -> Answer:
    proposal = find_proposal(unit, proposal_id)
    data = {"proposal": proposal.as_data(unit.now), **more}
    return Answer(data, code, {"proposal_id": proposal_id}, receipt={"proposal": proposal_id})


def _require_own(proposal: Proposal, context: Context, *, or_roles: Sequence[str]) -> None:
    if proposal.author.id == context.principal.id or context.principal.roles.intersection(or_roles):
        return
    raise Denied(codes.WRITE_DENIED, data={"because": [f"only its author, or {' or '.join(or_roles)}"]})


def _turn_down(unit: Unit, proposal: Proposal, arguments: dict[str, Any]) -> Answer:
    rationale = arguments.get("rationale")
    if rationale is None:
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "a rationale is needed"},
            field="rationale",
            suggestions={"hint": "Say why, so that the author can do better."},
        )
    rejects = arguments["decision"] == "reject"
    fact = "ProposalRejected" if rejects else "ProposalReviewed"
    decided = _decision(unit, arguments["decision"], rationale)
    move(unit, proposal, fact, "rejected" if rejects else "draft", **decided)
    code = codes.PROPOSAL_REJECTED if rejects else codes.PROPOSAL_CHANGES_REQUESTED
    return _answer(unit, proposal.id, code)


def _decision(unit: Unit, decision: str, rationale: str | None) -> dict[str, Any]:
    return {"reviewer": unit.context.principal.id, "decision": decision, "rationale": rationale}


def _check_token(fittings: Fittings, unit: Unit, proposal: Proposal, arguments: dict[str, Any]) -> None:
    token = arguments.get("approval_token")
    if token is None:
        raise Invalid(
            codes.TOKEN_INVALID,
            field="approval_token",
            suggestions={"hint": "Read the proposal with getProposal and send the approval_token it shows."},
        )
    fittings.tokens.check(token, "approve", approval_binding(fittings, unit.context, proposal), unit.now)


def _approve(
    fittings: Fittings, unit: Unit, proposal: Proposal, pieces: list[Any], rationale: str | None
) -> Answer:
    reviewer = unit.context.principal.id
    if reviewer in proposal.approvals:
        raise Invalid(
            codes.PROPOSAL_STATE,
            {"proposal_id": proposal.id, "state": "already approved by you"},
            field="proposal_id",
            suggestions={"hint": "Somebody else has to approve it too."},
        )
    decided = _decision(unit, "approve", rationale)
    if len(proposal.approvals) + 1 < proposal.approvals_required:
        move(unit, proposal, "ProposalReviewed", "in_review", **decided)
        return _answer(unit, proposal.id, codes.PROPOSAL_APPROVED)
    results = [_committed(fittings, unit, proposal, plan, piece) for plan, piece in zip(proposal.plans, pieces, strict=True)]
    move(unit, proposal, "ProposalAccepted", "accepted", **decided)
    answer = _answer(unit, proposal.id, codes.PROPOSAL_COMMITTED, results=results)
    return Answer(
        answer.data,
        answer.code,
        answer.params,
        receipt=_receipt(proposal, reviewer),
        errands=tuple(_errand(plan, proposal) for plan in proposal.plans if plan.kind == "reach"),
    )


def _committed(fittings: Fittings, unit: Unit, proposal: Proposal, plan: StoredPlan, piece: Any) -> dict[str, Any]:
    if plan.kind == "reach":
        return {"operation": plan.flow, "answer": None}
    flow = fittings.catalogue.flow(plan.flow)
    if flow.version != plan.flow_version:
        raise Invalid(
            codes.PLAN_DRIFT,
            data={"moved": [{"what": "flow", "flow": plan.flow, "from": plan.flow_version, "to": flow.version}]},
        )
    try:
        performed = replay(unit, flow, plan, piece, proposal)
    except Invalid as refusal:
        if refusal.code == codes.PROPOSAL_STALE:
            raise
        raise Invalid(
            codes.PROPOSAL_STALE,
            {"proposal_id": proposal.id},
            field="proposal_id",
            details=refusal.answer(),
            suggestions={"changed_aggregates": moved_since(unit, proposal)},
        ) from None
    return {"operation": plan.flow, "answer": performed.plan.answer}


def _receipt(proposal: Proposal, reviewer: str) -> dict[str, Any]:
    return {
        "proposal": proposal.id,
        "author": proposal.author.as_data(),
        "approvers": [*proposal.approvals, reviewer],
        "plans": [
            {"flow": plan.flow, "version": plan.flow_version, "facts_digest": plan.facts_digest}
            for plan in proposal.plans
        ],
        "switches": ["single_operator"] if proposal.author.id == reviewer else [],
    }


def _errand(plan: StoredPlan, proposal: Proposal) -> Errand:
    return Errand(plan.flow, plan.arguments, plan.author, f"proposal:{proposal.id}:{plan.ordinal}")


def _approve_in_part(fittings: Fittings, unit: Unit, proposal: Proposal, chosen: list[int]) -> Answer:
    kept = [plan for plan in proposal.plans if plan.ordinal in chosen]
    if not kept or len(kept) != len(set(chosen)):
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "operations names what the proposal does not hold"},
            field="operations",
            suggestions={"allowed_values": [plan.ordinal for plan in proposal.plans]},
        )
    made = rebase(fittings, unit, proposal, kept)
    left_out = [plan.ordinal for plan in proposal.plans if plan not in kept]
    return _answer(unit, made, codes.PROPOSAL_REBASED, rebased_from=proposal.id, left_out=left_out)


def _prepared(fittings: Fittings, reader: Reader, plan: StoredPlan, proposal: Proposal) -> Any:
    flow = fittings.catalogue.flow(plan.flow)
    if flow.preparer is None:
        return plan.arguments
    return flow.preparer(Reader(reader.reading, author_context(reader.context, plan, proposal.id)), plan.arguments)


