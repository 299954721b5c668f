"""In front of a person: colours, questions and interruptions; plain text anywhere else."""

from __future__ import annotations

import re
from http.client import HTTPConnection

import pytest

from engross.visible import visible
from tests.surfaces.cli.shell import Shell, Terminal, spawn

ESCAPE = "\x1b["


def test_a_person_sees_colours_and_a_pipe_does_not(local: Shell) -> None:
    words = ("shelf", "add-book", "--title")
    person = Terminal(*words, "Dune", *local.there)
    assert person.end() == 0
    assert ESCAPE in person.shown
    assert ESCAPE not in local.spawn(*words, "Emma").stdout
    plain = Terminal(*words, "Ulysses", *local.there, env={"NO_COLOR": "1"})
    assert plain.end() == 0
    assert ESCAPE not in plain.shown
    dumb = Terminal("shelf", "list-books", *local.there, env={"TERM": "dumb"})
    assert dumb.end() == 0
    assert ESCAPE not in dumb.shown


@pytest.mark.parametrize(
    "words", [["--help"], ["flows"], ["flows", "shelf.add-book"], ["doctor"], ["proposals", "list"]]
)
def test_everything_can_be_shown_in_colour_and_plain(local: Shell, words: list[str]) -> None:
    assert local.run("shelf", "list-books").code == 0
    there = [] if words == ["--help"] else local.there
    person = Terminal(*words, *there)
    assert person.end() == 0
    assert ESCAPE in person.shown or words == ["proposals", "list"]
    assert ESCAPE not in spawn(*words, *there).stdout


def test_json_is_the_same_in_front_of_a_person(local: Shell) -> None:
    person = Terminal("shelf", "list-books", "--json", *local.there)
    assert person.end() == 0
    assert ESCAPE not in person.shown
    assert person.shown.replace("\r\n", "\n").strip().endswith("}")


def test_a_person_is_asked_to_confirm(local: Shell) -> None:
    book = local.run("shelf", "add-book", "--title", "Dune", "--json").json["book"]["id"]
    words = ("shelf", "remove-book", "--id", book, *local.there)
    refusing = Terminal(*words)
    assert "BookRemoved" in refusing.until("[y/N]")
    refusing.type("n\n")
    assert refusing.end() == 3
    said = refusing.shown.partition("[y/N]")[2]
    assert "CONFIRMATION_DECLINED" in said
    assert "BookRemoved" not in said
    assert "confirm_token" not in refusing.shown
    agreeing = Terminal(*words)
    agreeing.until("[y/N]")
    agreeing.type("y\n")
    assert agreeing.end() == 0
    assert local.run("shelf", "list-books", "--json").json["books"] == []


@pytest.mark.parametrize("words", [["shelf", "remove-book", "--id"], ["facts", "--follow"]], ids=["asked", "following"])
def test_an_interruption_ends_with_130_and_no_stack(local: Shell, words: list[str]) -> None:
    book = local.run("shelf", "add-book", "--title", "Dune", "--json").json["book"]["id"]
    person = Terminal(*words, *([book] if words[-1] == "--id" else []), *local.there)
    person.until("[y/N]" if words[-1] == "--id" else "Dune")
    person.interrupt()
    assert person.end() == 130
    assert "Traceback" not in person.shown
    assert local.run("shelf", "list-books", "--json").json["books"][0]["title"] == "Dune"


def test_no_question_is_asked_when_the_answer_is_json(local: Shell) -> None:
    book = local.run("shelf", "add-book", "--title", "Dune", "--json").json["book"]["id"]
    person = Terminal("shelf", "remove-book", "--id", book, "--json", *local.there)
    assert person.end() == 3
    assert "[y/N]" not in person.shown


def test_no_stranger_gives_orders_to_the_terminal_of_whoever_serves_an_office(local: Shell) -> None:
    person = Terminal("serve", *local.there, "--port", "0")
    port = re.search(r"http://127.0.0.1:(\d+)/mcp", person.until("engross proposals list --url"))
    assert port is not None
    for headers in ({}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        asking = HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
        asking.request("GET", "/v1/%1b]0;pwned%07%1b[2J%C2%9b31m%E2%80%AE", headers=headers)
        assert asking.getresponse().status in (401, 403, 421)
        asking.close()
    person.interrupt()
    assert person.end() == 0
    said = re.sub(r"\x1b\[[0-9;]*m|\r(?=\n)", "", person.shown)
    assert visible(said) == said
    assert said.count(r"/v1/\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e") == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb\x08c\x7f", "a\\rb\\x08c\\x7f"),
        ("\x9b2J", "\\x9b2J"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("half \ud800", "half \\ud800"),
        ("Ünïcödé 漢字 🙂", "Ünïcödé 漢字 🙂"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
