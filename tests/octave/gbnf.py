"""A reader of GBNF grammars that have no recursion: each is one regular expression."""

from __future__ import annotations

import json
import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z][a-z0-9-]*|\{\d*,?\d*\}|[()|?*+]')


def accepts(grammar: str, text: str) -> bool:
    """Whether a grammar describes a text."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line)
    return re.fullmatch(_expression(rules["root"], rules), text) is not None


def _expression(body: str, rules: dict[str, str]) -> str:
    assert not TOKEN.sub("", body).strip(), f"not GBNF: {TOKEN.sub('', body)!r}"
    return "".join(_part(token, rules) for token in TOKEN.findall(body))


def _part(token: str, rules: dict[str, str]) -> str:
    if token[0] == '"':
        return f"(?:{re.escape(json.loads(token))})"
    if token[0] == "[" or token[0] in "{|?*+)":
        return token
    return "(?:" if token == "(" else f"(?:{_expression(rules[token], rules)})"
