"""The main path, on both engines."""

from engross.surfaces.client import Client


def test_an_agent_proposes_and_a_curator_approves(curator: Client, agent: Client) -> None:
    proposed = agent.shelf.add_book(title="Dune", client_request_id="scout-0001")
    assert proposed.message_key == "PROPOSAL_RECORDED", proposed
    shown = curator.proposals.get_proposal(proposal_id=proposed.data["proposal"]["id"])
    done = curator.proposals.review_proposal(
        proposal_id=proposed.data["proposal"]["id"], decision="approve", approval_token=shown.data["approval_token"]
    )
    assert done.message_key == "PROPOSAL_COMMITTED", done
    assert [book["title"] for book in curator.shelf.list_books().data["books"]] == ["Dune"]
    assert curator.office.rebuild("main").same
