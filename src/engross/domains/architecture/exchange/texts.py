"""Texts in several languages, and properties: what of them is shown, and what is kept for the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..names import clean
from .trees import Node

SHOWN_LANGUAGE = "en"


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


def properties_of(node: Node) -> tuple[dict[str, str], dict[str, Any]]:
    """Properties by the ids of their definitions, and all values of those that have several or say their language."""
    found: dict[str, list[dict[str, str]]] = {}
    holder = node.first("properties")
    for one in holder.all("property") if holder else ():
        found.setdefault(one.get("propertyDefinitionRef") or "", []).extend(variants(one, "value") or [{"value": ""}])
    several = {key: values for key, values in found.items() if len(values) > 1 or "lang" in values[0]}
    shown_values = {key: shown(values) or "" for key, values in found.items()}
    return shown_values, {"values": several} if several else {}
