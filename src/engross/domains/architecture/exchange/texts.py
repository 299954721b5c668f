"""Texts in several languages, and properties: what of them is shown, and what is kept for the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..names import clean
from .trees import Node

SHOWN_LANGUAGE = "en"
Texts = str | list[dict[str, str]]
"""One text, or several with their languages."""


def variants(node: Node, name: str) -> list[dict[str, str]]:
    """Every text of a name with its language, as the file has them."""
    return [
        {"value": one.text, **({"lang": one.attributes["xml:lang"]} if "xml:lang" in one.attributes else {})}
        for one in node.all(name)
    ]


def shown(texts: Iterable[dict[str, str]]) -> str | None:
    """The one text to show: without a language, in English, or the first."""
    listed = list(texts)
    for wanted in (None, SHOWN_LANGUAGE):
        for one in listed:
            if one.get("lang") == wanted:
                return one["value"]
    return listed[0]["value"] if listed else None


def described(node: Node) -> tuple[str, str | None, dict[str, Any]]:
    """Name, documentation, and what has to be kept besides to write both again as they were."""
    names, told = variants(node, "name"), variants(node, "documentation")
    extra: dict[str, Any] = {}
    for key, texts in (("names", names), ("documentation", told)):
        if len(texts) > 1 or any("lang" in one for one in texts):
            extra[key] = texts
    return clean(shown(names) or ""), shown(told) or None, extra


def properties_of(node: Node) -> dict[str, Texts]:
    """Properties by the ids of their definitions: the text of each, or all texts of those that have several."""
    found: dict[str, Texts] = {}
    holder = node.first("properties")
    for one in holder.all("property") if holder else ():
        texts = variants(one, "value") or [{"value": ""}]
        key = one.get("propertyDefinitionRef") or ""
        before = found.get(key)
        if before is None:
            found[key] = texts[0]["value"] if len(texts) == 1 and "lang" not in texts[0] else texts
        elif isinstance(before, str):
            found[key] = [{"value": before}, *texts]
        else:
            before.extend(texts)
    return found
