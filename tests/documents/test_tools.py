"""The tools as clients see them: over MCP and REST, with the signatures of the design document."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.calls import Caller, Principal
from engross.surfaces.desk import Desk
from tests.bed.served import UNLIMITED, Served
from tests.documents.archive import PLAN, Archive, digest, domain
from tests.surfaces.cli.shell import COMMAND, plain
from tests.surfaces.matrix.ways import META, REVISION

SCOUT = Caller(tenant="main", principal=Principal("scout", "agent", frozenset({"agent"})))
SIGNATURES = {
    "octave_validate": (["content", "schema", "fix"], ["content", "schema"]),
    "octave_write": (
        ["target_path", "content", "changes", "mutations", "base_hash", "schema"],
        ["target_path"],
    ),
    "octave_eject": (["content", "schema", "mode", "format"], ["schema"]),
}
WHOLE = {"status", "path", "canonical_hash", "corrections", "diff", "errors", "validation_status", "reply"}


@pytest.mark.requirement("DOC-01", "DOC-04", "DOC-13")
@pytest.mark.parametrize("tool", SIGNATURES)
def test_a_tool_takes_exactly_what_was_signed(tmp_path: Path, tool: str) -> None:
    flow = domain(tmp_path).flows[tool.replace("_", "-")]
    fields, required = SIGNATURES[tool]
    assert [name for name in flow.published["properties"] if name in flow.own_fields] == fields
    assert flow.published["required"] == required


def test_three_tools_are_listed_and_the_others_are_found(archive: Archive) -> None:
    desk = Desk(archive.clara.office)
    listed = {tool.name for tool in desk.tools(SCOUT, "mcp-stdio") if tool.exposure.toolset.startswith("documents")}
    assert listed == set(SIGNATURES)
    found = {tool.name for tool in desk.reachable(SCOUT, "mcp-stdio")}
    assert {"read_document", "document_history", "blame_document", "undo_document", "list_schemas"} <= found


def test_hints_say_what_a_tool_does(archive: Archive) -> None:
    tools = {tool.name: tool.hints for tool in Desk(archive.clara.office).tools(SCOUT, "mcp-stdio")}
    assert tools["octave_validate"]["readOnly"] is tools["octave_eject"]["readOnly"] is True
    assert tools["octave_write"] == {"readOnly": False, "destructive": True, "idempotent": True, "openWorld": False}


def test_loading_the_domain_leaves_the_language_alone(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from engross.domains.documents import Ways, documents;"
        f"documents(Ways(home=Path({str(tmp_path)!r}), blobs=lambda tenant: None));"
        "print([name for name in sys.modules if name.startswith('engross.octave') or name in ('difflib', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served office with documents, in a root of its own."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "root").mkdir()
    settings: dict[str, Any] = {"domains": "documents", "document_roots": [str(folder / "root")]}
    with Served(folder / "office", knobs=UNLIMITED, **settings) as running:
        yield running


def root_of(served: Served) -> Path:
    return served.folder.parent / "root"


def over_mcp(served: Served, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A `tools/call` of the stateless era, as the agent."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    params = {"name": tool, "arguments": arguments, "_meta": META}
    with served.client(served.agent) as client:
        answer = client.post(
            "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers=headers
        )
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    result: dict[str, Any] = orjson.loads(text)["result"]
    return result


@pytest.mark.requirement("DOC-04", "DOC-08", "DOC-12", "REP-07")
def test_a_document_is_written_changed_and_guarded_over_mcp(served: Served) -> None:
    made = over_mcp(served, "octave_write", {"target_path": "mcp.oct.md", "content": PLAN, "schema": "META"})
    told = made["structuredContent"]
    assert made["isError"] is False
    assert set(told) >= WHOLE
    assert (told["status"], told["validation_status"]) == ("success", "VALIDATED")
    assert (root_of(served) / "mcp.oct.md").read_text() == PLAN
    assert orjson.loads(made["content"][-1]["text"]) == told
    changes = {"STATUS": "DONE", "SERVER": {"$op": "DELETE"}, "NOTES": None}
    changed = over_mcp(
        served, "octave_write", {"target_path": "mcp.oct.md", "changes": changes, "base_hash": told["canonical_hash"]}
    )["structuredContent"]
    assert changed["status"] == "success"
    refused = over_mcp(
        served, "octave_write", {"target_path": "mcp.oct.md", "changes": {"A": 1}, "base_hash": told["canonical_hash"]}
    )
    assert refused["isError"] is True
    assert refused["structuredContent"]["errors"][0]["code"] == "E_HASH"
    assert refused["structuredContent"]["current_hash"] == changed["canonical_hash"]
    assert set(refused["structuredContent"]) >= WHOLE


@pytest.mark.requirement("DOC-01", "DOC-03", "DOC-13")
def test_checking_and_showing_work_over_mcp(served: Served) -> None:
    bad = over_mcp(served, "octave_validate", {"content": "A: b\n", "schema": "META"})
    assert bad["isError"] is False
    assert (bad["structuredContent"]["status"], bad["structuredContent"]["validation_status"]) == (
        "error",
        "UNVALIDATED",
    )
    shown = over_mcp(served, "octave_eject", {"content": PLAN, "schema": "META", "format": "yaml"})
    assert shown["structuredContent"]["output"].startswith("META:")


@pytest.mark.requirement("DOC-12", "REL-10")
def test_paths_outside_are_refused_over_every_surface(served: Served) -> None:
    arguments = {"target_path": "/etc/passwd.md", "content": PLAN}
    assert over_mcp(served, "octave_write", arguments)["structuredContent"]["errors"][0]["code"] == "E_PATH"
    answer = served.call("documents.octave-write", arguments)
    assert answer.status_code == 422
    assert (answer.json()["status"], answer.json()["errors"][0]["code"]) == ("error", "E_PATH")


@pytest.mark.requirement("DOC-12", "REP-07")
@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        ({"target_path": "rest.oct.md", "content": "A: b\n"}, 422, "E_PARSE"),
        ({"target_path": "rest.oct.md"}, 422, "E_INPUT"),
        ({"target_path": "none.oct.md", "content": PLAN, "base_hash": digest("x")}, 409, "E_HASH"),
        ({"target_path": 5, "content": PLAN}, 400, "E_INPUT"),
    ],
)
def test_rest_answers_with_the_whole_envelope_and_a_fitting_status(
    served: Served, arguments: dict[str, Any], status: int, code: str
) -> None:
    answer = served.call("documents.octave-write", arguments, token=served.agent)
    assert answer.status_code == status
    assert set(answer.json()) >= WHOLE
    assert answer.json()["errors"][0]["code"] == code


def over_a_pipe(served: Served, arguments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls of octave_write by an agent of a process of its own, one after another."""
    command = [*COMMAND, "mcp", "--data", str(served.folder), "--root", str(root_of(served))]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=plain() | {"ENGROSS_DOMAINS": "documents"},
        text=True,
    )
    lines = [
        orjson.dumps(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": "octave_write", "arguments": given, "_meta": META},
            }
        ).decode()
        for number, given in enumerate(arguments)
    ]
    out, _ = process.communicate("\n".join(lines) + "\n", timeout=50)
    return [orjson.loads(line)["result"]["structuredContent"] for line in out.splitlines()]


@pytest.mark.faults
@pytest.mark.requirement("DOC-08", "REL-03")
def test_writes_over_every_surface_at_once_are_all_kept(served: Served) -> None:
    path = "meeting.oct.md"
    base = served.call("documents.octave-write", {"target_path": path, "content": PLAN}).json()["canonical_hash"]

    def field(surface: str, number: int) -> dict[str, Any]:
        return {"target_path": path, "changes": {f"{surface}_{number}": number}}

    with ThreadPoolExecutor(8) as pool:
        pipes = [pool.submit(over_a_pipe, served, [field(name, number) for number in range(5)]) for name in ("P", "Q")]
        http = [pool.submit(over_mcp, served, "octave_write", field("M", number)) for number in range(10)]
        rest = [pool.submit(served.call, "documents.octave-write", field("R", number)) for number in range(10)]
        guarded = [
            pool.submit(served.call, "documents.octave-write", {**field("G", number), "base_hash": base})
            for number in range(6)
        ]
    told = [answer for pipe in pipes for answer in pipe.result()]
    told += [answer.result()["structuredContent"] for answer in http]
    told += [answer.result().json() for answer in rest]
    assert [answer["errors"] for answer in told] == [[]] * 30
    text = (root_of(served) / path).read_text()
    fields = {f"{name}_{number}::{number}" for name in "PQMR" for number in range(5 if name in "PQ" else 10)}
    assert fields <= set(text.split("\n"))
    won = [answer.result().json() for answer in guarded if answer.result().status_code == 200]
    assert len(won) <= 1
    assert text.count("\nG_") == len(won)


def test_history_and_schemas_are_reached_over_rest(served: Served) -> None:
    written = served.call("documents.octave-write", {"target_path": "rest.oct.md", "content": PLAN})
    assert written.status_code == 201
    log = served.call("documents.document-history", {"path": "rest.oct.md"}).json()
    assert [one["kind"] for one in log["versions"]] == ["written"]
    assert "grammar" in served.call("documents.compile-grammar", {"schema": "META"}).json()


@pytest.mark.requirement("DOC-16")
def test_old_tools_are_not_there_over_rest_and_mcp(served: Served) -> None:
    assert served.call("documents.octave-ingest", {"content": PLAN, "schema": "META"}).status_code == 404
    with served.client(served.agent) as client:
        listed = client.get("/openapi.json").json()["paths"]
    assert not [path for path in listed if "octave-ingest" in path]


def test_one_agent_over_a_pipe_writes_into_the_root_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    command = [*COMMAND, "mcp", "--data", str(tmp_path / "office"), "--root", str(tmp_path / "root")]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=plain() | {"ENGROSS_DOMAINS": "documents"},
        text=True,
    )
    params = {"name": "octave_write", "arguments": {"target_path": "a.oct.md", "content": PLAN}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    out, _ = process.communicate(orjson.dumps(message).decode() + "\n", timeout=30)
    answer = orjson.loads(out.splitlines()[0])["result"]["structuredContent"]
    assert answer["path"] == str(tmp_path / "root" / "a.oct.md")
    assert (tmp_path / "root" / "a.oct.md").read_text() == PLAN
