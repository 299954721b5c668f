"""Bytes of what was erased: off the disk with the last thing that refers to them, and never before."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from engross.domains.documents.samples import NOTE, OTHER_NOTE
from engross.ledger.verify import verify
from engross.office.maintenance import back_up_office, restore_office
from engross.office.references import HOLDERS, standing
from engross.replies import Failed, Reply, codes
from engross.store import Blobs, erase_unreferenced
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.bed.patience import eventually
from tests.office.desk import approve, proposal_of, reject
from tests.office.test_erasure import tables_with

LETTER = b"Dear Bob, the results are in. Call me: bob@example.org"
HASH = sha256(LETTER).hexdigest()
PATH = "plan.oct.md"


class House:
    """Opens offices with the domains that keep files, on one store."""

    def __init__(self, offices: Offices) -> None:
        self.folder, self.store = offices.folder, offices.store
        self._offices = offices

    def open(self, **settings: Any) -> Client:
        """One more of them; its caller is Clara."""
        return self._offices.open(**{"domains": "memory,documents", **settings})

    def close(self) -> None:
        """Close them all."""
        self._offices.close()


@pytest.fixture
def house(offices: Offices) -> House:
    """On each engine in turn."""
    return House(offices)


@pytest.fixture
def curator(house: House) -> Client:
    """Clara."""
    return house.open()


def done(answer: Reply) -> dict[str, Any]:
    assert answer.ok, (answer.message_key, answer.data)
    return dict(answer.data)


def upload(client: Client, content: bytes = LETTER) -> str:
    """Put a file on the record; its subject."""
    subject: str = done(client.upload(content, name="results.txt", media_type="text/plain"))["blob"]["content_hash"]
    return subject


def ingest(client: Client, content: bytes = LETTER, **more: Any) -> str:
    """Make a source of a file; its subject."""
    named = {"file_content": b64encode(content).decode(), "mime_type": "text/plain", "original_filename": "a.txt"}
    subject: str = done(client.call("memory.ingest", {**named, **more}))["source_id"]
    return subject


def write(client: Client, path: str = PATH, content: str = NOTE, **more: Any) -> dict[str, Any]:
    return done(client.documents.octave_write(target_path=path, content=content, **more))


def erase(client: Client, aggregate: str, subject: str) -> Reply:
    """Erase a subject, confirmed."""
    arguments = {"aggregate": aggregate, "subject": subject}
    asked = client.call("record.erase", arguments)
    assert asked.message_key == "CONFIRMATION_REQUIRED", asked
    answer = client.call("record.erase", {**arguments, "confirm_token": asked.data["confirm_token"]})
    assert answer.message_key == "ERASED", answer
    return answer


def bytes_of(folder: Path, tenant: str = "main") -> list[str]:
    """What lies among a tenant's blobs, whatever it is called."""
    files = [path for path in (folder / "blobs" / tenant).rglob("*") if path.is_file()]
    return sorted(path.name for path in files if path.name not in (".erasing", ".publishing"))


def is_sound(house: House, client: Client) -> bool:
    """Whether the ledger verifies and the state is what the facts say."""
    client.office.seal()
    report = verify(house.store or house.folder, public_key=client.office.public_key)
    return report.ok and client.office.rebuild("main").same


@pytest.mark.requirement("GOV-03")
def test_an_erased_upload_leaves_no_bytes_and_can_come_in_again(house: House, curator: Client) -> None:
    erase(curator, "record", upload(curator))
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert tables_with(curator, HASH) == ["facts"]
    assert curator.download(HASH, BytesIO()).message_key == "RECORD_NOT_FOUND"
    assert is_sound(house, curator)
    assert upload(curator) == HASH
    curator.office.tidy()
    again = BytesIO()
    assert curator.download(HASH, again).ok
    assert again.getvalue() == LETTER
    assert is_sound(house, curator)


@pytest.mark.requirement("GOV-03")
def test_an_erased_source_leaves_no_bytes_and_can_be_taken_in_again(house: House, curator: Client) -> None:
    source = ingest(curator)
    assert bytes_of(house.folder) == [HASH]
    erase(curator, "memory", source)
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert is_sound(house, curator)
    assert ingest(curator) == source
    assert curator.memory.reinterpret(source_id=source, interpretation_config={}).ok
    assert is_sound(house, curator)


def test_a_source_that_is_only_withdrawn_keeps_its_bytes(house: House, curator: Client) -> None:
    source = ingest(curator)
    token = curator.memory.retract_source(source_id=source).data["confirm_token"]
    assert curator.memory.retract_source(source_id=source, confirm_token=token).ok
    curator.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    erase(curator, "memory", source)
    curator.office.tidy()
    assert bytes_of(house.folder) == []


@pytest.mark.parametrize("first", ["record", "memory"])
def test_bytes_stay_as_long_as_anything_refers_to_them(house: House, curator: Client, first: str) -> None:
    subjects = {"record": upload(curator)}
    subjects["memory"] = done(curator.memory.ingest(content_hash=HASH))["source_id"]
    erase(curator, first, subjects.pop(first))
    curator.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    assert tables_with(curator, HASH).count("erasures") == 0
    ((aggregate, subject),) = subjects.items()
    if aggregate == "memory":
        assert curator.memory.reinterpret(source_id=subject, interpretation_config={}).ok
    else:
        assert curator.download(HASH, BytesIO()).ok
    erase(curator, aggregate, subject)
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert is_sound(house, curator)


def test_bytes_that_somebody_else_has_too_stay_for_them(house: House, curator: Client) -> None:
    vera = curator.as_("vera", "human", ["contributor"])
    hers, own = ingest(vera), ingest(curator)
    assert hers != own
    erase(curator, "memory", own)
    curator.office.tidy()
    assert vera.memory.reinterpret(source_id=hers, interpretation_config={}).ok
    erase(curator, "memory", hers)
    curator.office.tidy()
    assert bytes_of(house.folder) == []


def test_other_tenants_neither_keep_bytes_nor_lose_them(house: House, curator: Client) -> None:
    elsewhere = curator.as_("clara", "human", ["curator"], tenant="umbrella")
    upload(curator)
    ingest(elsewhere)
    erase(curator, "record", HASH)
    curator.office.tidy()
    assert (bytes_of(house.folder), bytes_of(house.folder, "umbrella")) == ([], [HASH])
    assert elsewhere.office.rebuild("umbrella").same


@pytest.mark.requirement("GOV-03")
def test_the_bytes_of_all_versions_of_a_document_go_but_for_those_of_another(house: House, curator: Client) -> None:
    write(curator)
    write(curator, content=OTHER_NOTE)
    shared = write(curator, "other.oct.md")["canonical_hash"]
    assert len(bytes_of(house.folder)) == 2
    erase(curator, "documents", PATH)
    curator.office.tidy()
    assert bytes_of(house.folder) == [shared]
    assert curator.documents.read_document(path="other.oct.md").ok
    erase(curator, "documents", "other.oct.md")
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert is_sound(house, curator)
    # Their files are the user's own. What lies there comes onto the record again with the next write.
    assert write(curator)["version"] > 2
    assert is_sound(house, curator)


def test_the_rows_of_a_domain_that_is_switched_off_still_count(house: House) -> None:
    clara = house.open()
    source = ingest(clara)
    upload(clara)
    house.close()
    clara = house.open(domains="architecture")
    erase(clara, "record", HASH)
    clara.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    house.close()
    clara = house.open()
    assert clara.memory.reinterpret(source_id=source, interpretation_config={}).ok


def test_every_table_that_names_bytes_is_asked(curator: Client) -> None:
    digest = write(curator)["canonical_hash"]
    content = curator.office.blobs("main").get(digest)
    assert (upload(curator, content), ingest(curator, content)) == (digest, ingest(curator, content))
    named = set(tables_with(curator, digest)) - {"facts", "effects", "blob_holders"}
    assert named == {table for table, _ in HOLDERS.values()}


@pytest.mark.parametrize("verdict", [approve, reject])
def test_bytes_that_a_proposal_needs_wait_for_its_end(
    house: House, curator: Client, agent: Client, verdict: Callable[..., Reply]
) -> None:
    digest = write(curator)["canonical_hash"]
    proposed = agent.documents.octave_write(target_path="other.oct.md", content=NOTE, commit_mode="proposal")
    erase(curator, "documents", PATH)
    curator.office.tidy()
    assert bytes_of(house.folder) == [digest]
    assert verdict(curator, proposal_of(proposed)).ok
    curator.office.tidy()
    assert bytes_of(house.folder) == ([digest] if verdict is approve else [])
    assert is_sound(house, curator)


def test_the_bytes_of_a_proposal_go_when_it_is_erased(house: House, curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.documents.octave_write(target_path="a.oct.md", content=NOTE, commit_mode="proposal"))
    assert reject(curator, proposal).ok
    assert len(bytes_of(house.folder)) == 1
    erase(curator, "proposals", proposal)
    curator.office.tidy()
    assert bytes_of(house.folder) == []


def test_bytes_of_a_call_that_was_refused_do_not_stay(house: House, curator: Client) -> None:
    key = "ingest-letter"
    erase(curator, "memory", ingest(curator, client_request_id=key))
    named = {"name": "results.txt", "media_type": "text/plain", "client_request_id": "upload-letter"}
    assert curator.upload(LETTER, **named).ok
    erase(curator, "record", HASH)
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    encoded = {"file_content": b64encode(LETTER).decode(), "mime_type": "text/plain", "original_filename": "a.txt"}
    assert curator.call("memory.ingest", {**encoded, "client_request_id": key}).message_key == "PAYLOAD_ERASED"
    assert curator.upload(LETTER, **named).message_key == "PAYLOAD_ERASED"
    kept = ingest(curator, b"another letter")
    house.close()
    assert bytes_of(house.folder) == [sha256(b"another letter").hexdigest()]
    assert house.open().memory.reinterpret(source_id=kept, interpretation_config={}).ok


def test_bytes_of_a_proposal_stay_until_it_is_turned_down(house: House, curator: Client) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    proposal = proposal_of(agent.documents.octave_write(target_path=PATH, content=NOTE, commit_mode="proposal"))
    house.close()
    assert len(bytes_of(house.folder)) == 1
    curator = house.open()
    assert reject(curator, proposal).ok
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert is_sound(house, curator)


def test_a_call_that_is_under_way_is_not_hurried(house: House, curator: Client) -> None:
    curator.office.blobs("main").put(LETTER)
    curator.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    house.close()
    assert bytes_of(house.folder) == []


def test_bytes_that_are_yet_to_be_published_wait_for_that(
    house: House, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Failed(codes.STORE_FULL)

    office = curator.office
    with monkeypatch.context() as full:
        full.setattr("engross.pipeline.afterwards.publish", refuse)
        digest = write(curator)["canonical_hash"]
        erase(curator, "documents", PATH)
        assert erase_unreferenced(office.store, "main", office.blobs("main"), standing) == 0
        assert bytes_of(house.folder) == [digest]
    office.tidy()
    assert bytes_of(house.folder) == []
    assert sha256((house.folder / "documents" / "main" / PATH).read_bytes()).hexdigest() == digest


def test_an_erasure_that_was_proposed_takes_the_bytes_when_it_is_approved(
    house: House, curator: Client, agent: Client
) -> None:
    upload(curator)
    arguments = {"aggregate": "record", "subject": HASH}
    curator.office.tidy()
    proposed = curator.as_("agent:clara", "agent", ["agent"]).call("record.erase", arguments)
    assert curator.call("record.erase", arguments, dry_run=True).ok
    curator.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    assert approve(curator, proposal_of(proposed)).ok
    curator.office.tidy()
    assert bytes_of(house.folder) == []


def test_bytes_go_without_anybody_asking_for_it(house: House) -> None:
    clara = house.open(seal_seconds=0.01)
    erase(clara, "record", upload(clara))
    eventually(lambda: bytes_of(house.folder) == [])


def test_an_office_that_closes_takes_the_bytes_away_and_so_does_the_next_one_to_open(house: House) -> None:
    clara = house.open()
    erase(clara, "record", upload(clara))
    assert bytes_of(house.folder) == [HASH]
    house.close()
    assert bytes_of(house.folder) == []
    clara = house.open()
    erase(clara, "record", upload(clara))
    assert bytes_of(house.folder) == [HASH]
    # The first is left as a crash would leave it.
    house.open()
    assert bytes_of(house.folder) == []


def test_a_disk_that_refuses_is_tried_again(house: House, curator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "not now")

    erase(curator, "record", upload(curator))
    with monkeypatch.context() as stubborn:
        stubborn.setattr("engross.store.blobs.Blobs.erase", refuse)
        with pytest.raises(Failed):
            curator.office.tidy()
    assert bytes_of(house.folder) == [HASH]
    # While they are going, nobody can build on them; as soon as they are gone, they come in again.
    assert curator.upload(LETTER, name="again.txt").message_key == "RECORD_NOT_FOUND"
    curator.office.tidy()
    assert bytes_of(house.folder) == []
    assert upload(curator) == HASH


@pytest.mark.parametrize("what", ["source", "document"])
def test_bytes_that_go_while_somebody_brings_the_same_are_kept_for_them(
    house: House, curator: Client, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    vera = curator.as_("vera", "human", ["contributor"])
    if what == "source":
        old = ("memory", ingest(vera))
    else:
        write(curator)
        old = ("documents", PATH)
    keep, times = Blobs.put, list[str]()

    def keep_and_lose(*given: Any) -> str:
        kept = keep(*given)
        times.append(kept)
        if len(times) == 1:
            erase(curator, *old)
            curator.office.tidy()
            assert bytes_of(house.folder) == []
        return kept

    with monkeypatch.context() as unlucky:
        unlucky.setattr(Blobs, "put", keep_and_lose)
        if what == "source":
            new = ingest(curator)
        else:
            write(curator, "other.oct.md")
    assert len(times) == 2
    curator.office.tidy()
    assert bytes_of(house.folder) == [times[0]]
    if what == "source":
        assert curator.memory.reinterpret(source_id=new, interpretation_config={}).ok
    assert is_sound(house, curator)


def test_a_crowd_that_brings_and_erases_the_same_bytes_never_loses_its_own(house: House) -> None:
    clients = [house.open() for _ in range(2)]
    people = [
        client.as_(f"{name}-{n}", "human", ["curator"]) for n, client in enumerate(clients) for name in ("ann", "ben")
    ]
    faults: list[object] = []
    over: list[bool] = []

    def comes_and_goes(person: Client) -> None:
        try:
            for _ in range(12):
                source = ingest(person)
                person.office.blobs("main").get(HASH)
                assert person.memory.reinterpret(source_id=source, interpretation_config={}).ok
                erase(person, "memory", source)
        except BaseException as fault:
            faults.append(fault)

    def tidies(client: Client) -> None:
        while not over:
            with suppress(Failed):
                client.office.tidy()

    crowd = [Thread(target=comes_and_goes, args=(person,)) for person in people]
    keepers = [Thread(target=tidies, args=(client,)) for client in clients]
    for thread in (*crowd, *keepers):
        thread.start()
    for thread in crowd:
        thread.join()
    over.append(True)
    for thread in keepers:
        thread.join()
    assert faults == []
    clients[0].office.tidy()
    assert bytes_of(house.folder) == []
    assert is_sound(house, clients[0])


def test_backups_from_before_and_after_are_restored_as_they_were(house: House, tmp_path: Path) -> None:
    clara = house.open()
    source = ingest(clara)
    settings = clara.office.settings
    back_up_office(settings, tmp_path / "before")
    erase(clara, "memory", source)
    back_up_office(settings, tmp_path / "between")
    clara.office.tidy()
    back_up_office(settings, tmp_path / "after")
    house.close()
    for name in ("before", "between", "after"):
        restored = House(Offices(tmp_path / f"restored-{name}", None))
        restore_office(replace(settings, data=restored.folder, store=None), tmp_path / name)
        assert bytes_of(restored.folder) == ([] if name == "after" else [HASH])
        office = restored.open()
        # What was to go when the backup was made goes when it is opened.
        assert bytes_of(restored.folder) == ([HASH] if name == "before" else [])
        known = office.memory.reinterpret(source_id=source, interpretation_config={})
        assert known.message_key == ("CREATED" if name == "before" else "SOURCE_NOT_FOUND")
        assert is_sound(restored, office)
        restored.close()
