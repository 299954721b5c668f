"""Front matter: plain YAML, whose values stay texts wherever anything else would change what they say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode

from .dates import iso
from .money import number_of

_ALIAS = re.compile(r"(?m)(?:^|[\s\[,:-])[&*][A-Za-z0-9_]")
_LEADING_ZERO = re.compile(r"[-+]?0\d+")
_DECIMAL = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,4})?")
_TAG = "tag:yaml.org,2002:"


class _Constructor(SafeConstructor):
    """Knows postcodes from numbers, and keeps what looks like a date and is none."""

    def whole(self, node: ScalarNode) -> Any:
        said = str(node.value)
        return said if _LEADING_ZERO.fullmatch(said) else self.construct_yaml_int(node)

    def decimal(self, node: ScalarNode) -> Any:
        said = str(node.value)
        if not _DECIMAL.fullmatch(said):
            return self.construct_yaml_float(node)
        number = number_of(said)
        return said if number is None else number

    def instant(self, node: ScalarNode) -> Any:
        try:
            moment = self.construct_yaml_timestamp(node)
            return iso(moment) if hasattr(moment, "hour") else moment.isoformat()
        except (ValueError, OverflowError):
            return str(node.value)


_Constructor.add_constructor(f"{_TAG}int", _Constructor.whole)
_Constructor.add_constructor(f"{_TAG}float", _Constructor.decimal)
_Constructor.add_constructor(f"{_TAG}timestamp", _Constructor.instant)


def front_matter(text: str) -> Mapping[Any, Any] | None:
    """The mapping that a front matter is; None if it is none. Aliases are refused: they can unfold without end."""
    if _ALIAS.search(text):
        return None
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        loaded = yaml.load(text)
    except (YAMLError, ValueError, RecursionError, TypeError, OverflowError):
        return None
    return loaded if isinstance(loaded, Mapping) else None
