"""Proposals as facts and the state that follows from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from engross.calls import Principal
from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State, Unit, canonical
from engross.replies import Invalid, codes

from .audience import Audience
from .proposal import Proposal, Review, StoredPlan

NAMESPACE = "proposals"
TABLES = ("proposals", "proposal_plans", "proposal_reviews", "proposal_subjects")

SQL = """
CREATE TABLE proposals (
    tenant             $text NOT NULL,
    id                 $text NOT NULL,
    version            $integer NOT NULL,
    status             $text NOT NULL,
    author             $text NOT NULL,
    author_id          $text NOT NULL,
    tier               $integer NOT NULL,
    approvals_required $integer NOT NULL,
    summary            $text NOT NULL,
    reason             $text,
    created_at         $text NOT NULL,
    updated_at         $text NOT NULL,
    expires_at         $text NOT NULL,
    rebased_from       $text,
    rebased_to         $text,
    PRIMARY KEY (tenant, id)
)$clustered;
CREATE INDEX proposals_by_status ON proposals (tenant, status, created_at, id);

CREATE TABLE proposal_plans (
    tenant   $text NOT NULL,
    proposal $text NOT NULL,
    ordinal  $integer NOT NULL,
    body     $text NOT NULL,
    PRIMARY KEY (tenant, proposal, ordinal)
)$clustered;

CREATE TABLE proposal_reviews (
    tenant    $text NOT NULL,
    proposal  $text NOT NULL,
    ordinal   $integer NOT NULL,
    reviewer  $text NOT NULL,
    decision  $text NOT NULL,
    rationale $text,
    time      $text NOT NULL,
    standing  $integer NOT NULL,
    PRIMARY KEY (tenant, proposal, ordinal)
)$clustered;

CREATE TABLE proposal_subjects (
    tenant   $text NOT NULL,
    subject  $text NOT NULL,
    proposal $text NOT NULL,
    PRIMARY KEY (tenant, subject, proposal)
)$clustered;
"""

# A proposal past its time counts as withdrawn, whether or not housekeeping has said so yet.
OPEN_STATUS = "status IN ('draft', 'proposed', 'in_review')"
CURRENT_STATUS = f"CASE WHEN {OPEN_STATUS} AND expires_at <= :now THEN 'withdrawn' ELSE status END"

MOVES = (
    "ProposalSubmitted",
    "ProposalReviewed",
    "ProposalAccepted",
    "ProposalRejected",
    "ProposalWithdrawn",
    "ProposalRebased",
)


def proposals_aggregate() -> Aggregate:
    """The aggregate that keeps proposals. Its flows are the office's."""
    aggregate = Aggregate(NAMESPACE, "Proposals", tables=TABLES, migrations=[("proposals", SQL)])
    aggregate.applies("ProposalOpened")(_opened)
    aggregate.applies("PlanAdded")(_plan_added)
    for move in MOVES:
        aggregate.applies(move)(_moved)
    aggregate.erases(_erased)
    return aggregate


def find_proposal(reader: Reader, proposal_id: str, audience: Audience | None = None) -> Proposal:
    """A proposal of the caller's tenant, if this audience may know of it."""
    seen, params = ("", {}) if audience is None else audience.among("p")
    row = reader.row(f"SELECT * FROM proposals p WHERE tenant = :tenant AND id = :id{seen}", id=proposal_id, **params)
    if row is None:
        raise Invalid(
            codes.PROPOSAL_NOT_FOUND,
            {"proposal_id": proposal_id[:80]},
            field="proposal_id",
            suggestions={"hint": "listProposals shows those that you may see, with their ids."},
        )
    plans = reader.rows(
        "SELECT body FROM proposal_plans WHERE tenant = :tenant AND proposal = :id ORDER BY ordinal",
        id=proposal_id,
    )
    reviews = reader.rows(
        "SELECT reviewer, decision, rationale, time, standing FROM proposal_reviews"
        " WHERE tenant = :tenant AND proposal = :id ORDER BY ordinal",
        id=proposal_id,
    )
    return _proposal(row, plans, reviews)


def list_proposals(
    reader: Reader,
    *,
    status: str | None,
    author: str | None,
    target: str | None,
    risk: int | None,
    after: tuple[str, str] | None,
    most: int,
    audience: Audience | None = None,
) -> list[Proposal]:
    """Proposals in the order they were opened, a page of those an audience sees, without their plans and reviews."""
    created, last = after or ("", "")
    seen, params = ("", {}) if audience is None else audience.among("p")
    rows = reader.rows(
        "SELECT * FROM proposals p WHERE tenant = :tenant"
        " AND (created_at > :created OR (created_at = :created AND id > :last))"
        f" AND (:status = '' OR {CURRENT_STATUS} = :status) AND (:author = '' OR author_id = :author)"
        " AND (:risk < 0 OR tier = :risk) AND (:target = '' OR EXISTS (SELECT 1 FROM proposal_subjects s"
        " WHERE s.tenant = p.tenant AND s.proposal = p.id AND s.subject = :target))"
        f"{seen} ORDER BY created_at, id LIMIT :most",
        now=reader.now,
        status=status or "",
        author=author or "",
        target=target or "",
        risk=-1 if risk is None else risk,
        created=created,
        last=last,
        most=most,
        **params,
    )
    return [_proposal(row, [], []) for row in rows]


def seen_proposals(reader: Reader, proposal_ids: Collection[str], audience: Audience) -> set[str]:
    """Those of these proposals that an audience sees."""
    seen, params = audience.among("p")
    asked = {f"id_{n}": one for n, one in enumerate(proposal_ids)}
    places = ", ".join(f":{name}" for name in asked)
    rows = reader.rows(
        f"SELECT id FROM proposals p WHERE tenant = :tenant AND id IN ({places}){seen}", **asked, **params
    )
    return {row["id"] for row in rows}


def open_proposal(unit: Unit, proposal_id: str, payload: Mapping[str, Any]) -> None:
    """State that a proposal was opened."""
    unit.append("ProposalOpened", proposal_id, 0, payload, aggregate=NAMESPACE)


def add_plan(unit: Unit, proposal_id: str, follows: int, plan: StoredPlan, approvals_required: int) -> None:
    """State that a proposal grew by a plan. Approvals of the smaller one do not stand."""
    payload = {"plan": plan.as_data(), "tier": plan.tier, "approvals_required": approvals_required}
    unit.append("PlanAdded", proposal_id, follows, payload, aggregate=NAMESPACE)


def move(unit: Unit, proposal: Proposal, fact: str, status: str, **more: Any) -> None:
    """State that a proposal moved on."""
    ends = status in ("accepted", "rejected", "withdrawn", "rebased")
    unit.append(fact, proposal.id, proposal.version, {"status": status, **more}, aggregate=NAMESPACE, ends=ends)


def proposals_touching(reader: Reader, subject: str) -> list[str]:
    """The proposals whose plans touch a subject (`aggregate/subject`)."""
    rows = reader.rows(
        "SELECT proposal FROM proposal_subjects WHERE tenant = :tenant AND subject = :subject ORDER BY proposal",
        subject=subject,
    )
    return [row["proposal"] for row in rows]


def overdue_proposals(reader: Reader) -> list[str]:
    """Open proposals whose time is over, some of them."""
    rows = reader.rows(
        f"SELECT id FROM proposals WHERE tenant = :tenant AND {OPEN_STATUS}"
        " AND expires_at <= :now ORDER BY id LIMIT 100",
        now=reader.now,
    )
    return [row["id"] for row in rows]


def _opened(state: State, fact: Fact) -> None:
    opened = fact.payload
    assert opened is not None
    state.execute(
        "INSERT INTO proposals (tenant, id, version, status, author, author_id, tier, approvals_required, summary,"
        " reason, created_at, updated_at, expires_at, rebased_from, rebased_to)"
        " VALUES (:tenant, :id, :version, :status, :author, :author_id, 0, 1, :summary,"
        " :reason, :time, :time, :expires_at, :rebased_from, NULL)",
        id=fact.subject,
        version=fact.version,
        status=opened["status"],
        author=canonical(opened["author"]).decode(),
        author_id=opened["author"]["id"],
        summary=opened["summary"],
        reason=opened["reason"],
        time=fact.time,
        expires_at=opened["expires_at"],
        rebased_from=opened["rebased_from"],
    )


def _plan_added(state: State, fact: Fact) -> None:
    added = fact.payload
    assert added is not None
    plan = added["plan"]
    state.execute(
        "INSERT INTO proposal_plans (tenant, proposal, ordinal, body) VALUES (:tenant, :id, :ordinal, :body)",
        id=fact.subject,
        ordinal=plan["ordinal"],
        body=canonical(plan).decode(),
    )
    for subject in sorted({f"{one['aggregate']}/{one['subject']}" for one in plan["facts"]}):
        state.execute(
            "INSERT INTO proposal_subjects (tenant, subject, proposal) VALUES (:tenant, :subject, :id)"
            " ON CONFLICT (tenant, subject, proposal) DO NOTHING",
            id=fact.subject,
            subject=subject,
        )
    state.execute(
        "UPDATE proposals SET version = :version, updated_at = :time,"
        " tier = CASE WHEN tier < :tier THEN :tier ELSE tier END,"
        " approvals_required = CASE WHEN approvals_required < :needed THEN :needed ELSE approvals_required END"
        " WHERE tenant = :tenant AND id = :id",
        id=fact.subject,
        version=fact.version,
        time=fact.time,
        tier=added["tier"],
        needed=added["approvals_required"],
    )
    _let_approvals_lapse(state, fact)


def _moved(state: State, fact: Fact) -> None:
    moved = fact.payload
    assert moved is not None
    if "decision" in moved:
        state.execute(
            "INSERT INTO proposal_reviews (tenant, proposal, ordinal, reviewer, decision, rationale, time, standing)"
            " VALUES (:tenant, :id, :version, :reviewer, :decision, :rationale, :time, 1)",
            id=fact.subject,
            version=fact.version,
            reviewer=moved["reviewer"],
            decision=moved["decision"],
            rationale=moved["rationale"],
            time=fact.time,
        )
    if moved["status"] == "draft":
        _let_approvals_lapse(state, fact)
    state.execute(
        "UPDATE proposals SET status = :status, version = :version, updated_at = :time, rebased_to = :rebased_to"
        " WHERE tenant = :tenant AND id = :id",
        id=fact.subject,
        status=moved["status"],
        version=fact.version,
        time=fact.time,
        rebased_to=moved.get("rebased_to"),
    )


def _let_approvals_lapse(state: State, fact: Fact) -> None:
    state.execute(
        "UPDATE proposal_reviews SET standing = 0 WHERE tenant = :tenant AND proposal = :id AND decision = 'approve'",
        id=fact.subject,
    )


def _erased(state: State, fact: Fact) -> None:
    for table in ("proposal_plans", "proposal_reviews", "proposal_subjects"):
        state.execute(f"DELETE FROM {table} WHERE tenant = :tenant AND proposal = :id", id=fact.subject)
    state.execute("DELETE FROM proposals WHERE tenant = :tenant AND id = :id", id=fact.subject)


def _proposal(row: dict[str, Any], plans: list[dict[str, Any]], reviews: list[dict[str, Any]]) -> Proposal:
    kept = {name: row[name] for name in row if name not in ("tenant", "author", "author_id")}
    return Proposal(
        author=Principal.from_data(orjson.loads(row["author"])),
        plans=tuple(StoredPlan.from_data(orjson.loads(plan["body"])) for plan in plans),
        reviews=tuple(Review(**{**review, "standing": bool(review["standing"])}) for review in reviews),
        **kept,
    )
