"""The tools of before: hidden unless asked for, working, warning."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from engross.calls import Caller, Principal
from engross.surfaces.desk import Desk
from tests.documents.archive import PLAN, Archive, domain, done, envelope

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


@pytest.mark.requirement("DOC-16", "DOC-18")
def test_each_call_logs_a_warning_and_says_what_to_use_instead(
    archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    calls: dict[str, dict[str, Any]] = {
        "octave_create": {"target_path": "plan.oct.md", "content": PLAN},
        "octave_amend": {"target_path": "plan.oct.md", "changes": {"STATUS": "DONE"}},
        "octave_ingest": {"content": PLAN, "schema": "META"},
    }
    for name, arguments in calls.items():
        caplog.clear()
        with caplog.at_level(logging.WARNING, "engross.documents"):
            answer = done(archive.clara.call(f"documents.{name.replace('_', '-')}", arguments))
        assert [record.name for record in caplog.records].count("engross.documents") == 1
        assert "DEPRECATED_TOOL" in [one["code"] for one in answer.data["warnings"]]
    assert archive.text() == PLAN.replace("DRAFT", "DONE")


@pytest.mark.requirement("DOC-16")
def test_they_do_what_their_successors_do(archive: Archive) -> None:
    content = PLAN.replace('"1.0"\n', '"1.0"\n  STATUS::active\n')
    old = done(archive.clara.documents.octave_ingest(content=content, schema="META"))
    new = done(archive.clara.documents.octave_validate(content=content, schema="META", fix=True))
    assert old.data["canonical"] == new.data["canonical"]
    assert old.data["validation_status"] == new.data["validation_status"] == "VALIDATED"
    refused = archive.clara.documents.octave_amend(target_path="no.oct.md", changes={"A": 1})
    assert envelope(refused)["errors"][0]["code"] == "E_PATH"


@pytest.mark.requirement("DOC-16", "DOC-18")
def test_parameters_that_mean_nothing_any_more_are_taken_and_told(archive: Archive) -> None:
    answer = done(archive.clara.documents.octave_ingest(content=PLAN, schema="META", tier="STRICT", verbose=True))
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
