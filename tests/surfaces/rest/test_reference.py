"""The page `/docs`: what the document says about an operation, a person finds on it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from html import unescape
from typing import Annotated, Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Reader
from engross.office import Office, Settings, own_refusals
from engross.surfaces.desk import Desk
from engross.surfaces.rest.openapi import openapi_document
from engross.surfaces.rest.reference import docs_page
from tests.bed.offices import shelf
from tests.bed.served import Served
from tests.surfaces.rest.odds import odds

yard = Aggregate("yard", "A yard")


class Part(TypedDict):
    """A part."""

    name: Annotated[str, Described("Its `name`.", minLength=3, maxLength=3)]


class Measured(TypedDict):
    """A field for each kind of bound."""

    text: Annotated[str, Described("A text.", minLength=2, maxLength=7)]
    code: NotRequired[Annotated[str, Described("A code.", pattern="^<a>$", maxLength=1)]]
    least: NotRequired[Annotated[int, Described("A number.", minimum=0)]]
    most: NotRequired[Annotated[float, Described("A number.", maximum=9, default=4)]]
    words: NotRequired[Annotated[list[str], Described("Words.", minItems=1)]]
    parts: NotRequired[Annotated[list[Part], Described("Parts.", maxItems=5)]]
    kind: NotRequired[Annotated[Literal["red", "green"], Described("A kind.")]]
    ticked: NotRequired[Annotated[Literal["a`b", "<x>"], Described("An odd `kind.\n\nWith `its` story.")]]
    quoted: NotRequired[Annotated[str, Described("A pattern.", pattern="^`+$")]]
    open: NotRequired[Annotated[dict[str, Any], Described("Names.", properties={"given": True, "taken": False})]]
    any: NotRequired[Annotated[list[Any], Described("Things.", items=True)]]
    none: NotRequired[Annotated[list[Any], Described("No things.", items=False)]]


class Found(TypedDict):
    """What comes back."""

    size: Annotated[int, Described("How large it is.", minimum=1)]


@yard.read
def measure(reader: Reader, arguments: Measured) -> Found:
    """Measure `text` by one ` and another.

    The second paragraph.
    """
    return {"size": 1}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    office = Office(Settings(domains="", data=tmp_path_factory.mktemp("reference")), [shelf(), odds, yard])
    yield Desk(office)
    office.close()


@pytest.fixture(scope="module")
def html(desk: Desk) -> str:
    return docs_page(openapi_document(desk, "https://office.example/")).decode()


def section(html: str, operation: str) -> str:
    return html.partition(f'<details id="{operation}">')[2].partition("</details>")[0]


def words(html: str) -> str:
    """What of it is to be read."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_fields_are_told_with_their_bounds(html: str) -> None:
    assert "title needed text, 1 to 200 characters Its title." in words(section(html, "addBook"))
    told = words(section(html, "measure"))
    for field in (
        "text needed text, 2 to 7 characters",
        "code text, at most 1 character, like ^<a>$",
        "least whole number, at least 0",
        "most number, at most 9, by default 4",
        "words list of text, at least 1 item",
        "parts list of object, at most 5 items",
        "parts[].name needed text, 3 characters Its name .",
        "kind red or green",
        "ticked a`b or <x>",
        "quoted text, like ^`+$",
        "open object",
        "open.given anything",
        "open.taken nothing",
        "any list Things",
        "none list of nothing",
    ):
        assert field in told


def test_refusals_are_told_with_their_status_and_a_link_to_what_they_mean(desk: Desk, html: str) -> None:
    for flow in desk.flows:
        tools = [tool.name for tool in desk.catalogue.tools() if tool.flow is flow]
        told = section(html, tools[0] if tools else flow.ref)
        for entry in own_refusals(flow):
            row = f'<td>{entry.http}</td><td><a href="problems/{entry.code}"><code>{entry.key}</code></a>'
            assert row in told, flow
    assert "409 DUPLICATE_NAME" in words(section(html, "changeBook"))


def test_answers_are_told_with_their_statuses_and_their_fields(html: str) -> None:
    told = words(section(html, "measure"))
    assert "200 Here it is." in told
    assert "size whole number, at least 1 How large it is." in told
    assert "202 Kept as a proposal" in words(section(html, "addBook"))
    assert "in the shape of its own answers" in words(section(html, "validate"))


def test_the_lines_begin_with_the_address_of_the_office_where_that_is_known(desk: Desk, html: str) -> None:
    assert "<pre>OFFICE=https://office.example\n" in html
    assert "<pre>OFFICE=http://127.0.0.1:8080\n" in docs_page(openapi_document(desk)).decode()


def test_what_a_description_marks_as_code_is_shown_as_code(html: str) -> None:
    told = section(html, "measure")
    assert "<p>Measure <code>text</code> by one ` and another.</p><p>The second paragraph.</p>" in told


def test_paragraphs_in_a_table_stay_in_their_cell(html: str) -> None:
    assert "<td>An odd `kind.<br>With <code>its</code> story.</td>" in section(html, "measure")
    assert not [cell for cell in re.findall(r"<td>.*?</td>", html, re.DOTALL) if "<p>" in cell or "</p>" in cell]


def test_values_are_code_whatever_is_in_them(html: str) -> None:
    told = section(html, "measure")
    assert "<td><code>a`b</code> or <code>&lt;x&gt;</code></td>" in told
    assert "<td>text, like <code>^`+$</code></td>" in told


def test_what_many_operations_take_is_told_once_and_linked(html: str) -> None:
    for target in set(re.findall(r'href="#([^"]+)"', html)):
        assert f'id="{target}"' in html
    assert words(html).count("W3C trace context: the call joins this trace.") == 1
    assert ">Idempotency-Key</a>" in section(html, "addBook")


def test_what_only_an_answer_says_is_to_be_put_in_by_hand(html: str) -> None:
    told = words(section(html, "changeBook"))
    assert "In the place of $0.book.id goes book.id of the answer to call 1." in told


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl"))), reason="the page uses bash and curl")
def test_the_examples_are_lines_that_can_be_pasted(serving: Callable[..., Served]) -> None:
    served = serving()
    page = subprocess.run(["curl", "-s", f"{served.url}/docs"], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"<pre>(curl .*?)</pre>", section(page, "addBook"), re.DOTALL)
    assert len(lines) == 2
    keys = [outcome["message_key"] for line in lines for outcome in pasted(served, line)]
    assert keys == ["CREATED", "DUPLICATE_NAME", "DUPLICATE_NAME"]


def pasted(served: Served, lines: str) -> list[Any]:
    """What the Replies say that these lines print, one after the other."""
    shell = ["bash", "-c", f"OFFICE={served.url} TOKEN={served.owner}\n{unescape(lines)}"]
    printed = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    found, decoder = [], json.JSONDecoder()
    while printed:
        answer, end = decoder.raw_decode(printed)
        found.append(answer["reply"])
        printed = printed[end:].lstrip()
    return found
