"""The tools of before: hidden unless asked for, working, warning."""

from __future__ import annotations

import logging
from json import dumps
from pathlib import Path
from typing import Any

import pytest

from engross.calls import Caller, Principal
from engross.office import Settings
from engross.office.capabilities import open_office
from engross.replies import Failed, codes
from engross.surfaces.desk import Desk
from tests.bed.offices import Offices
from tests.declared.papers import written
from tests.documents.archive import PLAN, Archive, domain, done, envelope
from tests.surfaces.cli.shell import Shell
from tests.surfaces.rest.house import serving

SCOUT = Caller(tenant="main", principal=Principal("scout", "agent", frozenset({"agent"})))
OLD = {"octave_ingest", "octave_create", "octave_amend"}
PAGE = (Path(__file__).parents[2] / "docs" / "octave-migration.md").read_text("utf-8")


@pytest.mark.requirement("DOC-16")
def test_they_are_neither_listed_nor_found_before_somebody_names_their_toolset(archive: Archive) -> None:
    office = archive.clara.office
    usual = Desk(office)
    assert not OLD & {tool.name for tool in usual.tools(SCOUT, "mcp-stdio")}
    assert not OLD & {tool.name for tool in usual.reachable(SCOUT, "mcp-stdio")}
    assert all(usual.find(name) is None for name in (*OLD, "documents.octave-ingest"))
    named = Desk(office, toolsets=["documents", "legacy"])
    assert {tool.name for tool in named.tools(SCOUT, "mcp-stdio")} >= OLD


@pytest.fixture
def named(local: Offices) -> Archive:
    """An office with documents whose operator named the toolset."""
    return Archive(local, settings={"toolsets": "documents,legacy"})


@pytest.mark.requirement("DOC-16")
def test_without_it_the_library_finds_none_and_calls_none(archive: Archive) -> None:
    assert not {f"documents.{name.replace('_', '-')}" for name in OLD} & set(archive.clara.outlines())
    assert not OLD & set(dir(archive.clara.documents))
    refused = archive.clara.call("documents.octave-create", {"target_path": "plan.oct.md", "content": PLAN})
    assert (refused.reply_type, refused.message_key) == ("I", "UNKNOWN_OPERATION")
    assert "octave-create" not in str(refused.data["errors"][0]["suggestions"])
    assert not archive.file().exists()


@pytest.mark.requirement("DOC-16")
def test_without_it_the_command_line_has_none_and_with_it_all_of_them(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "office")
    words = ("documents", "octave-create", "--target-path", "plan.oct.md", "--content", PLAN)
    call = ("call", "documents.octave-create", "--json", dumps({"target_path": "plan.oct.md", "content": PLAN}))
    only = {"ENGROSS_DOMAINS": "documents"}
    named = {**only, "ENGROSS_TOOLSETS": "documents,legacy"}
    assert shell.run(*words, env=only).code == 2
    assert (shell.run(*call, env=only).code, shell.run(*call, env=only).key) == (2, "UNKNOWN_OPERATION")
    assert "octave-create" not in shell.run("flows", env=only).out
    assert "octave-create" in shell.run("flows", env=named).out
    assert (shell.run(*call, env=named).code, shell.run(*words, env=named).code) == (0, 0)


def test_a_toolset_that_nobody_has_is_refused_when_an_office_opens(local: Offices) -> None:
    with pytest.raises(Failed) as refused:
        local.open(toolsets="documents,legaci", domains="documents")
    assert (refused.value.code, refused.value.params) == (codes.CONFIG_INVALID, {"setting": "toolsets"})
    assert refused.value.data is not None
    assert refused.value.data["did_you_mean"] == ["legacy"]


@pytest.mark.requirement("DOC-16", "DOC-18")
def test_each_call_logs_a_warning_and_says_what_to_use_instead(
    named: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    calls: dict[str, dict[str, Any]] = {
        "octave_create": {"target_path": "plan.oct.md", "content": PLAN},
        "octave_amend": {"target_path": "plan.oct.md", "changes": {"STATUS": "DONE"}},
        "octave_ingest": {"content": PLAN, "schema": "META"},
    }
    for name, arguments in calls.items():
        caplog.clear()
        with caplog.at_level(logging.WARNING, "engross.documents"):
            answer = done(named.clara.call(f"documents.{name.replace('_', '-')}", arguments))
        assert [record.name for record in caplog.records].count("engross.documents") == 1
        assert "DEPRECATED_TOOL" in [one["code"] for one in answer.data["warnings"]]
    assert named.text() == PLAN.replace("DRAFT", "DONE")


@pytest.mark.requirement("DOC-16")
def test_they_do_what_their_successors_do(named: Archive) -> None:
    content = PLAN.replace('"1.0"\n', '"1.0"\n  STATUS::active\n')
    old = done(named.clara.documents.octave_ingest(content=content, schema="META"))
    new = done(named.clara.documents.octave_validate(content=content, schema="META", fix=True))
    assert old.data["canonical"] == new.data["canonical"]
    assert old.data["validation_status"] == new.data["validation_status"] == "VALIDATED"
    refused = named.clara.documents.octave_amend(target_path="no.oct.md", changes={"A": 1})
    assert envelope(refused)["errors"][0]["code"] == "E_PATH"


@pytest.mark.requirement("DOC-16", "DOC-18")
def test_parameters_that_mean_nothing_any_more_are_taken_and_told(named: Archive) -> None:
    answer = done(named.clara.documents.octave_ingest(content=PLAN, schema="META", tier="STRICT", verbose=True))
    dropped = [one["field"] for one in answer.data["warnings"] if one["code"] == "DROPPED_PARAMETER"]
    assert dropped == ["tier", "verbose"]


@pytest.mark.requirement("DOC-16")
def test_they_are_marked_with_the_version_that_deprecated_them(tmp_path: Path) -> None:
    flows = domain(tmp_path).flows
    assert {name for name, flow in flows.items() if flow.deprecated_since} == {name.replace("_", "-") for name in OLD}


@pytest.mark.requirement("DOC-18")
def test_the_migration_page_maps_every_old_tool_and_every_dropped_parameter() -> None:
    for name in (*OLD, "octave_validate", "octave_write", "tier", "verbose", "fix=true", "validation_status"):
        assert f"`{name}" in PAGE, name


@pytest.mark.parametrize(
    ("offer", "more"),
    [
        (
            "{ type: rest, namespace: notes, resources: "
            "{ look: { path: /look, operations: { look: { ref: documents.octave-ingest, method: POST } } } } }",
            ["/notes/look"],
        ),
        ("{ type: mcp, namespace: notes, tools: { look-in: { ref: documents.octave-ingest } } }", []),
    ],
    ids=["rest", "mcp"],
)
def test_one_that_a_document_offers_is_there_whichever_way_it_is_offered(
    tmp_path: Path, offer: str, more: list[str]
) -> None:
    paper = written(tmp_path, f'ikanos: "1.0.0-beta5"\ncapability:\n  exposes:\n    - {offer}\n')
    settings = Settings(data=tmp_path / "office", domains="documents", capabilities=(paper,))
    office = open_office(settings)
    try:
        with serving(office) as house:
            given = {"content": PLAN, "schema": "META"}
            paths = house.get("/openapi.json").json()["paths"]
            for path in (*more, "/v1/documents/octave-ingest"):
                assert path in paths
                assert house.ask("POST", path, json=given).status_code == 200
            assert house.call("documents.octave-create", given).status_code == 404
        assert Desk(office).find("documents.octave-ingest") is not None
        assert Desk(office).find("documents.octave-create") is None
    finally:
        office.close()


def test_a_namespace_of_that_name_hides_nothing(tmp_path: Path) -> None:
    offer = (
        "{ type: rest, namespace: legacy, resources: { me: { path: /me, operations: "
        "{ me: { ref: record.who-am-i, method: GET } } } } }"
    )
    paper = written(tmp_path, f'ikanos: "1.0.0-beta5"\ncapability:\n  exposes:\n    - {offer}\n')
    office = open_office(Settings(data=tmp_path / "office", domains="", capabilities=(paper,)))
    try:
        with serving(office) as house:
            for path in ("/legacy/me", "/v1/record/who-am-i"):
                assert path in house.get("/openapi.json").json()["paths"]
                assert house.ask("GET", path).status_code == 200
    finally:
        office.close()
