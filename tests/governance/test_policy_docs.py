"""docs/policy.md says what is true: its tables are judged and its examples run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from engross.calls import Decision, PrincipalType
from engross.flows import Aggregate
from engross.governance import Knobs, Policy
from engross.governance.knobs import CHECKS
from engross.governance.policy_files import schema_text, shipped_policies
from engross.governance.rules import DENIALS, LONGEST_ADVICE, Rules
from engross.replies import codes
from tests.governance.people import call, call_by, nothing, principal, write_flow

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()


def table(first: str) -> list[list[str]]:
    """The rows under the head that begins with this word."""
    lines = PAGE.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def outcomes() -> list[Any]:
    return [
        pytest.param(role, posture, tier, cell, id=f"{role}-{posture}-tier{tier}")
        for role, flow, *cells in table("role | flow")
        for posture in (("proposal", "direct") if flow == "any" else (flow,))
        for tier, cell in enumerate(cells, 1)
    ]


def shown(decision: Decision) -> str:
    if decision.verdict == "deny":
        return "denied"
    if decision.verdict == "propose":
        return "proposal" if decision.approvals_required == 1 else f"proposal, {decision.approvals_required} approvals"
    return "commit, confirmed" if decision.confirm else "commit"


@pytest.mark.parametrize(("role", "posture", "tier", "outcome"), outcomes())
def test_the_table_of_outcomes_is_true(role: str, posture: Any, tier: int, outcome: str) -> None:
    policy, flow = Policy(), write_flow(posture=posture)
    for type_ in get_args(PrincipalType):
        if (type_, tier) == ("agent", 4):
            assert shown(policy.judge(call(type_, role), flow, tier, 1)) == "denied"
        else:
            assert shown(policy.judge(call(type_, role), flow, tier, 1)) == outcome


def test_every_knob_is_there_with_its_default() -> None:
    told = {name.strip("`"): default.strip("`") for name, default, _ in table("knob")}
    assert list(told) == list(CHECKS)
    assert Knobs.from_toml("\n".join(f"{name} = {default}" for name, default in told.items())) == Knobs()


def test_every_default_that_is_told_is_told_whole() -> None:
    told = {name.strip("`"): default.strip("`") for name, default, _ in table("knob")}
    read = tomllib.loads("\n".join(f"{name} = {default}" for name, default in told.items()))
    assert read["rate_limits"] == dict(Knobs().rate_limits)
    assert {int(tier): number for tier, number in read["approvals_by_tier"].items()} == dict(Knobs().approvals_by_tier)


def test_every_shipped_policy_is_there_under_its_file() -> None:
    told = {
        (file.strip("`"), policy) for file, policies in table("file") for policy in re.findall("`([^`]+)`", policies)
    }
    assert told == {(rule.file, rule.id) for rule in Rules(shipped_policies())._rules.values()}


def test_everything_a_policy_may_ask_about_is_there() -> None:
    attributes = set(re.findall(r"^\s+(\w+): (?:String|Long|Bool|Set<String>),$", schema_text(), re.MULTILINE))
    section = PAGE.partition("What a policy may ask about")[2].partition("The **policy version**")[0]
    assert attributes - set(re.findall("`([^`]+)`", section)) == set()


def test_every_code_that_a_forbid_may_choose_is_there_in_order() -> None:
    section = PAGE.partition("chooses\nthe code:")[2].partition("Where")[0]
    assert re.findall("`([A-Z_]+)`", section) == list(DENIALS)


def test_how_long_advice_may_be_is_there() -> None:
    assert f"at most {LONGEST_ADVICE} characters" in PAGE


def test_the_command_on_the_page_prints_the_schema() -> None:
    _, *arguments = shlex.split(example("sh"))
    shown = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    assert shown.stdout == schema_text() + "\n"


def test_the_example_of_knobs_is_read_as_the_page_says() -> None:
    knobs = Knobs.from_toml(example("toml"))
    assert knobs.approvals(3) == 2
    modes = [knobs.for_(*place).default_mode for place in (("x",), ("acme",), ("acme", "production"))]
    assert modes == ["proposal", "direct", "proposal"]


class TestExamplePolicy:
    """The policies on the page, in force."""

    @pytest.fixture
    def policy(self, tmp_path: Path) -> Policy:
        (tmp_path / "house.cedar").write_text(example("cedar"))
        return Policy(tmp_path)

    def test_accounts_are_closed_to_agents(self, policy: Policy) -> None:
        accounts = Aggregate("accounts", "Accounts")
        write = accounts.define("record", nothing, name="open-account", effect="create")
        read = accounts.define("read", nothing, name="get-account")
        assert policy.may_call(call("agent", "agent"), write).denial == codes.PEOPLE_ONLY
        assert policy.may_call(call("agent", "agent"), read).verdict == "commit"
        assert policy.may_call(call("human", "contributor"), write).verdict == "commit"

    def test_an_agent_that_changes_a_payee_hears_what_to_send(self, policy: Policy) -> None:
        write = Aggregate("payees", "Payees").define("record", nothing, name="change-payee", effect="update")
        silent = policy.may_call(call("agent", "agent"), write)
        assert (silent.verdict, silent.because) == ("deny", ("house.payees-need-a-reason",))
        assert silent.advice is not None
        assert silent.advice in PAGE
        assert policy.may_call(call("agent", "agent", reason="Ada asked."), write).verdict == "commit"

    def test_deleting_goes_through_a_review(self, policy: Policy) -> None:
        assert policy.judge(call("human", "admin"), write_flow(effect="delete"), 3, 1).verdict == "propose"

    def test_the_nightly_service_commits_cards(self, policy: Policy) -> None:
        nightly = call_by(principal("service", "agent", id_="nightly"))
        decision = policy.judge(nightly, write_flow(), 2, 1)
        assert (decision.verdict, decision.because) == ("commit", ("house.nightly-import",))
        assert policy.judge(call("service", "agent"), write_flow(), 2, 1).verdict == "propose"
