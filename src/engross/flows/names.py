"""How things are called: kebab-case inside, camelCase or snake_case towards clients."""

from __future__ import annotations

import re
from typing import Literal

Naming = Literal["camel", "snake"]

KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
# Dots are legal in the protocol, but several clients refuse them; 64 is the shortest limit among clients.
TOOL = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")


def is_kebab(name: str) -> bool:
    """Is this a name for a namespace or a flow?"""
    return KEBAB.fullmatch(name) is not None


def is_tool_name(name: str) -> bool:
    """Do all clients accept this as the name of a tool?"""
    return TOOL.fullmatch(name) is not None


def kebab(function_name: str) -> str:
    """The flow name of a function: `count_books` is `count-books`, `list_` is `list`."""
    return function_name.removesuffix("_").replace("_", "-")


def camel(name: str) -> str:
    """`count-books` as `countBooks`."""
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)


def tool_name(name: str, naming: Naming) -> str:
    """The tool name of a flow in the given style."""
    return camel(name) if naming == "camel" else name.replace("-", "_")


def title(name: str) -> str:
    """`count-books` as a heading, `Count books`."""
    return name.replace("-", " ").capitalize()


def tokens(text: str) -> tuple[str, ...]:
    """The words inside a name, in lower case: `AppComponent` and `app_component` are `app`, `component`."""
    return tuple(token.lower() for token in _TOKEN.findall(text))
