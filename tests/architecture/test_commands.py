"""Models from a shell: `engross model` and `engross why`."""

from __future__ import annotations

from pathlib import Path

import pytest

from engross.calls import Principal
from engross.surfaces.client import Client, connect
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.surfaces.cli.shell import Shell, Terminal


@pytest.fixture
def shell(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Shell:
    """A shell at an office, on each engine in turn."""
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    return Shell(tmp_path / "office", store)


@pytest.fixture
def local(tmp_path: Path) -> Shell:
    """A shell at an office in a folder."""
    return Shell(tmp_path / "office")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A model file."""
    file = tmp_path / "shop.xml"
    file.write_text(EXCHANGE)
    return file


def scout(shell: Shell) -> Client:
    """An agent at the same office."""
    agent = Principal("scout", "agent", frozenset({"agent"}))
    return connect(shell.folder, store=shell.store, principal=agent, domains="architecture")


def test_a_file_is_looked_over_before_it_is_imported(shell: Shell, shop: Path) -> None:
    looked = shell.run("model", "import", shop, "--dry-run", "--json")
    assert looked.code == 0
    assert looked.json["counts"]["elements"] == 8
    assert looked.json["success"] is True
    nobody = shell.run("model", "import", shop)
    assert (nobody.code, "CONFIRMATION_REQUIRED" in nobody.err, "--yes" in nobody.err) == (3, True, True)
    assert "elements: 8" in nobody.out
    asked = shell.run("model", "import", shop, "--json").json
    assert (asked["success"], asked["error"]["code"]) == (False, "CONFIRMATION_REQUIRED")
    assert asked["error"]["details"]["counts"]["elements"] == 8
    assert [one["id"] for one in shell.run("architecture", "list-models", "--json").json["models"]] == ["default"]
    done = shell.run("model", "import", shop, "--yes", "--name", "Shop", "--json")
    assert (done.code, done.key) == (0, "CREATED")
    assert done.json["model"]["name"] == "Shop"
    shown = shell.run("model", "show", "--model", "Shop")
    assert shown.code == 0
    assert "1 ApplicationComponent" in shown.out
    assert "Main (view_" in shown.out


def test_whoever_sits_at_a_terminal_is_asked(local: Shell, shop: Path) -> None:
    for said, models in (("n", 1), ("y", 2)):
        terminal = Terminal("model", "import", shop, *local.there)
        terminal.until("Import this?")
        terminal.type(f"{said}\n")
        assert terminal.end() == (0 if said == "y" else 3)
        assert len(local.run("architecture", "list-models", "--json").json["models"]) == models


def test_importing_over_a_model_is_confirmed_by_the_same_yes(local: Shell, shop: Path) -> None:
    first = local.run("model", "import", shop, "--yes", "--json").json["model"]["id"]
    shop.write_text(EXCHANGE.replace(">Ordering<", ">Order taking<"))
    again = local.run("model", "import", shop, "--model", "Corner shop", "--yes", "--json")
    assert again.json["counts"]["elements_updated"] == 1
    assert again.json["model"]["id"] == first


def test_a_file_that_is_refused_says_why(local: Shell, tmp_path: Path) -> None:
    bad = tmp_path / "bad.xml"
    ends = element("a", "Capability", "A") + element("b", "ApplicationComponent", "B")
    relationship = '<relationship identifier="r" source="a" target="b" xsi:type="Realization"/>'
    bad.write_text(exchange(f"<elements>{ends}</elements><relationships>{relationship}</relationships>"))
    for words in (("model", "check", bad), ("model", "import", bad, "--yes")):
        told = local.run(*words)
        assert told.code == 1
        assert "Realization from Capability to ApplicationComponent (allowed: Association)" in told.out
    assert local.run("model", "import", bad, "--yes", "--skip-invalid").code == 0
    bad.write_text("<!DOCTYPE m [<!ENTITY a 'b'>]><m>&a;</m>")
    assert local.run("model", "check", bad, "--json").key == "IMPORT_UNSAFE"
    assert local.run("model", "import", tmp_path / "nowhere.xml").code == 2


@pytest.mark.requirement("ECO-06")
def test_a_model_goes_out_in_every_format_and_comes_back(local: Shell, shop: Path, tmp_path: Path) -> None:
    assert local.run("model", "import", shop, "--yes").code == 0
    words = ("--model", "Corner shop")
    xml, folder, svg, mermaid = (tmp_path / name for name in ("out.xml", "tables", "out.svg", "out.mmd"))
    for target, more in ((xml, ()), (folder, ("--format", "archi_csv")), (svg, ()), (mermaid, ())):
        assert local.run("model", "export", target, *words, *more).code == 0
    assert svg.read_text().startswith("<svg")
    assert mermaid.read_text().startswith("flowchart")
    assert sorted(file.name for file in folder.iterdir()) == ["elements.csv", "properties.csv", "relations.csv"]
    assert local.run("model", "export", *words).out == xml.read_text()
    assert local.run("model", "diff", xml, *words).out.strip() == "no difference"
    assert local.run("model", "diff", folder, *words).code == 0
    again = local.run("model", "import", folder, "--yes", "--name", "Tables", "--json").json
    assert again["counts"]["elements_created"] == 8
    archi = tmp_path / "shop.archimate"
    archi.write_text(ARCHI)
    assert local.run("model", "import", archi, "--yes").code == 0


def test_a_large_file_is_uploaded_first(local: Shell, tmp_path: Path) -> None:
    large = tmp_path / "large.xml"
    many = "".join(element(f"e{number}", "Node", f"Node {number} {'x' * 200}") for number in range(4000))
    large.write_text(exchange(f"<elements>{many}</elements>"))
    assert large.stat().st_size > 1_000_000
    done = local.run("model", "import", large, "--yes", "--json")
    assert done.json["counts"]["elements_created"] == 4000
    assert len(done.json["facts"]) <= 1000
    out = tmp_path / "out.xml"
    assert local.run("model", "export", out, "--model", done.json["model"]["id"]).code == 0
    assert out.read_text().count("<element ") == 4000


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_a_file_in_another_encoding_loses_no_letter(local: Shell, tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "cafe.xml"
    file.write_text(EXCHANGE.replace("UTF-8", encoding).replace(">Ordering<", ">Caf\u00e9<"), encoding)
    assert local.run("model", "import", file, "--yes", "--name", "Caf").code == 0
    listed = local.run("architecture", "list-elements", "--model-id", "Caf", "--json").json["elements"]
    assert "Caf\u00e9" in [one["name"] for one in listed]


def test_tables_in_another_encoding_are_refused(local: Shell, tmp_path: Path) -> None:
    file = tmp_path / "elements.csv"
    head = '"ID","Type","Name","Documentation","Specialization"'
    file.write_text(f'{head}\n"1","Node","Caf\u00e9","",""\n', "ISO-8859-1")
    assert local.run("model", "import", file, "--yes").code == 2
    assert local.run("model", "import", tmp_path, "--yes").code == 2


def test_an_element_is_shown_with_what_it_is_related_to(local: Shell, shop: Path) -> None:
    local.run("model", "import", shop, "--yes")
    shown = local.run("model", "show", "ApplicationComponent/Orders", "--model", "Corner shop")
    assert shown.code == 0
    assert "ApplicationService/Ordering" in shown.out
    assert local.run("model", "show", "Nobody").code == 2


def test_a_model_of_the_office_is_checked(local: Shell) -> None:
    local.run("architecture", "create-element", "--type", "Node", "--name", "Server")
    told = local.run("model", "check")
    assert told.code == 0
    assert told.out.startswith("1 element, 0 relationships, ")
    assert "ISOLATED_ELEMENT 1" in told.out
    assert told.out.rstrip().endswith("sound")
    assert local.run("model", "check", "--json").json["counts"]["elements"] == 1


def test_a_model_is_compared_with_another_and_with_its_past(local: Shell, shop: Path) -> None:
    local.run("model", "import", shop, "--yes")
    local.run("architecture", "create-element", "--type", "Node", "--name", "Server")
    told = local.run("model", "diff", "Corner shop")
    assert "- Node Server" in told.out
    assert "+ Realization offers ApplicationComponent/Orders -> ApplicationService/Ordering" in told.out
    before = local.run("model", "diff", "--other-as-of", 0)
    assert "- Node Server" in before.out
    assert local.run("model", "diff").code == 2


@pytest.mark.requirement("NEW-05")
def test_why_leads_from_an_element_to_whoever_approved_it(shell: Shell) -> None:
    with scout(shell) as agent:
        proposed = agent.architecture.create_element(type="Node", name="Order Service", reason="We need one")
    proposal = proposed.data["proposal"]["id"]
    assert shell.run("proposals", "approve", proposal, "--yes").code == 0
    identifier = proposed.data["element"]["id"]
    with scout(shell) as agent:
        waiting = agent.architecture.update_element(id=identifier, name="Ordering", reason="A better name")
    told = shell.run("why", "Order Service")
    assert told.code == 0
    for part in (identifier, "ElementCreated", "scout (agent)", "We need one", proposal, "approved", "receipt"):
        assert part in told.out
    assert waiting.data["proposal"]["id"] in told.out
    (found,) = shell.run("why", identifier, "--json").json["found"]
    assert found["aggregate"] == "architecture"
    assert found["reasons"][0]["approvers"]
    assert [one["id"] for one in found["proposals"]] == [waiting.data["proposal"]["id"]]
    position = found["reasons"][0]["receipt"]["position"]
    receipt = shell.run("record", "get-receipt", "--position", position, "--json").json["receipt"]
    assert receipt["facts_digest"] == found["reasons"][0]["receipt"]["facts_digest"]


@pytest.mark.requirement("NEW-05")
def test_why_tells_of_one_field_and_of_what_is_gone(local: Shell) -> None:
    made = local.run("architecture", "create-element", "--type", "Node", "--name", "Server", "--json").json
    identifier = made["element"]["id"]
    local.run("architecture", "update-element", "--id", identifier, "--description", "In the cellar")
    (named,) = local.run("why", "Server", "--field", "name", "--json").json["found"]
    assert [one["fact"] for one in named["reasons"]] == ["ElementCreated"]
    (described,) = local.run("why", "Server", "--field", "description", "--json").json["found"]
    assert [one["fact"] for one in described["reasons"]] == ["ElementUpdated"]
    local.run("architecture", "delete-element", "--id", identifier, "--yes")
    gone = local.run("why", identifier)
    assert gone.code == 0
    assert "(gone)" in gone.out
    assert "ElementDeleted" in gone.out
    nobody = local.run("why", "Serve", "--json")
    assert (nobody.code, nobody.key) == (2, "RECORD_NOT_FOUND")


@pytest.mark.requirement("NEW-05")
def test_why_finds_an_element_of_another_model_and_asks_back_if_there_are_several(local: Shell, shop: Path) -> None:
    local.run("model", "import", shop, "--yes")
    assert local.run("why", "Ordering").code == 0
    local.run("model", "import", shop, "--yes")
    several = local.run("why", "Ordering", "--json")
    assert several.key == "NEEDS_DISAMBIGUATION"
    assert len(several.json["suggestions"]["candidates"]) == 2


@pytest.mark.shows_text
def test_what_to_compare_with_is_asked_for_in_the_words_of_the_command(local: Shell) -> None:
    told = local.run("model", "diff")
    assert told.code == 2
    assert "--other-as-of" in told.err
    assert "other_model_id" not in told.err


def test_a_look_at_a_file_for_a_model_says_what_would_change(local: Shell, shop: Path) -> None:
    local.run("model", "import", shop, "--yes")
    shop.write_text(EXCHANGE.replace(">Ordering<", ">Order taking<"))
    looked = local.run("model", "import", shop, "--model", "Corner shop", "--dry-run")
    assert "elements_updated: 1" in looked.out
    again = local.run("model", "import", shop, "--yes")
    assert "Corner shop (2)" in again.out


def test_an_export_says_what_it_could_not_write(local: Shell) -> None:
    made = local.run("architecture", "create-element", "--type", "Node", "--name", "A", "--description", "a\x02b")
    assert made.code == 0
    told = local.run("model", "export")
    assert told.code == 0
    assert "U+FFFD" in told.err
    assert "U+FFFD" not in told.out
