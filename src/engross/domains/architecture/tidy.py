"""What callers write, as it is meant: other spellings of types, blanks around names, nulls that say nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from engross.flows import Normaliser

from .metamodel import Meant, metamodel
from .names import visible
from .notices import notice

Arguments = dict[str, Any]

NULL_MEANS_SOMETHING = frozenset({"description", "properties", "profile"})
NAMES = ("name", "component_name", "model_name")
LISTS = ("value_streams", "sub_capabilities", "services")


def tidying(*, elements: Sequence[str] = (), relationships: Sequence[str] = (), null: Sequence[str] = ()) -> Normaliser:
    """A normaliser for arguments in which these fields hold types; in those of `null`, null says something."""
    kept = NULL_MEANS_SOMETHING.union(null)

    def normalise(arguments: Arguments) -> tuple[Arguments, list[dict[str, Any]]]:
        told = {name: value for name, value in arguments.items() if value is not None or name in kept}
        warnings: list[dict[str, Any]] = []
        for name in elements:
            _settle(told, name, metamodel().element_type, warnings)
        for name in relationships:
            _settle(told, name, metamodel().relationship_type, warnings)
        for name in NAMES:
            if isinstance(told.get(name), str):
                told[name] = trimmed(told[name])
        for name in LISTS:
            if isinstance(told.get(name), list):
                told[name] = [trimmed(one) if isinstance(one, str) else one for one in told[name]]
        return told, warnings

    return normalise


def trimmed(name: str) -> str:
    """A name without needless blanks. Line breaks and tabs are not blanks: they are refused, not mended.

    What nobody can see is no more of a name than blanks are, and is refused like them.
    """
    if name.isascii():
        return " ".join(part for part in name.split(" ") if part)
    composed = unicodedata.normalize("NFC", name)
    blanks = "".join(" " if unicodedata.category(letter) == "Zs" else letter for letter in composed)
    return visible(" ".join(part for part in blanks.split(" ") if part))


def _settle(
    arguments: Arguments, name: str, find: Callable[[object], Meant | None], warnings: list[dict[str, Any]]
) -> None:
    given = arguments.get(name)
    if isinstance(given, list):
        meant = [find(one) for one in given]
        arguments[name] = [found.type if found else one for found, one in zip(meant, given, strict=True)]
        return
    found = find(given)
    if found is not None and not found.spelled_out:
        arguments[name] = found.type
        warnings.append(notice("ALIAS_USED", f"Read as {found.type}.", name, found.type))
