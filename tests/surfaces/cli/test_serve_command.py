"""`engross serve`: one line starts an office for others, and says what to do next."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from json import dumps
from pathlib import Path

import httpx2
import orjson
import pytest

from engross.domains.documents.samples import NOTE as PLAN
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Shell, run, spawn, start


class Office:
    """A served office, as whoever started it sees it."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.url = next(word for line in lines for word in line.split() if word.endswith("/mcp"))[: -len("/mcp")]


def served(shell: Shell, *words: str, until: str = "engross proposals list --url") -> AbstractContextManager[Office]:
    return office_of(start("serve", *shell.there, "--port", "0", *words), until)


@contextmanager
def office_of(process: subprocess.Popen[str], until: str = "engross proposals list --url") -> Iterator[Office]:
    try:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or until not in lines[-1]:
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            lines.append(line)
        yield Office(lines)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, "Traceback" in errors) == (0, False)
    finally:
        process.kill()
        process.communicate()


def token(shell: Shell, name: str = "owner") -> str:
    return (shell.folder / "tokens" / f"{name}.token").read_text().strip()


@pytest.mark.requirement("ECO-01")
def test_one_line_serves_an_office_and_says_how_to_reach_it(shell: Shell) -> None:
    with served(shell) as office:
        assert office.lines[0] == f"made a new office in {shell.folder}\n"
        said = "".join(office.lines)
        assert str(shell.folder / "tokens" / "agent.token") in said
        assert f"engross {office.url}/mcp --header" in said
        assert token(shell) not in said
        far = ("--url", office.url, "--token", token(shell))
        made = run("shelf", "add-book", "--title", "Dune", *far, "--json")
        assert (made.code, made.key) == (0, "CREATED")
        assert run("facts", *far).out.count("BookAdded") == 1
        assert run(
            "shelf", "add-book", "--title", "Emma", *far[:2], "--token", token(shell, "agent"), "--json"
        ).key == ("PROPOSAL_RECORDED")
        assert run("shelf", "list-books", "--url", office.url, "--json").key == "AUTH_REQUIRED"


@pytest.mark.parametrize("said_to", ["nobody", "a full disk"])
def test_an_office_is_served_also_where_nobody_can_be_told_so(local: Shell, said_to: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    if said_to == "a full disk":
        os.dup2(os.open("/dev/full", os.O_WRONLY), writing)
    process = start("serve", *local.there, "--port", "0", stdout=writing)
    os.close(writing)
    try:
        assert process.stderr is not None
        told = orjson.loads(process.stderr.readline())
        assert orjson.loads(process.stderr.readline())["level"] == "warning"
        assert run("shelf", "list-books", "--url", told["url"], "--token", token(local), "--json").code == 0
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert [orjson.loads(line)["level"] for line in errors.splitlines()] == ["info"] * 3
    finally:
        process.kill()
        process.communicate()


def test_an_office_that_was_there_before_is_not_said_to_be_new(shell: Shell) -> None:
    shell.run("record", "who-am-i")
    with served(shell) as office:
        assert office.lines[0] == f"the office in {shell.folder} is open\n"


@pytest.mark.requirement("REP-07")
def test_the_command_line_speaks_to_a_served_office_as_to_its_own(shell: Shell) -> None:
    with served(shell) as office:
        far = ("--url", office.url, "--token", token(shell))
        assert (
            run("flows", "shelf", "--json", *far[:2]).json["flows"]
            == shell.run("flows", "shelf", "--json").json["flows"]
        )
        proposal = run("shelf", "add-book", "--title", "Dune", "--commit-mode", "proposal", *far, "--json").json[
            "proposal"
        ]
        assert proposal["id"] in run("proposals", "list", *far).out
        assert run("proposals", "show", proposal["id"], *far).code == 0
        assert run("proposals", "approve", proposal["id"], "--yes", *far, "--json").key == "SELF_APPROVAL"
        assert run("proposals", "withdraw-proposal", "--proposal-id", proposal["id"], *far, "--json").code == 0
        assert run("shelf", "add-book", "--titel", "x", *far).code == 2
        assert run("shelf", "add-book", *far, "--json").key == "VALIDATION_ERROR"


def test_the_command_line_and_a_server_share_a_folder(shell: Shell) -> None:
    with served(shell) as office:
        far = ("--url", office.url, "--token", token(shell))
        for number in range(5):
            assert shell.run("shelf", "add-book", "--title", f"Here {number}", "--json").code == 0
            assert run("shelf", "add-book", "--title", f"There {number}", *far, "--json").code == 0
        assert len(shell.run("shelf", "list-books", "--json").json["books"]) == 10
        assert len(run("shelf", "list-books", *far, "--json").json["books"]) == 10
    verified = run("verify", *shell.here, "--json")
    assert (verified.code, verified.json["verified"]) == (0, True)


@pytest.mark.requirement("ECO-05")
def test_read_only_refuses_the_owner_too(local: Shell) -> None:
    assert local.run("shelf", "add-book", "--title", "Dune", "--json").code == 0
    with served(local):
        owner = token(local)
    with served(local, "--read-only") as office:
        far = ("--url", office.url, "--token", owner)
        refused = run("shelf", "add-book", "--title", "Emma", *far, "--json")
        assert (refused.code, refused.key) == (3, "READ_ONLY")
        assert len(run("shelf", "list-books", *far, "--json").json["books"]) == 1


def test_read_only_without_a_token_says_how_to_make_one_and_suggests_nothing_that_cannot_work(local: Shell) -> None:
    assert local.run("shelf", "add-book", "--title", "Dune", "--json").code == 0
    with served(local, "--read-only", until="token create") as office:
        said = "".join(office.lines)
        assert str(local.folder / "tokens") in said
        assert "claude mcp add" not in said
        words = shlex.split(office.lines[-1])[1:]
        made = run(*words, "--json")
        assert run("shelf", "list-books", "--url", office.url, "--token", made.json["text"], "--json").code == 0


def test_without_credentials_only_this_machine_is_served(local: Shell) -> None:
    with served(local, "--no-auth") as office:
        assert run("shelf", "list-books", "--url", office.url, "--json").key == "READ_OK"
        assert run("shelf", "add-book", "--title", "x", "--url", office.url, "--json").key == "PROPOSAL_RECORDED"
    done = spawn("serve", *local.there, "--no-auth", "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stderr.split()[0]) == (4, "CONFIG_INVALID")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--port", "70000"], 2),
        (["--port", "http"], 2),
        (["--unix-socket", "x.sock", "--port", "8080"], 2),
        (["--unix-socket", "x.sock", "--host", "127.0.0.1"], 2),
        (["--toolsets", "shelv", "--port", "0"], 4),
        (["--capability", "nowhere.py", "--port", "0"], 4),
        (["--host", "no such host", "--port", "0"], 4),
    ],
)
def test_what_makes_no_sense_ends_it_before_anything_is_served(tmp_path: Path, words: list[str], code: int) -> None:
    done = spawn("serve", "--data", tmp_path / "office", *words)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (code, "", False)


def test_documents_lie_in_the_folders_that_are_named(local: Shell, tmp_path: Path) -> None:
    notes, others = tmp_path / "notes", tmp_path / "others"
    for folder in (notes, others):
        folder.mkdir()
    named = ("--root", str(notes), "--root", str(others))
    process = start("serve", *local.there, "--port", "0", *named, env={"ENGROSS_DOMAINS": "documents"})
    with office_of(process) as office:
        far = ("--url", office.url, "--token", token(local))
        for folder in (notes, others):
            wish = {"target_path": str(folder / "plan.oct.md"), "content": PLAN}
            made = run("call", "documents.octave-write", "--json", dumps(wish), *far)
            assert made.code == 0, made
            assert (folder / "plan.oct.md").read_text() == PLAN


def test_a_socket_is_served_where_it_is_named(local: Shell, tmp_path: Path) -> None:
    path = tmp_path / "office.sock"
    with (
        office_of(start("serve", *local.there, "--unix-socket", path), until="a first call"),
        httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://localhost") as client,
    ):
        assert client.get("/health/ready").json()["ready"] is True
    assert not path.exists()


def test_a_port_that_is_taken_is_said_so(local: Shell) -> None:
    with served(local) as office:
        port = office.url.rpartition(":")[2]
        done = spawn("serve", "--data", local.folder, "--port", port, "--capability", SHELF)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
