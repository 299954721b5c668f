"""The operating system's user: token files made at the first run, and the agent at standard input and output."""

from __future__ import annotations

import os
import pwd
import re
import stat
import threading
from pathlib import Path

import pytest

from engross.calls import Caller, Principal
from engross.office.door import LocalTokens
from engross.replies import Denied, Invalid, codes
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.surfaces.door.visits import ada, admit, make_token, outcome, text
from tools.docs import ROOT

USER = pwd.getpwuid(os.geteuid()).pw_name


def files(client: Client) -> LocalTokens:
    return client.office.door.local_tokens()


def read(path: Path) -> str:
    return path.read_text().strip()


def test_the_page_shows_a_caller_with_all_that_is_printed() -> None:
    page = (ROOT / "docs" / "door.md").read_text("utf-8")
    (shown,) = (line for line in page.splitlines() if line.startswith("Caller("))
    printed = repr(Caller("main", Principal("agent:root", "agent", frozenset({"agent"})), "tok_x"))
    assert re.sub(r"tok_[^']*", "tok_x", shown) == printed


def test_the_first_run_makes_a_token_for_the_owner_and_one_for_their_agent(offices: Offices, curator: Client) -> None:
    made = files(curator)
    assert made == (offices.folder / "tokens" / "owner.token", offices.folder / "tokens" / "agent.token")
    owner, agent = (admit(curator, read(path)) for path in made)
    assert owner.principal == Principal(USER, "human", frozenset({"admin", "curator"}))
    assert agent.principal == Principal(f"agent:{USER}", "agent", frozenset({"agent"}))
    assert (owner.tenant, agent.tenant) == ("main", "main")
    tokens = curator.door.list_tokens().data["tokens"]
    assert {token["id"] for token in tokens} == {owner.credential, agent.credential}


def test_token_files_are_for_their_owner_only(curator: Client) -> None:
    made = files(curator)
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o600, 0o600]
    assert stat.S_IMODE(made.owner.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in made.owner.parent.iterdir()) == ["agent.token", "owner.token"]


def test_token_files_that_are_good_are_kept(offices: Offices, curator: Client) -> None:
    first = [read(path) for path in files(curator)]
    assert [read(path) for path in files(curator)] == first
    assert [read(path) for path in files(offices.open())] == first
    assert len(curator.door.list_tokens().data["tokens"]) == 2


def test_a_revoked_token_file_is_made_anew_and_the_old_one_stays_revoked(curator: Client) -> None:
    before = [read(path) for path in files(curator)]
    ada(curator).door.revoke_token(token_id=admit(curator, before[1]).credential)
    after = [read(path) for path in files(curator)]
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert [outcome(curator, one) for one in (before[1], after[1])] == ["AUTH_INVALID", "admitted"]


@pytest.mark.parametrize(
    "damage", ["gone", "a pipe", "empty", "truncated", "words", "bytes", "mixed up", "expired", "elsewhere"]
)
def test_a_token_file_that_is_of_no_use_is_made_anew(offices: Offices, curator: Client, damage: str) -> None:
    made = files(curator)
    before = read(made.agent)
    short_lived = text(ada(curator), make_token(ada(curator), f"agent:{USER}", expires_in_days=1))
    there = ada(curator, tenant="there")
    contents = {
        "empty": b"",
        "truncated": before[:-3].encode(),
        "words": b"let me in\n",
        "bytes": bytes(range(256)),
        "mixed up": made.owner.read_bytes(),
        "expired": short_lived.encode(),
        "elsewhere": text(there, make_token(there)).encode(),
    }
    if damage in contents:
        made.agent.write_bytes(contents[damage])
    else:
        made.agent.unlink()
    if damage == "a pipe":
        os.mkfifo(made.agent, 0o600)
    offices.clock.pass_(days=2)
    again = files(curator)
    caller = admit(curator, read(again.agent))
    assert (caller.principal.type, caller.tenant) == ("agent", "main")
    assert read(again.agent) not in (before, contents.get(damage))
    assert stat.S_IMODE(again.agent.stat().st_mode) == 0o600


def test_a_token_file_that_others_could_read_is_not_used_again(curator: Client) -> None:
    made = files(curator)
    before = read(made.owner)
    made.owner.chmod(0o644)
    assert read(files(curator).owner) != before
    assert stat.S_IMODE(made.owner.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_a_token_file_is_not_followed(curator: Client, tmp_path: Path) -> None:
    made = files(curator)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(read(made.agent))
    elsewhere.chmod(0o600)
    made.agent.unlink()
    made.agent.symlink_to(elsewhere)
    again = files(curator)
    assert not again.agent.is_symlink()
    assert read(again.agent) != elsewhere.read_text()


def test_of_many_who_start_at_once_all_find_the_same_files(offices: Offices) -> None:
    clients = [offices.open() for _ in range(4)]
    seen: list[tuple[str, str]] = []

    def start(client: Client) -> None:
        made = files(client)
        seen.append((read(made.owner), read(made.agent)))

    threads = [threading.Thread(target=start, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert len(clients[0].door.list_tokens().data["tokens"]) == 2


def test_a_read_only_office_makes_no_token_files_but_keeps_those_there_are(offices: Offices) -> None:
    closed = offices.open(read_only=True)
    with pytest.raises(Denied) as refused:
        files(closed)
    assert refused.value.code == codes.READ_ONLY
    before = [read(path) for path in files(offices.open())]
    assert [read(path) for path in files(closed)] == before


def test_standard_input_and_output_belong_to_the_users_agent(curator: Client) -> None:
    caller = curator.office.door.stdio_caller("agent")
    assert caller == Caller("main", Principal(f"agent:{USER}", "agent", frozenset({"agent"})), "stdio")
    assert caller.principal == admit(curator, read(files(curator).agent)).principal


@pytest.mark.parametrize("role", ["viewer", "contributor", "curator", "admin"])
def test_the_owner_may_name_another_role_and_it_is_an_agent_all_the_same(curator: Client, role: str) -> None:
    principal = curator.office.door.stdio_caller(role).principal
    assert (principal.type, principal.roles) == ("agent", frozenset({role}))


@pytest.mark.parametrize("role", ["owner", "", "Admin", "admin curator"])
def test_a_role_that_is_none_is_invalid(curator: Client, role: str) -> None:
    with pytest.raises(Invalid) as refused:
        curator.office.door.stdio_caller(role)
    assert refused.value.code == codes.VALIDATION_ERROR


@pytest.fixture
def others_folder(tmp_path: Path) -> Path:
    """A folder that somebody else owns, whoever runs the tests."""
    if os.geteuid() != 0:
        return Path("/")
    os.chown(tmp_path, 12_345, 12_345)
    return tmp_path


def test_who_does_not_own_the_folder_is_an_agent_and_nothing_else_not_even_as_root(
    curator: Client, others_folder: Path
) -> None:
    door = curator.office.door
    assert door.stdio_caller("agent", others_folder).principal.roles == {"agent"}
    for role in ("viewer", "contributor", "curator", "admin"):
        with pytest.raises(Denied) as refused:
            door.stdio_caller(role, others_folder)
        assert refused.value.code == codes.INSUFFICIENT_SCOPE


@pytest.mark.requirement("ARCH-15")
def test_the_environment_does_not_say_who_the_user_is(curator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    assert curator.office.door.stdio_caller("agent").principal.id == f"agent:{USER}"
    assert admit(curator, read(files(curator).owner)).principal.id == USER
