"""The flows by which proposals are read, sent, decided and brought up to date."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from engross.calls import Answer, Context
from engross.flows import Aggregate, Described, Example, NoArguments, Semantics
from engross.governance import Proposal, audience_of, find_proposal, move, overdue_proposals, proposals_aggregate
from engross.ledger import Reader, Unit
from engross.pipeline import Fittings
from engross.replies import Denied, Invalid, codes

from .plans import Pieces, prepare_plans
from .proposal_view import PAGE, page, whole
from .rebase import rebase
from .verdict import about, approve, turn_down

TOOLSET = "review"

ProposalId = Annotated[str, Described("The proposal's id.", minLength=1, maxLength=128)]
ExpectedVersion = Annotated[int, Described("Only if the proposal still has this version.", minimum=1)]


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


class MoveProposal(TypedDict):
    """A proposal to move."""

    proposal_id: ProposalId
    expected_version: NotRequired[ExpectedVersion]


class ReviewProposal(TypedDict):
    """A person's decision."""

    proposal_id: ProposalId
    expected_version: NotRequired[ExpectedVersion]
    decision: Annotated[
        Literal["approve", "reject", "request_changes"], Described("Commit it, refuse it, or hand it back.")
    ]
    rationale: NotRequired[Annotated[str, Described("Why; required unless approving.", minLength=1, maxLength=2000)]]
    approval_token: NotRequired[
        Annotated[str, Described("From getProposal: binds the approval to what was shown.", maxLength=4096)]
    ]
    operations: NotRequired[
        Annotated[
            list[int],
            Described("Approve only these operations: makes a new proposal of them to be reviewed."),
        ]
    ]


Prepared = tuple[dict[str, Any], Pieces]

CONTROLS = ("client_request_id", "reason")
STATE = "proposal.version"
# A move is made once: its repetition finds the proposal moved, and changes nothing. Nothing but an approval touches
# what others made; all else is about the proposal, which stays to be read whatever becomes of it.
MOVES = Semantics(idempotent=True, destructive=False)
DECIDES = Semantics(idempotent=True, destructive=True)
NOWHERE = {"proposal_id": "prop_nowhere"}
NOT_FOUND = (Example("No such proposal", NOWHERE, reply="PROPOSAL_NOT_FOUND"),)


def review_aggregate(fittings: Callable[[], Fittings]) -> Aggregate:
    """Proposals, with their flows. They need the office they are part of, which comes to be after them."""
    proposals = proposals_aggregate()

    def _seen(reader: Reader, arguments: Mapping[str, Any]) -> Proposal:
        audience = audience_of(fittings().catalogue, reader.context.principal)
        return find_proposal(reader, arguments["proposal_id"], audience)

    def _found(unit: Unit, arguments: Mapping[str, Any]) -> Proposal:
        proposal = _seen(unit, arguments)
        require_version(proposal, arguments.get("expected_version"))
        return proposal

    @proposals.read(controls=(), examples=[Example("What waits for a decision", {"status": "proposed"})])
    def list_proposals(reader: Reader, arguments: ListProposals) -> dict[str, Any]:
        """List proposals in the order they were opened, a page at a time."""
        return page(reader, arguments, audience_of(fittings().catalogue, reader.context.principal))

    @proposals.read(controls=(), state_at=STATE, examples=NOT_FOUND)
    def get_proposal(reader: Reader, arguments: OneProposal) -> dict[str, Any]:
        """Show a proposal: what it would change, on what it builds, who decided what, and whether it is stale."""
        return whole(fittings(), reader, _seen(reader, arguments))

    @proposals.record(
        effect="update",
        semantics=MOVES,
        tier=1,
        posture="direct",
        controls=CONTROLS,
        state_at=STATE,
        refuses=[codes.PROPOSAL_STATE, codes.VERSION_CONFLICT],
        examples=NOT_FOUND,
    )
    def submit_proposal(unit: Unit, arguments: MoveProposal) -> Answer:
        """Send a draft to be reviewed. One that was sent already stays as it is."""
        proposal = _found(unit, arguments)
        require_own(proposal, unit.context, or_roles=("curator", "admin"))
        if proposal.current_status(unit.now) != "proposed":
            proposal.require("submit", unit.now)
            move(unit, proposal, "ProposalSubmitted", "proposed", by=unit.context.principal.id)
        return about(unit, proposal.id, codes.PROPOSAL_SUBMITTED)

    @proposals.record(
        effect="update",
        semantics=MOVES,
        tier=1,
        posture="direct",
        controls=CONTROLS,
        state_at=STATE,
        refuses=[codes.PROPOSAL_STATE, codes.VERSION_CONFLICT],
        examples=NOT_FOUND,
    )
    def withdraw_proposal(unit: Unit, arguments: MoveProposal) -> Answer:
        """Take back a proposal that is not decided yet."""
        proposal = _found(unit, arguments)
        require_own(proposal, unit.context, or_roles=("admin",))
        proposal.require("withdraw", unit.now)
        move(unit, proposal, "ProposalWithdrawn", "withdrawn", by=unit.context.principal.id)
        return about(unit, proposal.id, codes.PROPOSAL_WITHDRAWN)

    @proposals.record(
        effect="update",
        semantics=MOVES,
        tier=1,
        posture="direct",
        controls=CONTROLS,
        arguments=MoveProposal,
        state_at=STATE,
        refuses=[codes.PROPOSAL_STATE, codes.PROPOSAL_STALE, codes.UNKNOWN_OPERATION, codes.VERSION_CONFLICT],
        examples=NOT_FOUND,
    )
    def rebase_proposal(unit: Unit, prepared: Prepared) -> Answer:
        """Bring a stale proposal up to date as a new one, where the changes since do not overlap with it."""
        arguments, pieces = prepared
        proposal = _found(unit, arguments)
        require_own(proposal, unit.context, or_roles=("curator", "admin"))
        proposal.require("rebase", unit.now)
        made = rebase(fittings(), unit, proposal, proposal.plans, pieces)
        return about(unit, made, codes.PROPOSAL_REBASED, rebased_from=proposal.id)

    @rebase_proposal.prepare
    def prepare_rebase(reader: Reader, arguments: dict[str, Any]) -> Prepared:
        proposal = _seen(reader, arguments)
        return arguments, prepare_plans(fittings(), reader, proposal)

    @proposals.record(
        effect="update",
        semantics=DECIDES,
        tier=1,
        posture="direct",
        people_only=True,
        controls=CONTROLS,
        arguments=ReviewProposal,
        state_at=STATE,
        refuses=[
            *(codes.PROPOSAL_STATE, codes.PROPOSAL_STALE, codes.TOKEN_INVALID, codes.PLAN_DRIFT, codes.SELF_APPROVAL),
            *(codes.UNKNOWN_OPERATION, codes.VERSION_CONFLICT),
        ],
        examples=[
            Example("No such proposal", {**NOWHERE, "decision": "approve"}, reply="PROPOSAL_NOT_FOUND"),
        ],
    )
    def review_proposal(unit: Unit, prepared: Prepared) -> Answer:
        """Decide about a proposal: approve and commit it, reject it, or ask for changes. For people only."""
        arguments, pieces = prepared
        proposal = _found(unit, arguments)
        proposal.require("review", unit.now)
        if arguments["decision"] == "approve":
            return approve(fittings(), unit, proposal, arguments, pieces)
        return turn_down(fittings(), unit, proposal, arguments)

    @review_proposal.prepare
    def prepare_review(reader: Reader, arguments: dict[str, Any]) -> Prepared:
        proposal = _seen(reader, arguments)
        approving = arguments["decision"] == "approve"
        return arguments, prepare_plans(fittings(), reader, proposal) if approving else {}

    @proposals.record(
        effect="update",
        semantics=MOVES,
        tier=1,
        posture="direct",
        controls=(),
        exposed=False,
        examples=[Example("Nothing is overdue", {}, reply="NO_EFFECT")],
    )
    def expire_proposals(unit: Unit, arguments: NoArguments) -> dict[str, Any]:
        """End the proposals that nobody decided about in time."""
        return {"expired": [expired(unit, proposal_id) for proposal_id in overdue_proposals(unit)]}

    for flow in list(proposals.flows.values()):
        if flow.exposed:
            proposals.expose(flow, toolset=TOOLSET)
    return proposals


def expired(unit: Unit, proposal_id: str) -> str:
    """A proposal withdrawn because its time is over."""
    move(unit, find_proposal(unit, proposal_id), "ProposalWithdrawn", "withdrawn", by="engross", expired=True)
    return proposal_id


def require_own(proposal: Proposal, context: Context, *, or_roles: Sequence[str]) -> None:
    """Refuse whoever is neither the author nor in one of these roles."""
    if proposal.author.id == context.principal.id or context.principal.roles.intersection(or_roles):
        return
    raise Denied(codes.WRITE_DENIED, data={"because": [f"only its author, or {' or '.join(or_roles)}"]})


def require_version(proposal: Proposal, expected: int | None) -> None:
    """Refuse whoever had another version of it in mind."""
    if expected not in (None, proposal.version):
        raise Invalid(
            codes.VERSION_CONFLICT,
            {"expected": expected, "current": proposal.version},
            field="expected_version",
            suggestions={"current_version": proposal.version, "hint": "Look at it again with getProposal."},
        )
