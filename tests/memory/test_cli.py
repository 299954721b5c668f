"""`engross memory`: folders in, answers about entities, and everything out again."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from pathlib import Path

import orjson
import pytest
from pyarrow import parquet  # type: ignore[import-untyped]

from tests.bed.served import Served
from tests.memory.samples import INVOICE, SAMPLES
from tests.surfaces.cli.shell import Shell, Terminal, run


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell at an office."""
    return Shell(tmp_path / "office")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of files, some of them not meant."""
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for name in ("plain text", "Markdown", "vCard"):
        (folder / SAMPLES[name].name).write_bytes(SAMPLES[name].content)
    (folder / "deep" / "receipt.txt").write_bytes(SAMPLES["receipt"].content)
    (folder / ".hidden" / "secret.txt").write_text("not meant")
    (folder / "link.txt").symlink_to("/etc/hostname")
    return folder


def lines(out: str) -> list[dict]:
    """Answers, one a line."""
    return [orjson.loads(line) for line in out.splitlines()]


@pytest.mark.requirement("MEM-01")
def test_a_folder_is_ingested_file_by_file_and_a_second_time_changes_nothing(shell, papers):
    done = shell.run("memory", "ingest", papers, "--json")
    assert done.code == 0, done.err
    told = {Path(one["file"]).name: one for one in lines(done.out)}
    assert set(told) == {"a.txt", "plan.md", "jane.vcf", "receipt.txt"}
    assert told["plan.md"]["record_type"] == "note"
    assert {one["reply"]["message_key"] for one in told.values()} == {"CREATED"}
    again = lines(shell.run("memory", "ingest", papers, "--json").out)
    assert {one["reply"]["message_key"] for one in again} == {"NO_EFFECT"}
    table = shell.run("memory", "ingest", papers / "a.txt")
    assert "NO_EFFECT" in table.out
    assert "1 file, new entities: 0" in table.out


def test_a_large_file_goes_in_by_upload(shell, tmp_path):
    large = tmp_path / "large.txt"
    large.write_bytes(INVOICE + b"\n" + b"x" * 3_000_000)
    (one,) = lines(shell.run("memory", "ingest", large, "--json").out)
    assert one["record_type"] == "invoice"
    assert one["file_size"] == large.stat().st_size


def test_one_bad_file_ends_with_its_code_and_the_others_are_in(shell, papers):
    (papers / "empty.txt").touch()
    done = shell.run("memory", "ingest", papers, "--json")
    assert done.code == 2
    outcomes = {Path(one["file"]).name: one["reply"]["message_key"] for one in lines(done.out)}
    assert outcomes["empty.txt"] == "VALIDATION_ERROR"
    assert outcomes["plan.md"] == "CREATED"
    assert "VALIDATION_ERROR" in shell.run("memory", "ingest", papers).out


@pytest.mark.shows_text
def test_a_file_that_is_refused_says_why(shell, tmp_path):
    empty, large = tmp_path / "empty.txt", tmp_path / "large.bin"
    empty.touch()
    with large.open("wb") as file:
        file.truncate(52_428_801)
    said = shell.run("memory", "ingest", empty, large).out
    assert "the file is empty" in said
    assert "exceeds 52428800 bytes" in said


def test_a_narrow_terminal_shows_all_of_an_outcome_and_of_a_name(shell, tmp_path):
    name = "minutes_of_the_meeting.txt"
    (tmp_path / name).touch()
    terminal = Terminal("memory", "ingest", name, *shell.here, env={"COLUMNS": "60"}, cwd=tmp_path)
    assert terminal.end() == 2
    assert "VALIDATION_ERROR" in terminal.shown
    assert name in terminal.shown
    assert "…" not in terminal.shown


@pytest.mark.parametrize("words", [["no-such-file"], ["."], []])
def test_nothing_to_ingest_is_refused(shell, words, tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert shell.run("memory", "ingest", *words).code == 2


def test_a_file_is_ingested_by_the_flow_s_own_options_too(shell, papers):
    key = ("--client-request-id", "the-first-letter")
    tried = shell.run("memory", "ingest", papers / "a.txt", "--dry-run", "--json")
    assert [one["reply"]["message_key"] for one in lines(tried.out)] == ["VALIDATION_DONE"]
    for replayed in (False, True):
        (one,) = lines(shell.run("memory", "ingest", papers / "a.txt", *key, "--json").out)
        assert (one["reply"]["message_key"], one["idempotent_replay"]) == ("CREATED", replayed)
    (one,) = lines(shell.run("memory", "ingest", papers / "plan.md", "--commit-mode", "proposal", "--json").out)
    assert one["reply"]["message_key"] == "PROPOSAL_RECORDED"
    by_content = ("--file-content", b64encode(b"Jane Roe lives in Bonn.").decode(), "--mime-type", "text/plain")
    made = shell.run("memory", "ingest", *by_content, "--no-interpret", "--json")
    assert (made.code, made.key, made.json["interpretation"]) == (0, "CREATED", None)


@pytest.mark.parametrize(
    "words", [["--file-content", "YQ=="], ["--content-hash", "0" * 64], ["--client-request-id", "one-for-all"]]
)
@pytest.mark.shows_text
def test_what_cannot_be_said_of_these_files_is_refused(shell, papers, words):
    refused = shell.run("memory", "ingest", papers, *words)
    assert (refused.code, words[0] in refused.err) == (2, True)
    assert not shell.folder.exists()


def test_a_large_file_is_not_uploaded_to_be_tried_out(shell, tmp_path):
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * 2_000_001)
    assert shell.run("memory", "ingest", large, "--dry-run").code == 2
    assert [path for path in (shell.folder / "blobs").rglob("*") if path.is_file()] == []


def test_files_can_be_kept_without_being_read(shell, papers):
    (one,) = lines(shell.run("memory", "ingest", papers / "a.txt", "--no-interpret", "--json").out)
    assert one["interpretation"] is None
    refused = shell.run("memory", "ingest", papers / "plan.md", "--provider", "oracle", "--json")
    assert refused.code == 2


@pytest.mark.requirement("NEW-05")
def test_show_why_and_history_lead_from_a_name_to_the_place_in_a_file(shell, papers):
    shell.run("memory", "ingest", papers)
    shown = shell.run("memory", "show", "INV-001", "--json").json
    assert shown["snapshot"]["amount_due"] == 1500
    assert "amount_due" in shell.run("memory", "show", shown["entity_id"]).out
    why = shell.run("memory", "why", "INV-001", "amount_due", "--json").json
    span = why["winner"]["span"]
    assert INVOICE.decode()[span["start"] : span["end"]] == "$1,500.00"
    assert why["winner"]["source_record"]["name"] == "a.txt"
    assert why["winner"]["fact"]["flow"] == "memory.ingest"
    assert "a.txt" in shell.run("memory", "why", "INV-001", "amount_due").out
    history = shell.run("memory", "history", "Acme Corp", "--type", "company", "--json").json
    assert history["total"] == 2
    assert "2 of 2" in shell.run("memory", "history", "Acme Corp", "--type", "company").out


def test_who_is_not_known_or_not_alone_is_refused(shell, papers):
    shell.run("memory", "ingest", papers)
    for words in (("show", "nobody at all"), ("why", "nobody at all", "name"), ("history", "nobody at all")):
        unknown = shell.run("memory", *words, "--json")
        assert (unknown.code, unknown.key) == (2, "ENTITY_NOT_FOUND")
        in_words = shell.run("memory", *words)
        assert (in_words.code, in_words.out, in_words.err.split()[0]) == (2, "", "ENTITY_NOT_FOUND")
    several = shell.run("memory", "show", "Jane Doe", "--json")
    assert (several.code, several.key) == (2, "NEEDS_DISAMBIGUATION")
    candidates = several.json["error"]["details"]["suggestions"]["candidates"]
    assert {one["entity_type"] for one in candidates} == {"person", "contact"}
    assert "contact" in shell.run("memory", "show", "Jane Doe").err
    assert shell.run("memory", "show", "Jane Doe", "--type", "person").code == 0
    assert shell.run("memory", "show", "ent_nobody", "--json").key == "ENTITY_NOT_FOUND"
    assert shell.run("memory", "why", "INV-001", "colour", "--json").key == "FIELD_NOT_FOUND"


def test_search_finds_by_words(shell, papers):
    shell.run("memory", "ingest", papers)
    found = shell.run("memory", "search", "spring", "plan", "--json").json["results"]
    assert found[0]["entity_type"] == "note"
    assert "spring plan" in shell.run("memory", "search", "spring", "plan").out
    assert shell.run("memory", "search", "zzzzzzzzzz").out == "nothing found\n"


@pytest.mark.requirement("ECO-07")
def test_export_writes_a_file_a_folder_or_standard_output(shell, papers, tmp_path):
    shell.run("memory", "ingest", papers)
    out = tmp_path / "memory.jsonld"
    assert shell.run("memory", "export", "-o", out).code == 0
    graph = json.loads(out.read_bytes())["@graph"]
    assert len({node["@id"] for node in graph}) == len(graph) > 10
    mirror = tmp_path / "MEMORY.md"
    assert shell.run("memory", "export", "--format", "markdown", "-o", mirror).code == 0
    assert mirror.read_text().startswith("# Memory")
    rows = list(csv.DictReader(io.StringIO(shell.run("memory", "export", "--format", "csv", "--table", "records").out)))
    assert {row["name"] for row in rows} == {"a.txt", "plan.md", "jane.vcf", "receipt.txt"}
    told = shell.run("memory", "export", "--format", "parquet", "-o", tmp_path / "tables", "--json")
    assert orjson.loads(told.out)["files"] == 1
    assert parquet.read_table(tmp_path / "tables" / "facts-00001.parquet").num_rows > 5


def test_export_refuses_what_it_cannot_write(shell, tmp_path):
    assert shell.run("call", "record.who-am-i").code == 0
    assert shell.run("memory", "export", "--format", "parquet").code == 2
    assert shell.run("memory", "export", "--format", "html", "--json").key == "VALIDATION_ERROR"
    assert shell.run("memory", "export", "-o", tmp_path / "no" / "such" / "folder" / "x").code == 2


def test_flows_of_memory_are_commands_beside_these(shell):
    told = shell.run("memory", "--help").out
    assert told.count("\n  ingest  ") == 1
    assert "get-entity-snapshot" in told


def test_an_office_elsewhere_that_asks_for_patience_gets_it(papers, tmp_path):
    knobs = '[rate_limits]\n"memory.ingest" = "2/second"\n'
    with Served(tmp_path / "served", knobs=knobs, domains="memory") as served:
        done = run("memory", "ingest", papers, "--json", "--url", served.url, "--token", served.owner)
    assert [one["reply"]["message_key"] for one in lines(done.out)] == ["CREATED"] * 4
