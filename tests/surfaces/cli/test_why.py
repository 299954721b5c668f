"""`engross why`: one command from an element, an entity or a document to whoever wanted and approved it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.memory.samples import INVOICE
from tests.surfaces.cli.shell import Done, Shell

pytestmark = pytest.mark.requirement("NEW-05")

PLAN = "===PLAN===\nMETA:\n  TYPE::NOTE\nSTATUS::DRAFT\n===END===\n"


def tell(shell: Shell, *entities: dict[str, object]) -> None:
    wish = json.dumps({"entities": entities})
    done(shell.run("call", "memory.ingest-structured", "--json", wish))


def done(said: Done) -> Done:
    assert said.code == 0, said
    return said


def test_an_entity_is_told_with_its_file_and_the_place_in_it(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "invoice.txt"
    file.write_bytes(INVOICE)
    done(shell.run("memory", "ingest", file))
    told = done(shell.run("why", "INV-001")).out
    start = INVOICE.decode().index("$1,500.00")
    parts = (
        "invoice inv-001",
        "amount_due: 1500",
        "memory.ingest",
        "invoice.txt",
        f"{start} to {start + 9}",
        "receipt",
    )
    for part in parts:
        assert part in told
    one = done(shell.run("why", "INV-001", "--field", "amount_due")).out
    assert "vendor_name" not in one
    assert shell.run("why", "INV-001", "--field", "colour", "--json").key == "FIELD_NOT_FOUND"


def test_a_document_is_told_paragraph_by_paragraph(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "plan.oct.md"
    file.write_text(PLAN)
    done(shell.run("doc", "write", "plan.oct.md", "--content", file, "--reason", "A first plan"))
    done(shell.run("doc", "write", "plan.oct.md", "--changes", '{"STATUS": "ACTIVE"}', "--reason", "It began"))
    told = done(shell.run("why", "plan.oct.md")).out
    for part in ("document plan.oct.md\n", "lines 1 to 3:", "line 4: STATUS::ACTIVE", "A first plan", "It began"):
        assert part in told
    one = done(shell.run("why", "plan.oct.md", "--field", "META")).out
    assert "It began" not in one
    outside = shell.folder / "documents" / "main" / "plan.oct.md"
    outside.write_text(outside.read_text().replace("NOTE", "MEMO"))
    assert "  TYPE::MEMO" in done(shell.run("why", "plan.oct.md")).out.partition("not on the record")[2]


def test_a_name_that_several_domains_know_is_told_by_all(local: Shell) -> None:
    done(local.run("architecture", "create-element", "--type", "Node", "--name", "Mercury"))
    tell(local, {"entity_type": "planet", "name": "Mercury"})
    told = done(local.run("why", "Mercury")).out
    assert "Node Mercury" in told
    assert "planet mercury" in told
    assert "Node" not in done(local.run("why", "Mercury", "--aggregate", "memory")).out


def test_a_field_that_an_element_never_had_is_no_success(local: Shell) -> None:
    done(local.run("architecture", "create-element", "--type", "Node", "--name", "Mercury"))
    refused = local.run("why", "Mercury", "--field", "nme", "--json")
    assert (refused.code, refused.key) == (2, "FIELD_NOT_FOUND")
    assert refused.json["suggestions"]["did_you_mean"] == ["name"]
    assert local.run("why", "Mercury", "--field", "description").code == 2


def test_what_is_only_proposed_is_told_with_its_proposal(local: Shell) -> None:
    proposed = ("--type", "Node", "--name", "Mercury", "--commit-mode", "proposal", "--json")
    proposal = done(local.run("architecture", "create-element", *proposed)).json["proposal"]["id"]
    told = done(local.run("why", "Mercury")).out
    assert told.startswith("Node Mercury (el_")
    assert "(only proposed)" in told
    assert f"proposal: {proposal}" in told


def test_what_else_a_name_could_mean_is_listed_besides_what_was_found(local: Shell) -> None:
    done(local.run("architecture", "create-element", "--type", "Node", "--name", "Mercury"))
    tell(local, {"entity_type": "planet", "name": "Mercury"}, {"entity_type": "person", "name": "Mercury"})
    answer = done(local.run("why", "Mercury", "--json")).json
    assert [one["aggregate"] for one in answer["found"]] == ["architecture"]
    assert {(one["aggregate"], one["type"]) for one in answer["ambiguous"]} == {
        ("memory", "planet"),
        ("memory", "person"),
    }
    told = done(local.run("why", "Mercury")).out
    for other in answer["ambiguous"]:
        assert f"memory {other['type']} {other['id']}" in told
    assert "planet mercury" in done(local.run("why", "planet/Mercury")).out


def test_what_nobody_knows_and_what_is_meant_by_nobody_alone(local: Shell) -> None:
    tell(local, {"entity_type": "planet", "name": "Mercury"}, {"entity_type": "person", "name": "Mercury"})
    several = local.run("why", "Mercury", "--json")
    assert (several.code, several.key) == (2, "NEEDS_DISAMBIGUATION")
    assert {one["type"] for one in several.json["suggestions"]["candidates"]} == {"planet", "person"}
    nobody = local.run("why", "Venus", "--json")
    assert (nobody.code, nobody.key) == (2, "RECORD_NOT_FOUND")


def test_a_document_that_was_erased_is_told_as_that(local: Shell, tmp_path: Path) -> None:
    file = tmp_path / "plan.oct.md"
    file.write_text(PLAN)
    done(local.run("doc", "write", "plan.oct.md", "--content", file))
    wish = ("--aggregate", "documents", "--subject", "plan.oct.md")
    done(local.run("record", "erase", *wish, "--role", "admin", "--yes"))
    told = done(local.run("why", "plan.oct.md")).out
    assert "(gone)" in told
    assert "erased: true" in told
    assert "DRAFT" not in told


def test_a_book_of_a_domain_of_ones_own_is_told_by_its_id(shell: Shell) -> None:
    book = done(shell.run("shelf", "add-book", "--title", "Dune", "--reason", "A classic", "--json")).json["book"]["id"]
    told = done(shell.run("why", book)).out
    for part in (f"shelf {book}\n", "BookAdded", "title: Dune", "flow: shelf.add-book 1.0.0", "A classic", "receipt"):
        assert part in told


def test_what_has_a_field_called_name_is_headed_by_its_id(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "office", None, [Path(__file__).with_name("jobs.py")])
    added = done(shell.run("jobs", "add-job", "--name", "Sweep", "--type", "daily", "--json"))
    job = added.json["job"]["id"]
    assert done(shell.run("why", job)).out.startswith(f"jobs {job}\n")
