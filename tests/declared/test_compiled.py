"""A document as aggregates: what was declared, nobody can tell from what was written in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engross.flows import Aggregate
from engross.office import Settings
from engross.office.capabilities import catalogue_of
from engross.replies import Failed
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES
from tests.bed.served import Served
from tests.declared.papers import written

SHELF = EXAMPLES / "04-the-whole.py"
HEAD = """\
ikanos: "1.0.0-beta5"
info: { display: "Words", description: "Words", version: "2.1.0" }
capability:
"""
FLOWS = """\
  aggregates:
    words:
      display: "Words"
      flows:
        greet:
          description: "Greet."
          semantics: { safe: true, cacheable: true }
          inputParameters:
            name: { type: string, description: "Whom", enum: [Ada, Bob] }
            often: { type: integer, description: "How often", default: 2 }
            more:
              type: object
              description: "More"
              required: false
              properties: { loud: { type: boolean, description: "Loudly" } }
            free: { type: object, description: "Anything", required: false }
            list: { type: array, description: "A list", required: false }
          outputParameters:
            greeting: { type: string, description: "What is said", value: "Hello, {{name}}" }
            times: { type: integer, value: "{{often}}" }
          examples:
            - { title: "Ada", arguments: { name: Ada } }
        shout:
          description: "Shout."
          semantics: { destructive: true }
          version: "3.0.0"
          outputParameters: { a: { type: string, value: b } }
"""


def catalogue(folder: Path, text: str, name: str = "words.yaml") -> Any:
    """The flows of an office with the shelf and this document."""
    return catalogue_of(Settings(data=folder, capabilities=(SHELF, written(folder, text, name)), domains=""))


@pytest.mark.requirement("FLOW-05")
def test_inputs_are_published_as_a_closed_schema(tmp_path: Path) -> None:
    flow = catalogue(tmp_path, HEAD + FLOWS).flow("words.greet")
    own = flow.published
    assert own["required"] == ["name"]
    assert own["additionalProperties"] is False
    fields = own["properties"]
    assert fields["name"] == {"type": "string", "description": "Whom", "enum": ["Ada", "Bob"]}
    assert fields["often"]["default"] == 2
    assert fields["more"]["additionalProperties"] is False
    assert fields["more"]["required"] == ["loud"]
    assert fields["free"]["additionalProperties"] is True
    assert fields["list"]["items"] == {}
    assert flow.output["properties"]["greeting"]["type"] == ["string", "null"]


@pytest.mark.requirement("FLOW-06")
def test_a_safe_flow_is_a_read_and_any_other_a_write_that_reaches_out(tmp_path: Path) -> None:
    found = catalogue(
        tmp_path,
        HEAD
        + FLOWS.replace(
            "outputParameters: { a: { type: string, value: b } }", "call: words.greet\n          with: { name: Ada }"
        ),
    )
    greet, shout = found.flow("words.greet"), found.flow("words.shout")
    assert (greet.kind, greet.tier, greet.semantics.cacheable) == ("read", 0, True)
    assert (shout.kind, shout.tier, shout.semantics.destructive) == ("reach", 3, True)
    assert greet.hints() == {"readOnly": True, "destructive": False}
    assert shout.hints() == {"readOnly": False, "destructive": True}


@pytest.mark.requirement("FLOW-12")
def test_a_version_names_the_state_of_the_document(tmp_path: Path) -> None:
    first = catalogue(tmp_path, HEAD + FLOWS)
    second = catalogue(tmp_path, HEAD + FLOWS.replace("Shout.", "Shout it."))
    assert first.flow("words.greet").version.startswith("2.1.0+")
    assert first.flow("words.shout").version.startswith("3.0.0+")
    assert first.flow("words.greet").version != second.flow("words.greet").version


def test_without_exposes_every_flow_is_a_tool_and_with_them_only_what_they_say(tmp_path: Path) -> None:
    assert {tool.name for tool in catalogue(tmp_path, HEAD + FLOWS).tools(["words"])} == {"greet", "shout"}
    exposes = "  exposes: [{ type: mcp, namespace: talk, tools: { say: { ref: words.greet } } }]\n"
    found = catalogue(tmp_path, HEAD + FLOWS + exposes)
    assert [tool.name for tool in found.tools(["talk"])] == ["say"]
    assert found.tools(["words"]) == []
    assert found.flow("words.shout").name == "shout"


def test_two_documents_may_use_each_other_in_the_order_they_are_named(tmp_path: Path) -> None:
    first = written(tmp_path, HEAD + FLOWS, "first.yaml")
    exposes = HEAD + "  exposes: [{ type: mcp, namespace: talk, tools: { say: { ref: words.greet } } }]\n"
    second = written(tmp_path, exposes, "second.yaml")
    found = catalogue_of(Settings(data=tmp_path, capabilities=(first, second), domains=""))
    assert found.tool("say").flow.ref == "words.greet"  # type: ignore[union-attr]


class TestFlowsOfTheOffice:
    """Built-in flows under other names, with other hints, other arguments, in steps."""

    DOCUMENT = (
        HEAD
        + """\
  aggregates:
    library:
      display: "Library"
      flows:
        count:
          description: "Whether there is any book."
          semantics: { safe: true }
          steps:
            books: { type: call, call: shelf.list-books, with: { limit: 1 } }
          mappings: [{ target: books, value: "$.books.books" }]
  exposes:
    - type: mcp
      namespace: library-mcp
      tools:
        new-book: { ref: shelf.add-book, description: "Buy a book.", hints: { destructive: true } }
        of-herbert:
          ref: shelf.list-books
          description: "The books of an author."
          hints: { readOnly: true }
          inputParameters: { limit: { type: integer, description: "How many" } }
          with: { author: "Frank Herbert", limit: limit }
    - type: rest
      namespace: library-rest
      resources:
        books:
          path: "/books"
          operations:
            all: { ref: shelf.list-books, method: GET }
            add: { ref: shelf.add-book, method: POST }
"""
    )

    def test_a_tool_stands_for_the_very_flow(self, tmp_path: Path) -> None:
        tool = catalogue(tmp_path, self.DOCUMENT).tool("new-book")
        assert tool is not None
        assert (tool.flow.ref, tool.description) == ("shelf.add-book", "Buy a book.")
        assert tool.hints["destructive"] is True

    def test_a_step_and_a_tool_call_it_with_arguments_of_their_own(self, tmp_path: Path) -> None:
        file = written(tmp_path, self.DOCUMENT, "library.yaml")
        with connect(tmp_path / "office", capabilities=[SHELF, file], domains="") as client:
            for title, author in (("Dune", "Frank Herbert"), ("Emma", "Jane Austen")):
                assert client.shelf.add_book(title=title, author=author).ok
            assert len(client.library.count().data["books"]) == 1
            found = client.call("library-mcp.of-herbert", {"limit": 5})
            assert [book["title"] for book in found.data["books"]] == ["Dune"]
            assert client.call("library-mcp.of-herbert", {"limit": "five"}).reply_type == "I"

    def test_a_route_takes_the_arguments_of_the_flow_where_they_usually_are(self, tmp_path: Path) -> None:
        file = written(tmp_path, self.DOCUMENT, "library.yaml")
        with (
            Served(tmp_path / "office", capabilities=[str(file)], domains="") as served,
            served.client(served.owner) as at,
        ):
            assert at.post("/library-rest/books", json={"title": "Dune", "author": "Frank Herbert"}).status_code == 201
            assert at.post("/library-rest/books", json={"title": "Emma"}).status_code == 201
            found = at.get("/library-rest/books", params={"author": "Frank Herbert", "limit": 3}).json()
            assert [book["title"] for book in found["books"]] == ["Dune"]
            assert at.get("/library-rest/books", params={"writer": "x"}).status_code == 400
            told = at.get("/openapi.json").json()["paths"]["/library-rest/books"]
        assert {"author", "limit"} <= {one.get("name") for one in told["get"]["parameters"]}
        assert "title" in told["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]


def test_yaml_in_the_data_folder_is_read_if_it_is_a_capability(tmp_path: Path) -> None:
    written(tmp_path, HEAD + FLOWS, "capabilities/words.yaml")
    written(tmp_path, "KEY: value\n", "capabilities/secrets.yaml")
    written(tmp_path, 'ikanos: "1.0.0-beta5"\naggregates: []\n', "capabilities/part.yml")
    found = catalogue_of(Settings(data=tmp_path, domains=""))
    assert found.find("words.greet") is not None


def test_a_document_that_is_wrong_keeps_the_office_from_opening_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        catalogue(tmp_path, HEAD + FLOWS.replace("type: integer, desc", "type: int, desc"))
    told = refused.value.data
    assert told is not None
    assert (told["rule"], told["line"], told["column"]) == ("V3", 13, 28)


def test_a_tool_that_somebody_else_has_keeps_the_office_from_opening(tmp_path: Path) -> None:
    exposes = "  exposes: [{ type: mcp, namespace: talk, tools: { addBook: { ref: words.greet } } }]\n"
    with pytest.raises(Failed):
        catalogue(tmp_path, HEAD + FLOWS + exposes)


def test_aggregates_of_python_know_nothing_of_documents() -> None:
    aggregate = Aggregate("plain", "Plain")
    assert (aggregate.routes, aggregate.skills, aggregate.listeners) == ((), (), ())
