"""A declared flow over every surface: what a document exposes is what callers get."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import httpx2
import pytest

from engross.flows import Semantics
from engross.office import Office, Settings
from engross.office.capabilities import open_office
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES
from tests.bed.served import Served
from tests.declared.papers import WORDS, written
from tests.declared.upstream import Upstream
from tests.declared.warehouse import SECRET, Mcp, furnished, stocked
from tests.surfaces.cli.shell import Shell
from tests.surfaces.rest.house import serving

SHELF = EXAMPLES / "04-the-whole.py"
REHEARSED = """\
  exposes:
    - type: rest
      namespace: words-rest
      resources:
        greeting:
          path: "/greeting"
          operations:
            greet: { ref: words.greet, method: GET }
"""


@pytest.fixture(scope="module")
def erp() -> Iterator[Upstream]:
    """The system that the flows call."""
    with Upstream(stocked) as running:
        yield running


@pytest.fixture(scope="module")
def paper(erp: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document."""
    return furnished(tmp_path_factory.mktemp("papers"), erp.url)


@pytest.fixture(scope="module")
def served(paper: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An office that serves it."""
    folder = tmp_path_factory.mktemp("warehouse") / "office"
    with Served(folder, capabilities=[str(paper)], private_hosts="127.0.0.1") as running:
        yield running


@pytest.fixture(scope="module")
def mcp(served: Served) -> Iterator[Mcp]:
    """An agent at the office."""
    agent = Mcp(served, served.agent)
    yield agent
    agent.close()


@pytest.fixture(scope="module")
def rest(served: Served) -> Iterator[httpx2.Client]:
    """A person at the office."""
    with served.client(served.owner) as client:
        yield client


class TestTools:
    """Over MCP."""

    @pytest.mark.requirement("FLOW-08")
    def test_a_tool_inherits_what_it_does_not_say(self, mcp: Mcp) -> None:
        tool = mcp.tools()["get-item"]
        assert tool["description"] == "Read one article."
        assert tool["inputSchema"]["required"] == ["sku"]
        assert list(tool["inputSchema"]["properties"]) == ["sku", "lang"]
        assert set(tool["outputSchema"]["properties"]) >= {"sku", "price", "lang"}

    @pytest.mark.requirement("FLOW-06", "FLOW-07")
    def test_hints_follow_from_semantics_and_what_a_tool_says_wins(self, mcp: Mcp) -> None:
        tools = mcp.tools()
        safe = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
        assert tools["get-item"]["annotations"] == safe
        assert tools["look-up-open"]["annotations"] == {**safe, "openWorldHint": True}
        assert tools["add-item"]["annotations"] == {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
        }
        assert tools["price-tag"]["annotations"] == {}
        assert tools["greet"]["annotations"] == {"readOnlyHint": True}

    @pytest.mark.requirement("FLOW-08")
    def test_what_a_tool_says_itself_wins(self, mcp: Mcp) -> None:
        tool = mcp.tools()["look-up-open"]
        assert (tool["title"], tool["description"]) == ("Look up", "Look an article up, wherever it is.")

    @pytest.mark.requirement("FLOW-08")
    def test_tools_of_one_flow_have_headings_that_differ(self, mcp: Mcp) -> None:
        tools = mcp.tools()
        assert (tools["get-item"]["title"], tools["price-tag"]["title"]) == ("Get item", "Price tag")

    def test_a_flow_that_asks_others_may_answer_otherwise(self, mcp: Mcp) -> None:
        assert mcp.call("describe_flow", flow="get-item")["deterministic"] is False
        assert mcp.call("describe_flow", flow="greet")["deterministic"] is True

    @pytest.mark.requirement("FLOW-05", "FLOW-03")
    def test_a_call_is_answered(self, mcp: Mcp, erp: Upstream) -> None:
        answer = mcp.call("get-item", sku="A 1")
        assert {name: answer[name] for name in ("sku", "price", "lang")} == {"sku": "A 1", "price": 9.5, "lang": "en"}
        assert erp.last.path == "/v2/items/A%201"
        assert mcp.call("get-item", sku="A", lang="fr")["lang"] == "fr"
        assert erp.last.path == "/v2/items/A?lang=fr"

    def test_an_answer_that_is_no_object_is_called_result(self, mcp: Mcp) -> None:
        assert mcp.tools()["price-tag"]["outputSchema"]["properties"]["result"]["type"] == ["number", "null"]

    def test_inputs_are_checked_before_anybody_is_called(self, mcp: Mcp, erp: Upstream) -> None:
        before = len(erp.asked)
        for wrong in ({}, {"sku": 7}, {"sku": "a"}, {"sku": "A", "other": 1}):
            assert mcp.call("get-item", **wrong)["reply"]["reply_type"] == "I"
        assert len(erp.asked) == before

    def test_a_refusal_of_the_other_system_is_no_success(self, mcp: Mcp) -> None:
        answer = mcp.call("get-item", sku="ZZ")
        assert answer["reply"]["reply_type"] == "I"
        assert answer["upstream_status"] == 404

    @pytest.mark.requirement("FLOW-08")
    def test_a_tool_may_have_inputs_of_its_own_and_give_the_flow_others(self, mcp: Mcp, erp: Upstream) -> None:
        tool = mcp.tools()["get-french"]
        assert list(tool["inputSchema"]["properties"]) == ["number"]
        assert tool["description"] == "Read one article."
        assert mcp.call("get-french", number="A")["lang"] == "fr"
        assert erp.last.path == "/v2/items/A?lang=fr"

    def test_a_flow_written_inside_a_tool_is_a_flow(self, mcp: Mcp, served: Served) -> None:
        assert mcp.call("ping")["pong"] is True
        assert served.call("stock-mcp.ping").json()["pong"] is True

    def test_a_built_in_flow_is_offered_under_another_name_with_other_hints(self, mcp: Mcp) -> None:
        tool = mcp.tools()["all-books"]
        assert tool["description"] == "Every book."
        assert tool["annotations"]["openWorldHint"] is True
        assert tool["annotations"]["readOnlyHint"] is True
        assert mcp.call("all-books")["books"] == []

    @pytest.mark.requirement("FLOW-13")
    def test_an_agents_call_of_a_flow_that_is_not_safe_becomes_a_proposal(self, mcp: Mcp, erp: Upstream) -> None:
        before = len(erp.asked)
        answer = mcp.call("add-item", sku="A", client_request_id="agent-adds-one")
        assert (answer["reply"]["reply_type"], answer["status"]) == ("S", "proposed")
        again = mcp.call("add-item", sku="A", client_request_id="agent-adds-one")
        assert again["proposal"]["id"] == answer["proposal"]["id"]
        assert len(erp.asked) == before

    def test_the_toolset_is_called_as_the_exposure(self, mcp: Mcp) -> None:
        instructions = mcp.result("server/discover")["instructions"]
        assert "stock-mcp (Articles on stock" in instructions


class TestResourcesAndPrompts:
    """Over MCP too."""

    def test_a_resource_is_what_a_flow_answers(self, mcp: Mcp) -> None:
        listed = mcp.result("resources/templates/list")["resourceTemplates"]
        assert "stock://items/{sku}" in [one["uriTemplate"] for one in listed]
        (content,) = mcp.result("resources/read", "stock://items/A%201", uri="stock://items/A%201")["contents"]
        assert json.loads(content["text"])["id"] == "A 1"

    def test_a_folder_is_a_resource_for_each_file(self, mcp: Mcp) -> None:
        listed = {one["uri"] for one in mcp.result("resources/list")["resources"]}
        assert {"stock://notes/left.txt", "stock://notes/more/right.txt"} <= listed
        (content,) = mcp.result("resources/read", "stock://notes/left.txt", uri="stock://notes/left.txt")["contents"]
        assert content["text"] == "Count from left to right."

    def test_a_prompt_has_places_for_its_arguments_alone(self, mcp: Mcp) -> None:
        listed = {one["name"]: one for one in mcp.result("prompts/list")["prompts"]}
        assert [(one["name"], one["required"]) for one in listed["count"]["arguments"]] == [
            ("shelf", True),
            ("style", False),
        ]
        (message,) = mcp.result("prompts/get", "count", name="count", arguments={"shelf": "A {{style}}"})["messages"]
        assert message["content"]["text"] == 'Count A {{style}} as {{style}}: {"json": {}}'


@pytest.mark.requirement("FLOW-09")
class TestRest:
    """At addresses of their own."""

    def test_a_path_is_mounted_below_its_namespace(self, rest: httpx2.Client, erp: Upstream) -> None:
        answer = rest.get("/stock-rest/items/A%201", params={"lang": "fr"})
        assert answer.status_code == 200
        told = answer.json()
        assert (told["sku"], told["price"], told["lang"]) == ("A 1", 9.5, "fr")
        assert erp.last.path == "/v2/items/A%201?lang=fr"

    def test_a_slash_in_a_value_stays_in_its_value(self, rest: httpx2.Client, erp: Upstream) -> None:
        assert rest.get("/stock-rest/items/A%2FB").json()["sku"] == "A/B"
        assert erp.last.path == "/v2/items/A%2FB"
        assert rest.get("/stock-rest/items/A%2F..%2FB").status_code == 400
        assert erp.last.path == "/v2/items/A%2FB"

    def test_a_failure_has_its_status(self, rest: httpx2.Client) -> None:
        assert rest.get("/stock-rest/items/ZZ").status_code == 404
        assert rest.get("/stock-rest/items/a").status_code == 400
        assert rest.get("/stock-rest/items/A", params={"other": 1}).status_code == 400

    def test_another_method_is_answered_with_those_that_are_allowed(self, rest: httpx2.Client) -> None:
        answer = rest.post("/stock-rest/items/A", json={})
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
        assert rest.options("/stock-rest/items").headers["allow"] == "OPTIONS, POST"
        assert rest.head("/stock-rest/items/A").status_code == 200

    def test_nothing_is_found_where_nothing_is_exposed(self, rest: httpx2.Client) -> None:
        for path in ("/stock-rest", "/stock-rest/other", "/stock-rest/items/A/B", "/nowhere/items/A"):
            assert rest.get(path).status_code == 404

    def test_nobody_gets_in_without_a_credential(self, served: Served) -> None:
        with served.client() as anybody:
            for path in ("/stock-rest/items/A", "/skills", "/stock-skills/skills"):
                assert anybody.get(path).status_code == 401

    def test_a_body_holds_the_inputs_of_a_write(self, rest: httpx2.Client, erp: Upstream) -> None:
        answer = rest.post("/stock-rest/items", json={"sku": "B", "amount": 3, "tags": ["x", "y"]})
        assert answer.status_code == 200, answer.text
        assert erp.last.json == {"sku": "B", "amount": 3, "tags": ["x", "y"]}
        assert rest.post("/stock-rest/items", json={"sku": "B", "amount": "3"}).status_code == 400
        assert rest.post("/stock-rest/items", json=[1]).status_code == 400
        assert (
            rest.post("/stock-rest/items", content=b"{", headers={"content-type": "application/json"}).status_code
            == 400
        )

    def test_a_write_is_done_once_for_each_key(self, rest: httpx2.Client, erp: Upstream) -> None:
        before = len(erp.asked)
        headers = {"Idempotency-Key": "the-same-key-twice"}
        first = rest.post("/stock-rest/items", json={"sku": "C"}, headers=headers).json()
        again = rest.post("/stock-rest/items", json={"sku": "C"}, headers=headers).json()
        assert len(erp.asked) == before + 1
        assert "idempotency-key" in erp.last.headers
        assert again["sku"] == first["sku"]
        assert rest.post("/stock-rest/items", json={"sku": "D"}, headers=headers).status_code == 422

    def test_a_dry_run_calls_nobody(self, rest: httpx2.Client, erp: Upstream) -> None:
        before = len(erp.asked)
        assert rest.post("/stock-rest/items?dry_run=true", json={"sku": "E"}).status_code == 200
        assert len(erp.asked) == before

    def test_an_input_called_dry_run_stays_the_flows_own(self, tmp_path: Path) -> None:
        paper = written(tmp_path, WORDS.replace("name", "dry_run") + REHEARSED)
        with Served(tmp_path / "office", capabilities=[str(paper)]) as served, served.client(served.owner) as client:
            told = client.get("/words-rest/greeting", params={"dry_run": "Ada"}).json()
        assert told["greeting"] == "Hello, Ada"

    def test_an_input_may_be_a_constant_a_header_a_cookie_or_lie_deep_in_the_body(
        self, rest: httpx2.Client, erp: Upstream
    ) -> None:
        assert rest.get("/stock-rest/french/A").json()["lang"] == "fr"
        assert rest.get("/stock-rest/french/A", params={"lang": "de"}).status_code == 400
        told = rest.get("/stock-rest/current", headers={"SKU": "A", "Cookie": "lang=it; x=y"}).json()
        assert (told["sku"], told["lang"]) == ("A", "it")
        answer = rest.put("/stock-rest/deep", params={"amount": 4}, json={"article": {"number": "F"}})
        assert answer.status_code == 200, answer.text
        assert (erp.last.json["sku"], erp.last.json["amount"]) == ("F", 4)

    def test_a_fixed_path_wins_over_a_variable(self, rest: httpx2.Client) -> None:
        assert rest.get("/stock-rest/items/special", params={"name": "Ada"}).json()["greeting"] == "Hello, Ada"

    def test_the_description_resolves_every_ref(self, served: Served) -> None:
        with served.client() as anybody:
            document = anybody.get("/openapi.json").json()
            page = anybody.get("/docs", headers={"accept": "text/html"}).text
        operation = document["paths"]["/stock-rest/items/{sku}"]["get"]
        assert operation["description"] == "Read one article."
        assert operation["x-engross"]["ref"] == "stock.get-item"
        told = {one["name"]: one for one in operation["parameters"] if "name" in one}
        assert (told["sku"]["in"], told["sku"]["required"]) == ("path", True)
        assert (told["lang"]["in"], told["lang"]["required"]) == ("query", False)
        body = document["paths"]["/stock-rest/items"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body["required"] == ["sku"]
        assert {"sku", "amount", "tags", "client_request_id"} <= set(body["properties"])
        assert "lang" not in {
            one.get("name") for one in document["paths"]["/stock-rest/french/{sku}"]["get"]["parameters"]
        }
        assert "/stock-rest/items/{sku}" in page


@pytest.mark.requirement("FLOW-10")
class TestPythonAndCommand:
    """For free."""

    def test_python_calls_it(self, paper: Path, tmp_path: Path) -> None:
        with connect(tmp_path / "office", capabilities=[SHELF, paper], private_hosts="127.0.0.1") as client:
            assert client.stock.greet(name="Ada").data["greeting"] == "Hello, Ada"
            assert client.call("stock.get-item", {"sku": "A"}).data["price"] == 9.5

    def test_the_command_calls_it(self, paper: Path, tmp_path: Path) -> None:
        near = {"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"}
        shell = Shell(tmp_path / "office", None, [SHELF, paper])
        done = shell.run("stock", "get-item", "--sku", "A", "--json", env=near)
        assert (done.code, done.json["price"]) == (0, 9.5)
        assert shell.run("stock", "get-item", "--sku", "ZZ", "--json", env=near).code == 2
        assert "Read one article." in shell.run("stock", "get-item", "--help").out


class TestSkills:
    """The catalogue; it never runs anything."""

    def test_skills_are_listed_with_their_tools(self, rest: httpx2.Client) -> None:
        listed = rest.get("/skills").json()
        told = {"name": "counting", "description": "Count what is there.", "license": "MIT"}
        assert listed == {"count": 1, "skills": [{**told, "tools": ["get-item", "by-rest", "how"]}]}
        assert rest.get("/stock-skills/skills").json() == listed

    def test_a_skill_tells_how_its_tools_are_called(self, rest: httpx2.Client) -> None:
        told = rest.get("/stock-skills/skills/counting").json()
        assert told["metadata"] == {"author": "Ada"}
        derived, by_rest, instructed = told["tools"]
        assert derived["invocationRef"] == {"targetNamespace": "stock-mcp", "action": "get-item", "mode": "mcp"}
        assert by_rest["invocationRef"]["mode"] == "rest"
        assert (instructed["type"], instructed["instruction"]) == ("instruction", "how.md")

    def test_its_files_can_be_read_and_downloaded(self, rest: httpx2.Client) -> None:
        listed = rest.get("/skills/counting/contents").json()["files"]
        assert [one["path"] for one in listed] == ["bad.html", "how.md"]
        assert rest.get("/skills/counting/contents/how.md").text == "# How to count\n"
        page = rest.get("/skills/counting/contents/bad.html")
        assert "sandbox" in page.headers["content-security-policy"]
        archive = rest.get("/skills/counting/download")
        assert archive.headers["content-type"] == "application/zip"
        with ZipFile(io.BytesIO(archive.content)) as packed:
            assert packed.namelist() == ["bad.html", "how.md"]

    def test_what_is_not_there_is_not_found_and_what_leads_out_is_refused(self, rest: httpx2.Client) -> None:
        for path in ("/skills/other", "/skills/counting/contents/gone.md", "/skills/counting/else"):
            assert rest.get(path).status_code == 404
        for path in ("/skills/counting/contents/%2e%2e/secrets.yaml", "/skills/counting/contents/a//b"):
            assert rest.get(path).status_code == 400
        assert rest.post("/skills").status_code == 405


@pytest.mark.requirement("FLOW-12")
def test_the_version_that_ran_is_in_the_receipt(served: Served) -> None:
    done = served.call("stock.add-item", {"sku": "V"}).json()
    receipt = served.call("record.get-receipt", {"position": done["position"]}).json()
    assert receipt["receipt"]["flow_version"].startswith("1.2.3+")


def test_the_secret_is_nowhere(served: Served, mcp: Mcp, paper: Path) -> None:
    mcp.call("get-item", sku="ZZ")
    assert SECRET not in served.log.read_text()
    assert SECRET not in (served.folder / "accepted.json").read_text()
    with served.client(served.owner) as client:
        assert SECRET not in client.get("/openapi.json").text


WRITTEN_BY_GET = """\
ikanos: "1.0.0-beta5"
capability:
  exposes:
    - type: rest
      namespace: library
      resources:
        add: { path: "/add", operations: { add: { ref: shelf.add-book, method: GET } } }
        all: { path: "/all", operations: { all: { ref: shelf.list-books, method: GET } } }
        buy:
          path: "/buy"
          operations:
            buy:
              ref: shelf.add-book
              method: GET
              inputParameters: { name: { in: query, type: string, description: "The title" } }
              with: { title: name }
"""


INLINE_BY_GET = """\
ikanos: "1.0.0-beta5"
capability:
  aggregates:
    own:
      display: "Own"
      flows:
        quiet: {{ description: "Adds.", semantics: {{ safe: true, idempotent: true }}, {title}, {add} }}
        behind: {{ description: "Adds.", semantics: {{ safe: true }}, {title}, call: own.quiet }}
        titles: {{ description: "Looks.", semantics: {{ safe: true }}, call: shelf.list-books }}
  exposes:
    - type: mcp
      namespace: agents
      tools:
        add-by-call: {{ description: "Adds.", hints: {{ readOnly: true }}, {title}, {add} }}
        add-by-ref: {{ ref: own.behind, hints: {{ readOnly: true }} }}
        add-itself: {{ ref: shelf.add-book, hints: {{ readOnly: true }} }}
        look: {{ description: "Looks.", hints: {{ readOnly: true }}, call: own.titles }}
    - type: rest
      namespace: library
      resources:
        call: {{ path: "/call", operations: {{ add: {{ {get}, {query}, {add} }} }} }}
        steps:
          path: "/steps"
          operations: {{ all: {{ {get}, {query}, steps: {{ a: {{ type: call, {add} }} }} }} }}
        through: {{ path: "/through", operations: {{ on: {{ {get}, {query}, call: own.behind }} }} }}
        named: {{ path: "/named", operations: {{ it: {{ ref: own.quiet, method: GET }} }} }}
        look: {{ path: "/look", operations: {{ look: {{ method: GET, description: "Looks.", call: own.titles }} }} }}
""".format(
    query='inputParameters: { t: { in: query, type: string, description: "The title" } }',
    get='method: GET, description: "Adds."',
    title='inputParameters: { t: { type: string, description: "The title" } }',
    add="call: shelf.add-book, with: { title: t }",
)
ADDING = ("call", "steps", "through", "named")


@pytest.fixture
def inline(tmp_path: Path) -> Iterator[Office]:
    """An office with a document that gives GET, and readOnly, to calls of a write."""
    settings = Settings(data=tmp_path / "office", domains="", capabilities=(SHELF, written(tmp_path, INLINE_BY_GET)))
    office = open_office(settings)
    yield office
    office.close()


def test_asking_for_a_head_never_writes(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "office", domains="", capabilities=(SHELF, written(tmp_path, WRITTEN_BY_GET)))
    office = open_office(settings)
    try:
        with serving(office) as house:
            for path in ("/library/add?title=Dune", "/library/buy?name=Dune"):
                refused = house.ask("HEAD", path)
                assert (refused.status_code, refused.headers["allow"]) == (405, "GET, OPTIONS")
                assert house.ask("OPTIONS", path).headers["allow"] == "GET, OPTIONS"
            assert house.ask("HEAD", "/library/all").status_code == 200
            assert house.get("/library/all").json()["books"] == []
            assert house.get("/library/add?title=Dune").status_code == 201
            assert house.get("/library/buy?name=Emma").status_code == 200
            assert len(house.get("/library/all").json()["books"]) == 2
    finally:
        office.close()


def test_asking_for_a_head_writes_as_little_where_the_call_is_written_in_the_exposure(inline: Office) -> None:
    with serving(inline) as house:
        for path in ADDING:
            refused = house.ask("HEAD", f"/library/{path}?t=Emma")
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, OPTIONS")
        assert house.call("shelf.list-books").json()["books"] == []
        assert house.ask("HEAD", "/library/look").status_code == 200
        for path in ADDING:
            assert house.get(f"/library/{path}?t={path}").status_code == 200
        titles = {book["title"] for book in house.call("shelf.list-books").json()["books"]}
        assert titles == {"call", "steps", "through", "named"}


@pytest.mark.requirement("FLOW-06")
def test_what_calls_a_write_is_a_write_whatever_is_said_of_it(inline: Office) -> None:
    refs = ("library.add", "library.all", "library.on", "own.quiet", "own.behind", "agents.add-by-call")
    for flow in (inline.catalogue.flow(ref) for ref in refs):
        assert (flow.ref, flow.kind, flow.semantics) == (flow.ref, "reach", Semantics())
    assert {inline.catalogue.flow(ref).kind for ref in ("library.look", "own.titles", "agents.look")} == {"read"}
    with serving(inline) as house:
        for path in ADDING:
            assert house.get(f"/library/{path}?t=Emma", by="scout").status_code == 202
        rehearsed = house.get("/library/through?t=Emma&dry_run=true").json()
        assert rehearsed["would"]["requests"][0]["call"] == "shelf.add-book"
        assert house.call("shelf.list-books").json()["books"] == []


@pytest.mark.requirement("FLOW-07")
def test_no_hint_says_that_a_write_of_the_office_only_reads(inline: Office) -> None:
    told = {tool.name: tool.hints["readOnly"] for tool in inline.catalogue.tools(["agents"])}
    assert told == {"add-by-call": False, "add-by-ref": False, "add-itself": False, "look": True}
