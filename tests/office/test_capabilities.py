"""Capabilities: files that define aggregates, and what is said about one that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engross.office import Settings
from engross.office.capabilities import catalogue_of, load_capabilities, open_office
from engross.office.maintenance import migrate_office
from engross.replies import Failed
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES, Offices

SHELF = EXAMPLES / "04-the-whole.py"
LOOK = """
from engross import Aggregate
from engross.flows import NoArguments

{name} = Aggregate("{name}", "{name}")

@{name}.read
def look_at_{name}(reader, arguments: NoArguments) -> dict[str, object]:
    '''Look at it.'''
    return {{"name": "{name}"}}
"""


def written(folder: Path, name: str, text: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(LOOK.format(name=name) if text is None else text)
    return file


def refusal(files: list[Path], data: Path) -> dict[str, Any]:
    with pytest.raises(Failed) as refused:
        load_capabilities(files, data)
    assert str(refused.value).endswith("CONFIG_INVALID")
    return dict(refused.value.data or {})


def test_files_that_are_named_come_first_and_those_in_the_folder_after_them(tmp_path: Path) -> None:
    named = written(tmp_path, "zoo")
    for name in ("beta", "alpha"):
        written(tmp_path / "data" / "capabilities", name)
    found = load_capabilities([named], tmp_path / "data")
    assert [aggregate.namespace for aggregate in found] == ["zoo", "alpha", "beta"]


def test_one_file_may_define_several_and_a_file_named_twice_counts_once(tmp_path: Path) -> None:
    file = written(tmp_path / "data" / "capabilities", "both", LOOK.format(name="one") + LOOK.format(name="two"))
    found = load_capabilities([file, file], tmp_path / "data")
    assert [aggregate.namespace for aggregate in found] == ["one", "two"]


def test_what_is_no_capability_may_lie_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "capabilities"
    written(folder, "alpha")
    written(folder, "_draft", "raise ValueError")
    written(folder, ".hidden", "raise ValueError")
    (folder / "README.md").write_text("notes")
    assert [aggregate.namespace for aggregate in load_capabilities([], tmp_path)] == ["alpha"]


def test_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert load_capabilities([], tmp_path / "nowhere") == ()
    assert not (tmp_path / "nowhere").exists()


UNUSABLE = {
    "a mistake in its syntax": ("def", 1),
    "an exception": ("x = 1\n\nraise ValueError('no')", 3),
    "what is no Exception": ("raise BaseException('no')", 1),
    "an exit": ("import sys\nsys.exit(3)", 2),
    "a missing library": ("import nothing_of_this_name", 1),
    "an unsound definition": ("from engross import Aggregate\nAggregate('No Good', 'x')", 2),
}


@pytest.mark.parametrize(("text", "line"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_does_not_load_is_named_with_the_line(tmp_path: Path, text: str, line: int) -> None:
    file = written(tmp_path, "broken", text)
    told = refusal([file], tmp_path / "data")
    assert (told["file"], told["line"]) == (str(file), line)
    assert not [name for name in sys.modules if sys.modules[name].__dict__.get("__file__") == str(file)]


def test_a_file_without_aggregates_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert refusal([written(tmp_path, "empty", "x = 1")], tmp_path)["file"].endswith("empty.py")
    (tmp_path / "notes.txt").write_text("x")
    assert refusal([tmp_path / "notes.txt"], tmp_path)["allowed"] == [".py", ".yaml", ".yml"]
    assert refusal([tmp_path / "gone.py"], tmp_path)["file"].endswith("gone.py")
    assert refusal([tmp_path], tmp_path)["file"] == str(tmp_path)


def test_two_files_with_the_same_aggregate_are_refused_and_both_are_named(tmp_path: Path) -> None:
    first, second = (
        written(tmp_path, "first", LOOK.format(name="one")),
        written(tmp_path, "second", LOOK.format(name="one")),
    )
    told = refusal([first, second], tmp_path)
    assert told["file"] == str(second)
    assert "first.py" in told["problem"]


@pytest.mark.parametrize("what", ["the file", "the folder"])
def test_what_everybody_may_write_is_not_run(tmp_path: Path, what: str) -> None:
    file = written(tmp_path / "capabilities", "alpha", "open(__file__ + '.ran', 'w')")
    open_to_all = file if what == "the file" else file.parent
    open_to_all.chmod(open_to_all.stat().st_mode | 0o002)
    assert refusal([], tmp_path)["file"] == str(open_to_all)
    assert not Path(f"{file}.ran").exists()


def test_files_may_offer_what_a_library_defines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "library", "zoology")
    monkeypatch.syspath_prepend(tmp_path / "library")
    files = [written(tmp_path, name, "from zoology import zoology") for name in ("cats", "dogs")]
    assert [aggregate.namespace for aggregate in load_capabilities(files, tmp_path)] == ["zoology"]


def test_what_a_file_prints_does_not_reach_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_capabilities([written(tmp_path, "chatty", "print('hello')\n" + LOOK.format(name="one"))], tmp_path)
    assert capsys.readouterr().out == ""


def test_a_file_that_closes_its_output_leaves_us_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closing = "import sys\nsys.stdout.reconfigure(errors='replace')\nsys.stdout.close()\n"
    load_capabilities([written(tmp_path, "closing", closing + LOOK.format(name="one"))], tmp_path)
    print("still here", file=sys.stderr)
    assert capsys.readouterr().err == "still here\n"


def test_an_interruption_while_a_file_is_run_is_one(tmp_path: Path) -> None:
    file = written(tmp_path, "slow", "raise KeyboardInterrupt")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            load_capabilities([file], tmp_path)


def test_a_file_is_run_once_until_it_changes(tmp_path: Path) -> None:
    counting = "with open(__file__ + '.runs', 'a') as runs:\n    runs.write('x')\n" + LOOK.format(name="one")
    file = written(tmp_path, "counted", counting)
    (first,), (again,) = load_capabilities([file], tmp_path), load_capabilities([file], tmp_path)
    assert first is again
    written(tmp_path, "counted", counting + "\n")
    (changed,) = load_capabilities([file], tmp_path)
    assert changed is not first
    assert Path(f"{file}.runs").read_text() == "xx"


def test_a_namespace_of_the_offices_own_is_refused_when_it_opens(tmp_path: Path) -> None:
    file = written(tmp_path, "clash", LOOK.format(name="record"))
    settings = Settings(data=tmp_path / "data", capabilities=(file,))
    for opening in (open_office, catalogue_of):
        with pytest.raises(Failed) as refused:
            opening(settings)
        assert str(refused.value).endswith("CONFIG_INVALID")


def test_the_catalogue_is_known_without_an_office(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "nowhere", capabilities=(SHELF,))
    refs = {flow.ref for flow in catalogue_of(settings)}
    assert {"shelf.add-book", "record.read-facts", "proposals.get-proposal", "door.list-tokens"} <= refs
    assert not (tmp_path / "nowhere").exists()
    office = open_office(Settings(data=tmp_path / "data", capabilities=(SHELF,)))
    assert {flow.ref for flow in office.catalogue} == refs
    office.close()


def test_the_library_opens_them_too_and_the_environment_may_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = written(tmp_path, "one"), written(tmp_path, "two")
    with connect(tmp_path / "office", capabilities=[one]) as office:
        assert office.one.look_at_one().data == {"name": "one"}
    with connect(tmp_path / "office", capabilities=str(two)) as office:
        assert office.two.look_at_two().ok
    monkeypatch.setenv("ENGROSS_CAPABILITIES", f"{one}:{two}")
    with connect(tmp_path / "office") as office:
        assert (office.one.look_at_one().ok, office.two.look_at_two().ok) == (True, True)


@pytest.mark.parametrize("given", [3, [3], {"a": "b"}])
def test_a_setting_that_names_no_files_is_refused(tmp_path: Path, given: Any) -> None:
    with pytest.raises(Failed):
        Settings.from_environment(data=tmp_path, capabilities=given)


@pytest.mark.requirement("ECO-08")
def test_migrating_knows_the_tables_of_capabilities(offices: Offices) -> None:
    offices.open(*load_capabilities([EXAMPLES / "01-a-flow.py"], offices.folder)).close()
    settings = Settings(data=offices.folder, store=offices.store, capabilities=(SHELF,), domains="architecture")
    planned = migrate_office(settings, dry_run=True).data["would_run"]
    assert {step["room"] for step in planned} == {"shelf", "architecture"}
    assert migrate_office(settings).data["ran"] == planned
    office = open_office(settings)
    assert office.catalogue.find("shelf.add-book") is not None
    office.close()
