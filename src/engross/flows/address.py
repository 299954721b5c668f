"""An address with variables, as `shelf://books/{id}`; `{+path}` is a variable that may hold slashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import quote, unquote

from .definition import FlowDefinitionError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
_VARIABLE = re.compile(r"\{(\+?)([a-z_][A-Za-z0-9_]*)\}")
LONGEST = 2048


class Address:
    """A subset of RFC 6570 that can be read backwards: which values lead to this very address?"""

    def __init__(self, template: str) -> None:
        self.template = template
        complaint = _complaint(template)
        if complaint:
            raise FlowDefinitionError(f"address {template!r}", complaint)

    def __repr__(self) -> str:
        return f"<Address {self.template}>"

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(match[2] for match in _VARIABLE.finditer(self.template))

    @cached_property
    def shape(self) -> str:
        """The same for addresses that nobody could tell apart."""
        return _VARIABLE.sub(r"{\1}", self.template)

    @cached_property
    def literal(self) -> int:
        """How many characters are fixed: of two addresses that fit, the one with more of them is meant."""
        return len(_VARIABLE.sub("", self.template))

    def read(self, uri: str) -> dict[str, str] | None:
        """The values that make this address; None if it is another one."""
        found = self._pattern.fullmatch(uri) if len(uri) <= LONGEST else None
        if found is None:
            return None
        try:
            return {name: unquote(value, errors="strict") for name, value in found.groupdict().items()}
        except UnicodeDecodeError:
            return None

    def fill(self, values: Mapping[str, object]) -> str:
        """The address for these values."""
        return _VARIABLE.sub(
            lambda found: quote(str(values[found[2]]), safe="/" if found[1] else ""),
            self.template,
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pattern, end = "", 0
        for found in _VARIABLE.finditer(self.template):
            pattern += re.escape(self.template[end : found.start()])
            pattern += f"(?P<{found[2]}>{'[^?#]+' if found[1] else '[^/?#]+'})"
            end = found.end()
        return re.compile(pattern + re.escape(self.template[end:]))


def _complaint(template: str) -> str | None:
    if not _SCHEME.fullmatch(template) or len(template) > LONGEST:
        return "An address looks like scheme://path, in lower case, without blanks."
    if re.search(r"[{}]", _VARIABLE.sub("", template)):
        return "A variable is written {name}, or {+name} where its value may hold slashes."
    names = [found[2] for found in _VARIABLE.finditer(template)]
    if len(set(names)) != len(names):
        return "Each variable occurs once."
    if "}{" in template:
        return "Something has to stand between two variables."
    return None
