"""`engross flow`: documents begun, checked and described from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.declared.papers import ENVIRONMENT, SHELF, broken, written
from tests.surfaces.cli.shell import run, spawn

BAD = broken("ref: stock.get-item, method: GET", "§ref: stock.get-itm, method: GET")

WORDS = """\
from engross import Aggregate
from engross.flows import NoArguments
words = Aggregate("words", "Words")
@words.read
def greet(reader, arguments: NoArguments) -> None:
    "Greet."
"""
GREETING = SHELF.replace("{ ref: stock.get-item }\n", "{ ref: words.greet }\n")


@pytest.mark.requirement("FLOW-11")
class TestCheck:
    """`engross flow check`."""

    def test_a_document_that_is_right_ends_with_zero(self, tmp_path: Path) -> None:
        done = run("flow", "check", written(tmp_path, SHELF), env=ENVIRONMENT)
        assert done.code == 0

    def test_a_document_that_is_wrong_ends_with_two_and_names_the_place(self, tmp_path: Path) -> None:
        file = written(tmp_path, BAD.text)
        done = run("flow", "check", file, env=ENVIRONMENT)
        assert done.code == 2
        assert f"{file}:{BAD.line}:{BAD.column}: error V8" in done.out
        assert "stock.get-item" in done.out

    def test_as_json_every_finding_has_its_place_and_rule(self, tmp_path: Path) -> None:
        right, wrong = written(tmp_path, SHELF, "right.yaml"), written(tmp_path, BAD.text, "wrong.yaml")
        done = run("flow", "check", right, wrong, "--json", env=ENVIRONMENT)
        assert done.code == 2
        (found,) = done.json["findings"]
        place = {"file": str(wrong), "line": BAD.line, "column": BAD.column, "rule": "V8", "severity": "error"}
        assert {name: found[name] for name in place} == place
        assert found["did_you_mean"] == ["stock.get-item"]
        assert done.json["valid"] is False
        assert done.key == "VALIDATION_ERROR"

    def test_warnings_fail_only_where_they_are_told_to(self, tmp_path: Path) -> None:
        file = written(tmp_path, SHELF.replace('          description: "One article."\n', ""))
        assert run("flow", "check", file, env=ENVIRONMENT).code == 0
        assert run("flow", "check", file, "--strict", env=ENVIRONMENT).code == 2

    def test_binds_may_be_left_out(self, tmp_path: Path) -> None:
        file = written(tmp_path, SHELF)
        assert run("flow", "check", file).code == 2
        assert run("flow", "check", file, "--without-binds").code == 0

    def test_flows_of_the_office_and_of_other_capabilities_may_be_named(self, tmp_path: Path) -> None:
        text = SHELF.replace(
            "        get-item: { ref: stock.get-item }\n", "        proposals: { ref: proposals.get-proposal }\n"
        )
        assert run("flow", "check", written(tmp_path, text), env=ENVIRONMENT).code == 0
        python = written(tmp_path, WORDS, "words.py")
        file = written(tmp_path, GREETING)
        assert run("flow", "check", file, env=ENVIRONMENT).code == 2
        assert run("flow", "check", file, "--capability", python, env=ENVIRONMENT).code == 0

    def test_flows_that_lie_in_the_office_may_be_named_also_by_a_document_that_lies_there(self, tmp_path: Path) -> None:
        written(tmp_path, WORDS, "office/capabilities/words.py")
        there = {**ENVIRONMENT, "ENGROSS_DATA": str(tmp_path / "office")}
        for file in (written(tmp_path, GREETING), written(tmp_path, GREETING, "office/capabilities/shelf.yaml")):
            assert run("flow", "check", file, env=ENVIRONMENT).code == 2
            assert run("flow", "check", file, env=there).code == 0
            assert run("flow", "accept", file, "--yes", env=there).code == 0

    def test_what_is_wrong_with_a_document_that_lies_in_the_office_is_told_of_that_one(self, tmp_path: Path) -> None:
        wrong = written(tmp_path, BAD.text, "office/capabilities/wrong.yaml")
        there = {**ENVIRONMENT, "ENGROSS_DATA": str(tmp_path / "office")}
        done = run("flow", "check", wrong, written(tmp_path, SHELF), "--json", env=there)
        assert [(one["file"], one["rule"]) for one in done.json["findings"]] == [(str(wrong), "V8")]

    @pytest.mark.parametrize("command", [("check",), ("accept", "--yes")])
    def test_what_lies_in_the_folder_where_one_stands_is_not_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
    ) -> None:
        written(tmp_path, f"open({str(tmp_path / 'was-run')!r}, 'w').close()\n{WORDS}", "capabilities/words.py")
        monkeypatch.chdir(tmp_path)
        file = written(tmp_path, GREETING)
        done = run("flow", *command, file, "--data", tmp_path / "office", "--json", env=ENVIRONMENT)
        assert (done.code, "V8" in done.out) == (2 if command == ("check",) else 4, True)
        assert not (tmp_path / "was-run").exists()

    def test_a_write_of_the_office_that_is_said_to_read_is_a_finding(self, tmp_path: Path) -> None:
        tool = "        review: { ref: proposals.review-proposal, hints: { readOnly: true } }\n"
        file = written(tmp_path, SHELF.replace("        get-item: { ref: stock.get-item }\n", tool))
        done = run("flow", "check", file, "--strict", "--json", env=ENVIRONMENT)
        assert done.code == 2
        assert "L1" in [one["rule"] for one in done.json["findings"]]

    def test_a_file_that_is_not_there_is_a_finding(self, tmp_path: Path) -> None:
        done = run("flow", "check", tmp_path / "gone.yaml", "--json")
        assert done.code == 2
        assert done.json["findings"][0]["rule"] == "V1"

    def test_a_process_says_the_same(self, tmp_path: Path) -> None:
        done = spawn("flow", "check", written(tmp_path, BAD.text), "--without-binds")
        assert done.returncode == 2
        assert "V8" in done.stdout


class TestNew:
    """`engross flow new`."""

    @pytest.mark.parametrize("more", [(), ("--base-uri", "https://api.open-meteo.com/v1"), ("--namespace", "mine")])
    def test_a_new_document_is_right(self, tmp_path: Path, more: tuple[str, ...]) -> None:
        file = tmp_path / "My_words.yaml"
        assert run("flow", "new", file, *more).code == 0
        checked = run("flow", "check", file, "--json")
        assert (checked.code, checked.json["findings"]) == (0, [])

    def test_its_flow_runs(self, tmp_path: Path) -> None:
        file = tmp_path / "words.yaml"
        run("flow", "new", file)
        done = run("words", "greet", "--name", "Ada", "--json", "--data", tmp_path / "office", "--capability", file)
        assert done.json["greeting"] == "Hello, Ada."

    def test_nothing_is_written_over(self, tmp_path: Path) -> None:
        file = written(tmp_path, "mine", "words.yaml")
        assert run("flow", "new", file).code == 2
        assert file.read_text() == "mine"

    @pytest.mark.parametrize("name", ["words.txt", "nowhere/words.yaml", "9 lives!.yaml"])
    def test_a_place_or_a_name_that_will_not_do_is_refused(self, tmp_path: Path, name: str) -> None:
        assert run("flow", "new", tmp_path / name).code == 2
        assert not (tmp_path / name).exists()


def test_the_schema_can_be_given_to_an_editor() -> None:
    done = run("flow", "schema")
    assert done.code == 0
    assert json.loads(done.out)["properties"]["capability"]["type"] == "object"
