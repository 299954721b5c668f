"""The words of JSON Schema that mean something here. Any other one would be passed over, and guard nothing."""

from __future__ import annotations

from collections.abc import Iterable

from .nearest import nearest

COMBINATORS = (
    *("$ref", "$dynamicRef", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
    *("patternProperties", "propertyNames", "dependencies", "dependentSchemas", "dependentRequired"),
    *("prefixItems", "contains", "unevaluatedProperties", "unevaluatedItems"),
)
"""Those that put schemas together, which not every client understands."""

KEYWORDS = frozenset(
    {
        *COMBINATORS,
        *("title", "description", "default", "deprecated", "examples", "readOnly", "writeOnly"),
        *("type", "enum", "const", "format", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("items", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
        *("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
        *("contentEncoding", "contentMediaType", "contentSchema"),
        *("$schema", "$id", "$anchor", "$dynamicAnchor", "$comment", "$vocabulary"),
    }
)
OWN = "x-"
"""What begins like this is for somebody else, and says so."""


def unknown_keywords(words: Iterable[str]) -> list[str]:
    """What is wrong with each word that is no keyword."""
    return [_complaint(word) for word in words if word not in KEYWORDS and not word.startswith(OWN)]


def _complaint(word: str) -> str:
    close = nearest(word, KEYWORDS)
    hint = f"did you mean {close[0]}?" if close else f"it would guard nothing. One of your own begins with {OWN}."
    return f"{word} is no keyword of JSON Schema; {hint}"
