"""Erasing a subject: what was said about it is gone everywhere, and the ledger still verifies."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from redis import Redis

from engross.calls import PrincipalType
from engross.ledger import Reader, digest
from engross.ledger.verify import verify
from engross.pipeline import answers
from engross.replies import Reply
from engross.store import Reading
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, facts, proposal_of, reject, show, titles
from tests.office.notes import Bench
from tests.pipeline.board import Conduct, board

SECRET = "Zanzibar"


def erase(client: Client, subject: str, **more: Any) -> Reply:
    """Erase a book, confirmed."""
    arguments = {"aggregate": "shelf", "subject": subject, **more}
    asked = client.call("record.erase", arguments)
    assert asked.message_key == "CONFIRMATION_REQUIRED", asked
    return client.call("record.erase", {**arguments, "confirm_token": asked.data["confirm_token"]})


def tables_with(client: Client, text: str) -> list[str]:
    """The tables of the store in which a text can be found, in any column of any row of the tenant."""

    def look(reading: Reading) -> list[str]:
        named = (
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
            if reading.engine == "sqlite"
            else "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        names = [row["name"] for row in reading.rows(named, {})]
        assert {"facts", "keys", "proposals", "books", "receipts"} <= set(names)
        return [name for name in names if any(text in str(row) for row in reading.rows(f"SELECT * FROM {name}", {}))]

    return client.office.store.read(client.tenant, look)


def told_everywhere(curator: Client, agent: Client) -> str:
    """A book with a secret in its title, author and notes, in every place where such a thing can come to lie."""
    added = curator.shelf.add_book(title=f"{SECRET} I", author=SECRET, notes=SECRET, client_request_id="add-secret")
    book: str = added.data["book"]["id"]
    curator.shelf.change_book(id=book, notes=f"{SECRET} II", client_request_id="change-secret")
    curator.shelf.change_book(id=book, notes=f"{SECRET} II", client_request_id="no-effect-secret")
    curator.shelf.change_book(id=book, notes="other", client_request_id="change-secret-again")
    accepted = proposal_of(agent.shelf.change_book(id=book, title=f"{SECRET} III", client_request_id="propose-secret"))
    approve(curator, accepted, client_request_id="approve-secret")
    rejected = proposal_of(agent.shelf.remove_book(id=book, client_request_id="remove-secret"))
    reject(curator, rejected)
    stale = proposal_of(agent.shelf.change_book(id=book, notes=f"{SECRET} IV"))
    curator.shelf.change_book(id=book, author=f"{SECRET} V")
    agent.proposals.rebase_proposal(proposal_id=stale, client_request_id="rebase-secret")
    agent.shelf.change_book(id=book, notes=f"{SECRET} VI", commit_mode="draft", client_request_id="draft-secret")
    return book


@pytest.mark.requirement("GOV-03")
def test_nothing_of_an_erased_subject_stays_in_any_table_and_the_ledger_verifies(
    offices: Offices, curator: Client, agent: Client
) -> None:
    book = told_everywhere(curator, agent)
    other = curator.shelf.add_book(title="Emma", notes="stays", client_request_id="add-emma-1")
    assert {"facts", "keys", "proposal_plans", "books", "authors"} <= set(tables_with(curator, SECRET))
    curator.office.seal()
    before = facts(curator)
    done = erase(curator, book)
    assert done.message_key == "ERASED"
    assert done.data["payloads_erased"] > 10
    assert len(done.data["proposals_erased"]) == 5
    assert tables_with(curator, SECRET) == []
    after = facts(curator)
    assert [fact["id"] for fact in after[: len(before)]] == [fact["id"] for fact in before]
    assert after[-1]["type"].endswith(".fact.Erased.v1")
    for was, fact in zip(before, after, strict=False):
        kept = fact["subject"] == other.data["book"]["id"]
        assert fact["data"]["erased"] is not kept
        assert fact["data"]["payload"] == (was["data"]["payload"] if kept else None)
        assert {**fact, "data": None} == {**was, "data": None}
    assert titles(curator) == ["Emma"]
    assert curator.shelf.list_authors().data["authors"] == []
    assert curator.office.rebuild("main").same
    curator.office.seal()
    offices.close()
    report = verify(offices.store or offices.folder, public_key=curator.office.public_key)
    assert report.ok, report


@pytest.mark.requirement("GOV-03")
def test_an_erased_answer_is_replayed_to_nobody_whoever_remembers_it(offices: Offices) -> None:
    curator = offices.open()
    elsewhere = offices.open()
    agent = curator.as_("scout", "agent", ["agent"])
    arguments = {"title": SECRET, "client_request_id": "add-secret"}
    added = curator.call("shelf.add-book", arguments)
    change = {"id": added.data["book"]["id"], "notes": SECRET, "client_request_id": "propose-secret"}
    proposed = agent.call("shelf.change-book", change)
    assert elsewhere.call("shelf.add-book", arguments).data["idempotent_replay"] is True
    erase(curator, added.data["book"]["id"])
    rover = elsewhere.as_("scout", "agent", ["agent"])
    later = offices.open()
    for client in (curator, elsewhere, later):
        gone = client.call("shelf.add-book", arguments)
        assert (gone.reply_type, gone.message_key) == ("I", "PAYLOAD_ERASED")
        assert SECRET not in orjson.dumps(gone.data).decode()
    for client in (agent, rover):
        assert client.call("shelf.change-book", change).message_key == "PAYLOAD_ERASED"
    missing = agent.proposals.get_proposal(proposal_id=proposal_of(proposed))
    assert missing.message_key == "PROPOSAL_NOT_FOUND"


# --- the adapter cache -----------------------------------------------------------------------------------------------


def in_redis(url: str) -> list[bytes]:
    """The names of what Redis holds of the secret."""
    with Redis.from_url(url) as redis:
        return [name for name in redis.scan_iter() if SECRET.encode() in (redis.get(name) or b"")]


def in_memory(client: Client) -> list[str]:
    """The keys of what the office's own process holds of the secret."""
    cache = client.office._fittings.answers
    assert isinstance(cache, answers.MemoryAnswers)
    return [key for (_, _, key), remembered in cache._kept.items() if SECRET in remembered.text]


@pytest.mark.requirement("GOV-03", "ARCH-33")
@pytest.mark.parametrize("cache", ["memory", "redis"])
@pytest.mark.parametrize("way", ["erase", "approve"])
def test_nothing_of_an_erased_subject_stays_in_the_cache(
    offices: Offices, redis_url: str, cache: str, way: str
) -> None:
    curator = offices.open(redis=redis_url if cache == "redis" else None)
    agent = curator.as_("scout", "agent", ["agent"])
    book = told_everywhere(curator, agent)
    kept = curator.shelf.add_book(title="Emma", client_request_id="add-emma-1")
    assert len(in_redis(redis_url) if cache == "redis" else in_memory(curator)) > 5
    if way == "erase":
        assert erase(curator, book).message_key == "ERASED"
    else:
        proposal = proposal_of(agent.call("record.erase", {"aggregate": "shelf", "subject": book}))
        assert approve(curator, proposal).message_key == "PROPOSAL_COMMITTED"
    assert (in_redis(redis_url) if cache == "redis" else in_memory(curator)) == []
    again = curator.shelf.add_book(title="Emma", client_request_id="add-emma-1")
    assert again.data["book"] == kept.data["book"]


@pytest.mark.requirement("GOV-03")
def test_an_erasure_that_does_not_come_about_drops_nothing_from_the_cache(curator: Client, agent: Client) -> None:
    book = told_everywhere(curator, agent)
    held = in_memory(curator)
    arguments = {"aggregate": "shelf", "subject": book}
    assert curator.call("record.erase", arguments, dry_run=True).ok
    assert curator.call("record.erase", arguments).message_key == "CONFIRMATION_REQUIRED"
    assert agent.call("record.erase", arguments).message_key == "PROPOSAL_RECORDED"
    assert in_memory(curator) == held != []


@pytest.mark.requirement("GOV-03", "ARCH-33")
def test_another_process_drops_what_was_erased_when_it_tidies(offices: Offices) -> None:
    curator, elsewhere = offices.open(), offices.open()
    arguments = {"title": SECRET, "client_request_id": "add-secret"}
    book = curator.call("shelf.add-book", arguments).data["book"]["id"]
    assert elsewhere.call("shelf.add-book", arguments).data["idempotent_replay"] is True
    assert elsewhere.shelf.add_book(title=f"{SECRET} of somebody else", client_request_id="add-another").ok
    erase(curator, book)
    assert sorted(in_memory(elsewhere)) == ["add-another", "add-secret"]
    elsewhere.office.tidy()
    assert in_memory(elsewhere) == ["add-another"]


@pytest.mark.requirement("GOV-03", "ARCH-33")
def test_what_redis_did_not_drop_it_drops_when_an_office_tidies(
    offices: Offices, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "PAUSE_SECONDS", 0.0)
    curator = offices.open(redis=redis_url)
    book = curator.shelf.add_book(title=SECRET, client_request_id="add-secret").data["book"]["id"]
    (name,) = in_redis(redis_url)
    with Redis.from_url(redis_url) as redis:
        redis.config_set("min-replicas-to-write", 1)
        try:
            assert erase(curator, book).message_key == "ERASED"
            assert in_redis(redis_url) == [name]
        finally:
            redis.config_set("min-replicas-to-write", 0)
        held = redis.get(name)
        curator.office.tidy()
        assert in_redis(redis_url) == []
        # So does what somebody was about to put there while it was erased.
        redis.set(name, held)
        offices.clock.pass_(hours=23, minutes=59)
        curator.office.tidy()
        assert in_redis(redis_url) == []


@pytest.mark.requirement("GOV-03", "ARCH-33")
def test_no_answer_is_in_the_cache_for_longer_than_a_day_after_the_first_call(offices: Offices, redis_url: str) -> None:
    shared, alone = offices.open(redis=redis_url), offices.open()
    arguments = {"title": SECRET, "client_request_id": "add-secret"}
    for client in (shared, alone):
        client.call("shelf.add-book", arguments)
    offices.clock.pass_(hours=23)
    for client in (shared, alone):
        assert client.call("shelf.add-book", arguments).data["idempotent_replay"] is True
        client.office.tidy()
    (name,) = in_redis(redis_url)
    with Redis.from_url(redis_url) as redis:
        assert 3000 < redis.ttl(name) <= 3600
        redis.delete(name)
    assert in_memory(alone) == ["add-secret"]
    offices.clock.pass_(hours=1)
    for client in (shared, alone):
        assert client.call("shelf.add-book", arguments).data["idempotent_replay"] is True
    assert in_redis(redis_url) == []
    alone.office.tidy()
    assert in_memory(alone) == []


@pytest.mark.requirement("GOV-03", "ARCH-33")
def test_a_suggestion_that_tells_of_others_is_not_in_the_cache(offices: Offices, redis_url: str) -> None:
    def tell(reader: Reader) -> list[str]:
        return [row["text"] for row in reader.rows("SELECT text FROM notes WHERE tenant = :tenant")]

    curator = offices.open(board(Conduct(suggest=tell)), redis=redis_url)
    assert SECRET in str(curator.board.pin_note(text=SECRET).data["suggestions"])
    second = curator.board.pin_note(text="a", client_request_id="pin-another")
    assert SECRET in str(second.data["suggestions"])
    assert in_redis(redis_url) == []
    again = curator.board.pin_note(text="a", client_request_id="pin-another")
    assert (again.data["idempotent_replay"], again.data["suggestions"]) == (True, second.data["suggestions"])


def test_nothing_of_an_erased_subject_stays_in_the_files_of_a_closed_office(tmp_path: Path) -> None:
    offices = Offices(tmp_path / "office", None)
    curator = offices.open()
    book = told_everywhere(curator, curator.as_("scout", "agent", ["agent"]))
    long = curator.shelf.change_book(id=book, notes=f"{SECRET} " * 10_000)
    assert long.ok
    erase(curator, book)
    offices.close()
    files = [path for path in offices.folder.rglob("*") if path.is_file()]
    assert offices.folder / "office.db" in files
    assert [path.name for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.requirement("GOV-03")
def test_what_was_erased_cannot_be_found_by_guessing(curator: Client, agent: Client) -> None:
    arguments = {"title": SECRET}
    book = curator.shelf.add_book(**arguments, client_request_id="add-secret").data["book"]["id"]
    change = {"id": book, "notes": SECRET}
    proposal = proposal_of(agent.shelf.change_book(**change, client_request_id="propose-secret"))
    shown = show(curator, proposal)["proposal"]["operations"][0]
    fact = {
        "aggregate": "shelf",
        "type": "BookChanged",
        "schema_version": 1,
        "subject": book,
        "version": 2,
        "payload": {"notes": SECRET},
        "ends": False,
    }
    assert shown["arguments"] == change
    assert "proposal_plans" in tables_with(curator, digest([fact]))
    approve(curator, proposal)
    erase(curator, book)
    requests = [
        {"operation": "shelf.add-book", "arguments": arguments},
        {"operation": "shelf.change-book", "arguments": change},
    ]
    steering = {"proposal_id": None, "commit_mode": None, "model": None}
    guesses = [arguments, change, [fact], fact["payload"], *({**request, **steering} for request in requests)]
    assert [guess for guess in guesses if tables_with(curator, digest(guess))] == []


def test_erasing_has_to_be_confirmed_and_a_dry_run_erases_nothing(curator: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    arguments = {"aggregate": "shelf", "subject": book}
    asked = curator.call("record.erase", arguments)
    assert (asked.reply_type, asked.message_key) == ("D", "CONFIRMATION_REQUIRED")
    assert curator.call("record.erase", arguments, dry_run=True).data["would"]["confirmation_required"] is True
    assert titles(curator) == [SECRET]
    assert facts(curator)[0]["data"]["payload"]["title"] == SECRET


def test_an_erasure_can_be_proposed_and_approved(curator: Client, agent: Client) -> None:
    book = told_everywhere(curator, agent)
    proposal = proposal_of(agent.call("record.erase", {"aggregate": "shelf", "subject": book}))
    assert "facts" in tables_with(curator, SECRET)
    done = approve(curator, proposal)
    assert done.message_key == "PROPOSAL_COMMITTED"
    assert tables_with(curator, SECRET) == []
    assert curator.proposals.get_proposal(proposal_id=proposal).data["proposal"]["status"] == "accepted"
    assert curator.office.rebuild("main").same


def test_an_erasure_is_proposed_by_itself(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    proposal = proposal_of(agent.shelf.change_book(id=book, notes=SECRET))
    arguments = {"aggregate": "shelf", "subject": book, "proposal_id": proposal}
    refused = agent.call("record.erase", arguments)
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "proposal_id")


def test_another_change_meanwhile_makes_a_proposed_erasure_stale(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    erasure = proposal_of(agent.call("record.erase", {"aggregate": "shelf", "subject": book}))
    agent.shelf.change_book(id=book, notes=SECRET)
    assert approve(curator, erasure).message_key == "PROPOSAL_STALE"
    rebased = agent.proposals.rebase_proposal(proposal_id=erasure).data["proposal"]["id"]
    assert approve(curator, rebased).message_key == "PROPOSAL_COMMITTED"
    assert tables_with(curator, SECRET) == []


def test_erasing_again_changes_nothing(curator: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    erase(curator, book)
    stated = facts(curator)
    again = curator.call("record.erase", {"aggregate": "shelf", "subject": book})
    assert (again.message_key, again.data["status"]) == ("NO_EFFECT", "unchanged")
    assert facts(curator) == stated


def test_what_was_removed_can_be_erased_all_the_same(curator: Client) -> None:
    book = curator.shelf.add_book(title=SECRET, author=SECRET).data["book"]["id"]
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    curator.shelf.remove_book(id=book, confirm_token=token)
    assert erase(curator, book).ok
    assert tables_with(curator, SECRET) == []
    assert curator.office.rebuild("main").same


def test_a_commit_about_several_subjects_loses_only_what_is_about_this_one(curator: Client) -> None:
    imported = curator.shelf.import_books(text=f"{SECRET}, {SECRET}\nEmma, Jane Austen")
    erase(curator, imported.data["books"][0]["id"])
    payloads = [fact["data"]["payload"] for fact in facts(curator)]
    assert payloads[0] is None
    assert payloads[1]["title"] == "Emma"
    assert titles(curator) == ["Emma"]
    assert curator.office.rebuild("main").same


def test_an_import_that_named_it_is_no_longer_replayed(curator: Client) -> None:
    arguments = {"text": f"{SECRET}, {SECRET}\nEmma, Jane Austen", "client_request_id": "import-secret"}
    imported = curator.call("shelf.import-books", arguments)
    erase(curator, imported.data["books"][0]["id"])
    assert curator.call("shelf.import-books", arguments).message_key == "PAYLOAD_ERASED"
    assert tables_with(curator, SECRET) == []


def test_an_erased_book_is_gone_for_changes_too(curator: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    erase(curator, book)
    assert curator.shelf.change_book(id=book, title="Emma").message_key == "RECORD_NOT_FOUND"
    assert curator.shelf.add_book(title=SECRET).message_key == "CREATED"


def test_no_such_subject_and_an_aggregate_that_cannot_forget(offices: Offices, curator: Client) -> None:
    missing = curator.call("record.erase", {"aggregate": "shelf", "subject": "book_x"})
    assert (missing.message_key, missing.data["field"]) == ("RECORD_NOT_FOUND", "subject")
    unknown = curator.call("record.erase", {"aggregate": "cellar", "subject": "book_x"})
    assert (unknown.message_key, unknown.data["field"]) == ("VALIDATION_ERROR", "aggregate")
    allowed = unknown.data["suggestions"]["allowed_values"]
    assert allowed == sorted({"door", "proposals", "record", "shelf", *allowed})
    notes = offices.open(Bench().notes)
    note = notes.notes.add_note(text=SECRET).data["note"]["id"]
    keeping = notes.call("record.erase", {"aggregate": "notes", "subject": note})
    assert (keeping.message_key, keeping.data["field"]) == ("VALIDATION_ERROR", "aggregate")
    assert notes.notes.get_note(id=note).data["note"]["text"] == SECRET


def test_a_proposal_can_be_erased_by_itself(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title=SECRET, client_request_id="propose-secret"))
    arguments = {"aggregate": "proposals", "subject": proposal}
    token = curator.call("record.erase", arguments).data["confirm_token"]
    assert curator.call("record.erase", {**arguments, "confirm_token": token}).message_key == "ERASED"
    assert tables_with(curator, SECRET) == []
    assert curator.office.rebuild("main").same


def test_who_erases(curator: Client) -> None:
    book = curator.shelf.add_book(title=SECRET).data["book"]["id"]
    callers: list[tuple[PrincipalType, str, str]] = [
        ("human", "viewer", "WRITE_DENIED"),
        ("human", "contributor", "PROPOSAL_RECORDED"),
        ("agent", "agent", "PROPOSAL_RECORDED"),
        ("human", "admin", "CONFIRMATION_REQUIRED"),
    ]
    for type_, role, key in callers:
        client = curator.as_("pat", type_, [role])
        assert client.call("record.erase", {"aggregate": "shelf", "subject": book}).message_key == key


def test_a_strange_subject_erases_no_answer_of_others(curator: Client) -> None:
    first = curator.shelf.add_book(title="Dune", client_request_id="add-dune-1")
    for subject in ("%", "_", "book_%", '"', "~"):
        assert curator.call("record.erase", {"aggregate": "shelf", "subject": subject}).reply_type == "I"
    second = curator.shelf.add_book(title="Emma", client_request_id="add-emma-1")
    erase(curator, second.data["book"]["id"])
    again = curator.shelf.add_book(title="Dune", client_request_id="add-dune-1")
    assert again.data["book"] == first.data["book"]
