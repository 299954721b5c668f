"""A proposal that nobody decides about does not wait for ever."""

from pathlib import Path

from engross.calls import instant_after
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, fact_types, facts, policies, proposal_of, show, status


def test_after_thirty_days_a_proposal_counts_as_withdrawn(offices: Offices, curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    shown = show(curator, proposal)
    assert shown["proposal"]["expires_at"] == instant_after(shown["proposal"]["created_at"], days=30)
    offices.clock.pass_(days=30, microseconds=-1)
    assert status(curator, proposal) == "proposed"
    offices.clock.pass_(microseconds=1)
    late = show(curator, proposal)
    assert late["proposal"]["status"] == "withdrawn"
    assert "approval_token" not in late
    refused = curator.proposals.review_proposal(
        proposal_id=proposal, decision="approve", approval_token=shown["approval_token"]
    )
    assert refused.message_key == "PROPOSAL_STATE"
    assert agent.proposals.withdraw_proposal(proposal_id=proposal).message_key == "PROPOSAL_STATE"


def test_on_its_last_day_a_proposal_can_be_approved(offices: Offices, curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    offices.clock.pass_(days=29, hours=23)
    assert approve(curator, proposal).message_key == "PROPOSAL_COMMITTED"


def test_growing_does_not_prolong_a_proposal_but_a_rebase_starts_anew(
    offices: Offices, curator: Client, agent: Client
) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    ends = show(curator, proposal)["proposal"]["expires_at"]
    offices.clock.pass_(days=20)
    agent.shelf.add_book(title="Emma", proposal_id=proposal)
    assert show(curator, proposal)["proposal"]["expires_at"] == ends
    rebased = agent.proposals.rebase_proposal(proposal_id=proposal)
    assert rebased.data["proposal"]["expires_at"] == instant_after(ends, days=20)


def test_housekeeping_ends_what_is_overdue_in_every_tenant_and_nothing_else(
    offices: Offices, curator: Client, agent: Client
) -> None:
    elsewhere = curator.as_("scout", "agent", ["agent"], tenant="elsewhere")
    old = proposal_of(agent.shelf.add_book(title="Dune"))
    old_draft = proposal_of(agent.shelf.add_book(title="Emma", commit_mode="draft"))
    old_there = proposal_of(elsewhere.shelf.add_book(title="Dune"))
    offices.clock.pass_(days=10)
    young = proposal_of(agent.shelf.add_book(title="Ulysses"))
    offices.clock.pass_(days=20)
    position = facts(curator)[-1]["position"]
    curator.office.tidy()
    assert fact_types(curator, position) == ["ProposalWithdrawn", "ProposalWithdrawn"]
    ended = facts(curator, position)
    assert {fact["subject"] for fact in ended} == {old, old_draft}
    assert {fact["data"]["payload"]["by"] for fact in ended} == {"engross"}
    assert {fact["data"]["payload"]["expired"] for fact in ended} == {True}
    assert status(elsewhere, old_there) == "withdrawn"
    assert fact_types(elsewhere)[-1] == "ProposalWithdrawn"
    assert status(curator, young) == "proposed"
    position = facts(curator)[-1]["position"]
    curator.office.tidy()
    assert facts(curator, position) == []
    assert curator.office.rebuild("main").same


def test_the_time_to_live_is_a_knob_also_of_a_tenant(offices: Offices, tmp_path: Path) -> None:
    knobs = "proposal_ttl_days = 7\n[tenants.hasty]\nproposal_ttl_days = 1\n"
    curator = offices.open(policies=policies(tmp_path / "policies", knobs))
    for tenant, days in (("main", 7), ("hasty", 1)):
        agent = curator.as_("scout", "agent", ["agent"], tenant=tenant)
        opened = show(agent, proposal_of(agent.shelf.add_book(title="Dune")))["proposal"]
        assert opened["expires_at"] == instant_after(opened["created_at"], days=days)
