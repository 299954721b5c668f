"""Policy where it counts: on the path of real calls, with the outcome in the store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engross.calls import PrincipalType
from engross.replies import Failed, codes
from engross.surfaces.client import Client, Options
from tests.bed.offices import Offices
from tests.office.desk import facts, policies, proposal_of, receipt, titles
from tests.office.notes import Bench

LONG_LIST = "\n".join(f"Book {number}, Somebody" for number in range(25))

CALLS: dict[str, Callable[[Client, str], Any]] = {
    "read": lambda client, book: client.shelf.get_book(id=book),
    "low": lambda client, book: client.shelf.change_book(id=book, notes="sand"),
    "medium": lambda client, book: client.shelf.add_book(title="Emma"),
    "bulk": lambda client, book: client.shelf.import_books(text=LONG_LIST),
    "high": lambda client, book: client.shelf.remove_book(id=book),
}
READ, DENIED, PROPOSED = "READ_OK", "WRITE_DENIED", "PROPOSAL_RECORDED"
CONFIRM = "CONFIRMATION_REQUIRED"
# type, roles, then what becomes of a read and of changes of low, medium, bulk and high risk.
ROLES: list[tuple[PrincipalType, list[str], list[str]]] = [
    ("human", [], ["CALL_DENIED", "CALL_DENIED", "CALL_DENIED", "CALL_DENIED", "CALL_DENIED"]),
    ("human", ["viewer"], [READ, DENIED, DENIED, DENIED, DENIED]),
    ("agent", ["viewer"], [READ, DENIED, DENIED, DENIED, DENIED]),
    ("agent", ["agent"], [READ, PROPOSED, PROPOSED, PROPOSED, PROPOSED]),
    ("service", ["agent"], [READ, PROPOSED, PROPOSED, PROPOSED, PROPOSED]),
    ("human", ["contributor"], [READ, "UPDATED", PROPOSED, PROPOSED, PROPOSED]),
    ("agent", ["contributor"], [READ, "UPDATED", PROPOSED, PROPOSED, PROPOSED]),
    ("human", ["curator"], [READ, "UPDATED", "CREATED", CONFIRM, CONFIRM]),
    ("human", ["admin"], [READ, "UPDATED", "CREATED", CONFIRM, CONFIRM]),
    ("service", ["curator"], [READ, "UPDATED", "CREATED", CONFIRM, CONFIRM]),
]


@pytest.mark.requirement("ARCH-27", "ARCH-28")
@pytest.mark.parametrize(
    ("type_", "roles", "outcomes"), ROLES, ids=[f"{type_} {'+'.join(roles)}" for type_, roles, _ in ROLES]
)
def test_role_and_risk_decide_what_becomes_of_a_call(
    curator: Client, type_: PrincipalType, roles: list[str], outcomes: list[str]
) -> None:
    for call, outcome in zip(CALLS, outcomes, strict=True):
        book = curator.shelf.add_book(title=f"For {call}").data["book"]["id"]
        before = facts(curator)
        answer = CALLS[call](curator.as_("pat", type_, roles), book)
        assert answer.message_key == outcome, (call, answer)
        stated = [fact["source"].rpartition(":")[2] for fact in facts(curator)[len(before) :]]
        expected = {PROPOSED: {"proposals"}, "UPDATED": {"shelf"}, "CREATED": {"shelf"}}
        assert set(stated) == expected.get(outcome, set())


@pytest.mark.requirement("ARCH-27")
def test_an_agent_that_insists_on_a_direct_commit_gets_a_proposal(agent: Client) -> None:
    assert proposal_of(agent.shelf.add_book(title="Dune", commit_mode="direct"))


def test_or_a_denial_where_the_operator_prefers_that(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(policies=policies(tmp_path / "policies", 'on_direct_denied = "deny"'))
    agent = curator.as_("scout", "agent", ["agent"])
    denied = agent.shelf.add_book(title="Dune", commit_mode="direct")
    assert (denied.reply_type, denied.message_key) == ("D", "APPROVAL_REQUIRED")
    assert proposal_of(agent.shelf.add_book(title="Dune"))


def test_critical_changes_are_left_to_admins(offices: Offices) -> None:
    curator = offices.open(Bench().notes)
    note = curator.notes.add_note(text="hello").data["note"]["id"]
    agent = curator.as_("scout", "agent", ["admin"])
    assert curator.notes.rule_note(id=note, text="rule").message_key == "INSUFFICIENT_SCOPE"
    assert agent.notes.rule_note(id=note, text="rule").message_key == "PEOPLE_ONLY"
    assert proposal_of(curator.as_("anna", "human", ["admin"]).notes.rule_note(id=note, text="rule"))


def test_in_an_emergency_an_admin_breaks_the_glass_and_the_receipt_says_so(offices: Offices) -> None:
    curator = offices.open(Bench().notes)
    note = curator.notes.add_note(text="hello").data["note"]["id"]
    anna = curator.as_("anna", "human", ["admin"])
    arguments = {"id": note, "text": "rule", "reason": "The house is on fire."}
    asked = anna.call("notes.rule-note", arguments, break_glass=True)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    confirmed = {**arguments, "confirm_token": asked.data["confirm_token"]}
    done = anna.call("notes.rule-note", confirmed, break_glass=True)
    assert done.message_key == "UPDATED"
    body = receipt(curator, done.data["position"])
    assert (body["because"], body["reason"], body["tier"]) == (["break-glass"], "The house is on fire.", 4)
    unreasoned = anna.call("notes.rule-note", {"id": note, "text": "x"}, break_glass=True)
    assert unreasoned.message_key == "PROPOSAL_RECORDED"
    agent = curator.as_("scout", "agent", ["admin"])
    assert agent.call("notes.rule-note", arguments, break_glass=True).message_key == "PEOPLE_ONLY"


def test_read_only_wins_over_everything(offices: Offices) -> None:
    open_ = offices.open()
    book = open_.shelf.add_book(title="Dune").data["book"]["id"]
    proposal = proposal_of(open_.as_("scout", "agent", ["agent"]).shelf.add_book(title="Emma"))
    before = facts(open_)
    admin = offices.open(read_only=True).as_("anna", "human", ["admin"])
    writes = [
        ("shelf.add-book", {"title": "Ulysses"}),
        ("shelf.remove-book", {"id": book}),
        ("proposals.submit-proposal", {"proposal_id": proposal}),
        ("proposals.review-proposal", {"proposal_id": proposal, "decision": "reject", "rationale": "no"}),
        ("record.erase", {"aggregate": "shelf", "subject": book}),
    ]
    ways: list[Options] = [{}, {"dry_run": True}, {"break_glass": True}]
    for flow, arguments in writes:
        for options in ways:
            denied = admin.call(flow, arguments, **options)
            assert (denied.reply_type, denied.message_key) == ("D", "READ_ONLY"), flow
    checked = admin.call("record.validate-write", {"operation": "addBook", "payload": {"title": "Ulysses"}})
    assert (checked.data["valid"], checked.data["errors"][0]["code"]) == (False, "READ_ONLY")
    assert "approval_token" not in admin.proposals.get_proposal(proposal_id=proposal).data
    assert titles(admin, proposal_id=proposal) == ["Dune", "Emma"]
    assert facts(admin) == before


HOUSE = """
@id("house.no-agents") @denial("PEOPLE_ONLY")
forbid (principal is Agent, action == Action::"call", resource)
when { resource.effect == "create" };

@id("house.removals-are-reviewed")
forbid (principal, action == Action::"commit", resource)
when { resource.effect == "delete" };

@id("house.nightly")
permit (principal == Service::"nightly", action == Action::"commit", resource)
when { resource.aggregate == "shelf" && context.tier <= 2 };
"""


@pytest.mark.requirement("ARCH-28")
def test_a_folder_of_own_policies_is_laid_over_the_shipped_ones(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(policies=policies(tmp_path / "policies", house=HOUSE))
    agent = curator.as_("scout", "agent", ["agent"])
    nightly = curator.as_("nightly", "service", ["agent"])
    denied = agent.shelf.add_book(title="Dune")
    assert (denied.message_key, denied.data["because"]) == ("PEOPLE_ONLY", ["house.no-agents"])
    added = nightly.shelf.add_book(title="Dune")
    assert added.message_key == "CREATED"
    assert receipt(curator, added.data["position"])["because"] == ["house.nightly"]
    assert proposal_of(curator.shelf.remove_book(id=added.data["book"]["id"]))


def test_policies_in_the_data_folder_are_found(offices: Offices) -> None:
    policies(offices.folder / "policies", house=HOUSE)
    agent = offices.open().as_("scout", "agent", ["agent"])
    assert agent.shelf.add_book(title="Dune").message_key == "PEOPLE_ONLY"


BROKEN = {
    "not Cedar": "forbid whatever;",
    "an unknown attribute": "forbid (principal, action, resource) when { resource.colour == 1 };",
    "agents that approve": 'permit (principal is Agent, action == Action::"approve", resource);',
    "the same id twice": '@id("a") permit (principal, action, resource);\n' * 2,
}


def test_an_office_with_a_broken_policy_stays_closed_and_names_the_file(offices: Offices, tmp_path: Path) -> None:
    for what, text in BROKEN.items():
        with pytest.raises(Failed) as failure:
            offices.open(policies=policies(tmp_path / what, house=text))
        assert failure.value.code == codes.CONFIG_INVALID, what
        assert failure.value.data is not None
        assert failure.value.data["file"] == "house.cedar"
    assert offices.open().shelf.add_book(title="Dune").ok


OVERFLOWS = """
@id("house.overflows")
forbid (principal, action == Action::"{action}", resource)
when {{ context.tier * 9223372036854775807 > 10 && context.tier > 1 }};
"""


def test_a_policy_that_cannot_be_evaluated_fails_closed(offices: Offices, tmp_path: Path) -> None:
    for action in ("call", "commit", "propose"):
        house = OVERFLOWS.format(action=action)
        curator = offices.open(policies=policies(tmp_path / action, house=house))
        for client in (curator, curator.as_("scout", "agent", ["agent"])):
            failed = client.shelf.add_book(title="Dune")
            assert (failed.reply_type, failed.message_key) == ("E", "POLICY_ERROR"), action
        assert titles(curator) == []
        assert facts(curator) == []


def test_an_approval_that_policy_cannot_decide_fails_closed(offices: Offices, tmp_path: Path) -> None:
    house = OVERFLOWS.format(action="approve")
    curator = offices.open(policies=policies(tmp_path / "policies", house=house))
    proposal = proposal_of(curator.as_("scout", "agent", ["agent"]).shelf.add_book(title="Dune"))
    shown = curator.proposals.get_proposal(proposal_id=proposal)
    decided = curator.proposals.review_proposal(proposal_id=proposal, decision="reject", rationale="no")
    assert {shown.message_key, decided.message_key} == {"POLICY_ERROR"}
    assert titles(curator) == []


def test_knobs_come_from_a_file_and_may_differ_by_tenant(offices: Offices, tmp_path: Path) -> None:
    knobs = """
    [[direct_commit_grants]]
    principal = "scout"
    operations = ["shelf.add-*"]
    expires_at = 2026-12-01T00:00:00Z

    [tenants.open]
    default_mode = "direct"

    [tenants.strict]
    require_client_request_id = true
    """
    curator = offices.open(policies=policies(tmp_path / "policies", knobs))
    scout = curator.as_("scout", "agent", ["agent"])
    rover = curator.as_("rover", "agent", ["agent"])
    granted = scout.shelf.add_book(title="Dune")
    assert granted.message_key == "CREATED"
    assert receipt(curator, granted.data["position"])["because"] == ["commit.granted"]
    assert proposal_of(scout.shelf.change_book(id=granted.data["book"]["id"], notes="x"))
    assert proposal_of(rover.shelf.add_book(title="Emma"))
    offices.clock.pass_(days=30)
    assert proposal_of(scout.shelf.add_book(title="Ulysses"))
    there = rover.as_("rover", "agent", ["agent"], tenant="open")
    assert there.shelf.add_book(title="Dune").message_key == "CREATED"
    strict = rover.as_("rover", "agent", ["agent"], tenant="strict")
    assert strict.shelf.add_book(title="Dune").message_key == "IDEMPOTENCY_KEY_REQUIRED"
    assert proposal_of(strict.shelf.add_book(title="Dune", client_request_id="with-a-key"))
    person = rover.as_("ada", "human", ["curator"], tenant="strict")
    assert person.shelf.add_book(title="Emma").message_key == "CREATED"


def test_an_office_with_broken_knobs_stays_closed_and_names_the_place(offices: Offices, tmp_path: Path) -> None:
    broken = {
        'default_mode = "open"': "default_mode",
        "single_operater = true": "single_operater",
        '[tenants.acme]\nconfirm_tier = "high"': "tenants.acme.confirm_tier",
        "confirm_tier = ": "knobs",
    }
    for knobs, setting in broken.items():
        with pytest.raises(Failed) as failure:
            offices.open(policies=policies(tmp_path / "policies", knobs))
        assert (failure.value.code, failure.value.params["setting"]) == (codes.CONFIG_INVALID, setting)


def test_rate_limits_count_calls_over_http_only(offices: Offices, tmp_path: Path) -> None:
    knobs = 'rate_limits = { "shelf.add-book" = "2/hour" }'
    curator = offices.open(policies=policies(tmp_path / "policies", knobs))
    over_http = curator.as_("scout", "agent", ["agent"], surface="rest")
    answers = [over_http.shelf.add_book(title=f"Book {number}") for number in range(3)]
    assert [answer.message_key for answer in answers] == [
        "PROPOSAL_RECORDED",
        "PROPOSAL_RECORDED",
        "RATE_LIMIT_EXCEEDED",
    ]
    assert 0 < answers[2].data["retry_after_seconds"] <= 3600
    assert over_http.shelf.list_books().ok
    assert curator.as_("scout", "agent", ["agent"]).shelf.add_book(title="Book 3").ok
    assert curator.as_("rover", "agent", ["agent"], surface="rest").shelf.add_book(title="Book 4").ok
