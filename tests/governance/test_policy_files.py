"""Policies of one's own, and what happens to those that are broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engross.governance import Grant, Knobs, Policy, refusal
from engross.governance.policy_files import shipped_policies
from engross.governance.rules import Rules
from engross.replies import Failed, codes, reply_of
from tests.governance.people import call, call_by, principal, read_flow, write_flow

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Makes a folder of policies: `folder(mine="permit ...")` holds mine.cedar."""

    def make(**texts: str) -> Path:
        for name, text in texts.items():
            (tmp_path / f"{name}.cedar").write_text(text)
        return tmp_path

    return make


def failure_of(folder: Path) -> Failed:
    with pytest.raises(Failed) as caught:
        Policy(folder)
    return caught.value


def test_every_shipped_policy_fits_the_schema_and_has_a_name_of_its_own() -> None:
    rules = Rules(shipped_policies())
    numbered = [rule.id for rule in rules._rules.values() if rule.id.rpartition(".")[2].isdigit()]
    assert numbered == []


def test_an_own_permit_adds_to_the_shipped_ones(folder: Folder) -> None:
    text = """
    @id("mine.bots-tidy-up")
    permit (principal is Agent, action == Action::"commit", resource)
    when { resource.aggregate == "cards" && context.tier <= 2 };
    """
    decision = Policy(folder(mine=text)).judge(call("agent", "agent"), write_flow(), 2, 1)
    assert (decision.verdict, decision.because) == ("commit", ("mine.bots-tidy-up",))


def test_an_own_forbid_wins_over_the_shipped_permits(folder: Folder) -> None:
    text = 'forbid (principal, action in [Action::"commit", Action::"propose"], resource);'
    decision = Policy(folder(frozen=text)).judge(call("human", "admin"), write_flow(), 1, 1)
    assert (decision.verdict, decision.denial) == ("deny", codes.WRITE_DENIED)
    assert decision.because == ("frozen.1",)


def test_a_forbidden_commit_becomes_a_proposal(folder: Folder) -> None:
    text = 'forbid (principal, action == Action::"commit", resource) when { resource.destructive };'
    policy = Policy(folder(careful=text))
    assert policy.judge(call("human", "curator"), write_flow(effect="delete"), 3, 1).verdict == "propose"
    assert policy.judge(call("human", "curator"), write_flow(effect="create"), 2, 1).verdict == "commit"


def test_a_forbidden_proposal_leaves_the_direct_commit(folder: Folder) -> None:
    policy = Policy(folder(swift='forbid (principal, action == Action::"propose", resource);'))
    assert policy.judge(call("human", "curator"), write_flow(), 2, 1).verdict == "commit"
    assert policy.judge(call("human", "curator", commit_mode="proposal"), write_flow(), 2, 1).verdict == "deny"


def test_a_forbid_says_with_which_code_it_denies(folder: Folder) -> None:
    text = """
    @denial("CALL_DENIED")
    forbid (principal, action, resource is Flow) when { resource.ref like "cards.*" };
    @denial("PEOPLE_ONLY")
    forbid (principal is Agent, action, resource is Flow);
    """
    policy = Policy(folder(mine=text))
    assert policy.may_call(call("human", "admin"), read_flow()).denial == codes.CALL_DENIED
    assert policy.may_call(call("agent", "admin"), read_flow()).denial == codes.PEOPLE_ONLY


def test_a_policy_may_name_one_principal_and_one_flow(folder: Folder) -> None:
    text = 'permit (principal == Service::"nightly", action, resource == Flow::"cards.update-card");'
    policy = Policy(folder(mine=text))
    nightly = principal("service", id_="nightly")

    assert policy.may_call(call_by(nightly), write_flow()).verdict == "commit"
    assert policy.may_call(call_by(nightly), write_flow("other-card")).verdict == "deny"
    assert policy.may_call(call("service"), write_flow()).verdict == "deny"


def test_a_policy_may_ask_who_wrote_a_proposal_and_what_it_holds(folder: Folder) -> None:
    text = """
    forbid (principal, action == Action::"approve", resource)
    when { resource.author_type == "agent" && resource.flows.contains("cards.delete-card") };
    """
    policy = Policy(folder(mine=text))
    curator, bot = call("human", "curator"), principal("agent", "agent", id_="bot")
    assert policy.may_approve(curator, bot, 3, ("cards.delete-card", "cards.update-card")).verdict == "deny"
    assert policy.may_approve(curator, bot, 3, ("cards.update-card",)).verdict == "commit"


def test_a_file_with_a_shipped_name_takes_its_place(folder: Folder) -> None:
    text = 'permit (principal, action == Action::"call", resource) when { resource.safe };'
    policy = Policy(folder(calling=text))
    assert policy.may_call(call("human"), read_flow()).verdict == "commit"
    assert policy.may_call(call("human", "admin"), write_flow()).verdict == "deny"
    assert policy.judge(call("human", "curator"), write_flow(), 2, 1).verdict == "commit"


@pytest.mark.requirement("NEW-03")
@pytest.mark.parametrize("kind", ["Agent", "Service"])
def test_no_policy_can_let_anything_but_a_person_approve(folder: Folder, kind: str) -> None:
    text = f'permit (principal is {kind}, action == Action::"approve", resource);'
    assert failure_of(folder(approving=text)).code == codes.CONFIG_INVALID


@pytest.mark.requirement("NEW-03")
def test_a_policy_that_permits_everything_still_lets_no_agent_approve(folder: Folder) -> None:
    policy = Policy(folder(approving="permit (principal, action, resource);"))
    agent = call("agent", "admin")
    assert policy.may_approve(agent, principal(id_="bob"), 1, ()).denial == codes.PEOPLE_ONLY


BROKEN = {
    "a syntax error": "permit (principal, action, resource",
    "an unknown attribute": "permit (principal, action, resource is Flow) when { resource.colour };",
    "an unknown action": 'permit (principal, action == Action::"cal", resource);',
    "an unknown principal": "permit (principal is Robot, action, resource);",
    "a wrong type": 'forbid (principal, action == Action::"call", resource) when { resource.tier == "3" };',
    "another resource's attribute": 'permit (principal, action, resource) when { resource.author == "x" };',
    "a template": "permit (principal == ?principal, action, resource);",
    "a denial on a permit": '@denial("WRITE_DENIED") permit (principal, action, resource);',
    "a denial that is no code": '@denial("NO_WAY") forbid (principal, action, resource);',
    "advice on a permit": '@advice("Go on.") permit (principal, action, resource);',
    "advice that says nothing": '@advice(" ") forbid (principal, action, resource);',
    "advice of several lines": '@advice("Send\\na reason.") forbid (principal, action, resource);',
    "advice that is too long": f'@advice("{"x" * 201}") forbid (principal, action, resource);',
    "an id that is taken": '@id("call.read") permit (principal, action, resource);',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_policy_is_refused_at_once_and_its_file_named(folder: Folder, text: str) -> None:
    failure = failure_of(folder(fine="// nothing here", mine=text))
    assert failure.code == codes.CONFIG_INVALID
    assert failure.data is not None
    assert failure.data["file"] == "mine.cedar"


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.cedar").write_bytes(b"\xff\xfe\x00")
    failure = failure_of(tmp_path)
    assert failure.data is not None
    assert failure.data["file"] == "mine.cedar"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert failure_of(tmp_path / "nowhere").code == codes.CONFIG_INVALID


def faults_of(folder: Path) -> list[dict[str, Any]]:
    faults: list[dict[str, Any]] = reply_of(failure_of(folder)).data["faults"]
    return faults


FINE = """// Agnt, agregate and cal are only talked about here; so is "this.
@id("mine.agregate") // Agnt;
permit (principal is Agent, action == Action::"call", resource)
when { resource.aggregate == "a;b" };

"""
MISSPELLED = {
    "a kind of principal": ("forbid (principal is Agnt, action, resource);", 6, ["Agent"]),
    "an attribute": (
        '@id("x")\nforbid (principal, action, resource is Flow)\nwhen { resource.agregate };',
        8,
        ["aggregate"],
    ),
    "an action": ('forbid (\n  principal,\n  action == Action :: "cal",\n  resource);', 8, ["call"]),
    "an effect": ('@id("x")\nforbit (principal, action, resource);', 7, ["forbid"]),
    "a variable": ("forbid (principal, action, resource)\nunless { princpal.id };", 7, ["principal"]),
    "a method": ('forbid (principal, action, resource)\nunless\n{ principal.roles.contain("x") };', 8, ["contains"]),
}


@pytest.mark.parametrize(("text", "line", "meant"), MISSPELLED.values(), ids=MISSPELLED.keys())
def test_a_misspelled_name_is_told_with_its_line_and_what_was_meant(
    folder: Folder, text: str, line: int, meant: list[str]
) -> None:
    fault = faults_of(folder(mine=FINE + text))[0]
    assert (fault["line"], fault["did_you_mean"][:1]) == (line, meant)


UNREADABLE = {
    "a bracket that is not closed": ("permit (principal,\naction,\nresource\n\n", 8),
    "a semicolon that is missing": (
        'permit (principal, action, resource)\n\n@id("b")\npermit (principal, action, resource);',
        8,
    ),
    "a sign that is out of place": ("permit (principal, action, resource)\nwhen { 1 <\n< 2 }\n;", 8),
    "another language's operator": ("permit (principal, action, resource)\nwhen { context.tier = 2 }\n;", 7),
    "a quote that is not closed": ('permit (principal, action, resource)\nwhen { principal.id == "ada };\n// end', 7),
    "a semicolon too many": ("permit (principal, action, resource);\n;", 7),
}


@pytest.mark.parametrize(("text", "line"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_not_cedar_is_told_with_the_line_where_it_stops_being_cedar(
    folder: Folder, text: str, line: int
) -> None:
    (fault,) = faults_of(folder(mine=FINE + text + "\n"))
    assert fault["line"] == line
    assert fault["problem"]


def test_everything_that_does_not_fit_is_told_policy_by_policy(folder: Folder) -> None:
    text = """
    @id("mine.types")
    forbid (principal, action == Action::"call", resource) when { resource.tier == "3" };
    permit (principal is Agent, action == Action::"approve", resource);
    @id("mine.names") permit (principal is Robot, action, resource)
    when { principal.shoe };
    """
    told = [(fault["policy"], fault["line"]) for fault in faults_of(folder(mine=text))]
    assert told[:3] == [("mine.types", 3), ("mine.2", 4), ("mine.names", 5)]


def test_no_more_is_told_than_somebody_reads(folder: Folder) -> None:
    many = f"forbid (principal is {'Robot' * 200}, action, resource);\n" * 100
    faults = faults_of(folder(mine=many))
    assert len(faults) == 20
    assert max(len(fault["problem"]) for fault in faults) == 300


def test_a_broken_policy_does_not_tell_where_on_the_machine_it_is(folder: Folder) -> None:
    for text in BROKEN.values():
        own = folder(mine=text)
        assert str(own) not in str(reply_of(failure_of(own)).data)


class TestAdvice:
    """What whoever is denied should do, said by whoever wrote the policy."""

    REASON = """
    @id("b.reason") @advice("Send a reason.")
    forbid (principal is Agent, action in [Action::"call", Action::"commit", Action::"propose"], resource)
    when { !resource.safe && !context.reason_given };
    """

    def test_it_is_in_the_decision_and_becomes_the_hint(self, folder: Folder) -> None:
        policy, agent = Policy(folder(mine=self.REASON)), call("agent", "agent")
        for decision in (policy.may_call(agent, write_flow()), policy.judge(agent, write_flow(), 2, 1)):
            assert (decision.denial, decision.advice) == (codes.WRITE_DENIED, "Send a reason.")
            heard = refusal(decision, "cards.update-card").data
            assert heard is not None
            assert heard["hint"] == "Send a reason."

    def test_whoever_follows_it_is_allowed_and_hears_none(self, folder: Folder) -> None:
        policy, agent = Policy(folder(mine=self.REASON)), call("agent", "agent", reason="Ada asked for it.")
        assert policy.may_call(agent, write_flow()).advice is None
        assert policy.judge(agent, write_flow(), 2, 1).advice is None

    def test_it_goes_with_the_code_that_is_told(self, folder: Folder) -> None:
        policy = Policy(folder(mine=self.REASON))
        decision = policy.may_call(call("agent", "agent"), write_flow(people_only=True))
        assert decision.because == ("b.reason", "people.only")
        assert (decision.denial, decision.advice) == (codes.PEOPLE_ONLY, None)

    def test_of_several_with_one_code_the_first_by_id_is_heard(self, folder: Folder) -> None:
        others = """
        @id("c.later") @advice("Wait.") forbid (principal, action, resource);
        @id("a.silent") forbid (principal, action, resource);
        """
        policy = Policy(folder(mine=self.REASON + others))
        assert policy.may_call(call("agent", "agent"), write_flow()).advice == "Send a reason."
        assert policy.may_approve(call("human", "admin"), principal(id_="bob"), 1, ()).advice == "Wait."

    @pytest.mark.parametrize(("mode", "advice"), [(None, None), ("direct", "Propose it.")])
    def test_a_commit_that_may_be_proposed_is_denied_with_it_only_to_whoever_insists(
        self, folder: Folder, mode: str | None, advice: str | None
    ) -> None:
        text = '@advice("Propose it.") forbid (principal, action == Action::"commit", resource);'
        policy = Policy(folder(mine=text), Knobs(on_direct_denied="deny"))
        decision = policy.judge(call("human", "curator", commit_mode=mode), write_flow(), 2, 1)
        assert (decision.verdict, decision.advice) == ("deny" if advice else "propose", advice)

    def test_the_longest_that_may_be_given_is_given_whole(self, folder: Folder) -> None:
        text = f'@advice("{"ö" * 200}") forbid (principal, action, resource);'
        assert Policy(folder(mine=text)).may_call(call("human", "admin"), read_flow()).advice == "ö" * 200


class TestFailingClosed:
    """A policy that cannot be evaluated allows nothing."""

    # Cedar leaves a forbid out when its evaluation overflows, and would go on to allow.
    OVERFLOW = """
    forbid (principal, action in [Action::"call", Action::"commit", Action::"approve"], resource)
    when { context.tier * 9223372036854775807 > 0 };
    """

    def failure(self, policy: Policy, question: str, *given: Any) -> str:
        with pytest.raises(Failed) as caught:
            getattr(policy, question)(*given)
        return caught.value.code

    def test_a_forbid_that_fails_is_an_error_and_no_permission(self, folder: Folder) -> None:
        policy = Policy(folder(mine=self.OVERFLOW))
        admin, flow = call("human", "admin"), write_flow()
        assert self.failure(policy, "may_call", admin, flow) == codes.POLICY_ERROR
        assert self.failure(policy, "judge", admin, flow, 2, 1) == codes.POLICY_ERROR
        assert self.failure(policy, "may_approve", admin, principal(id_="bob"), 2, ()) == codes.POLICY_ERROR

    def test_which_policy_failed_is_in_the_cause_and_not_in_the_answer(self, folder: Folder) -> None:
        with pytest.raises(Failed) as caught:
            Policy(folder(mine=self.OVERFLOW)).may_call(call("human", "admin"), write_flow())
        assert "mine.1" in str(caught.value.__cause__)
        assert reply_of(caught.value).data == {}

    def test_an_error_is_not_remembered_as_a_decision(self, folder: Folder) -> None:
        policy = Policy(folder(mine=self.OVERFLOW))
        for _ in range(2):
            assert self.failure(policy, "judge", call("human", "admin"), write_flow(), 2, 1) == codes.POLICY_ERROR

    def test_where_the_policy_can_be_evaluated_it_decides(self, folder: Folder) -> None:
        policy = Policy(folder(mine=self.OVERFLOW))
        assert policy.judge(call("human", "admin"), write_flow(), 0, 1).verdict == "commit"

    def test_a_question_that_does_not_fit_the_schema_is_an_error(self) -> None:
        assert self.failure(Policy(), "judge", call("human", "admin"), write_flow(), 2.5, 1) == codes.POLICY_ERROR

    def test_an_engine_that_crashes_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def crash(*_: object) -> None:
            raise RuntimeError("secret text")

        policy = Policy()
        rules = policy._in_force()
        monkeypatch.setattr(rules, "_authorize", crash)
        assert self.failure(policy, "may_call", call("human", "admin"), read_flow()) == codes.POLICY_ERROR


class TestVersion:
    """The policy version changes with whatever may turn a decision, and with nothing else."""

    def test_equal_policies_have_equal_versions(self, folder: Folder) -> None:
        own = folder(mine="permit (principal, action, resource);")
        assert Policy(own).version == Policy(own).version
        assert Policy().version == Policy(knobs=Knobs()).version
        assert Policy().version.startswith("sha256:")

    def test_another_policy_is_another_version(self, folder: Folder) -> None:
        versions = {
            Policy().version,
            Policy(folder(mine="permit (principal, action, resource);")).version,
            Policy(folder(mine="forbid (principal, action, resource);")).version,
        }
        assert len(versions) == 3

    @pytest.mark.parametrize(
        "knobs",
        [
            {"default_mode": "direct"},
            {"on_direct_denied": "deny"},
            {"direct_commit_grants": (Grant(("*",), principal="ada"),)},
            {"approvals_by_tier": {2: 2}},
            {"single_operator": True},
            {"break_glass_roles": ()},
            {"confirm_tier": 2},
            {"bulk_threshold": 5},
            {"tenants": {"acme": Knobs(confirm_tier=1)}},
        ],
        ids=lambda knobs: next(iter(knobs)),
    )
    def test_a_knob_that_may_turn_a_decision_is_part_of_it(self, knobs: dict[str, Any]) -> None:
        assert Policy(knobs=Knobs(**knobs)).version != Policy().version

    @pytest.mark.parametrize(
        "knobs",
        [{"proposal_ttl_days": 7}, {"rate_limits": {"read": "1/day"}}, {"duplicate_name": "warn"}],
        ids=lambda knobs: next(iter(knobs)),
    )
    def test_another_knob_is_not(self, knobs: dict[str, Any]) -> None:
        assert Policy(knobs=Knobs(**knobs)).version == Policy().version
