"""What the shipped policies decide, as one table, and what moves a decision away from it."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from engross.calls import Context, Decision, PrincipalType
from engross.flows import Aggregate, Flow
from engross.governance import Grant, Knobs, Policy, refusal
from engross.governance.rules import Rules
from engross.replies import REGISTRY, codes
from tests.governance.people import call, call_by, nothing, principal, read_flow, write_flow

COMMIT, CONFIRM, PROPOSE, TWO = "commit", "commit after confirmation", "propose", "propose for two approvals"
DENIED, MISSING, PEOPLE = "deny: write", "deny: right missing", "deny: people only"
LETTERS = {
    "c": COMMIT,
    "C": CONFIRM,
    "p": PROPOSE,
    "2": TWO,
    "w": DENIED,
    "s": MISSING,
    "x": PEOPLE,
}
# Who: what becomes of tiers 1 to 4, for a flow that proposes and for one that only appends.
TABLE: dict[tuple[PrincipalType, str], tuple[str, str]] = {
    ("human", "viewer"): ("w w w s", "w w w s"),
    ("human", "agent"): ("p p p s", "c c p s"),
    ("human", "contributor"): ("c p p s", "c c p s"),
    ("human", "curator"): ("c c C s", "c c C s"),
    ("human", "admin"): ("c c C 2", "c c C 2"),
    ("agent", "viewer"): ("w w w x", "w w w x"),
    ("agent", "agent"): ("p p p x", "c c p x"),
    ("agent", "contributor"): ("c p p x", "c c p x"),
    ("agent", "curator"): ("c c C x", "c c C x"),
    ("agent", "admin"): ("c c C x", "c c C x"),
    ("service", "viewer"): ("w w w s", "w w w s"),
    ("service", "agent"): ("p p p s", "c c p s"),
    ("service", "contributor"): ("c p p s", "c c p s"),
    ("service", "curator"): ("c c C s", "c c C s"),
    ("service", "admin"): ("c c C 2", "c c C 2"),
}
FLOWS = {posture: write_flow(f"{posture}-card", posture=posture) for posture in ("proposal", "direct")}


@dataclass(frozen=True)
class Row:
    """One line of the table: who, what, and how it was asked for."""

    type: PrincipalType
    role: str
    posture: str
    tier: int
    mode: str | None
    outcome: str

    def __str__(self) -> str:
        return f"{self.type}-{self.role}-tier{self.tier}-{self.posture}-flow-asks-{self.mode or 'nothing'}"

    @property
    def context(self) -> Context:
        return call(self.type, self.role, commit_mode=self.mode)

    def decide(self, policy: Policy) -> Decision:
        return policy.judge(self.context, FLOWS[self.posture], self.tier, 1)


def rows() -> list[Row]:
    found = []
    for (who, cells), mode in product(TABLE.items(), (None, "proposal", "direct")):
        for posture, line in zip(("proposal", "direct"), cells, strict=True):
            for tier, letter in enumerate(line.split(), 1):
                outcome = LETTERS[letter]
                if mode == "proposal" and outcome in (COMMIT, CONFIRM):
                    outcome = PROPOSE
                found.append(Row(*who, posture, tier, mode, outcome))
    return found


ROWS = rows()
NAMES = {
    codes.WRITE_DENIED: DENIED,
    codes.INSUFFICIENT_SCOPE: MISSING,
    codes.PEOPLE_ONLY: PEOPLE,
}


def outcome_of(decision: Decision) -> str:
    if decision.verdict == "deny":
        assert decision.denial is not None
        return NAMES[decision.denial]
    if decision.verdict == "propose":
        return {1: PROPOSE, 2: TWO}[decision.approvals_required]
    assert decision.approvals_required == 0
    return CONFIRM if decision.confirm else COMMIT


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy()


def judged(context: Context, tier: int, flow: Flow | None = None, facts: int = 1, **knobs: Any) -> Decision:
    return Policy(knobs=Knobs(**knobs)).judge(context, flow or FLOWS["proposal"], tier, facts)


@pytest.mark.requirement("ARCH-27", "ARCH-28")
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_who_asks_and_what_is_at_stake_decide(policy: Policy, row: Row) -> None:
    assert outcome_of(row.decide(policy)) == row.outcome


def test_the_table_has_every_kind_of_principal_and_every_role() -> None:
    roles = ("viewer", "agent", "contributor", "curator", "admin")
    assert set(TABLE) == set(product(get_args(PrincipalType), roles))


def test_a_remembered_decision_is_the_one_that_would_be_made_anew() -> None:
    remembering, forgetful = Policy(), Policy(remembered=0)
    shuffled = random.Random(7).sample(ROWS * 2, len(ROWS) * 2)
    for row in shuffled:
        assert row.decide(remembering) == row.decide(forgetful), row


def test_a_remembered_decision_asks_the_rules_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy()
    decisions = [row.decide(policy) for row in ROWS]

    def unexpected(*_: object) -> None:
        raise AssertionError("the rules were asked again")

    monkeypatch.setattr(Rules, "ask", unexpected)
    assert [row.decide(policy) for row in ROWS] == decisions


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"surface": "rest"},
        {"reason": "because"},
        {"break_glass": True},
        {"proposal_id": "p-1"},
        {"dry_run": True},
        {"commit_mode": "proposal"},
        {"pins": {"model_id": "m-1"}},
        {"principal": principal("human", "viewer")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_decision_may_depend_on_is_part_of_what_it_is_remembered_under(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, asked, ask = Policy(), [], Rules.ask

    def counted(*given: Any) -> Any:
        asked.append(given)
        return ask(*given)

    monkeypatch.setattr(Rules, "ask", counted)
    caller = change.get("principal", principal("human", "curator"))
    more = {name: value for name, value in change.items() if name != "principal"}
    policy.judge(call("human", "curator"), FLOWS["proposal"], 2, 1)
    policy.judge(call_by(caller, **more), FLOWS["proposal"], 2, 1)
    assert len(asked) == 2


def test_no_more_decisions_are_remembered_than_allowed() -> None:
    policy = Policy(remembered=10)
    for facts in range(35):
        policy.judge(call("human", "curator"), FLOWS["proposal"], 2, facts)
        assert len(policy._decisions) <= 10


@pytest.mark.parametrize("role", ["viewer", "agent", "contributor", "curator", "admin"])
@pytest.mark.parametrize("type_", get_args(PrincipalType))
def test_everybody_with_a_role_may_read(policy: Policy, type_: PrincipalType, role: str) -> None:
    assert policy.may_call(call(type_, role), read_flow()).verdict == "commit"
    assert policy.judge(call(type_, role), read_flow(), 0, 0).verdict == "commit"


@pytest.mark.parametrize("flow", [read_flow(), write_flow()], ids=["read", "write"])
@pytest.mark.parametrize("type_", get_args(PrincipalType))
def test_nobody_without_a_role_may_call_anything(policy: Policy, type_: PrincipalType, flow: Flow) -> None:
    decision = policy.may_call(call(type_), flow)
    assert (decision.verdict, decision.denial) == ("deny", codes.CALL_DENIED)


@pytest.mark.parametrize(
    ("type_", "role", "tier", "denial"),
    [
        ("human", "viewer", 1, codes.WRITE_DENIED),
        ("human", "agent", 1, None),
        ("human", "contributor", 3, None),
        ("human", "contributor", 4, codes.INSUFFICIENT_SCOPE),
        ("human", "curator", 4, codes.INSUFFICIENT_SCOPE),
        ("human", "admin", 4, None),
        ("agent", "agent", 3, None),
        ("agent", "admin", 4, codes.PEOPLE_ONLY),
        ("service", "admin", 4, None),
    ],
)
def test_who_may_call_a_write_depends_on_the_tier_of_the_flow(
    policy: Policy, type_: PrincipalType, role: str, tier: int, denial: str | None
) -> None:
    decision = policy.may_call(call(type_, role), write_flow(tier=tier))
    assert (decision.verdict, decision.denial) == ("deny" if denial else "commit", denial)


@pytest.mark.parametrize("role", ["agent", "contributor", "curator", "admin"])
@pytest.mark.parametrize(
    ("type_", "surface", "allowed"),
    [
        ("human", "rest", True),
        ("human", "cli", True),
        ("human", "mcp-stdio", False),
        ("human", "mcp-http", False),
        ("agent", "rest", False),
        ("service", "embedded", False),
    ],
)
def test_what_is_for_people_is_denied_to_everything_else(
    policy: Policy, type_: PrincipalType, surface: str, role: str, allowed: bool
) -> None:
    context = call(type_, role, surface=surface)
    decisions = [
        policy.may_call(context, write_flow(people_only=True)),
        policy.judge(context, write_flow(people_only=True, tier=2), 2, 1),
    ]
    expected = None if allowed else codes.PEOPLE_ONLY
    assert [decision.denial for decision in decisions] == [expected, expected]


DOOR = Aggregate("door", "Door")
LIST_TOKENS = DOOR.define("read", nothing, name="list-tokens", people_only=True)
CREATE_TOKEN = DOOR.define("record", nothing, name="create-token", effect="create", people_only=True)


@pytest.mark.parametrize(
    ("context", "flow", "because", "denial", "is_advised"),
    [
        (call("human", "viewer"), LIST_TOKENS, ("door.look",), codes.CALL_DENIED, True),
        (call("human", "curator"), LIST_TOKENS, ("call.read",), None, False),
        (call("human", "curator"), CREATE_TOKEN, ("door.keep",), codes.CALL_DENIED, True),
        (call("human", "admin"), CREATE_TOKEN, ("call.write",), None, False),
        (call("agent", "agent"), CREATE_TOKEN, ("door.keep", "people.only"), codes.PEOPLE_ONLY, False),
    ],
    ids=["viewer-lists", "curator-lists", "curator-makes", "admin-makes", "agent-makes"],
)
def test_who_may_not_look_after_tokens_hears_who_does(
    policy: Policy, context: Context, flow: Flow, because: tuple[str, ...], denial: str | None, is_advised: bool
) -> None:
    decision = policy.may_call(context, flow)
    assert (decision.because, decision.denial) == (because, denial)
    assert (decision.advice is not None) is is_advised


def test_who_proposes_a_token_hears_that_it_is_made_at_once(policy: Policy) -> None:
    decision = policy.judge(call("human", "admin", commit_mode="proposal"), CREATE_TOKEN, 2, 1)
    assert (decision.because, decision.denial) == (("door.at-once",), codes.CALL_DENIED)
    assert decision.advice is not None
    assert "commit_mode" in decision.advice


class TestReadOnly:
    """The switch wins over everything."""

    def test_a_read_only_office_denies_every_write_to_everybody(self) -> None:
        policy = Policy(read_only=True)
        context = call("human", "admin", break_glass=True, reason="fire")
        assert policy.may_call(context, write_flow()).denial == codes.READ_ONLY
        assert policy.judge(context, write_flow(), 1, 1).denial == codes.READ_ONLY
        assert policy.may_approve(context, principal(id_="bob"), 1, ()).denial == codes.READ_ONLY

    def test_a_read_only_office_still_reads(self) -> None:
        assert Policy(read_only=True).may_call(call("human", "viewer"), read_flow()).verdict == "commit"

    def test_even_who_may_not_write_hears_that_the_office_is_read_only(self) -> None:
        denial = Policy(read_only=True).may_call(call("agent"), write_flow(people_only=True)).denial
        assert denial == codes.READ_ONLY


class TestBulk:
    """Very many changes at once are a risk of their own."""

    def test_more_facts_than_the_threshold_raise_the_tier_to_three(self) -> None:
        at, over = (judged(call("human", "curator"), 2, facts=facts) for facts in (20, 21))
        assert (at.tier, at.confirm) == (2, False)
        assert (over.tier, over.confirm) == (3, True)

    def test_a_higher_tier_stays(self) -> None:
        assert judged(call("human", "admin"), 4, facts=100).tier == 4

    def test_the_threshold_is_a_knob(self) -> None:
        assert judged(call("human", "curator"), 1, facts=6, bulk_threshold=5).confirm

    def test_appending_very_many_is_no_higher_risk(self) -> None:
        decision = judged(call("agent", "agent"), 2, FLOWS["direct"], facts=500)
        assert (decision.verdict, decision.tier) == ("commit", 2)


class TestConfirmation:
    """Asked of those who would commit directly, and of nobody else."""

    def test_a_proposed_change_needs_none(self) -> None:
        assert not judged(call("human", "curator", commit_mode="proposal"), 3).confirm

    def test_a_dry_run_needs_none_but_tells_that_the_real_call_will(self) -> None:
        policy, context = Policy(), call("human", "curator", dry_run=True)
        assert not policy.judge(context, FLOWS["proposal"], 3, 1).confirm
        assert policy.needs_confirmation(context, 3)
        assert not policy.needs_confirmation(context, 2)

    @pytest.mark.parametrize(("confirm_tier", "confirmed"), [(1, True), (2, True), (3, False), (5, False)])
    def test_from_which_tier_on_is_a_knob(self, confirm_tier: int, confirmed: bool) -> None:
        assert judged(call("human", "curator"), 2, confirm_tier=confirm_tier).confirm is confirmed


class TestModes:
    """What the caller asks for, and what the operator lets them ask for."""

    def test_work_inside_a_draft_is_proposed_even_by_who_could_commit(self) -> None:
        assert judged(call("human", "admin", proposal_id="p-1"), 1).verdict == "propose"
        assert judged(call("human", "admin", proposal_id="p-1", commit_mode="direct"), 1).verdict == "propose"

    def test_asking_for_a_draft_is_asking_for_a_proposal(self) -> None:
        assert judged(call("human", "admin", commit_mode="draft"), 1).verdict == "propose"

    def test_a_direct_commit_that_is_not_granted_becomes_a_proposal_or_a_denial(self) -> None:
        asked = call("agent", "agent", commit_mode="direct")
        assert judged(asked, 2).verdict == "propose"
        denied = judged(asked, 2, on_direct_denied="deny")
        assert (denied.verdict, denied.denial) == ("deny", codes.APPROVAL_REQUIRED)

    @pytest.mark.parametrize("mode", [None, "proposal"])
    def test_who_did_not_ask_for_a_direct_commit_is_not_denied_one(self, mode: str | None) -> None:
        context = call("agent", "agent", commit_mode=mode)
        assert judged(context, 2, on_direct_denied="deny").verdict == "propose"

    def test_who_may_commit_directly_is_not_denied_it(self) -> None:
        context = call("human", "curator", commit_mode="direct")
        assert judged(context, 2, on_direct_denied="deny").verdict == "commit"

    @pytest.mark.parametrize(("tier", "verdict"), [(1, "commit"), (2, "commit"), (3, "propose"), (4, "deny")])
    def test_the_default_mode_direct_lets_agents_commit_up_to_tier_two(self, tier: int, verdict: str) -> None:
        assert judged(call("agent", "agent"), tier, default_mode="direct").verdict == verdict

    @pytest.mark.parametrize(("type_", "role"), [("human", "contributor"), ("service", "contributor")])
    def test_the_default_mode_is_about_agents_only(self, type_: PrincipalType, role: str) -> None:
        assert judged(call(type_, role), 2, default_mode="direct").verdict == "propose"

    def test_a_viewer_is_no_writer_in_any_mode(self) -> None:
        assert judged(call("agent", "viewer"), 1, default_mode="direct").verdict == "deny"

    def test_the_most_specific_default_mode_wins(self) -> None:
        knobs = Knobs.from_toml("""
            default_mode = "direct"
            [tenants.acme]
            default_mode = "proposal"
            [tenants.acme.models.sandbox]
            default_mode = "direct"
        """)
        policy, flow = Policy(knobs=knobs), FLOWS["proposal"]
        verdicts = [
            policy.judge(call("agent", "agent", **more), flow, 2, 1).verdict
            for more in (
                {"tenant": "other"},
                {"tenant": "acme"},
                {"tenant": "acme", "pins": {"model_id": "sandbox"}},
                {"tenant": "acme", "pins": {"model_id": "else"}},
            )
        ]
        assert verdicts == ["commit", "propose", "commit", "propose"]


class TestGrants:
    """Direct commits for somebody who would otherwise propose."""

    @pytest.mark.parametrize(
        ("grant", "verdict"),
        [
            (Grant(("cards.*",), principal="ada"), "commit"),
            (Grant(("cards.proposal-card",), role="agent"), "commit"),
            (Grant(("notes.*", "cards.prop*"), role="agent"), "commit"),
            (Grant(("cards.*",), principal="bob"), "propose"),
            (Grant(("cards.*",), role="curator"), "propose"),
            (Grant(("notes.*",), principal="ada"), "propose"),
            (Grant(("cards.*",), principal="ada", max_tier=1), "propose"),
            (Grant(("cards.*",), principal="ada", expires_at="2026-11-16T12:00:00.000001Z"), "commit"),
            (Grant(("cards.*",), principal="ada", expires_at="2026-11-16T12:00:00Z"), "propose"),
        ],
    )
    def test_a_grant_reaches_as_far_as_it_says(self, grant: Grant, verdict: str) -> None:
        decision = judged(call("agent", "agent"), 2, direct_commit_grants=(grant,))
        assert decision.verdict == verdict
        assert ("commit.granted" in decision.because) is (verdict == "commit")

    @pytest.mark.parametrize(
        ("types", "changed", "verdict"),
        [
            (("Node",), {"Node"}, "commit"),
            (("Node", "Application*"), {"Node", "ApplicationService"}, "commit"),
            (("Node",), {"Node", "Composition"}, "propose"),
            (("Node",), {"node"}, "propose"),
            (("*",), {None}, "propose"),
            (("*",), set(), "propose"),
            (None, {None}, "commit"),
        ],
    )
    def test_a_grant_for_types_covers_what_changes_nothing_else(
        self, types: tuple[str, ...] | None, changed: set[str | None], verdict: str
    ) -> None:
        policy = Policy(knobs=Knobs(direct_commit_grants=(Grant(("*",), principal="ada", types=types),)))
        caller, flow = call("agent", "agent"), FLOWS["proposal"]
        assert policy.judge(caller, flow, 2, 1, lambda: frozenset(changed)).verdict == verdict
        assert policy.looks_at_types(caller, flow) is (types is not None)
        if types is not None:
            assert policy.judge(caller, flow, 2, 1).verdict == "propose"

    def test_types_are_looked_at_only_for_whom_a_grant_says_so(self) -> None:
        policy = Policy(knobs=Knobs(direct_commit_grants=(Grant(("cards.*",), principal="bob", types=("Node",)),)))

        def types() -> frozenset[str | None]:
            raise AssertionError("nobody asked")

        assert policy.judge(call("agent", "agent"), FLOWS["proposal"], 2, 1, types).verdict == "propose"

    def test_a_grant_that_says_nothing_about_types_makes_the_policy_version_it_always_made(self) -> None:
        assert "types" not in Grant(("*",), principal="ada").as_data()

    def test_a_grant_ends_although_a_decision_under_it_is_remembered(self) -> None:
        grant = Grant(("*",), principal="ada", expires_at="2026-11-16T12:30:00Z")
        policy = Policy(knobs=Knobs(direct_commit_grants=(grant,)))
        verdicts = [
            policy.judge(call("agent", "agent", occurred_at=moment), FLOWS["proposal"], 2, 1).verdict
            for moment in ("2026-11-16T12:29:00.000000Z", "2026-11-16T12:31:00.000000Z")
        ]
        assert verdicts == ["commit", "propose"]

    def test_a_granted_commit_of_high_risk_is_still_confirmed(self) -> None:
        grant = Grant(("*",), principal="ada", max_tier=3)
        assert judged(call("agent", "agent"), 3, direct_commit_grants=(grant,)).confirm

    def test_no_grant_lets_an_agent_do_what_is_critical(self) -> None:
        grant = Grant(("*",), principal="ada", max_tier=3)
        assert judged(call("agent", "agent"), 4, direct_commit_grants=(grant,)).denial == codes.PEOPLE_ONLY

    def test_a_grant_does_not_let_a_viewer_call_a_write(self) -> None:
        knobs = Knobs(direct_commit_grants=(Grant(("*",), role="viewer"),))
        assert Policy(knobs=knobs).may_call(call("agent", "viewer"), write_flow()).verdict == "deny"


class TestBreakGlass:
    """In an emergency, with a reason, by a person, and never unnamed."""

    def test_an_admin_who_says_why_commits_what_is_critical(self) -> None:
        decision = judged(call("human", "admin", break_glass=True, reason="the house is on fire"), 4)
        assert (decision.verdict, decision.confirm) == ("commit", True)
        assert "break-glass" in decision.because

    def test_it_is_named_even_where_it_was_not_needed(self) -> None:
        decision = judged(call("human", "admin", break_glass=True, reason="fire"), 1)
        assert "break-glass" in decision.because

    @pytest.mark.parametrize(
        "context",
        [
            call("human", "admin", break_glass=True),
            call("human", "admin", reason="fire"),
            call("human", "curator", break_glass=True, reason="fire"),
            call("service", "admin", break_glass=True, reason="fire"),
            call("agent", "admin", break_glass=True, reason="fire"),
        ],
        ids=["no-reason", "not-asked-for", "wrong-role", "a-service", "an-agent"],
    )
    def test_it_takes_a_person_with_the_role_and_a_reason(self, context: Context) -> None:
        decision = judged(context, 4)
        assert decision.verdict != "commit"
        assert "break-glass" not in decision.because

    def test_whose_glass_it_is_to_break_is_a_knob(self) -> None:
        policy = Policy(knobs=Knobs(break_glass_roles=("curator",)))
        critical = write_flow(tier=4)
        curator = call("human", "curator", break_glass=True, reason="fire")
        admin = call("human", "admin", break_glass=True, reason="fire")
        assert policy.may_call(curator, critical).verdict == "commit"
        assert policy.judge(curator, critical, 4, 1).verdict == "commit"
        assert policy.judge(admin, critical, 4, 1).verdict == "propose"


class TestApproving:
    """A person's decision, and not the author's."""

    @pytest.mark.parametrize(
        ("role", "tier", "denial"),
        [
            ("viewer", 1, codes.INSUFFICIENT_SCOPE),
            ("contributor", 1, codes.INSUFFICIENT_SCOPE),
            ("agent", 1, codes.INSUFFICIENT_SCOPE),
            ("curator", 3, None),
            ("curator", 4, codes.INSUFFICIENT_SCOPE),
            ("admin", 3, None),
            ("admin", 4, None),
        ],
    )
    def test_curators_approve_up_to_tier_three_and_admins_everything(
        self, policy: Policy, role: str, tier: int, denial: str | None
    ) -> None:
        decision = policy.may_approve(call("human", role), principal("agent", "agent", id_="bot"), tier, ("a.b",))
        assert (decision.verdict, decision.denial) == ("deny" if denial else "commit", denial)

    @pytest.mark.requirement("NEW-03")
    @pytest.mark.parametrize("surface", ["embedded", "cli", "mcp-stdio", "mcp-http", "rest"])
    @pytest.mark.parametrize("single_operator", [False, True])
    @pytest.mark.parametrize("type_", ["agent", "service"])
    def test_no_agent_and_no_service_approves_whatever_its_roles_and_the_surface(
        self, type_: PrincipalType, single_operator: bool, surface: str
    ) -> None:
        policy = Policy(knobs=Knobs(single_operator=single_operator))
        roles = ("viewer", "agent", "contributor", "curator", "admin")
        context = call(type_, *roles, surface=surface, break_glass=True, reason="please")
        for author in (principal(id_="bob"), context.principal):
            assert policy.may_approve(context, author, 1, ("a.b",)).denial == codes.PEOPLE_ONLY

    @pytest.mark.requirement("NEW-03")
    @pytest.mark.parametrize("surface", ["mcp-stdio", "mcp-http"])
    def test_nobody_approves_over_mcp(self, policy: Policy, surface: str) -> None:
        decision = policy.may_approve(call("human", "admin", surface=surface), principal(id_="bob"), 1, ())
        assert decision.denial == codes.PEOPLE_ONLY

    @pytest.mark.parametrize("role", ["curator", "admin"])
    def test_nobody_approves_a_proposal_of_their_own(self, policy: Policy, role: str) -> None:
        context = call("human", role)
        assert policy.may_approve(context, context.principal, 1, ()).denial == codes.SELF_APPROVAL

    def test_a_single_operator_does_and_the_decision_says_so(self) -> None:
        policy = Policy(knobs=Knobs(single_operator=True))
        own = policy.may_approve(call("human", "curator"), principal(id_="ada"), 1, ())
        other = policy.may_approve(call("human", "curator"), principal(id_="bob"), 1, ())
        assert (own.verdict, "approve.single-operator" in own.because) == ("commit", True)
        assert (other.verdict, "approve.single-operator" in other.because) == ("commit", False)

    @pytest.mark.parametrize(("role", "tier"), [("contributor", 1), ("curator", 4)])
    def test_a_single_operator_still_needs_the_role(self, role: str, tier: int) -> None:
        policy = Policy(knobs=Knobs(single_operator=True))
        assert policy.may_approve(call("human", role), principal(id_="ada"), tier, ()).verdict == "deny"

    def test_one_person_alone_cannot_give_two_approvals_so_one_is_enough(self) -> None:
        assert judged(call("human", "admin"), 4).approvals_required == 2
        assert judged(call("human", "admin"), 4, single_operator=True).approvals_required == 1

    def test_how_many_approvals_a_tier_needs_is_a_knob(self) -> None:
        assert judged(call("agent", "agent"), 2, approvals_by_tier={2: 3}).approvals_required == 3
        assert judged(call("agent", "agent"), 3, approvals_by_tier={2: 3}).approvals_required == 1


class TestRefusal:
    """A denial as the caller hears it."""

    @pytest.mark.parametrize(
        ("context", "flow", "tier"),
        [
            (call("human"), read_flow(), 0),
            (call("human", "viewer"), write_flow(), 2),
            (call("human", "curator"), write_flow(tier=4), 4),
            (call("agent", "agent"), write_flow(people_only=True), 2),
        ],
        ids=["no-role", "viewer", "critical", "people-only"],
    )
    def test_a_refusal_fills_in_every_parameter_of_its_message(
        self, policy: Policy, context: Context, flow: Flow, tier: int
    ) -> None:
        decision = policy.may_call(context, flow)
        heard = refusal(decision, flow.ref)
        assert heard.code == decision.denial
        assert set(heard.params) == set(REGISTRY.entry(heard.code).params)

    def test_a_refusal_names_the_policies_behind_it(self, policy: Policy) -> None:
        decision = policy.may_call(call("agent", "agent"), write_flow(people_only=True))
        told = refusal(decision, "cards.update-card").data
        assert told is not None
        assert told["because"] == ["people.only"]

    @pytest.mark.parametrize(
        ("roles", "tier", "missing"),
        [((), 2, "viewer"), (("viewer",), 2, "contributor"), (("curator",), 4, "admin")],
        ids=["nobody", "viewer", "curator"],
    )
    def test_a_refusal_says_what_is_missing_and_how_to_go_on(
        self, policy: Policy, roles: tuple[str, ...], tier: int, missing: str
    ) -> None:
        flow = write_flow(tier=tier)
        decision = policy.may_call(call("human", *roles), flow)
        told = refusal(decision, flow.ref).data
        assert told is not None
        assert missing in told["required"]
        assert told["hint"] == REGISTRY.entry(decision.denial or "").advice


def test_every_decision_names_the_policy_version(policy: Policy) -> None:
    assert {row.decide(policy).policy_version for row in ROWS} == {policy.version}


def test_opening_a_policy_does_not_import_the_policy_library() -> None:
    script = "import sys; from engross.governance import Policy; Policy(); print('cedarpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"


def test_whoever_lacks_what_a_policy_of_the_house_asks_for_is_told_which_policy_that_is() -> None:
    by_the_house = Decision("deny", 1, "v1", because=("house.scopes",), denial=codes.INSUFFICIENT_SCOPE)
    assert "house.scopes" in refusal(by_the_house, "notes.rule-note").params["required"]
    by_nobody = replace(by_the_house, because=())
    assert "curator" in refusal(by_nobody, "notes.rule-note").params["required"]
