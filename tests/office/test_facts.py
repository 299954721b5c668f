"""The feed of facts: what happened, in order, for whoever wants to follow."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import (
    approve,
    fact_types,
    facts,
    proposal_of,
    receipt,
    reject,
    request_changes,
    settle,
    show,
    titles,
)
from tests.office.notes import Bench

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.requirement("ARCH-31")
def test_a_committed_write_states_a_fact_in_the_form_of_cloudevents(offices: Offices, curator: Client) -> None:
    added = curator.call(
        "shelf.add-book",
        {"title": "Dune", "author": "Frank Herbert"},
        traceparent=TRACE,
        correlation_id="order-66",
    )
    (fact,) = facts(curator)
    assert fact["traceparent"].split("-")[1] == TRACE.split("-")[1]
    assert {name: value for name, value in fact.items() if name != "traceparent"} == {
        "specversion": "1.0",
        "id": added.data["facts"][0],
        "source": "urn:engross:office:shelf",
        "type": "io.engross.shelf.fact.BookAdded.v2",
        "subject": added.data["book"]["id"],
        "time": offices.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "datacontenttype": "application/json",
        "dataschema": "urn:engross:office:shelf:BookAdded:v2",
        "tenantid": "main",
        "correlationid": "order-66",
        "causationid": receipt(curator, added.data["position"])["message_id"],
        "position": added.data["position"],
        "ordinal": 0,
        "data": {
            "version": 1,
            "payload": {"title": "Dune", "author": "Frank Herbert", "notes": None},
            "erased": False,
        },
    }


def test_a_call_caused_by_another_says_so(curator: Client) -> None:
    curator.call("shelf.add-book", {"title": "Dune"}, causation_id="message-1")
    assert facts(curator)[0]["causationid"] == "message-1"


def some_history(curator: Client, agent: Client) -> None:
    books = [curator.shelf.add_book(title=f"Book {number}").data["book"]["id"] for number in range(4)]
    for book in books:
        for notes in ("one", "two", "three"):
            curator.shelf.change_book(id=book, notes=notes)
    curator.shelf.import_books(text="\n".join(f"Imported {number}, Somebody" for number in range(7)))
    for book in books[:2]:
        proposal = proposal_of(agent.shelf.change_book(id=book, title=f"Renamed {book}"))
        agent.shelf.add_book(title=f"With {book}", proposal_id=proposal)
        approve(curator, proposal)
    reject(curator, proposal_of(agent.shelf.remove_book(id=books[3])))
    token = curator.shelf.remove_book(id=books[2]).data["confirm_token"]
    curator.shelf.remove_book(id=books[2], confirm_token=token)


@pytest.mark.requirement("ARCH-31")
def test_facts_come_in_the_order_of_commits_and_every_subject_counts_without_a_gap(
    curator: Client, agent: Client
) -> None:
    some_history(curator, agent)
    everything = facts(curator)
    places = [(fact["position"], fact["ordinal"]) for fact in everything]
    assert places == sorted(set(places))
    versions = defaultdict(list)
    for fact in everything:
        versions[fact["source"], fact["subject"]].append(fact["data"]["version"])
    assert len(versions) > 10
    assert all(counted == list(range(1, len(counted) + 1)) for counted in versions.values())
    assert len({fact["id"] for fact in everything}) == len(everything)


@pytest.mark.parametrize("limit", [1, 2, 5, 1000])
def test_a_reader_resumes_where_it_stopped_and_gets_everything_once(curator: Client, agent: Client, limit: int) -> None:
    some_history(curator, agent)
    everything = facts(curator)
    followed, after = [], 0
    while True:
        read = curator.call("record.read-facts", {"after": after, "limit": limit}).data
        if not read["facts"]:
            assert read["next"] == after
            break
        positions = {fact["position"] for fact in read["facts"]}
        assert len(positions) <= limit
        assert read["next"] == max(positions) > after
        followed += read["facts"]
        after = read["next"]
    assert followed == everything


def test_a_position_that_is_none_is_invalid(curator: Client) -> None:
    for after in (-1, "0", 1.5, 2**70):
        assert curator.call("record.read-facts", {"after": after}).reply_type == "I"


def test_beyond_the_end_there_is_nothing_yet(curator: Client) -> None:
    assert curator.call("record.read-facts", {"after": 2**62}).data == {"facts": [], "next": 2**62}


@pytest.mark.requirement("ARCH-31")
def test_a_slow_transaction_is_waited_for_and_never_skipped(postgres_dsn: str, tmp_path: Path) -> None:
    bench, reached, go_on = Bench(), Event(), Event()

    def dawdle(text: str) -> None:
        if text == "slow":
            reached.set()
            assert go_on.wait(timeout=30)

    bench.while_applying = dawdle
    offices = Offices(tmp_path / "office", postgres_dsn)
    curator = offices.open(bench.notes, unit_seconds=30.0)
    seen = [fact["data"]["payload"]["text"] for fact in facts(curator)]
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(curator.notes.add_note, text="slow")
        assert reached.wait(timeout=30)
        quick = curator.notes.add_note(text="quick")
        assert quick.ok
        meanwhile = curator.call("record.read-facts", {}).data
        after = meanwhile["next"]
        refused = curator.call("record.get-receipt", {"position": quick.data["position"]})
        go_on.set()
        assert slow.result().ok
    assert (seen, meanwhile["facts"], after) == ([], [], 0)
    assert refused.ok
    assert slow.result().data["position"] < quick.data["position"]
    assert [fact["data"]["payload"]["text"] for fact in facts(curator, after)] == ["slow", "quick"]
    offices.close()


def test_a_replay_states_nothing(curator: Client, agent: Client) -> None:
    for client in (curator, agent):
        title = f"By {client.principal.id}"
        first = client.shelf.add_book(title=title, client_request_id=f"key-of-{title}".replace(" ", "-"))
        stated = facts(curator)
        again = client.shelf.add_book(title=title, client_request_id=f"key-of-{title}".replace(" ", "-"))
        assert (again.data["idempotent_replay"], again.data["facts"]) == (True, first.data["facts"])
        assert facts(curator) == stated


@pytest.mark.requirement("ARCH-31")
def test_what_is_refused_states_nothing(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    before = facts(curator)
    viewer = curator.as_("vic", "human", ["viewer"])
    refused = [
        curator.shelf.add_book(title="Dune"),
        curator.shelf.add_book(titel="Emma"),
        curator.shelf.change_book(id=book, title="Emma", expected_version=7),
        curator.shelf.change_book(id="book_x", title="Emma"),
        curator.shelf.remove_book(id=book),
        curator.shelf.import_books(text="Emma, Jane Austen\nDune, Frank Herbert"),
        viewer.shelf.add_book(title="Emma"),
        agent.proposals.withdraw_proposal(proposal_id="prop_x"),
        curator.call("shelf.nothing", {}),
    ]
    assert {answer.reply_type for answer in refused} == {"I", "D"}
    curator.call("shelf.add-book", {"title": "Emma"}, dry_run=True)
    assert facts(curator) == before


def test_a_commit_of_several_facts_is_all_there_or_not_at_all(curator: Client) -> None:
    imported = curator.shelf.import_books(text="Emma, Jane Austen\nUlysses, James Joyce\nDune, Frank Herbert")
    settle(curator)
    read = curator.call("record.read-facts", {"limit": 1}).data
    assert [fact["id"] for fact in read["facts"]] == imported.data["facts"]
    assert [fact["ordinal"] for fact in read["facts"]] == [0, 1, 2]


@pytest.mark.requirement("GOV-02")
def test_an_agent_learns_the_decision_from_the_proposal_and_from_the_feed(curator: Client, agent: Client) -> None:
    wanted = proposal_of(agent.shelf.add_book(title="Dune"))
    unwanted = proposal_of(agent.shelf.add_book(title="Emma"))
    unclear = proposal_of(agent.shelf.add_book(title="Ulysses"))
    after = facts(agent)[-1]["position"]
    approve(curator, wanted)
    reject(curator, unwanted, "We have it.")
    request_changes(curator, unclear, "Which edition?")
    learnt = {proposal: show(agent, proposal)["proposal"] for proposal in (wanted, unwanted, unclear)}
    assert [one["status"] for one in learnt.values()] == ["accepted", "rejected", "draft"]
    assert [one["decisions"][0]["rationale"] for one in learnt.values()] == [
        None,
        "We have it.",
        "Which edition?",
    ]
    about = {fact["subject"]: fact for fact in facts(agent, after) if fact["source"].endswith(":proposals")}
    told = {subject: fact["data"]["payload"] for subject, fact in about.items()}
    assert [(told[one]["status"], told[one]["decision"]) for one in (wanted, unwanted, unclear)] == [
        ("accepted", "approve"),
        ("rejected", "reject"),
        ("draft", "request_changes"),
    ]
    assert told[unwanted]["rationale"] == "We have it."
    became = [fact for fact in facts(agent, after) if fact["causationid"] == wanted]
    assert [fact["data"]["payload"]["title"] for fact in became] == ["Dune"]


def test_an_agent_that_repeats_its_call_learns_where_its_proposal_stands(curator: Client, agent: Client) -> None:
    first = agent.shelf.add_book(title="Dune", client_request_id="add-dune-1")
    approve(curator, proposal_of(first))
    again = agent.shelf.add_book(title="Dune", client_request_id="add-dune-1")
    assert again.data["proposal"] == {**first.data["proposal"], "current_status": "accepted"}
    assert titles(agent) == ["Dune"]


def test_a_receipt_can_be_read_and_an_unknown_one_is_not_found(curator: Client) -> None:
    added = curator.shelf.add_book(title="Dune", client_request_id="add-dune-1", reason="why not")
    body = receipt(curator, added.data["position"])
    assert (body["flow"], body["flow_version"]) == ("shelf.add-book", "1.0.0")
    assert body["principal"] == {"id": "clara", "type": "human", "roles": ["curator"]}
    assert (body["client_request_id"], body["reason"]) == ("add-dune-1", "why not")
    assert body["policy_version"] == curator.office.policy_version
    missing = curator.call("record.get-receipt", {"position": added.data["position"] + 100_000})
    assert missing.message_key == "RECORD_NOT_FOUND"


def test_the_kinds_of_facts_of_a_proposals_life(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    first = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert", commit_mode="draft"))
    agent.proposals.submit_proposal(proposal_id=first)
    curator.shelf.change_book(id=book, notes="sand")
    second = agent.proposals.rebase_proposal(proposal_id=first).data["proposal"]["id"]
    request_changes(curator, second)
    agent.proposals.withdraw_proposal(proposal_id=second)
    assert fact_types(curator) == [
        "BookAdded.v2",
        "ProposalOpened",
        "PlanAdded",
        "ProposalSubmitted",
        "BookChanged",
        "ProposalOpened",
        "PlanAdded",
        "ProposalRebased",
        "ProposalReviewed",
        "ProposalWithdrawn",
    ]
