"""Files become sources, sources are interpreted, and the same bytes are never taken in twice."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import pytest

from engross.domains.memory import memory
from engross.flows import lint
from tests.bed.offices import Offices
from tests.bed.trying import outcome
from tests.memory.kept import Library, done, ingest, memory_at, warned
from tests.memory.people import retract
from tests.memory.samples import INVOICE, PNG, RECEIPT, SAMPLES

LIMIT = 52_428_800


def refused(answer) -> list[tuple[str, str]]:
    """What was refused: code and place of everything."""
    assert answer.reply_type == "I", answer
    return [(error["code"], error["pointer"]) for error in answer.data["errors"]]


@pytest.mark.requirement("MEM-01", "MEM-32", "MEM-31")
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_a_file_of_each_kind_becomes_a_source_with_observations(quick, sample):
    answer = done(quick.ingest(sample.content, sample.media_type, sample.name))
    assert answer["content_hash"] == sha256(sample.content).hexdigest()
    assert answer["file_size"] == len(sample.content)
    assert answer["deduplicated"] is False
    assert answer["record_type"] == sample.record_type
    assert answer["interpretation"]["observations_created"] >= 1
    assert answer["interpretation"]["entities_created"] >= 1


@pytest.mark.requirement("MEM-40")
def test_an_invoice_in_a_pdf_is_a_financial_record_with_its_number(quick):
    sample = SAMPLES["PDF"]
    answer = done(quick.ingest(sample.content, sample.media_type, sample.name))
    assert (answer["record_type"], answer["category"]) == ("invoice", "FinancialRecord")
    invoice = answer["interpretation"]["entity_ids"][0]
    snapshot = done(quick.clara.call("memory.get-entity-snapshot", {"entity_id": invoice}))["snapshot"]
    assert snapshot["invoice_number"] == "INV-001"


@pytest.mark.requirement("MEM-40", "MEM-18")
def test_what_was_stored_is_retrieved_at_once_and_always_in_the_same_order(quick):
    for sample in (SAMPLES["CSV"], SAMPLES["vCard"]):
        done(quick.ingest(sample.content, sample.media_type, sample.name))
    asked = {"entity_type": "transaction"}
    first = done(quick.clara.call("memory.retrieve-entities", asked))["entities"]
    assert {one["canonical_name"] for one in first} == {"t-1", "t-2"}
    assert [one["id"] for one in first] == [
        one["id"] for one in done(quick.clara.call("memory.retrieve-entities", asked))["entities"]
    ]


@pytest.mark.requirement("MEM-01", "MEM-32", "MEM-33")
def test_the_same_bytes_are_the_same_source_and_are_not_interpreted_twice(library):
    first = done(library.ingest(INVOICE))
    again = library.ingest(INVOICE, name="other.txt")
    assert again.message_key == "NO_EFFECT"
    assert again.data["deduplicated"] is True
    assert again.data["source_id"] == first["source_id"]
    assert again.data["interpretation"] == first["interpretation"]
    assert len(library.rows("SELECT id FROM memory_runs WHERE tenant = :tenant")) == 1


@pytest.mark.requirement("MEM-01", "MEM-33")
def test_the_same_bytes_are_answered_with_the_first_run_and_its_notes(library):
    first = library.ingest(INVOICE, "application/pdf")
    assert warned(first) == ["MIME_TYPE_MISMATCH"]
    wish = {"source_id": first.data["source_id"], "interpretation_config": {}}
    done(library.clara.call("memory.reinterpret", wish))
    again = library.ingest(INVOICE)
    assert again.message_key == "NO_EFFECT"
    assert again.data["interpretation"] == first.data["interpretation"]
    assert again.data["warnings"] == first.data["warnings"]


@pytest.mark.requirement("MEM-01", "NEW-11")
def test_a_run_that_was_withdrawn_does_not_count_as_an_interpretation(library):
    first = done(library.ingest(INVOICE))
    retract(library.clara, first["source_id"])
    assert done(library.ingest(INVOICE, interpret=False))["deduplicated"] is False
    later = done(library.ingest(INVOICE))
    assert later["interpretation"]["run_id"] != first["interpretation"]["run_id"]
    assert later["interpretation"]["observations_created"] == 3
    assert done(library.ingest(INVOICE))["interpretation"]["run_id"] == later["interpretation"]["run_id"]
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-32")
def test_sources_belong_to_their_user(library):
    mine, hers = done(library.ingest(INVOICE)), done(ingest(library.vera, INVOICE))
    assert hers["deduplicated"] is False
    assert hers["source_id"] != mine["source_id"]
    assert hers["content_hash"] == mine["content_hash"]
    stolen = library.vera.call("memory.reinterpret", {"source_id": mine["source_id"], "interpretation_config": {}})
    assert stolen.message_key == "SOURCE_NOT_FOUND"


def test_an_agent_works_in_the_memory_of_whom_it_belongs_to(quick):
    mine, by_agent = done(quick.ingest(INVOICE)), done(ingest(quick.agent, INVOICE))
    assert by_agent["source_id"] == mine["source_id"]
    assert ingest(quick.agent, RECEIPT).message_key == "CREATED"


@pytest.mark.requirement("MEM-01")
def test_a_file_can_be_kept_without_being_interpreted_and_be_interpreted_later(library):
    kept = done(library.ingest(INVOICE, interpret=False))
    assert kept["interpretation"] is None
    assert library.rows("SELECT type FROM memory_records WHERE tenant = :tenant") == [{"type": "file"}]
    later = done(library.ingest(INVOICE))
    assert later["deduplicated"] is True
    assert later["interpretation"]["observations_created"] == 3
    assert library.rows("SELECT type FROM memory_records WHERE tenant = :tenant") == [{"type": "invoice"}]


@pytest.mark.requirement("MEM-31", "MEM-24")
def test_a_field_leads_back_to_its_place_in_the_file(library):
    source = done(library.ingest(INVOICE))
    invoice = source["interpretation"]["entity_ids"][0]
    told = done(library.clara.call("memory.get-field-provenance", {"entity_id": invoice, "field": "amount_due"}))
    assert told["value"] == 1500
    assert told["source_record"]["id"] == source["source_id"]
    span = told["span"]
    assert INVOICE.decode()[span["start"] : span["end"]] == "$1,500.00"


@pytest.mark.requirement("MEM-31", "MEM-27", "MEM-26")
def test_entities_edges_and_events_are_there_when_the_answer_is(library):
    source = done(library.ingest(INVOICE))
    invoice, acme, _ = source["interpretation"]["entity_ids"]
    assert acme == "ent_af939bedafbd1838b259772a"
    events = done(library.clara.call("memory.list-timeline-events", {"source_record_id": source["source_id"]}))
    assert {event["event_type"] for event in events["events"]} == {"InvoiceIssued", "InvoiceDue"}
    edges = done(library.clara.call("memory.list-relationships", {"entity_id": invoice}))["relationships"]
    assert {(edge["relationship_type"], edge["target_entity_id"]) for edge in edges} >= {("REFERS_TO", acme)}


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"file_content": "not base64!", "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YWJj=", "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YW\nJj", "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YWÄj", "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "", "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YWJj"}, "/mime_type"),
        ({"file_content": "YWJj", "mime_type": "text"}, "/mime_type"),
        ({"file_content": "YWJj", "mime_type": "text/plain\r\nX: y"}, "/mime_type"),
        ({"mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YWJj", "content_hash": "0" * 64, "mime_type": "text/plain"}, "/file_content"),
        ({"content_hash": "short"}, "/content_hash"),
        ({"file_content": 5, "mime_type": "text/plain"}, "/file_content"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "original_filename": "../etc"}, "/original_filename"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "interpretation_config": {"provider": "oracle"}},
         "/interpretation_config/provider"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "interpretation_config": {"provider": "model"}},
         "/interpretation_config/provider"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "interpretation_config": {"temperature": 3}},
         "/interpretation_config/temperature"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "interpretation_config": {"modell_id": "x"}},
         "/interpretation_config/modell_id"),
        ({"file_content": "YWJj", "mime_type": "text/plain", "interpretation_config": {"feature_flags": {"a": 1}}},
         "/interpretation_config/feature_flags"),
    ],
)  # fmt: skip
def test_what_is_no_file_is_refused_with_its_place_and_nothing_is_kept(quick, arguments, place):
    answer = quick.clara.call("memory.ingest", arguments)
    assert refused(answer) == [("VALIDATION_ERROR", place)]
    assert quick.rows("SELECT id FROM memory_records WHERE tenant = :tenant") == []


def test_a_file_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(quick):
    whole = b"x" * LIMIT
    assert done(quick.ingest(whole))["file_size"] == LIMIT
    refusal = quick.ingest(whole + b"y")
    assert refusal.message_key == "FILE_TOO_LARGE"
    assert refusal.data["details"] == {"file_size_bytes": LIMIT + 1, "max_size_bytes": LIMIT}
    assert len(quick.rows("SELECT id FROM memory_records WHERE tenant = :tenant")) == 1


def test_a_lying_media_type_is_believed_in_the_bytes_and_warned_of(quick):
    answer = quick.ingest(PNG, "application/pdf", "x.pdf")
    assert answer.data["mime_type"] == "image/png"
    assert warned(answer) == ["MIME_TYPE_MISMATCH", "OCR_UNAVAILABLE"]


def test_an_uploaded_file_is_ingested_by_its_hash(library):
    content = SAMPLES["PDF"].content
    kept = done(library.clara.upload(content, name="invoice.pdf", media_type="application/pdf"))["blob"]
    answer = done(library.clara.call("memory.ingest", {"content_hash": kept["content_hash"]}))
    assert answer["record_type"] == "invoice"
    assert answer["content_hash"] == sha256(content).hexdigest()
    again = library.ingest(content, "application/pdf")
    assert again.data["source_id"] == answer["source_id"]


def test_a_hash_alone_opens_nothing_that_was_not_uploaded(quick):
    digest = done(quick.ingest(INVOICE))["content_hash"]
    assert quick.vera.call("memory.ingest", {"content_hash": digest}).message_key == "RECORD_NOT_FOUND"


def test_an_upload_beyond_the_limit_is_too_large(tmp_path):
    offices = Offices(tmp_path / "office", None)
    office = Library(offices, {"most_file_bytes": 10})
    kept = done(office.clara.upload(b"x" * 11, name="x.txt", media_type="text/plain"))["blob"]
    answer = office.clara.call("memory.ingest", {"content_hash": kept["content_hash"]})
    assert answer.message_key == "FILE_TOO_LARGE"
    offices.close()


@pytest.mark.requirement("MEM-01")
def test_over_quota_a_file_is_kept_and_told_not_to_be_interpreted(offices):
    library = Library(offices, {"quota_runs": 2})
    done(library.ingest(INVOICE))
    done(library.ingest(RECEIPT))
    answer = library.ingest(b"hello")
    assert answer.ok
    assert answer.data["interpretation"] is None
    assert answer.data["interpretation_skipped"] == {"reason": "quota_exceeded", "current": 2, "limit": 2}
    assert warned(answer) == ["QUOTA_EXCEEDED"]
    again = library.clara.call(
        "memory.reinterpret", {"source_id": answer.data["source_id"], "interpretation_config": {}}
    )
    assert again.message_key == "QUOTA_EXCEEDED"
    assert again.data["retry_after_seconds"] == 30 * 86_400
    assert ingest(library.vera, b"hello").data["interpretation"] is not None
    library.offices.clock.pass_(days=30, seconds=1)
    assert done(library.ingest(b"hello"))["interpretation"]["observations_created"] == 1


def test_structured_data_needs_no_quota(tmp_path):
    offices = Offices(tmp_path / "office", None)
    office = Library(offices, {"quota_runs": 1})
    for number in range(3):
        entity = {"entity_type": "person", "name": f"Person {number}"}
        done(office.clara.call("memory.ingest-structured", {"entities": [entity]}))
    assert done(office.ingest(INVOICE))["interpretation"] is not None
    offices.close()


@pytest.mark.requirement("MEM-31", "MEM-33")
def test_a_rebuild_from_facts_gives_the_same_state(library):
    for sample in SAMPLES.values():
        done(library.ingest(sample.content, sample.media_type, sample.name))
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("REL-08")
def test_files_in_any_order_give_the_same_snapshots(tmp_path):
    def snapshots(folder, samples):
        offices = Offices(tmp_path / folder, None)
        library = Library(offices)
        # All at one moment, so that nothing but the order differs.
        for sample in samples:
            done(library.ingest(sample.content, sample.media_type, sample.name))
        told = done(library.clara.call("memory.retrieve-entities", {"limit": 1000}))
        offices.close()
        return {one["id"]: one["snapshot"] for one in told["entities"]}

    samples = list(SAMPLES.values())
    assert snapshots("there", samples) == snapshots("back", samples[::-1])


def test_a_dry_run_keeps_nothing(quick):
    content = b"never kept before"
    encoded = b64encode(content).decode()
    answer = quick.clara.call("memory.ingest", {"file_content": encoded, "mime_type": "text/plain"}, dry_run=True)
    assert answer.ok
    assert not list((quick.offices.folder / "blobs").rglob("*" + sha256(content).hexdigest()))
    assert quick.rows("SELECT id FROM memory_records WHERE tenant = :tenant") == []


def test_an_idempotent_repeat_gets_the_first_answer(quick):
    first = quick.ingest(INVOICE, client_request_id="ingest-0001")
    again = quick.ingest(INVOICE, client_request_id="ingest-0001")
    assert again.data["idempotent_replay"] is True
    assert again.data["interpretation"] == first.data["interpretation"]
    other = quick.ingest(RECEIPT, client_request_id="ingest-0001")
    assert other.message_key == "IDEMPOTENCY_KEY_REUSED"


def test_another_user_id_than_the_callers_is_denied(quick):
    answer = quick.ingest(INVOICE, user_id="vera")
    assert answer.reply_type == "D"
    assert quick.ingest(INVOICE, user_id="clara").ok


def test_an_office_without_a_place_for_files_says_so(tmp_path):
    offices = Offices(tmp_path / "office", None)
    client = offices.open(memory())
    assert ingest(client, INVOICE).message_key == "CONFIG_INVALID"
    offices.close()


@pytest.mark.requirement("MEM-39")
@pytest.mark.shows_text
def test_the_ingestion_tools_say_when_to_use_which():
    flows = memory().flows
    words = {name: flows[name].description for name in ("ingest", "submit-payload", "ingest-structured")}
    assert "submit_payload" in words["ingest"]
    assert "ingest_structured" in words["ingest"]
    assert "ingest_structured" in words["submit-payload"]
    assert "submit_payload" in words["ingest-structured"]


def test_every_example_of_these_flows_ends_as_it_says(offices):
    aggregate = memory_at(offices.folder)
    client = offices.open(aggregate)
    tried = 0
    for name in ("ingest", "submit-payload", "reinterpret", "export-memory"):
        for given in aggregate.flows[name].examples:
            tried += 1
            somewhere_new = client.as_("clara", "human", ["curator"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, aggregate.flows[name], given)
            assert answer.message_key == given.reply, (name, given.title, answer)
    assert tried > 12


def test_these_flows_are_portable():
    names = ("ingest", "submit-payload", "reinterpret", "export-memory")
    assert lint([memory().flows[name] for name in names]) == []
