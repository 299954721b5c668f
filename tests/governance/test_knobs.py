"""Knobs: read, laid over each other, and refused with the name of the one that is wrong."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from engross.governance import Grant, Knobs
from engross.governance.knobs import CHECKS, DECISIVE
from engross.replies import Failed, codes


def refused(text: str) -> dict[str, Any]:
    with pytest.raises(Failed) as caught:
        Knobs.from_toml(text)
    assert caught.value.code == codes.CONFIG_INVALID
    assert caught.value.data is not None
    assert caught.value.params == {"setting": caught.value.data["setting"]}
    return dict(caught.value.data)


def test_an_empty_document_leaves_everything_as_it_is() -> None:
    assert Knobs.from_toml("") == Knobs()


def test_every_field_but_the_sections_is_a_knob_and_every_knob_a_field() -> None:
    assert {field.name for field in fields(Knobs)} == {*CHECKS, "tenants", "models"}
    assert set(DECISIVE) < set(CHECKS)


EVERYTHING = """
default_mode = "direct"
on_direct_denied = "deny"
approvals_by_tier = { 2 = 2, 4 = 3 }
single_operator = true
break_glass_roles = ["admin", "on-call"]
confirm_tier = 2
bulk_threshold = 50
max_bulk = 500
proposal_ttl_days = 7
require_client_request_id = true
duplicate_name = "warn"
template_reuse = false
rate_limits = { write = "10/minute", "cards.*" = "5/10 seconds", "cards.get-card" = "unlimited" }
rate_limit_surfaces = ["rest", "cli"]
rate_limit_window = "fixed"

[[direct_commit_grants]]
principal = "nightly"
operations = ["cards.*"]

[[direct_commit_grants]]
role = "agent"
operations = ["notes.add-note", "notes.tag-*"]
types = ["Note", "Tag*"]
max_tier = 1
expires_at = 2027-01-31T19:00:00+01:00
"""


def test_every_knob_can_be_set() -> None:
    knobs = Knobs.from_toml(EVERYTHING)
    assert {name for name in CHECKS if getattr(knobs, name) == getattr(Knobs(), name)} == set()
    assert knobs.direct_commit_grants == (
        Grant(("cards.*",), principal="nightly", max_tier=2),
        Grant(
            ("notes.add-note", "notes.tag-*"),
            role="agent",
            types=("Note", "Tag*"),
            max_tier=1,
            expires_at="2027-01-31T18:00:00.000000Z",
        ),
    )


def test_what_is_set_in_part_leaves_the_rest() -> None:
    knobs = Knobs.from_toml(EVERYTHING)
    assert dict(knobs.approvals_by_tier) == {1: 1, 2: 2, 3: 1, 4: 3}
    assert knobs.rate_limits["read"] == Knobs().rate_limits["read"]


SECTIONS = """
confirm_tier = 2
proposal_ttl_days = 10
rate_limits = { write = "50/minute" }
[tenants.acme]
proposal_ttl_days = 20
rate_limits = { read = "60/minute" }
[tenants.acme.models.m1]
proposal_ttl_days = 40
default_mode = "direct"
[tenants.other.models.m1]
confirm_tier = 1
"""


@pytest.mark.parametrize(
    ("tenant", "model", "ttl", "mode", "confirm"),
    [
        ("nobody", None, 10, "proposal", 2),
        ("nobody", "m1", 10, "proposal", 2),
        ("acme", None, 20, "proposal", 2),
        ("acme", "m1", 40, "direct", 2),
        ("acme", "m2", 20, "proposal", 2),
        ("other", None, 10, "proposal", 2),
        ("other", "m1", 10, "proposal", 1),
    ],
)
def test_the_most_specific_value_wins(tenant: str, model: str | None, ttl: int, mode: str, confirm: int) -> None:
    knobs = Knobs.from_toml(SECTIONS).for_(tenant, model)
    assert (knobs.proposal_ttl_days, knobs.default_mode, knobs.confirm_tier) == (ttl, mode, confirm)


def test_rates_of_a_tenant_are_laid_over_those_of_all() -> None:
    rates = Knobs.from_toml(SECTIONS).for_("acme", "m1").rate_limits
    assert dict(rates) == {"read": "60/minute", "write": "50/minute", "upload": "10/minute"}


@pytest.mark.parametrize(
    ("text", "setting", "meant"),
    [
        ('defualt_mode = "direct"', "defualt_mode", "default_mode"),
        ("self_approval = true", "self_approval", "single_operator"),
        ("confirm_destructive = true", "confirm_destructive", "confirm_tier"),
        ("[tenants.acme]\nmaxbulk = 3", "tenants.acme.maxbulk", "max_bulk"),
        ("[tenants.a.models.b]\nproposal_ttl = 3", "tenants.a.models.b.proposal_ttl", "proposal_ttl_days"),
        (
            '[[direct_commit_grants]]\nprincipal = "x"\noperation = ["*"]',
            "direct_commit_grants.0.operation",
            "operations",
        ),
    ],
)
def test_an_unknown_knob_is_named_with_the_one_that_was_meant(text: str, setting: str, meant: str) -> None:
    told = refused(text)
    assert (told["setting"], told["did_you_mean"][0]) == (setting, meant)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ('default_mode = "drect"', "default_mode"),
        ("default_mode = true", "default_mode"),
        ('single_operator = "yes"', "single_operator"),
        ("single_operator = 1", "single_operator"),
        ("confirm_tier = true", "confirm_tier"),
        ("confirm_tier = 0", "confirm_tier"),
        ("confirm_tier = 3.0", "confirm_tier"),
        ("max_bulk = -1", "max_bulk"),
        ("approvals_by_tier = 2", "approvals_by_tier"),
        ("approvals_by_tier = { 5 = 1 }", "approvals_by_tier.5"),
        ("approvals_by_tier = { 2 = 0 }", "approvals_by_tier.2"),
        ('break_glass_roles = "admin"', "break_glass_roles"),
        ("break_glass_roles = [1]", "break_glass_roles"),
        ('rate_limits = { write = "often" }', "rate_limits.write"),
        ('rate_limits = { write = "0/minute" }', "rate_limits.write"),
        ('rate_limits = { writes = "1/minute" }', "rate_limits.writes"),
        ('rate_limit_surfaces = ["http"]', "rate_limit_surfaces"),
        ('rate_limit_window = "sliding"', "rate_limit_window"),
        ("direct_commit_grants = 1", "direct_commit_grants"),
        ("direct_commit_grants = [1]", "direct_commit_grants.0"),
        ('direct_commit_grants = [{ operations = ["*"] }]', "direct_commit_grants.0"),
        (
            'direct_commit_grants = [{ principal = "a", role = "b", operations = ["*"] }]',
            "direct_commit_grants.0",
        ),
        ('direct_commit_grants = [{ role = "b" }]', "direct_commit_grants.0.operations"),
        ('direct_commit_grants = [{ role = "b", operations = [] }]', "direct_commit_grants.0.operations"),
        ('direct_commit_grants = [{ role = "b", operations = ["*"], types = [] }]', "direct_commit_grants.0.types"),
        ('direct_commit_grants = [{ role = "b", operations = ["*"], types = "x" }]', "direct_commit_grants.0.types"),
        (
            'direct_commit_grants = [{ role = "b", operations = ["*"], max_tier = 4 }]',
            "direct_commit_grants.0.max_tier",
        ),
        (
            'direct_commit_grants = [{ role = "b", operations = ["*"], expires_at = "soon" }]',
            "direct_commit_grants.0.expires_at",
        ),
        (
            'direct_commit_grants = [{ role = "b", operations = ["*"], expires_at = 2027-01-01T00:00:00 }]',
            "direct_commit_grants.0.expires_at",
        ),
        ("tenants = 1", "tenants"),
        ("[tenants]\nacme = 1", "tenants"),
        ("[tenants.acme]\nmodels = 1", "tenants.acme.models"),
        ("[models.m1]\nmax_bulk = 1", "models"),
        ("[tenants.acme]\nmax_bulk = 0", "tenants.acme.max_bulk"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place(text: str, setting: str) -> None:
    assert refused(text)["setting"] == setting


def test_a_word_that_does_not_fit_comes_with_those_that_do() -> None:
    assert refused('duplicate_name = "maybe"')["allowed_values"] == ["by-caller", "reject", "warn", "allow"]


def test_a_document_that_is_no_toml_is_refused_with_its_line() -> None:
    assert refused("max_bulk = 1\nmax_bulk ==")["line"] == 2


def test_knobs_made_in_python_are_held_to_the_same_rules() -> None:
    with pytest.raises(Failed) as caught:
        Knobs(confirm_tier=9)
    assert caught.value.params == {"setting": "confirm_tier"}


def test_knobs_cannot_be_turned_afterwards() -> None:
    knobs = Knobs.from_toml(EVERYTHING)
    with pytest.raises(AttributeError):
        knobs.max_bulk = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        knobs.rate_limits["read"] = "1/day"  # type: ignore[index]
