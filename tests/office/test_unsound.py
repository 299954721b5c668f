"""Domains that are wrong: what they state and send must not get into a ledger that never forgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate
from engross.ledger import Fact, State, Unit
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import facts

TABLE = """
CREATE TABLE slips (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
"""

Act = Callable[[Unit], object]


class Nothing(TypedDict):
    """Nothing is asked for."""


class Slips:
    """An aggregate whose flows do what a test tells them to."""

    def __init__(self) -> None:
        self.act: Act = lambda unit: None
        self.apply: Callable[[State, Fact], object] = _kept
        slips = self.aggregate = Aggregate("slips", "Slips", tables=["slips"], migrations=[("slips", TABLE)])

        def perform(unit: Unit, arguments: Nothing) -> Mapping[str, Any]:
            """Do what the test says."""
            self.act(unit)
            return {}

        slips.record(effect="update", name="write")(perform)
        slips.applies("Slipped")(self._apply)

    def _apply(self, state: State, fact: Fact) -> None:
        self.apply(state, fact)

    def call(self, client: Client, act: Act, **arguments: Any) -> Any:
        """What a caller hears when the flow does this."""
        self.act = act
        return client.call("slips.write", arguments)


def _kept(state: State, fact: Fact) -> None:
    state.execute(
        "INSERT INTO slips (tenant, id, version) VALUES (:tenant, :id, :version)"
        " ON CONFLICT (tenant, id) DO UPDATE SET version = :version",
        id=fact.subject,
        version=fact.version,
    )


def stating(follows: Any, subject: str = "s-1", **more: Any) -> Act:
    """A flow that states one fact."""
    return lambda unit: unit.append("Slipped", subject, follows, {}, **more)


@pytest.fixture
def slips() -> Slips:
    return Slips()


@pytest.fixture
def office(offices: Offices, slips: Slips) -> Client:
    return offices.open(slips.aggregate)


def require_untouched(office: Client, stated: int = 0) -> None:
    """Nothing was kept of it, and the office goes on."""
    assert len(facts(office)) == stated
    assert office.office.rebuild(office.tenant).same


@pytest.mark.requirement("ARCH-31")
@pytest.mark.parametrize("follows", [5, -3, True, 0.5, "1", None])
def test_a_fact_that_follows_none_is_refused(office: Client, slips: Slips, follows: Any) -> None:
    assert slips.call(office, stating(follows)).message_key == "SYS_CRASH"
    require_untouched(office)
    assert slips.call(office, stating(0)).ok


def test_a_fact_that_leaves_one_out_is_refused(office: Client, slips: Slips) -> None:
    assert slips.call(office, stating(0)).ok
    assert slips.call(office, stating(2)).message_key == "SYS_CRASH"
    require_untouched(office, 1)
    assert slips.call(office, stating(1)).ok
    assert slips.call(office, stating(2)).ok


def test_a_gap_within_one_call_is_refused(office: Client, slips: Slips) -> None:
    def leaping(unit: Unit) -> None:
        unit.append("Slipped", "s-1", 0, {})
        unit.append("Slipped", "s-1", 2, {})

    assert slips.call(office, leaping).message_key == "SYS_CRASH"
    require_untouched(office)


def test_facts_of_one_call_follow_each_other_and_what_is_there(office: Client, slips: Slips) -> None:
    def walking(unit: Unit) -> None:
        for version in range(1, 4):
            unit.append("Slipped", "s-1", version, {})
        unit.append("Slipped", "s-2", 0, {})

    assert slips.call(office, stating(0)).ok
    assert slips.call(office, walking).ok
    require_untouched(office, 5)


def test_a_gap_is_not_proposed_either(office: Client, slips: Slips) -> None:
    agent = office.as_("scout", "agent", ["agent"])
    assert slips.call(agent, stating(3)).message_key == "SYS_CRASH"
    assert slips.call(agent, stating(0)).data["status"] == "proposed"


def test_a_dry_run_finds_a_gap_too(office: Client, slips: Slips) -> None:
    slips.act = stating(3)
    assert office.call("slips.write", {}, dry_run=True).message_key == "SYS_CRASH"


@pytest.mark.parametrize("fields", [["a,b"], [""], [7], "title"])
def test_fields_that_could_not_be_told_apart_are_refused(office: Client, slips: Slips, fields: Any) -> None:
    assert slips.call(office, stating(0, fields=fields)).message_key == "SYS_CRASH"
    require_untouched(office)


def test_fields_of_facts_in_bulk_can_be_told_apart(office: Client, slips: Slips) -> None:
    def many(unit: Unit) -> None:
        unit.append_all("Slipped", [("s-1", {"a,b": 1})])

    assert slips.call(office, many).message_key == "SYS_CRASH"
    require_untouched(office)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO slips (tenant, id, version) VALUES (:tenant, 'x', 1) RETURNING id",
        "WITH new AS (SELECT 1) INSERT INTO slips (tenant, id, version) SELECT :tenant, 'x', 1 RETURNING id",
        "DELETE FROM slips RETURNING id",
        "SELECT 1; DELETE FROM slips",
        "COMMIT",
        "ROLLBACK",
    ],
)
def test_a_flow_changes_nothing_by_asking(office: Client, slips: Slips, sql: str) -> None:
    def sly(unit: Unit) -> None:
        unit.append("Slipped", "s-1", 0, {})
        unit.rows(sql)

    assert slips.call(office, sly).message_key == "SYS_CRASH"
    require_untouched(office)


@pytest.mark.parametrize("sql", ["COMMIT", "SAVEPOINT mine", "SELECT 1", "DROP TABLE slips"])
def test_an_applier_changes_rows_and_does_nothing_else(office: Client, slips: Slips, sql: str) -> None:
    def applied(state: State, fact: Fact) -> None:
        _kept(state, fact)
        state.execute(sql)

    slips.apply = applied
    assert slips.call(office, stating(0)).message_key == "SYS_CRASH"
    slips.apply = _kept
    require_untouched(office)


def test_words_in_texts_and_names_are_no_statements(office: Client, slips: Slips) -> None:
    asked = (
        "SELECT 'insert into; delete from' AS said, version AS updated FROM slips WHERE tenant = :tenant",
        "WITH one AS (SELECT 'update' AS word) SELECT word FROM one -- ; DELETE FROM slips",
        "/* UPDATE slips */ VALUES (1);",
    )
    for sql in asked:
        assert slips.call(office, partial(_asked, sql)).ok, sql


def _asked(sql: str, unit: Unit) -> None:
    unit.rows(sql)
