"""Memory handed out: as PROV, as Markdown, as tables; page by page, and the same each time."""

from __future__ import annotations

import csv
import io
import json
import sys
from base64 import b64decode
from typing import Any

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]

from engross.domains.memory.exports.tables import TABLES
from tests.memory.kept import Library, done, ingest
from tests.memory.people import JOHN_ID, listed, merge, person, relate, retract, tell
from tests.memory.samples import INVOICE, SAMPLES

PROV = "http://www.w3.org/ns/prov#"


@pytest.fixture
def full(quick: Library) -> Library:
    """An office that has read some files, and was corrected once."""
    for name in ("plain text", "Markdown", "vCard"):
        sample = SAMPLES[name]
        done(quick.ingest(sample.content, sample.media_type, sample.name))
    acme = {"entity_id": "ent_af939bedafbd1838b259772a", "entity_type": "company"}
    done(quick.clara.call("memory.correct", {**acme, "field": "domain", "value": "=acme.com"}))
    return quick


def pages(library: Library, **asked: Any) -> list[dict[str, Any]]:
    """Every page of an export."""
    told: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = done(library.clara.call("memory.export-memory", {**asked, **cursor}))
        told.append(page)
        if page["next_cursor"] is None:
            return told
        cursor = {"cursor": page["next_cursor"]}


@pytest.mark.requirement("ECO-07")
def test_prov_leads_from_an_entity_to_the_bytes(full):
    (page,) = pages(full)
    document = page["document"]
    nodes = {node["@id"]: node for node in document["@graph"]}
    assert document["@context"]["prov"] == PROV
    acme = nodes["urn:engross:memory:entity:ent_af939bedafbd1838b259772a"]
    assert acme["fields"] == {"domain": "=acme.com", "name": "Acme Corp"}
    observation = nodes[f"urn:engross:memory:observation:{acme['provenance']['name']}"]
    record = nodes[observation["wasDerivedFrom"]]
    (run,) = (nodes[one] for one in observation["wasGeneratedBy"])
    assert run["used"] == record["@id"]
    assert nodes[run["wasAssociatedWith"]]["@type"] == ["prov:Agent", "prov:SoftwareAgent"]
    assert len(record["engross:contentHash"]) == 64
    correction = nodes[f"urn:engross:memory:observation:{acme['provenance']['domain']}"]
    assert "wasDerivedFrom" not in correction
    assert correction["wasAttributedTo"] == "urn:engross:memory:user:clara"


@pytest.mark.requirement("ECO-07")
def test_everything_that_prov_refers_to_is_in_it(full):
    (page,) = pages(full)
    nodes = {node["@id"]: node for node in page["document"]["@graph"]}
    links = ("wasDerivedFrom", "wasGeneratedBy", "wasAttributedTo", "wasAssociatedWith", "used")
    for node in nodes.values():
        for link in links:
            targets = node.get(link, [])
            for target in [targets] if isinstance(targets, str) else targets:
                assert target in nodes


@pytest.mark.requirement("ECO-07")
def test_markdown_has_a_section_for_each_entity_and_says_where_fields_are_from(full):
    text = "".join(page["text"] for page in pages(full, format="markdown"))
    assert text.startswith("# Memory\n")
    assert "\n### acme\n" in text
    assert "- **name**: Acme Corp (" in text
    assert "- **domain**: =acme.com (corrected 2026-11-16)" in text


def test_markdown_of_hostile_text_stays_text(quick):
    entity = {"entity_type": "x", "name": "# <script>alert(1)</script> [a](b)\n# next", "f\\*": "`x`\n\n# y"}
    done(quick.clara.call("memory.ingest-structured", {"entities": [entity]}))
    text = pages(quick, format="markdown")[0]["text"]
    assert "<script>" not in text
    assert sum(line.startswith("#") for line in text.splitlines()) == 3


@pytest.mark.requirement("ECO-07")
@pytest.mark.parametrize("table", TABLES)
def test_tables_have_their_columns_and_pages_fit_together(full, table):
    (whole,) = pages(full, format="csv", table=table)
    parts = pages(full, format="csv", table=table, limit=1)
    assert "".join(part["text"] for part in parts) == whole["text"]
    rows = list(csv.DictReader(io.StringIO(whole["text"])))
    assert len(rows) == whole["rows"] > 0
    assert list(rows[0]) == list(TABLES[table].columns)


@pytest.mark.requirement("ECO-07")
@pytest.mark.parametrize("table", TABLES)
def test_parquet_holds_what_csv_holds(full, table):
    (page,) = pages(full, format="parquet", table=table)
    found = parquet.read_table(io.BytesIO(b64decode(page["content_base64"])))
    assert found.column_names == list(TABLES[table].columns)
    (text,) = pages(full, format="csv", table=table)
    told = list(csv.DictReader(io.StringIO(text["text"])))
    first = found.column_names[0]
    assert [row[first] for row in found.to_pylist()] == [row[first] for row in told]


def test_facts_lead_to_their_record_and_place(full):
    (page,) = pages(full, format="csv", table="facts", entity_type="invoice")
    rows = {row["field"]: row for row in csv.DictReader(io.StringIO(page["text"]))}
    amount = rows["amount_due"]
    span = json.loads(amount["span"])
    assert json.loads(amount["value"]) == 1500
    assert (amount["source_type"], amount["source_name"]) == ("invoice", "a.txt")
    assert INVOICE.decode()[span["start"] : span["end"]] == "$1,500.00"


def table(library: Library, name: str, **asked: Any) -> list[dict[str, str]]:
    """The rows of a table, from CSV."""
    text = "".join(page["text"] for page in pages(library, format="csv", table=name, **asked))
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.requirement("ECO-07")
def test_relationships_are_handed_out_as_reads_show_them(library: Library):
    clara = library.clara
    ann, bob, cid = (person(clara, name) for name in ("Ann", "Bob", "Cid"))
    dan = tell(clara, {"entity_type": "person", "name": "John Doe"})["source_id"]
    for source, target in ((ann, JOHN_ID), (JOHN_ID, bob), (ann, cid), (bob, cid), (ann, bob)):
        done(relate(clara, "REFERS_TO", source, target))
        library.offices.clock.pass_(minutes=1)
    assert len(table(library, "relationships")) == 5
    retract(clara, dan)
    assert len(table(library, "relationships")) == 3
    merge(clara, bob, ann)
    shown = [(one["id"], one["source_entity_id"], one["target_entity_id"]) for one in listed(clara, ann)]
    assert len(shown) == 1
    for limit in (1, 500):
        told = table(library, "relationships", limit=limit)
        assert [(row["id"], row["source_id"], row["target_id"]) for row in told] == shown
    (page,) = pages(library, format="parquet", table="relationships")
    assert parquet.read_table(io.BytesIO(b64decode(page["content_base64"]))).num_rows == 1


@pytest.mark.requirement("ECO-07", "NEW-05")
def test_prov_derives_payloads_from_what_they_were_made_from(quick: Library):
    source = done(quick.ingest(INVOICE))["source_id"]
    provenance = {"extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "test:1", "agent_id": "agent-7"}
    made: list[dict[str, Any]] = []
    for title, named in (("First", [source, "the letter of 3 May"]), ("Second", [])):
        refs = named or [made[0]["payload_content_id"]]
        wish = {"capability_id": "neotoma:store_note:v1", "body": {"title": title}}
        made.append(
            done(quick.clara.call("memory.submit-payload", {**wish, "provenance": {**provenance, "source_refs": refs}}))
        )
    (page,) = pages(quick, entity_type="note")
    nodes = {node["@id"]: node for node in page["document"]["@graph"]}
    first, second = (nodes[f"urn:engross:memory:record:{one['payload_id']}"] for one in made)
    assert second["wasDerivedFrom"] == [first["@id"]]
    assert first["wasDerivedFrom"] == [f"urn:engross:memory:record:{source}"]
    assert "wasDerivedFrom" not in nodes[first["wasDerivedFrom"][0]]
    assert first["engross:sourceRefs"] == [source, "the letter of 3 May"]
    assert (first["engross:extractorVersion"], first["engross:agentId"]) == ("test:1", "agent-7")


def test_structured_entities_are_handed_out_with_their_places(quick: Library):
    tell(quick.clara, {"entity_type": "person", "name": "Ann"}, {"entity_type": "person", "name": "Bob", "a/b": 1})
    facts = {(row["canonical_name"], row["field"]): row["span"] for row in table(quick, "facts")}
    assert facts["bob", "a/b"] == '{"path":"/entities/1/a~1b"}'
    spans = {json.loads(row["fields"])["name"]: json.loads(row["spans"]) for row in table(quick, "observations")}
    assert spans["Ann"] == {"name": {"path": "/entities/0/name"}}
    (page,) = pages(quick)
    told = [node["spans"] for node in page["document"]["@graph"] if "spans" in node]
    assert {"name": {"path": "/entities/1/name"}, "a/b": {"path": "/entities/1/a~1b"}} in told


def test_a_spreadsheet_runs_nothing_of_what_a_file_says(quick):
    entity = {"entity_type": "company", "name": "=cmd|' /C calc'!A0"}
    done(quick.clara.call("memory.ingest-structured", {"entities": [entity]}))
    (page,) = pages(quick, format="csv", table="entities")
    (row,) = csv.DictReader(io.StringIO(page["text"]))
    assert row["canonical_name"].startswith("'=")


@pytest.mark.requirement("ECO-07", "MEM-33")
@pytest.mark.parametrize("format", ["prov_jsonld", "markdown", "csv", "parquet"])
def test_the_same_memory_is_handed_out_the_same(full, format):
    assert pages(full, format=format) == [{**page} for page in pages(full, format=format)]


def test_everybody_is_handed_out_their_own(full):
    told = done(full.vera.call("memory.export-memory", {"format": "csv", "table": "facts"}))
    assert told["rows"] == 0
    done(ingest(full.vera, INVOICE))
    told = done(full.vera.call("memory.export-memory", {"format": "csv", "table": "facts"}))
    assert "=acme.com" not in told["text"]


@pytest.mark.parametrize("cursor", ["nowhere", "00", "5b5d", "5b312c325d", "7b7d", "zz"])
def test_a_cursor_from_elsewhere_is_refused(full, cursor):
    answer = full.clara.call("memory.export-memory", {"cursor": cursor})
    assert answer.message_key == "VALIDATION_ERROR"


def test_a_page_ends_before_it_is_too_long(quick):
    for number in range(4):
        entity = {"entity_type": "note", "name": f"Note {number}", "content": "x" * 900_000}
        done(quick.clara.call("memory.ingest-structured", {"entities": [entity]}))
    assert len(pages(quick, format="csv", table="entities")) > 1


def test_where_nothing_writes_parquet_the_refusal_names_the_extra(full, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = full.clara.call("memory.export-memory", {"format": "parquet", "table": "entities"})
    assert answer.reply_type == "I"
    assert "`parquet`" in str(answer.data)
