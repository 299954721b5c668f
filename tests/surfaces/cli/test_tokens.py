"""Tokens from a shell: made where the office is, shown once, revoked at once."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engross.surfaces.client import connect
from tests.bed.served import Served
from tests.bed.small_disk import BALLAST, Disk, SmallDisk
from tests.surfaces.cli.shell import Shell, run


def test_a_token_is_printed_alone_and_what_is_known_about_it_beside_it(shell: Shell) -> None:
    made = shell.run("token", "create", "scout", "--note", "night shift", "--expires-in-days", 3)
    assert made.code == 0
    (text,) = made.out.split()
    assert text.startswith("egr_")
    assert text not in made.err
    listed = shell.run("token", "list", "--json").json["tokens"]
    assert [(one["principal"], one["type"], one["roles"], one["note"]) for one in listed] == [
        ("scout", "agent", ["agent"], "night shift")
    ]
    assert listed[0]["expires_at"] is not None
    shown = shell.run("token", "list").out
    assert "scout" in shown
    assert text not in shown + shell.run("token", "list", "--json").out + shell.run("facts").out


def test_json_holds_the_text_unless_it_goes_to_a_file(shell: Shell, tmp_path: Path) -> None:
    assert shell.run("token", "create", "scout", "--json").json["text"].startswith("egr_")
    file = tmp_path / "scout.token"
    made = shell.run("token", "create", "scout", "--json", "--to", file)
    assert "text" not in made.json
    assert file.read_text().startswith("egr_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert shell.run("token", "create", "scout", "--to", file).code == 2
    assert len(shell.run("token", "list", "--json").json["tokens"]) == 2


@pytest.mark.parametrize("place", ["nowhere/scout.token", "taken", "taken/scout.token", "leading-nowhere"])
def test_where_no_file_can_be_no_token_is_made(shell: Shell, tmp_path: Path, place: str) -> None:
    (tmp_path / "taken").touch()
    (tmp_path / "leading-nowhere").symlink_to(tmp_path / "missing")
    refused = shell.run("token", "create", "scout", "--to", tmp_path / place, "--json")
    assert (refused.code, refused.key, refused.json["field"]) == (2, "VALIDATION_ERROR", "to")
    assert shell.run("token", "list", "--json").key == "RECORD_NOT_FOUND"
    assert not (tmp_path / "missing").exists()


def test_a_token_that_is_not_made_leaves_no_file(shell: Shell, tmp_path: Path) -> None:
    assert shell.run("token", "create", "scout", "--roles", "king", "--to", tmp_path / "scout.token").code == 2
    assert shell.run("token", "create", "scout", "--role", "curator", "--to", tmp_path / "scout.token").code == 3
    assert not (tmp_path / "scout.token").exists()


def create_to_a_full_disk(disk: Disk, office: Path) -> tuple[int, dict[str, Any], list[str], list[str]]:
    shell = Shell(office)
    disk.fill()
    failed = shell.run("token", "create", "scout", "--to", disk.folder / "scout.token", "--json")
    statuses = [one["status"] for one in shell.run("token", "list", "--json").json["tokens"]]
    return failed.code, failed.json, statuses, [path.name for path in disk.folder.iterdir()]


def test_a_token_that_cannot_be_written_down_is_revoked(small_disk: SmallDisk, tmp_path: Path) -> None:
    code, answer, statuses, left = small_disk.run(1, create_to_a_full_disk, tmp_path / "office")
    assert (code, answer["reply"]["message_key"], answer["revoked"]) == (4, "E_WRITE", True)
    assert (statuses, left) == (["revoked"], [BALLAST])


def test_a_person_may_have_roles_and_scopes(shell: Shell) -> None:
    words = ("--type", "human", "--roles", "curator", "--roles", "viewer", "--scopes", "blue", "--json")
    token = shell.run("token", "create", "clara", *words).json["token"]
    assert (token["type"], token["roles"], token["scopes"]) == ("human", ["curator", "viewer"], ["blue"])


@pytest.mark.parametrize("words", [["--type", "robot"], ["--type", "human"], ["--roles", "king"]])
def test_what_the_office_does_not_know_is_invalid(shell: Shell, words: list[str]) -> None:
    refused = shell.run("token", "create", "clara", *words, "--json")
    assert (refused.code, refused.key) == (2, "VALIDATION_ERROR")


def test_who_names_no_role_or_several_in_one_word_hears_how_they_are_named(shell: Shell) -> None:
    nameless = shell.run("token", "create", "vera", "--type", "human", "--json")
    assert "curator" in nameless.json["suggestions"]["allowed_values"]
    assert "--roles curator" in nameless.json["hint"]
    together = shell.run("token", "create", "vera", "--type", "human", "--roles", "curator,admin")
    assert (together.code, "--roles curator --roles admin" in together.err) == (2, True)
    assert "hint" not in shell.run("token", "create", "vera", "--roles", "king", "--json").json
    assert "hint" not in shell.run("token", "create", "scout", "--expires-in-days", "-3", "--json").json


def test_who_is_no_admin_makes_no_tokens(shell: Shell) -> None:
    refused = shell.run("token", "create", "scout", "--role", "curator", "--json")
    assert (refused.code, refused.json["reply"]["reply_type"]) == (3, "D")
    assert "--roles" in refused.json["hint"]
    meant = shell.run("token", "create", "scout", "--role", "curator", "--roles", "viewer", "--json")
    assert meant.code == 3
    assert "--roles" not in meant.json["hint"]
    assert shell.run("token", "list", "--role", "curator", "--json").code == 0


@pytest.mark.shows_text
def test_a_token_is_not_made_from_far_away(served: Served) -> None:
    for far in (["--url", served.url, "--token", served.owner], ["--url", served.url], ["--token", served.owner]):
        refused = run("token", "create", "scout", *far)
        assert (refused.code, refused.out, "folder" in refused.err) == (2, "", True)
    assert run("token", "list", "--url", served.url, "--token", served.owner, "--json").key == "READ_OK"


def test_only_commands_that_reach_an_office_elsewhere_offer_to() -> None:
    offered = {command: run("token", command, "--help").out for command in ("create", "list", "revoke")}
    assert {command for command, shown in offered.items() if "--url" in shown or "--token " in shown} == {
        "list",
        "revoke",
    }
    assert "--data" in offered["create"]


def test_a_token_that_no_header_can_hold_is_refused(served: Served) -> None:
    refused = run("call", "shelf.list-books", "--json", "{}", "--url", served.url, "--token", "é")
    assert (refused.code, refused.key) == (2, "AUTH_INVALID")


@pytest.mark.requirement("GOV-04")
def test_a_token_lets_in_until_it_is_revoked_by_another_process(serving: Callable[..., Served]) -> None:
    served = serving()
    shell = Shell(served.folder, served.store)
    made = shell.run("token", "create", "clara", "--type", "human", "--roles", "curator", "--json").json
    with connect(served.url, token=made["text"]) as clara:
        assert clara.shelf.list_books().ok
        revoked = shell.run("token", "revoke", made["token"]["id"], "--json")
        assert (revoked.code, revoked.key) == (0, "UPDATED")
        assert clara.shelf.list_books().message_key == "AUTH_INVALID"
    assert shell.run("token", "revoke", made["token"]["id"], "--json").key == "NO_EFFECT"
    statuses = {one["id"]: one["status"] for one in shell.run("token", "list", "--json").json["tokens"]}
    assert statuses[made["token"]["id"]] == "revoked"


def test_revoking_names_one_token(shell: Shell) -> None:
    assert shell.run("token", "revoke", "--json").code == 2
    assert shell.run("token", "revoke", "tok_nowhere", "--json").key == "RECORD_NOT_FOUND"
    assert shell.run("token", "revoke", "tok_x", "--jti", "y", "--json").code == 2
