"""Rules: the policies in force, parsed once, and the answers they give.

Cedar leaves out a policy whose evaluation fails, which turns a broken forbid into a permission. So a question
that one policy could not answer has no answer at all here: POLICY_ERROR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from engross.replies import Failed, codes

from .policy_files import policy_problem, schema_text

if TYPE_CHECKING:
    from .cedar import PolicySet, Schema

# What a forbid may be annotated with: @denial("..."). The first that applies is told, with its @advice("...").
DENIALS = {
    "PEOPLE_ONLY": codes.PEOPLE_ONLY,
    "CALL_DENIED": codes.CALL_DENIED,
    "SELF_APPROVAL": codes.SELF_APPROVAL,
    "INSUFFICIENT_SCOPE": codes.INSUFFICIENT_SCOPE,
    "APPROVAL_REQUIRED": codes.APPROVAL_REQUIRED,
    "WRITE_DENIED": codes.WRITE_DENIED,
}
LONGEST_ADVICE = 200


class EvaluationError(Exception):
    """What Cedar said about policies that it left out; the cause of a POLICY_ERROR, so that it is logged."""


class Rule(NamedTuple):
    """One policy with the name it is known by."""

    id: str
    file: str
    denial: str | None
    advice: str | None
    body: Mapping[str, Any]


class Answer(NamedTuple):
    """What the rules say about one action: allowed or not, by which of them, with which code and advice if one says."""

    allowed: bool
    because: tuple[str, ...]
    denial: str | None = None
    advice: str | None = None


class Entity(NamedTuple):
    """A principal or resource with what policies may know about it."""

    type: str
    id: str
    attrs: Mapping[str, Any]

    @property
    def uid(self) -> dict[str, str]:
        """How a question refers to it."""
        return {"type": self.type, "id": self.id}

    def as_data(self) -> dict[str, Any]:
        """The entity as Cedar reads it."""
        return {"uid": self.uid, "attrs": self.attrs, "parents": []}


class Rules:
    """A set of policies that fits the schema."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        from . import cedar

        self._authorize = cedar.is_authorized_batch
        self._schema: Schema = cedar.Schema.from_str(schema_text())
        self._rules = _by_id([rule for file in sorted(texts) for rule in _rules(file, texts[file], self._schema)])
        self._policies = _policy_set(self._rules)

    def ask(
        self, principal: Entity, actions: Sequence[str], resource: Entity, context: Mapping[str, Any]
    ) -> list[Answer]:
        """The answer for each action."""
        circumstances = orjson.dumps(context).decode()
        questions = [
            {
                "principal": principal.uid,
                "action": {"type": "Action", "id": action},
                "resource": resource.uid,
                "context": circumstances,
            }
            for action in actions
        ]
        entities = orjson.dumps([principal.as_data(), resource.as_data()]).decode()
        try:
            results = self._authorize(questions, self._policies, entities, self._schema)
        except Exception as failure:
            raise Failed(codes.POLICY_ERROR) from failure
        return [self._answer(result.allowed, result.diagnostics) for result in results]

    def _answer(self, allowed: bool, diagnostics: Any) -> Answer:
        if diagnostics.errors:
            raise Failed(codes.POLICY_ERROR) from EvaluationError("; ".join(diagnostics.errors))
        because = tuple(sorted(diagnostics.reasons))
        return Answer(True, because) if allowed else self._refused(because)

    def _refused(self, because: tuple[str, ...]) -> Answer:
        """The first code counts; advice about another one would not lead past it."""
        forbids = [self._rules[id_] for id_ in because]
        said = {rule.denial for rule in forbids}
        denial = next((code for code in DENIALS.values() if code in said), None)
        advice = next((rule.advice for rule in forbids if rule.denial == denial and rule.advice), None)
        return Answer(False, because, denial, advice)


def _rules(file: str, text: str, schema: Schema) -> Iterator[Rule]:
    from . import cedar

    try:
        parsed = orjson.loads(cedar.policies_to_json_str(text))
    except ValueError:
        from .complaint import unreadable

        raise policy_problem(file, "this is not Cedar", faults=unreadable(text)) from None
    if parsed["templates"]:
        raise policy_problem(file, "templates decide nothing here: write the principal or resource out")
    names = {place: _id_of(body, file, number) for number, (place, body) in enumerate(_in_order(parsed))}
    _validate(file, text, schema, names)
    for place, body in _in_order(parsed):
        id_ = names[place]
        yield Rule(id_, file, _denial_of(body, file, id_), _advice_of(body, file, id_), body)


def _in_order(parsed: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(parsed["staticPolicies"].items(), key=lambda item: int(item[0].removeprefix("policy")))


def _id_of(body: Mapping[str, Any], file: str, number: int) -> str:
    return body.get("annotations", {}).get("id") or f"{file.removesuffix('.cedar')}.{number + 1}"


def _denial_of(body: Mapping[str, Any], file: str, id_: str) -> str | None:
    key = body.get("annotations", {}).get("denial")
    if key is None:
        return None
    if body["effect"] != "forbid" or key not in DENIALS:
        raise policy_problem(file, "@denial is for a forbid", policy=id_, denial=key, allowed_values=list(DENIALS))
    return DENIALS[key]


def _advice_of(body: Mapping[str, Any], file: str, id_: str) -> str | None:
    annotations = body.get("annotations", {})
    if "advice" not in annotations:
        return None
    advice: str = (annotations["advice"] or "").strip()
    if body["effect"] != "forbid" or not 0 < len(advice) <= LONGEST_ADVICE or not advice.isprintable():
        wanted = "@advice is for a forbid, and one line of plain text"
        raise policy_problem(file, wanted, policy=id_, max_length=LONGEST_ADVICE)
    return advice


def _validate(file: str, text: str, schema: Schema, names: Mapping[str, str]) -> None:
    from . import cedar

    result = cedar.validate_policies(text, schema)
    if not result.validation_passed:
        from .complaint import unfit

        faults = unfit(text, result.errors, names)
        raise policy_problem(file, "this does not fit engross.cedarschema", faults=faults)


def _by_id(rules: Sequence[Rule]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in found:
            raise policy_problem(rule.file, "this id is used twice", policy=rule.id, also_in=found[rule.id].file)
        found[rule.id] = rule
    return found


def _policy_set(rules: Mapping[str, Rule]) -> PolicySet:
    from .cedar import PolicySet

    static = {id_: rule.body for id_, rule in rules.items()}
    document = {"staticPolicies": static, "templates": {}, "templateLinks": []}
    return PolicySet.from_json_str(orjson.dumps(document).decode())
