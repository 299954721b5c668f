"""Calling flows from a shell: arguments in, the Reply out, and an exit code that says which kind it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.calls import Principal
from engross.replies import structured
from engross.surfaces.client import connect
from tests.bed.sameness import masked
from tests.bed.served import Served
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Shell, run

DUNE = '{"title": "Dune"}'


def titles(shell: Shell) -> list[str]:
    return [book["title"] for book in shell.run("shelf", "list-books", "--json").json["books"]]


def test_arguments_come_as_json_from_a_file_or_from_standard_input(shell: Shell, tmp_path: Path) -> None:
    assert shell.run("call", "shelf.add-book", "--json", DUNE).key == "CREATED"
    (tmp_path / "emma.json").write_text('{"title": "Emma"}')
    assert shell.run("call", "shelf.add-book", "--json", f"@{tmp_path / 'emma.json'}").key == "CREATED"
    assert shell.run("call", "shelf.add-book", "--json", "-", input='{"title": "Ulysses"}').key == "CREATED"
    assert titles(shell) == ["Dune", "Emma", "Ulysses"]


@pytest.mark.requirement("REP-07")
@pytest.mark.parametrize(
    ("words", "code", "key"),
    [
        (["shelf.list-books", "--json", "{}"], 0, "READ_OK"),
        (["shelf.add-book", "--json", DUNE, "--commit-mode"], 2, None),
        (["shelf.add-book", "--json", "{}"], 2, "VALIDATION_ERROR"),
        (["shelf.get-book", "--json", '{"id": "nowhere"}'], 2, "RECORD_NOT_FOUND"),
        (["shelf.add-book", "--json", DUNE, "--role", "viewer"], 3, "WRITE_DENIED"),
        (["shelf.add-book", "--json", '{"client_request_id": 1}', "--role", "viewer"], 3, "WRITE_DENIED"),
        (["shelf.add-book", "--json", DUNE, "--capability", "nowhere.py"], 4, "CONFIG_INVALID"),
        (["shelf.nothing", "--json", "{}"], 2, "UNKNOWN_OPERATION"),
    ],
)
def test_the_exit_code_says_which_kind_of_reply_it_was(
    shell: Shell, words: list[str], code: int, key: str | None
) -> None:
    done = shell.run("call", *words)
    assert done.code == code
    if key is not None:
        assert done.key == key


def test_a_flow_is_called_by_its_tool_as_well(local: Shell) -> None:
    made = local.run("call", "addBook", "--json", DUNE)
    assert (made.key, made.json["success"]) == ("CREATED", True)
    assert local.run("call", "listBooks", "--json", "{}").json["books"][0]["title"] == "Dune"
    unknown = local.run("call", "addBok", "--json", DUNE)
    assert (unknown.key, unknown.json["suggestions"]["did_you_mean"][0]) == ("UNKNOWN_OPERATION", "shelf.add-book")


@pytest.mark.parametrize("far", [False, True], ids=["here", "there"])
def test_what_an_example_builds_on_is_shown_before_it(local: Shell, served: Served, far: bool) -> None:
    where = ("--url", served.url, "--token", served.owner) if far else local.there
    lines = [line.strip() for line in run("flows", "removeBook", *where).out.splitlines()]
    first = next(number for number, line in enumerate(lines) if line.startswith("engross call shelf.add-book"))
    assert lines[first + 1].startswith("# $0.")
    assert lines[first + 2] == """engross call shelf.remove-book --json '{"id":"$0.book.id"}'"""
    assert "#" not in run("flows", "addBook", *where).out


@pytest.mark.parametrize(
    "given", ["", "{", "{'title': 1}", '{"title": NaN}', "@", "@nowhere.json", '{"title": "\\ud800"}', "[" * 2000]
)
def test_what_is_no_json_is_invalid_and_makes_no_office(local: Shell, given: str) -> None:
    done = local.run("call", "shelf.add-book", "--json", given)
    assert (done.code, done.json["reply"]["reply_type"]) == (2, "I")
    assert not local.folder.exists()


@pytest.mark.shows_text
def test_a_file_that_cannot_be_read_is_named_and_json_is_not_blamed(local: Shell) -> None:
    refused = local.run("call", "shelf.add-book", "--json", "@somewhere/nowhere.json", "--as-text").err
    assert "somewhere/nowhere.json" in refused
    assert "well-formed" not in refused


@pytest.mark.shows_text
def test_arguments_without_their_option_are_told_its_name(local: Shell) -> None:
    done = local.run("call", "shelf.add-book", DUNE)
    assert (done.code, "--json" in done.err) == (2, True)
    assert "misplaced" not in local.run("call", "--help").out.casefold()


@pytest.mark.parametrize("flow", ["shelf.add-book", "shelf.no-such-flow"])
def test_what_is_refused_before_the_office_is_reached_is_told_as_by_other_surfaces(served: Served, flow: str) -> None:
    body, headers = b"{bad", {"Content-Type": "application/json"}
    with served.client(served.owner) as client:
        other = client.post(f"/v1/{flow.replace('.', '/')}", content=body, headers=headers).json()
    shell = Shell(served.folder, served.store, [SHELF])
    there = ("--url", served.url, "--token", served.owner)
    for done in (
        shell.run("call", flow, "--json", body.decode()),
        run("call", flow, "--json", body.decode(), *there),
        shell.run("flow", "run", flow, "--arguments", body.decode(), "--json"),
    ):
        assert (done.json["success"], len(done.json["reply"]["trace_id"])) == (other["success"], 32)
        if flow == "shelf.add-book":
            assert done.json["error"]["details"] == other["error"]["details"]
            assert done.json["reply"]["params"] == other["reply"]["params"]


def test_a_flow_that_an_office_cannot_be_opened_for_is_refused_in_its_dialect(local: Shell) -> None:
    local.folder.parent.mkdir(parents=True, exist_ok=True)
    local.folder.write_text("no folder")
    for words in (("call", "shelf.list-books", "--json", "{}"), ("shelf", "list-books", "--json")):
        failed = local.run(*words)
        assert failed.code != 0
        assert (failed.json["success"], len(failed.json["reply"]["trace_id"])) == (False, 32)


def test_bytes_that_are_no_text_are_invalid(local: Shell) -> None:
    assert local.run("call", "shelf.add-book", "--json", "-", input=b'{"title": "\xff"}').key == "MALFORMED_INPUT"
    done = local.spawn("shelf", "add-book", "--title", os.fsdecode(b"\xff"), "--json")
    assert (done.returncode, orjson.loads(done.stdout)["reply"]["message_key"]) == (2, "MALFORMED_INPUT")


def test_more_than_any_flow_takes_is_refused(local: Shell) -> None:
    done = local.run("call", "shelf.add-book", "--json", "-", input=b" " * (64 * 1024 * 1024 + 1))
    assert (done.code, done.key) == (2, "LIMIT_EXCEEDED")


@pytest.mark.parametrize("field", ["tenant", "tenant_id", "principal", "roles", "user"])
def test_who_calls_is_no_argument(local: Shell, field: str) -> None:
    done = local.run("call", "shelf.add-book", "--json", orjson.dumps({"title": "x", field: "other"}).decode())
    assert (done.code, done.key) == (2, "FIELD_NOT_ALLOWED")


@pytest.mark.requirement("REP-07")
@pytest.mark.parametrize(
    ("flow", "arguments"),
    [
        ("shelf.add-book", {"title": "Dune"}),
        ("shelf.add-book", {"titel": "Dune"}),
        ("shelf.list-books", {}),
        ("record.read-facts", {}),
        ("shelf.get-book", {"id": "nowhere"}),
        ("record.get-receipt", {"position": 999}),
    ],
)
def test_json_is_the_reply_in_the_dialect_of_the_flow(
    shell: Shell, tmp_path: Path, flow: str, arguments: dict[str, Any]
) -> None:
    printed = shell.run("call", flow, "--json", orjson.dumps(arguments).decode()).json
    principal = Principal("clara", "human", frozenset({"curator"}))
    with connect(tmp_path / "other", capabilities=SHELF, principal=principal) as office:
        expected = structured(office.call(flow, arguments), office.outlines()[flow].dialect)
    assert masked(printed) == masked(orjson.loads(orjson.dumps(expected)))


def test_a_flow_speaks_its_own_dialect_also_where_it_refuses(local: Shell) -> None:
    assert local.run("call", "shelf.add-book", "--json", "{}").json["success"] is False
    assert "success" not in local.run("call", "record.get-receipt", "--json", "{}").json


def test_people_get_text_and_may_choose(local: Shell) -> None:
    assert local.run("call", "shelf.list-books", "--as-json").json["books"] == []
    as_text = local.run("call", "shelf.add-book", "--json", DUNE, "--as-text")
    assert (as_text.code, as_text.out.split()[0]) == (0, "CREATED")
    assert local.run("shelf", "list-books", "--as-json").json["books"][0]["title"] == "Dune"
    assert local.run("shelf", "list-books", "--json", "--as-text").out.split()[0] == "books:"
    refused = local.run("call", "shelf.add-book")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.split()[0] == "VALIDATION_ERROR"


def test_a_dry_run_writes_nothing(shell: Shell) -> None:
    tried = shell.run("call", "shelf.add-book", "--json", DUNE, "--dry-run")
    assert (tried.key, tried.json["would"]["mode"]) == ("VALIDATION_DONE", "direct")
    assert shell.run("shelf", "add-book", "--title", "Emma", "--dry-run", "--json").key == "VALIDATION_DONE"
    assert titles(shell) == []


def test_what_has_to_be_confirmed_is_refused_with_a_token_when_nobody_can_be_asked(shell: Shell) -> None:
    book = shell.run("call", "shelf.add-book", "--json", DUNE).json["book"]["id"]
    asked = shell.run("shelf", "remove-book", "--id", book, "--json")
    assert asked.code == 3
    assert asked.key == "CONFIRMATION_REQUIRED"
    told = asked.json["error"]["details"]
    assert "BookRemoved" in told["diff_text"]
    assert titles(shell) == ["Dune"]
    done = shell.run("shelf", "remove-book", "--id", book, "--confirm-token", told["confirm_token"], "--json")
    assert (done.code, done.key, titles(shell)) == (0, "DELETED", [])


def test_saying_yes_beforehand_confirms_in_one_go(shell: Shell) -> None:
    for way in ("command", "call"):
        book = shell.run("call", "shelf.add-book", "--json", DUNE).json["book"]["id"]
        arguments = orjson.dumps({"id": book}).decode()
        words = ["shelf", "remove-book", "--id", book] if way == "command" else ["call", "shelf.remove-book"]
        done = shell.run(*words, *(["--json"] if way == "command" else ["--json", arguments]), "--yes")
        assert (done.code, done.key) == (0, "DELETED")


def test_a_write_repeated_with_its_key_is_a_replay(shell: Shell) -> None:
    words = ("shelf", "add-book", "--title", "Dune", "--client-request-id", "request-0001", "--json")
    first, again = shell.run(*words), shell.run(*words)
    assert (again.json["idempotent_replay"], again.json["book"]) == (True, first.json["book"])


def test_people_are_told_that_an_answer_is_a_replay(local: Shell) -> None:
    words = ("shelf", "add-book", "--title", "Dune", "--client-request-id", "request-0001")
    first, again = local.run(*words), local.run(*words)
    assert (first.code, "idempotent_replay" in first.out) == (0, False)
    assert again.out.splitlines()[0].endswith("This is the answer of the first time.")
    assert "idempotent_replay: true" in again.out.splitlines()


def test_a_call_is_made_by_the_operating_systems_user_as_a_person(local: Shell) -> None:
    position = local.run("call", "shelf.add-book", "--json", DUNE).json["position"]
    receipt = local.run("record", "get-receipt", "--position", position, "--json").json["receipt"]
    assert (receipt["principal"]["type"], receipt["principal"]["roles"]) == ("human", ["curator"])
    assert receipt["surface"] == "cli"


def test_the_owner_of_the_folder_names_a_role_and_a_tenant(shell: Shell) -> None:
    proposed = shell.run("shelf", "add-book", "--title", "Dune", "--role", "agent", "--json")
    assert proposed.key == "PROPOSAL_RECORDED"
    assert shell.run("shelf", "add-book", "--title", "Dune", "--tenant", "blue", "--json").key == "CREATED"
    assert titles(shell) == []
    assert shell.run("shelf", "list-books", "--tenant", "blue", "--json").json["books"][0]["title"] == "Dune"
    assert shell.run("shelf", "list-books", "--role", "king").code == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_whoever_does_not_own_the_folder_names_no_role(local: Shell) -> None:
    assert local.run("shelf", "add-book", "--title", "Dune", "--json").key == "CREATED"
    os.chown(local.folder, 12345, 12345)
    refused = local.run("shelf", "list-books", "--role", "admin", "--json")
    assert (refused.code, refused.key) == (3, "INSUFFICIENT_SCOPE")
    assert local.run("shelf", "add-book", "--title", "Emma", "--json").key == "PROPOSAL_RECORDED"


@pytest.mark.requirement("ECO-05")
def test_read_only_refuses_every_write_whoever_calls(shell: Shell) -> None:
    book = shell.run("call", "shelf.add-book", "--json", DUNE).json["book"]["id"]
    closed = {"ENGROSS_READ_ONLY": "1"}
    for words in (
        ["shelf", "add-book", "--title", "Emma", "--role", "admin", "--json"],
        ["shelf", "remove-book", "--id", book, "--yes", "--role", "admin", "--json"],
        ["call", "record.erase", "--json", '{"aggregate": "shelf", "subject": "x"}', "--role", "admin"],
        ["token", "create", "scout", "--json"],
    ):
        refused = shell.run(*words, env=closed)
        assert (refused.code, refused.key) == (3, "READ_ONLY"), words
    assert shell.run("shelf", "list-books", "--json", env=closed).json["books"][0]["title"] == "Dune"


def test_a_new_office_is_said_to_be_new_beside_the_answer(local: Shell) -> None:
    first = local.run("shelf", "list-books", "--json")
    assert first.key == "READ_OK"
    assert str(local.folder) in first.err
    assert local.run("shelf", "list-books", "--json").err == ""


@pytest.mark.parametrize("option", ["--data", "--store", "--capability", "--role", "--tenant"])
def test_what_a_remote_office_decides_cannot_be_said_here(option: str) -> None:
    done = run("call", "shelf.list-books", "--url", "http://127.0.0.1:1", option, "x")
    assert done.code == 2


def test_an_address_where_a_folder_should_be_is_refused_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["call", "record.who-am-i", "--json", "{}"]
    for done in (run(*words, "--data", "https://x"), run(*words, env={"ENGROSS_DATA": "htp://x"})):
        assert (done.code, done.key, done.json["setting"]) == (4, "CONFIG_INVALID", "data")
        assert "--url" in done.json["hint"]
    assert run(*words, "--url", "htp://x").code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_remote_office_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    for words in (
        *(["call", "shelf.list-books", "--as-json"], ["shelf", "list-books", "--json"]),
        *(["shelf", "list-books", "--as-json"], ["flows", "--json"]),
    ):
        done = run(*words, "--url", "http://127.0.0.1:1")
        assert (done.code, done.key) == (4, "OFFICE_UNREACHABLE")
    assert run("flows", "--url", "office.example").code == 2
    assert run("flows", "--token", "x").code == 2
    assert run("flows", "--token", "").code == 2
    assert run("flows", "--url", "").code == 2


def test_the_address_that_clients_of_mcp_have_leads_to_the_office_too(served: Served) -> None:
    there = ("--url", f"{served.url}/mcp", "--token", served.owner, "--json")
    for words in (("facts",), ("shelf", "list-books")):
        assert run(*words, *there).key == "READ_OK"


def test_an_empty_token_is_none_whatever_the_environment_holds(served: Served) -> None:
    held = {"ENGROSS_TOKEN": served.owner}
    there = ("--url", served.url, "--json")
    for words in (("facts",), ("shelf", "list-books")):
        assert run(*words, *there, env=held).key == "READ_OK"
        assert run(*words, *there, "--token", "", env=held).key == "AUTH_REQUIRED"
    seen = run("doctor", *there, "--token", "", env=held)
    assert [check["code"] for check in seen.json["checks"] if check["status"] == "fail"] == ["AUTH_REQUIRED"]


UNFIT = [
    (("upload", "gone.bin"), "file"),
    (("download", "0" * 64, "nowhere/to.bin"), "target"),
    (("doc", "validate", "gone.oct.md"), "files"),
    (("doc", "diff", "gone.oct.md"), "file"),
    (("doc", "schemas", "nope"), "name"),
    (("model", "import", "gone.xml"), "file"),
    (("model", "check", "gone.xml"), "file"),
    (("memory", "ingest", "gone.txt"), "path"),
    (("memory", "export", "--format", "parquet"), "output"),
    (("facts", "--limit", "-1"), "limit"),
    (("facts", "--after", "x"), "after"),
    (("flows", "--url", "ftp://office.example"), "url"),
]


@pytest.mark.parametrize(("words", "field"), UNFIT, ids=[" ".join(words) for words, _ in UNFIT])
def test_a_value_that_is_refused_is_a_reply_that_names_its_field(
    local: Shell, words: tuple[str, ...], field: str
) -> None:
    local.run("shelf", "add-book", "--title", "Dune")
    # Which office it is about is no value of the one that lies here.
    run_here = run if "--url" in words else local.run
    done = run_here(*words, "--json")
    assert (done.code, done.json["reply"]["reply_type"], done.json["field"]) == (2, "I", field)
    in_words = run_here(*words)
    assert (in_words.code, in_words.out) == (2, "")
    assert in_words.err.split()[0] == done.key
    assert f"field: {field}" in in_words.err


@pytest.mark.parametrize("words", [("upload",), ("upload", "x", "--nmae", "y"), ("shelf", "ad-book")])
def test_a_command_line_that_cannot_be_understood_is_answered_with_its_usage(
    local: Shell, words: tuple[str, ...]
) -> None:
    done = local.run(*words, "--json")
    assert (done.code, done.out, done.err.split()[0]) == (2, "", "Usage:")
