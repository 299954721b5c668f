"""Mustache, rendered once: what a value holds is never read as a template, and never breaks out of where it is put.

There are variables (`{{a}}`, `{{a.b.0}}`; three braces and `&` mean the same here), sections, inverted sections,
comments and other delimiters. Partials are refused. How a value is written depends on where the text goes, which the
`Pen` knows: in a JSON body between quotes it is escaped, outside of them it is JSON of its own type; in a path it is
percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from .model import MISSING
from .pen import TEXT, Pen

MOST_NESTING = 20
_NAME = re.compile(r"[^\s{}#^/&!>=]+")
_SINGLE = re.compile(r"(?<!\{)\{([A-Za-z0-9_*.-]+)\}(?!\})")
_ONLY = re.compile(r"\{\{\{?\s*&?\s*([^\s{}#^/&!>=]+)\s*\}?\}\}")

Scope: TypeAlias = Mapping[str, Any]


class TemplateError(ValueError):
    """A text that is no template."""


class Variable(NamedTuple):
    """Stands for a value."""

    name: str


class Section(NamedTuple):
    """A part that is there once, several times or not at all."""

    name: str
    parts: tuple[Part, ...]
    inverted: bool


Part: TypeAlias = "str | Variable | Section"


class Template(NamedTuple):
    """A text with variables, read once."""

    text: str
    parts: tuple[Part, ...]
    variables: frozenset[str]
    """All names in it, as written: `item.id`."""
    only: str | None
    """The name, where the whole text is one variable."""

    def render(self, scope: Scope, pen: type[Pen] = TEXT) -> str:
        """The text with the values of the scope in it."""
        writing = pen()
        _write(self.parts, (scope,), writing)
        return writing.written()


@lru_cache(maxsize=4096)
def compiled(text: str) -> Template:
    """The template that this text is; ValueError with a plain reason when it is none."""
    parts = _parsed(text) if "{{" in text else ((text,) if text else ())
    only = _ONLY.fullmatch(text.strip())
    return Template(text, parts, frozenset(_names(parts)), only[1] if only else None)


def path_template(text: str) -> Template:
    """A template of a path, where a variable may also stand in single braces."""
    return compiled(_SINGLE.sub(r"{{\1}}", text))


def looked_up(name: str, scope: Scope) -> Any:
    """The value of a name in a scope; MISSING where there is none. A name with a dot may be written like that there."""
    if name in scope:
        return scope[name]
    return followed(name.split("."), scope)


def followed(path: Sequence[str], scope: Any) -> Any:
    """The value behind names and indexes, one after the other."""
    found = scope
    for number, step in enumerate(path):
        if isinstance(found, Mapping):
            rest = ".".join(path[number:])
            if rest in found:
                return found[rest]
            if step not in found:
                return MISSING
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return MISSING
    return found


def _write(parts: tuple[Part, ...], scopes: tuple[Scope, ...], pen: Pen) -> None:
    for part in parts:
        if isinstance(part, str):
            pen.literal(part)
        elif isinstance(part, Variable):
            pen.value(part.name, _innermost(part.name, scopes))
        else:
            for inner in _entered(part, scopes):
                _write(part.parts, inner, pen)


def _entered(section: Section, scopes: tuple[Scope, ...]) -> Iterator[tuple[Scope, ...]]:
    value = _innermost(section.name, scopes)
    there = value is not MISSING and value is not None and value is not False and value not in ("", [])
    if section.inverted:
        if not there:
            yield scopes
    elif there:
        for item in value if isinstance(value, list) else [value]:
            yield (*scopes, {**item, ".": item} if isinstance(item, Mapping) else {".": item})


def _innermost(name: str, scopes: tuple[Scope, ...]) -> Any:
    for scope in reversed(scopes):
        value = looked_up(name, scope)
        if value is not MISSING:
            return value
    return MISSING


def _names(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Variable):
            yield part.name
        elif isinstance(part, Section):
            yield part.name
            yield from _names(part.parts)


class _Open(NamedTuple):
    name: str
    inverted: bool
    parts: list[Part]


def _parsed(text: str) -> tuple[Part, ...]:
    stack = [_Open("", False, [])]
    start, end, at = "{{", "}}", 0
    while (found := text.find(start, at)) >= 0:
        if found > at:
            stack[-1].parts.append(text[at:found])
        inside = found + len(start)
        closing, after = _tag_end(text, inside, start, end)
        tag = text[inside:closing].strip()
        at = after
        if tag.startswith("="):
            start, end = _delimiters(tag)
        elif not tag.startswith("!"):
            _take(tag, stack)
    if at < len(text):
        stack[-1].parts.append(text[at:])
    if len(stack) > 1:
        raise TemplateError(f"the section {stack[-1].name} is not closed")
    return tuple(stack[0].parts)


def _tag_end(text: str, inside: int, start: str, end: str) -> tuple[int, int]:
    closer = f"}}{end}" if start == "{{" and text.startswith("{", inside) else end
    closing = text.find(closer, inside)
    if closing < 0:
        raise TemplateError(f"{start} is not closed")
    return closing, closing + len(closer)


def _delimiters(tag: str) -> tuple[str, str]:
    words = tag.strip("=").split()
    if len(words) != 2 or not tag.endswith("=") or len(tag) < 2:
        raise TemplateError("delimiters are changed like {{=<% %>=}}")
    return words[0], words[1]


def _take(tag: str, stack: list[_Open]) -> None:
    kind = tag[:1]
    name = tag[1:].strip() if kind in ("#", "^", "/", "&", "{", ">") else tag
    if kind == ">":
        raise TemplateError("partials are not possible here")
    if name != "." and not _NAME.fullmatch(name):
        raise TemplateError(f"{tag!r} is no name" if tag else "there is no name between the braces")
    if kind in ("#", "^"):
        if len(stack) > MOST_NESTING:
            raise TemplateError(f"sections are nested more than {MOST_NESTING} deep")
        stack.append(_Open(name, kind == "^", []))
    elif kind == "/":
        if len(stack) == 1 or stack[-1].name != name:
            raise TemplateError(f"{{{{/{name}}}}} closes no section")
        closed = stack.pop()
        stack[-1].parts.append(Section(closed.name, tuple(closed.parts), closed.inverted))
    else:
        stack[-1].parts.append(Variable(name))
