"""Knobs: what an operator may set about governance, as data. Most specific wins: model, tenant, all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from engross.replies import Failed, codes

from .grant import Grant
from .setting import Check, Unfit, flag, grants, names, one_of, rates, surfaces, table, tiers, whole

NOTHING: Mapping[str, Any] = MappingProxyType({})
APPROVALS: Mapping[int, int] = MappingProxyType({1: 1, 2: 1, 3: 1, 4: 2})
RATES: Mapping[str, str] = MappingProxyType({"read": "300/minute", "write": "100/minute", "upload": "10/minute"})

CHECKS: Mapping[str, Check] = {
    "default_mode": one_of("proposal", "direct"),
    "on_direct_denied": one_of("propose", "deny"),
    "direct_commit_grants": grants,
    "approvals_by_tier": tiers(1, 10),
    "single_operator": flag,
    "break_glass_roles": names,
    "confirm_tier": whole(1, 5),
    "bulk_threshold": whole(1, 1_000_000),
    "max_bulk": whole(1, 10_000),
    "proposal_ttl_days": whole(1, 3650),
    "require_client_request_id": flag,
    "duplicate_name": one_of("by-caller", "reject", "warn", "allow"),
    "template_reuse": flag,
    "rate_limits": rates,
    "rate_limit_surfaces": surfaces,
    "rate_limit_window": one_of("moving", "fixed"),
}
# A change of one of these may turn a decision, so it makes another policy version.
DECISIVE = (
    "default_mode",
    "on_direct_denied",
    "direct_commit_grants",
    "approvals_by_tier",
    "single_operator",
    "break_glass_roles",
    "confirm_tier",
    "bulk_threshold",
)
# Given in part, these are laid over what holds more generally instead of replacing it.
MERGED = ("approvals_by_tier", "rate_limits")
OTHER_NAMES = {
    "self_approval": "single_operator",
    "confirm_destructive": "confirm_tier",
    "break_glass": "break_glass_roles",
}


@dataclass(frozen=True, slots=True)
class Knobs:
    """All knobs with their values, as docs/policy.md explains them; `for_` finds a tenant's or a model's."""

    default_mode: Literal["proposal", "direct"] = "proposal"
    on_direct_denied: Literal["propose", "deny"] = "propose"
    direct_commit_grants: tuple[Grant, ...] = ()
    approvals_by_tier: Mapping[int, int] = field(default_factory=lambda: APPROVALS)
    single_operator: bool = False
    break_glass_roles: tuple[str, ...] = ("admin",)
    confirm_tier: int = 3
    bulk_threshold: int = 20
    max_bulk: int = 100
    proposal_ttl_days: int = 30
    require_client_request_id: bool = False
    duplicate_name: Literal["by-caller", "reject", "warn", "allow"] = "by-caller"
    template_reuse: bool = True
    rate_limits: Mapping[str, str] = field(default_factory=lambda: RATES)
    rate_limit_surfaces: tuple[str, ...] = ("rest", "mcp-http")
    rate_limit_window: Literal["moving", "fixed"] = "moving"
    tenants: Mapping[str, Knobs] = field(default_factory=lambda: NOTHING, repr=False)
    models: Mapping[str, Knobs] = field(default_factory=lambda: NOTHING, repr=False)

    def __post_init__(self) -> None:
        own = {name: getattr(self, name) for name in CHECKS}
        for name, value in {**own, **_laid_over(_GENERAL, _checked(own, ""))}.items():
            object.__setattr__(self, name, value)

    def for_(self, tenant: str, model: str | None = None) -> Knobs:
        """The knobs that hold in a tenant, or in one model of it."""
        found = self.tenants.get(tenant, self)
        return found if model is None else found.models.get(model, found)

    def approvals(self, tier: int) -> int:
        """How many people have to approve a proposal of this tier."""
        return 1 if self.single_operator else self.approvals_by_tier[min(max(tier, 1), 4)]

    def decisive(self) -> dict[str, Any]:
        """What a decision may depend on, as JSON."""
        own: dict[str, Any] = {name: _as_data(getattr(self, name)) for name in DECISIVE}
        below = {**self.tenants, **self.models}
        return {**own, "below": {name: knobs.decisive() for name, knobs in below.items()}} if below else own

    @classmethod
    def from_toml(cls, text: str) -> Knobs:
        """Knobs from a TOML document with sections `[tenants.X]` and `[tenants.X.models.Y]`."""
        import tomllib

        try:
            return cls.from_data(tomllib.loads(text))
        except tomllib.TOMLDecodeError as unreadable:
            raise _invalid("knobs", Unfit("this is not TOML", line=_line_of(str(unreadable)))) from unreadable

    @classmethod
    def from_data(cls, document: Mapping[str, Any]) -> Knobs:
        """Knobs from a document that is already read."""
        sections = _part(document, "tenants", "")
        general = _laid_over(_GENERAL, _checked(document, "", "tenants"))
        return cls(**general, tenants={name: _tenant(name, one, general) for name, one in sections.items()})


# What holds where nobody said anything.
_GENERAL: dict[str, Any] = {
    **{one.name: one.default for one in fields(Knobs) if one.name in CHECKS},
    "approvals_by_tier": APPROVALS,
    "rate_limits": RATES,
}


def _tenant(name: str, section: Mapping[str, Any], general: Mapping[str, Any]) -> Knobs:
    place = f"tenants.{name}."
    models = _part(section, "models", place)
    own = _laid_over(general, _checked(section, place, "models"))
    return Knobs(
        **own,
        models={
            model: Knobs(**_laid_over(own, _checked(one, f"{place}models.{model}."))) for model, one in models.items()
        },
    )


def _part(section: Mapping[str, Any], name: str, place: str) -> dict[str, Mapping[str, Any]]:
    try:
        return {key: table(one) for key, one in table(section.get(name, NOTHING)).items()}
    except Unfit as unfit:
        raise _invalid(place + name, unfit) from None


def _laid_over(general: Mapping[str, Any], special: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: MappingProxyType({**general[name], **special[name]}) for name in MERGED if name in special}
    return {**general, **special, **merged}


def _checked(section: Mapping[str, Any], place: str, *apart: str) -> dict[str, Any]:
    """The section's knobs in their own types; the first that does not fit is named with its place."""
    found: dict[str, Any] = {}
    for name, value in section.items():
        if name in apart:
            continue
        try:
            found[name] = _check_of(name)(value)
        except Unfit as unfit:
            raise _invalid(place + name + unfit.place, unfit) from None
    return found


def _check_of(name: str) -> Check:
    if name in CHECKS:
        return CHECKS[name]
    from engross.flows import nearest

    guesses = [OTHER_NAMES[name]] if name in OTHER_NAMES else nearest(name, CHECKS)
    raise Unfit("there is no such knob", did_you_mean=guesses, allowed=sorted(CHECKS))


def _invalid(setting: str, unfit: Unfit) -> Failed:
    told = {"setting": setting, "problem": unfit.problem, **unfit.help}
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data=told)


def _line_of(complaint: str) -> int | None:
    number = complaint.partition("at line ")[2].partition(",")[0]
    return int(number) if number.isdigit() else None


def _as_data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): one for name, one in value.items()}
    if isinstance(value, tuple):
        return [one.as_data() if isinstance(one, Grant) else one for one in value]
    return value
