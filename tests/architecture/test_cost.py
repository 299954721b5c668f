"""What a call costs does not grow with the model: every statement goes by an index that leads to its rows."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from engross.store.rows import Selecting
from engross.store.writer import SqliteTransaction
from tests.architecture.studio import Studio, done
from tests.bed.offices import Offices

LARGE = ("architecture_elements", "architecture_relationships", "architecture_words")


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Every statement about a large table that is run, with the parameters of its last run."""
    seen: dict[str, dict[str, Any]] = {}

    def watched(method: Any) -> Any:
        def run(self: Any, sql: str, params: dict[str, Any]) -> Any:
            if any(table in sql for table in LARGE):
                seen[sql] = {**params, "tenant": "main"}
            return method(self, sql, params)

        return run

    for owner, name in ((Selecting, "rows"), (SqliteTransaction, "execute")):
        monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
    return seen


def test_no_statement_reads_through_a_model(tmp_path: Path, statements: dict[str, dict[str, Any]]) -> None:
    offices = Offices(tmp_path / "office", None)
    studio = Studio(offices)
    statements.clear()
    use_everything(studio)
    offices.close()
    database = apsw.Connection(str(tmp_path / "office" / "office.db"))
    wrong = []
    for sql, params in statements.items():
        for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", params):
            step = str(row[3])
            # By positions alone, everything that ever was fits.
            if step.startswith("SCAN architecture") or step.endswith(("(tenant=?)", "from_position<?)")):
                wrong.append((step, sql))
    database.close()
    assert len(statements) > 30
    assert wrong == []


def use_everything(studio: Studio) -> None:
    """Every write and read once, but for import and export, which are about whole models."""
    orders, service = (
        studio.element("Orders", description="takes orders"),
        studio.element("Orders", "ApplicationService"),
    )
    realizes = studio.relate("Realization", orders, service)
    studio.relate("Association", studio.element("Why", "Meaning"), realizes)
    architecture = studio.clara.architecture
    robot = studio.robot.architecture
    robot.create_element(type="ApplicationComponent", name="Orders")
    robot.create_relationship(type="Realization", source_id=orders["id"], target_id=service["id"])
    robot.create_relationship(type="Flow", source_ref="ApplicationComponent/Orders", target_ref="Nothing")
    done(architecture.update_element(id=orders["id"], name="Sales", description="sells"))
    done(architecture.create_capability_structure(name="Sell", value_streams=["A"], sub_capabilities=["B"]))
    capability = architecture.get_element(ref="Sell").data["element"]["id"]
    done(architecture.add_component_to_capability(capability_id=capability, component_name="Shop", services=["C"]))
    junction = studio.element("both", "AndJunction")
    studio.relate("Flow", orders, junction)
    architecture.create_relationship(type="Flow", source_id=junction["id"], target_id=service["id"])
    for filters in ({}, {"type": "Capability"}, {"layer": "application"}, {"name_starts_with": "S"}):
        page = done(architecture.list_elements(limit=1, **filters)).data
        if page["next_cursor"]:
            done(architecture.list_elements(limit=1, cursor=page["next_cursor"], **filters))
    for ends in (
        {},
        {"type": "Flow"},
        {"source_id": orders["id"]},
        {"target_id": service["id"]},
        {"element_id": orders["id"]},
        {"source_id": orders["id"], "type": "Realization"},
        {"element_id": orders["id"], "type": "Realization"},
    ):
        page = done(architecture.list_relationships(limit=1, **ends)).data
        if page["next_cursor"]:
            done(architecture.list_relationships(limit=1, cursor=page["next_cursor"], **ends))
    done(architecture.get_neighborhood(id=orders["id"], hops=2))
    done(architecture.get_view(types=["ApplicationComponent"]))
    done(architecture.create_capability_structure(name="Selling", sub_capabilities=["Shipping"]))
    done(architecture.get_view(capability_id="Selling"))
    studio.element("Shipping", "Capability")
    assert architecture.get_element(ref="Shipping").message_key == "NEEDS_DISAMBIGUATION"
    done(architecture.semantic_search(query="sels something", type="ApplicationComponent"))
    done(architecture.why_element(id=orders["id"]))
    architecture.get_element(id="el_nowhere")
    studio.clara.call(
        "record.validate-write", {"operation": "createElement", "payload": {"type": "Node", "name": "Sales"}}
    )
    studio.delete(orders)
