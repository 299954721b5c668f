"""A schema as a GBNF grammar, for decoders that can be held to one.

The grammar describes documents of that kind which are valid: META, then the fields in the schema's order, the optional
ones optional. It has no recursion, so it is a regular language and every decoder can follow it.
"""

from __future__ import annotations

import json
import re
from typing import Final

from .constraint import text_of
from .pattern import Rule
from .schema import Schema
from .spelling import spelled, spelled_text
from .value import Value

_LONGEST_REPEAT: Final = 1000
_COMMON: Final = {
    "char": r'[^"\\\n\t\r] | "\\" ["\\ntr]',
    "quoted": '"\\"" char+ "\\""',
    # A word that begins like none of true, false, null and vs.
    "word": '[A-Za-eg-mo-suw-z_] [A-Za-z0-9_.]* ("-" [A-Za-z0-9_.]+)*',
    "text": "word | quoted",
    "number": '"-"? [0-9]+ ("." [0-9]+)?',
    "boolean": '"true" | "false"',
    "atom": 'number | boolean | "null" | text',
    "given": "list | number | boolean | text",
    "list": '"[]" | "[" atom ("," atom)? "]" | "[\\n" "  " atom (",\\n  " atom){2,} "\\n]"',
    "value": "list | atom",
    "date": '"\\"" [0-9]{4} "-" [0-9]{2} "-" [0-9]{2} "\\""',
    "moment": '"\\"" [0-9]{4} "-" [0-9]{2} "-" [0-9]{2} '
    '("T" [0-9]{2} ":" [0-9]{2} (":" [0-9]{2})? ("Z" | [+-] [0-9]{2} ":" [0-9]{2})?)? "\\""',
    "name": "[A-Za-z_] [A-Za-z0-9_]*",
}
_USED: Final = re.compile(r"\b[a-z][a-z0-9-]*\b")


def grammar_of(schema: Schema) -> str:
    """The grammar whose root is a whole document."""
    in_meta = schema.name == "META"
    rules = {"root": _root(schema, in_meta)}
    for name, rule in schema.fields.items():
        if in_meta or name not in ("TYPE", "VERSION"):
            pad = "  " if in_meta else ""
            rules[_rule_name(name)] = f"{_said(f'{pad}{name}::')} {_value(rule)} {_said(chr(10))}"
    return "\n".join(f"{name} ::= {body}" for name, body in [*rules.items(), *_needed(rules)]) + "\n"


def _root(schema: Schema, in_meta: bool) -> str:
    fields = [
        _rule_name(name) + ("" if rule.required else "?")
        for name, rule in schema.fields.items()
        if in_meta or name not in ("TYPE", "VERSION")
    ]
    version = _value(schema.fields["VERSION"]) if "VERSION" in schema.fields else "quoted"
    head = [] if in_meta else [_said(f"  TYPE::{spelled_text(schema.name)}\n  VERSION::"), version, _said("\n---\n")]
    return " ".join([_said("==="), "name", _said("===\nMETA:\n"), *head, *fields, _said("===END===\n")])


def _rule_name(field: str) -> str:
    return "field-" + re.sub(r"[^a-z0-9]+", "-", field.lower()).strip("-")


def _value(rule: Rule) -> str:
    """What may stand behind the key. A regular expression is not followed further than to a text."""
    for name in ("CONST", "ENUM"):
        if arguments := rule.arguments(name):
            return _any_of(arguments)
    names = {constraint.name for constraint in rule.constraints}
    kind = text_of(rule.arguments("TYPE")[0]) if "TYPE" in names else ""
    if "DATE" in names or "ISO8601" in names:
        return "date" if "DATE" in names else "moment"
    if kind == "NUMBER" or "RANGE" in names:
        return "number"
    if kind == "BOOLEAN":
        return "boolean"
    if kind == "LIST" or "APPEND_ONLY" in names:
        return "list"
    if kind == "STRING" or "REGEX" in names or names & {"MAX_LENGTH", "MIN_LENGTH"}:
        return _bounded(rule)
    return "given" if rule.required else "value"


def _any_of(values: tuple[Value, ...]) -> str:
    spellings = [_said(spelled(value, 0)) for value in values]
    return spellings[0] if len(spellings) == 1 else f"({' | '.join(spellings)})"


def _bounded(rule: Rule) -> str:
    low, high = rule.arguments("MIN_LENGTH"), rule.arguments("MAX_LENGTH")
    if not low and not high:
        return "text"
    least = min(low[0], _LONGEST_REPEAT) if low and isinstance(low[0], int) else int(rule.required)
    most = high[0] if high and isinstance(high[0], int) and high[0] <= _LONGEST_REPEAT else None
    return f'"\\"" char{{{least},{"" if most is None else most}}} "\\""'


def _said(text: str) -> str:
    """A terminal: JSON's escapes are GBNF's."""
    return json.dumps(text, ensure_ascii=False)


def _needed(rules: dict[str, str]) -> list[tuple[str, str]]:
    """The common rules that the others use, and those that these use."""
    needed: list[str] = []
    pending = list(rules.values())
    while pending:
        body = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', " ", pending.pop())
        for name in _USED.findall(body):
            if name in _COMMON and name not in needed:
                needed.append(name)
                pending.append(_COMMON[name])
    return [(name, _COMMON[name]) for name in _COMMON if name in needed]
