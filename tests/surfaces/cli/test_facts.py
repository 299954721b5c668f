"""The feed of facts on a terminal and in pipes."""

from __future__ import annotations

import signal
import subprocess

import orjson
import pytest

from engross.surfaces.client import connect
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Shell


def add(shell: Shell, *titles: str) -> None:
    for title in titles:
        assert shell.run("shelf", "add-book", "--title", title, "--json").code == 0


def test_facts_are_printed_in_order_from_a_position_on(shell: Shell) -> None:
    add(shell, "Dune", "Emma", "Ulysses")
    text = shell.run("facts").out
    assert text.index("Dune") < text.index("Emma") < text.index("Ulysses")
    facts = shell.run("facts", "--json").json["facts"]
    assert [fact["data"]["payload"]["title"] for fact in facts] == ["Dune", "Emma", "Ulysses"]
    assert "Emma" in shell.run("call", "record.read-facts", "--as-text").out
    later = shell.run("facts", "--after", facts[1]["position"]).out
    assert "Ulysses" in later
    assert "Emma" not in later
    limited = shell.run("facts", "--limit", 2).out
    assert "Emma" in limited
    assert "Ulysses" not in limited
    assert shell.run("facts", "--limit", 2, "--json").json["next"] == facts[1]["position"]


def test_where_there_are_none_that_is_said(local: Shell) -> None:
    add(local, "Dune")
    last = local.run("facts", "--json").json["next"]
    assert local.run("facts", "--after", last).out == "no facts\n"
    assert local.run("facts", "--after", last, "--json").json["facts"] == []
    assert "no facts" not in local.run("facts").out


def test_more_than_a_page_is_printed_to_the_end(local: Shell) -> None:
    with connect(local.folder, capabilities=SHELF) as office:
        for number in range(150):
            assert office.shelf.import_books(text=f"Book {number}\nAnother {number}").ok
    assert local.run("facts").out.count("shelf.BookAdded") == 300


def test_a_position_or_a_limit_that_is_none_is_refused(shell: Shell) -> None:
    assert shell.run("facts", "--after", "-1").code == 2
    assert shell.run("facts", "--limit", "0").code == 2


@pytest.mark.requirement("GOV-02")
def test_following_shows_what_happens_until_interrupted(shell: Shell) -> None:
    add(shell, "Dune")
    following = shell.start("facts", "--follow", "--json", "--every", "0.05")
    try:
        assert following.stdout is not None
        first = orjson.loads(following.stdout.readline())
        assert [fact["data"]["payload"]["title"] for fact in first["facts"]] == ["Dune"]
        add(shell, "Emma")
        second = orjson.loads(following.stdout.readline())
        assert [fact["data"]["payload"]["title"] for fact in second["facts"]] == ["Emma"]
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=30)
        assert (following.returncode, "Traceback" in errors) == (130, False)
    finally:
        following.kill()
        following.communicate()


def test_a_pipe_that_breaks_is_no_news(local: Shell) -> None:
    add(local, "Dune", "Emma")
    following = local.start("facts", "--follow", "--every", "0.05")
    assert following.stdout is not None
    assert following.stderr is not None
    assert following.stdout.readline()
    following.stdout.close()
    add(local, *(f"More {number}" for number in range(3)))
    errors = following.stderr.read()
    following.stderr.close()
    following.wait(30)
    assert errors == ""
    assert following.stdin is not None
    following.stdin.close()


def test_a_closed_pipe_is_no_news_to_any_command(local: Shell) -> None:
    add(local, "Dune")
    for words in (["flows"], ["shelf", "list-books"], ["shelf", "list-books", "--json"], ["--help"]):
        command = local.start(*words) if words != ["--help"] else local.start("verify", "--help")
        assert command.stdout is not None
        command.stdout.close()
        _, errors = _ended(command)
        assert "Traceback" not in errors, words
        assert "Exception" not in errors, words


def _ended(command: subprocess.Popen[str]) -> tuple[int, str]:
    assert command.stderr is not None
    assert command.stdin is not None
    errors = command.stderr.read()
    command.stderr.close()
    command.stdin.close()
    return command.wait(30), errors
