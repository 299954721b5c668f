"""How a source is to be interpreted: what the caller asked for, checked, and what is really done, for the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.flows import nearest
from engross.flows.pointer import pointer
from engross.replies import Issue

from ..refusals import malformed, raise_all
from ..ways import Ways

RULES, MODEL = "rule_based", "model"
PROVIDERS = (RULES, MODEL)
_TEXTS = ("provider", "model_id", "prompt_hash", "code_version")
FIELDS = (*_TEXTS, "temperature", "feature_flags")
LONGEST = 200


class Config(NamedTuple):
    """Who interprets, and how."""

    provider: str = RULES
    model_id: str | None = None
    temperature: float = 0.0
    asked: Mapping[str, Any] = {}

    @property
    def by_model(self) -> bool:
        """Whether a model is asked."""
        return self.provider == MODEL


def config_of(asked: Mapping[str, Any], ways: Ways) -> Config:
    """What a caller asked for; Invalid, with everything that is wrong, if it cannot be done."""
    issues = [*_shape_issues(asked)]
    raise_all(issues)
    provider = str(asked.get("provider") or RULES).strip().lower()
    if provider not in PROVIDERS:
        hint = f"One of {', '.join(PROVIDERS)}."
        raise_all([_wrong("provider", "this office has no such provider", hint)])
    if provider == MODEL and ways.model is None:
        raise_all([_wrong("provider", "this office has no model", f"Use {RULES}, or have an operator name a model.")])
    model = asked.get("model_id") or (ways.model.model if ways.model is not None else None)
    return Config(provider, model if provider == MODEL else None, float(asked.get("temperature") or 0), dict(asked))


def _shape_issues(asked: Mapping[str, Any]) -> list[Issue]:
    issues = []
    for name, value in asked.items():
        if name not in FIELDS:
            close = nearest(name, FIELDS)
            issues.append(_wrong(name[:80], "there is no such field", f"Did you mean {close[0]}?" if close else None))
        elif name in _TEXTS and not (isinstance(value, str) and 0 < len(value) <= LONGEST):
            issues.append(_wrong(name, f"a text of 1 to {LONGEST} characters is wanted"))
        elif name == "temperature" and not _is_temperature(value):
            issues.append(_wrong(name, "a number from 0 to 2 is wanted"))
        elif name == "feature_flags" and not _are_flags(value):
            issues.append(_wrong(name, "true or false for each flag is wanted"))
    return issues


def _wrong(field: str, problem: str, hint: str | None = None) -> Issue:
    return malformed(pointer(("interpretation_config", field)), problem, hint)


def _is_temperature(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 2


def _are_flags(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(flag, bool) for flag in value.values())
