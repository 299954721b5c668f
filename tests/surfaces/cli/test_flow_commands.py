"""Every flow is a command of its own, with options made from its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engross.office import Settings
from engross.office.capabilities import catalogue_of
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Shell, run

GAUGE = Path(__file__).with_name("gauge.py")
EVERY_FLOW = [flow.ref for flow in catalogue_of(Settings(data=Path("nowhere"), capabilities=(SHELF, GAUGE)))]


@pytest.fixture
def gauge(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "office", None, [GAUGE])


GIVEN: list[tuple[list[str], Any]] = [
    ([], {}),
    (["--text", "hello"], {"text": "hello"}),
    (["--text", "3"], {"text": "3"}),
    (["--text", "null"], {"text": "null"}),
    (["--text=--data"], {"text": "--data"}),
    (["--text", "-x"], {"text": "-x"}),
    (["--text", "üñ🙂"], {"text": "üñ🙂"}),
    (["--text", ""], {"text": ""}),
    (["--whole", "-3"], {"whole": -3}),
    (["--number", "1.5"], {"number": 1.5}),
    (["--number", "2"], {"number": 2}),
    (["--flag"], {"flag": True}),
    (["--no-flag"], {"flag": False}),
    (["--colour", "red"], {"colour": "red"}),
    (["--names", "a", "--names", "b"], {"names": ["a", "b"]}),
    (["--counts", "1", "--counts", "2"], {"counts": [1, 2]}),
    (["--places", '{"x": 1}', "--places", '{"y": [2]}'], {"places": [{"x": 1}, {"y": [2]}]}),
    (["--properties", '{"a": {"b": null}}'], {"properties": {"a": {"b": None}}}),
    (["--camelCase", "x"], {"camelCase": "x"}),
    (["--field-data", "x", "--field-json", "y"], {"data": "x", "json": "y"}),
]


@pytest.mark.parametrize(("words", "expected"), GIVEN, ids=[" ".join(words) for words, _ in GIVEN])
def test_options_become_the_fields_that_the_schema_names(gauge: Shell, words: list[str], expected: Any) -> None:
    done = gauge.run("gauge", "measure", *words, "--json")
    assert (done.code, done.json["got"]) == (0, expected)


WRONG = [
    (["--whole", "many"], "whole"),
    (["--whole", "1.5"], "whole"),
    (["--number", "NaN"], "number"),
    (["--colour", "blue"], "colour"),
    (["--counts", "one"], "counts.0"),
    (["--properties", "{"], "properties"),
    (["--properties", "[]"], "properties"),
    (["--places", "3"], "places.0"),
]


@pytest.mark.parametrize(("words", "field"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_what_does_not_fit_is_refused_by_the_office_and_not_by_the_command(
    gauge: Shell, words: list[str], field: str
) -> None:
    done = gauge.run("gauge", "measure", *words, "--json")
    assert (done.code, done.key) == (2, "VALIDATION_ERROR")
    assert [error["field"] for error in done.json["errors"]] == [field]


def test_people_are_told_which_field_a_problem_is_about_whether_there_is_one_or_several(gauge: Shell) -> None:
    one = gauge.run("gauge", "measure", "--counts", "one")
    assert "  field: counts.0" in one.err.splitlines()
    several = gauge.run("gauge", "need").err
    assert ("  first: " in several, "  second: " in several, "field:" in several) == (True, True, False)


def test_the_office_says_which_values_are_allowed(gauge: Shell) -> None:
    done = gauge.run("gauge", "measure", "--colour", "gren", "--json")
    assert done.json["suggestions"]["allowed_values"] == ["red", "green"]
    assert done.json["suggestions"]["did_you_mean"] == ["green"]


def test_everything_that_is_missing_is_said_at_once(gauge: Shell) -> None:
    done = gauge.run("gauge", "need", "--json")
    assert (done.code, [error["field"] for error in done.json["errors"]]) == (2, ["first", "second"])


@pytest.mark.shows_text
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["gauge", "measure", "--colou", "red"], "--colour"),
        (["gauge", "meassure"], "measure"),
        (["gage", "measure"], "gauge"),
        (["proposals", "aprove", "x"], "approve"),
        (["verfy"], "verify"),
        (["facts", "--folow"], "--follow"),
    ],
)
def test_what_is_not_there_ends_with_2_and_the_nearest_is_named(gauge: Shell, words: list[str], hint: str) -> None:
    done = gauge.run(*words)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err


def test_a_read_has_no_options_of_a_write(gauge: Shell) -> None:
    assert gauge.run("gauge", "need", "--dry-run").code == 2
    assert gauge.run("gauge", "need", "--yes").code == 2
    assert gauge.run("gauge", "set", "--first", "x", "--second", "1", "--dry-run", "--json").code == 0


@pytest.mark.requirement("REP-07")
@pytest.mark.parametrize("ref", EVERY_FLOW)
def test_every_flow_has_a_command_with_an_option_for_each_field(tmp_path: Path, ref: str) -> None:
    settings = Settings(data=tmp_path, capabilities=(SHELF, GAUGE))
    flow = catalogue_of(settings).flow(ref)
    capabilities = ("--capability", SHELF, "--capability", GAUGE)
    named = {"ENGROSS_TOOLSETS": "legacy"}
    shown = run(*ref.split("."), "--help", "--data", tmp_path / "x", *capabilities, env=named)
    assert shown.code == 0
    for name in flow.published["properties"]:
        assert f"--{name.replace('_', '-')}" in shown.out or f"--field-{name}" in shown.out
    assert not (tmp_path / "x").exists()


def test_help_lists_the_flows_of_an_aggregate_and_shows_brackets_as_they_are(gauge: Shell) -> None:
    listed = gauge.run("gauge", "--help")
    assert listed.code == 0
    assert {"measure", "need", "set"} <= set(listed.out.split())
    assert "[what]" in listed.out
    shown = gauge.run("gauge", "measure", "--help").out
    assert "[bold]text[/]" in shown
    assert " ".join(shown.split()).count("[may be repeated]") == 3
    assert not gauge.folder.exists()


def test_help_of_the_whole_needs_no_office_and_no_capability(tmp_path: Path) -> None:
    done = run("--help", env={"ENGROSS_DATA": str(tmp_path / "x"), "ENGROSS_CAPABILITIES": str(tmp_path / "gone.py")})
    assert done.code == 0
    assert list(tmp_path.iterdir()) == []


def test_help_has_a_short_name_everywhere(gauge: Shell) -> None:
    assert run("-h").out == run("--help").out != ""
    for words in (["flows"], ["gauge"], ["gauge", "measure"], ["proposals", "list"]):
        assert gauge.run(*words, "-h").out == gauge.run(*words, "--help").out != ""


def test_options_of_the_place_may_stand_before_the_flow(gauge: Shell) -> None:
    done = run("gauge", *gauge.there, "measure", "--whole", "1", "--json")
    assert (done.code, done.json["got"]) == (0, {"whole": 1})
    assert gauge.folder.exists()


def test_commands_written_by_hand_and_flows_share_a_group(local: Shell) -> None:
    assert local.run("proposals", "list-proposals", "--json").key == "READ_OK"
    assert local.run("proposals", "list", "--json").key == "READ_OK"


def test_a_broken_capability_is_an_error_that_names_it(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def")
    done = run("shelf", "add-book", "--json", "--data", tmp_path / "office", "--capability", broken)
    assert (done.code, done.key, done.json["file"]) == (4, "CONFIG_INVALID", str(broken))


@pytest.mark.shows_text
def test_a_folder_that_is_named_as_a_capability_is_told_to_be_one(tmp_path: Path) -> None:
    done = run("flows", "--json", "--data", tmp_path / "office", "--capability", tmp_path)
    assert (done.code, done.key) == (4, "CONFIG_INVALID")
    assert "it is a folder" in done.json["problem"]


def test_flows_are_listed_and_described(gauge: Shell) -> None:
    listed = gauge.run("flows", "--json").json["flows"]
    assert {"gauge.measure", "record.read-facts", "proposals.get-proposal"} <= {flow["flow"] for flow in listed}
    assert [flow["flow"] for flow in gauge.run("flows", "gauge", "--json").json["flows"]] == [
        "gauge.measure",
        "gauge.need",
        "gauge.set",
    ]
    described = gauge.run("flows", "gauge.measure", "--json").json["flow"]
    assert described["arguments"]["properties"]["colour"]["enum"] == ["red", "green"]
    unknown = gauge.run("flows", "gauge.mesure", "--json")
    assert (unknown.code, unknown.key) == (2, "UNKNOWN_OPERATION")
    assert unknown.json["suggestions"]["did_you_mean"][0] == "gauge.measure"
    assert gauge.run("flows", "gage", "--json").json["suggestions"]["did_you_mean"] == ["gauge"]
    for named in ("measure", described["tool"]):
        assert gauge.run("flows", named, "--json").json["flow"] == described
    for words in ([], ["gauge"], ["gauge.measure"]):
        assert gauge.run("flows", *words).code == 0
    assert not gauge.folder.exists()


def test_an_aggregate_that_is_not_there_may_need_a_capability(local: Shell) -> None:
    hint = "aggregates of yours come with --capability"
    for words in (["flows", "zzz"], ["flow", "run", "zzz"]):
        unknown = local.run(*words, "--json")
        assert (unknown.code, unknown.key, list(unknown.json["suggestions"])) == (2, "UNKNOWN_OPERATION", ["hint"])
        assert hint in unknown.json["suggestions"]["hint"]
    assert hint in local.run("zzz", "find-notes").err


def test_a_command_that_only_another_office_can_have_says_that_there_is_none_here(local: Shell) -> None:
    assert local.run("zzz", "find-notes", "--json").key == "RECORD_NOT_FOUND"
    refused = local.run("zzz", "find-notes")
    assert (refused.code, refused.err.split()[0], "field: data" in refused.err) == (2, "RECORD_NOT_FOUND", True)
    assert "Did you mean memory?" in local.run("memry", "find-notes").err
    assert not local.folder.exists()


SHADOWED = """
from engross.flows import Aggregate, NoArguments

doc = Aggregate("doc", "Doctors", tables=(), migrations=())


@doc.read(controls=())
def count(reader: object, arguments: NoArguments) -> dict[str, int]:
    "Count them."
    return {"count": 3}
"""


@pytest.mark.shows_text
@pytest.mark.parametrize("name", [(), ("doc",), ("doc.count",)])
def test_of_flows_that_are_no_commands_it_is_told_how_to_call_them(tmp_path: Path, name: tuple[str, ...]) -> None:
    (tmp_path / "doctors.py").write_text(SHADOWED)
    shell = Shell(tmp_path / "office", None, [tmp_path / "doctors.py", SHELF])
    (told,) = shell.run("flows", *name).err.splitlines()
    assert "engross call doc.FLOW" in told
    assert shell.run("call", "doc.count", "--json", "{}").json["count"] == 3
    assert shell.run("flows", "shelf").err == ""
