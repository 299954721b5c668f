"""Standard streams that are closed, or take nothing: the command says so, and ends as it should."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import orjson
import pytest

from tests.bed.programs import PATIENCE_SECONDS
from tests.surfaces.cli.shell import COMMAND, Shell, plain

WHO = "call record.who-am-i"


def by_shell(local: Shell, words: str, streams: str) -> subprocess.CompletedProcess[str]:
    """A command with redirections."""
    line = f"{shlex.join(COMMAND)} {words} {shlex.join(local.here)} {streams}"
    given: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": PATIENCE_SECONDS}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], env=plain(), **given)
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.shows_text
@pytest.mark.parametrize("streams", [">&-", ">/dev/full"])
@pytest.mark.parametrize("words", ["--help", WHO, f"{WHO} --json {{}}", "flow schema", "flows --json"])
def test_output_that_nobody_takes_is_told_and_ends_with_4(local: Shell, words: str, streams: str) -> None:
    if words in ("--help", "flow schema"):
        local.here.clear()
    done = by_shell(local, words, streams)
    assert (done.returncode, done.stdout) == (4, "")
    assert "standard output cannot be written" in done.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full"])
def test_where_nobody_hears_what_else_is_said_the_command_goes_on(local: Shell, streams: str) -> None:
    done = by_shell(local, f"{WHO} --json {{}}", streams)
    assert (done.returncode, orjson.loads(done.stdout)["reply"]["reply_type"]) == (0, "S")
    assert by_shell(local, "call record.nothing", streams).returncode == 2


def test_a_reader_that_had_enough_is_no_failure_to_tell(local: Shell) -> None:
    done = by_shell(local, f"{WHO} --json {{}}", "| true")
    assert (done.returncode, done.stderr.replace(f"made a new office in {local.folder}\n", "")) == (1, "")


@pytest.mark.parametrize("words", [f"{WHO} --json - --as-text", "upload -", "doc fmt -"])
def test_input_that_cannot_be_read_is_invalid(local: Shell, words: str) -> None:
    if words == "doc fmt -":
        local.here.clear()
    done = by_shell(local, words, "<&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "MALFORMED_INPUT" in done.stderr


def test_with_all_streams_closed_a_command_ends_as_with_one(local: Shell) -> None:
    assert by_shell(local, WHO, "<&- >&- 2>&-").returncode == 4


@pytest.mark.parametrize("json", ["", "--json"])
@pytest.mark.parametrize("streams", [">&-", ">/dev/full", "| true"])
def test_a_token_whose_text_nobody_was_given_is_revoked(local: Shell, streams: str, json: str) -> None:
    done = by_shell(local, f"token create scout {json}", streams)
    (token,) = local.run("token", "list", "--json").json["tokens"]
    assert token["status"] == "revoked"
    assert (done.returncode, token["id"] in done.stderr) == (1 if "|" in streams else 4, True)


def test_a_token_that_a_file_has_is_not_lost(local: Shell) -> None:
    file = local.folder.with_name("scout.token")
    by_shell(local, f"token create scout --json --to {file}", ">/dev/full")
    (token,) = local.run("token", "list", "--json").json["tokens"]
    assert (token["status"], file.exists()) == ("active", True)
