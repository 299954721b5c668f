"""Cedar, as far as policies need it. Importing this is what costs time, so it is imported when there is a question.

The library also brings a syntax tree of policies, in classes whose definition takes longer than loading all the rest.
Nobody here looks at it, so a module that loads itself when somebody does stands in its place.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

SYNTAX_TREE = "cedarpy.pst"


def _defer(name: str) -> None:
    """Have a module of a package load itself when it is first looked into, before the package asks for it.

    The standard library's `LazyLoader` is of no use here: until Python 3.12 being imported counts as being looked into.
    """
    package = find_spec(name.partition(".")[0])
    spec = PathFinder.find_spec(name, package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None or name in sys.modules:
        return
    loader, module = spec.loader, module_from_spec(spec)

    def load(attribute: str) -> Any:
        del module.__dict__["__getattr__"]
        loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = load
    sys.modules[name] = module


_defer(SYNTAX_TREE)

from cedarpy import (  # noqa: E402
    PolicySet,
    Schema,
    is_authorized_batch,
    policies_to_json_str,
    validate_policies,
)

__all__ = ["PolicySet", "Schema", "is_authorized_batch", "policies_to_json_str", "validate_policies"]
