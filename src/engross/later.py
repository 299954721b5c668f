"""Names of a package that are imported when somebody asks for them, so that nobody pays for what is not used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A `__getattr__` for a package, from the names it offers and the modules they live in."""

    def find(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
