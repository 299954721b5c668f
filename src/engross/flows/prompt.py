"""A prompt: words that start a job, with places for what the person wants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .flow import Flow

_PLACE = re.compile(r"\{([a-z_][A-Za-z0-9_]*)\}")


class PromptArgument(NamedTuple):
    """Something that a prompt wants to know."""

    name: str
    description: str
    required: bool = True
    choices: tuple[str, ...] = ()


class Prompt(NamedTuple):
    """Data: a name, what it asks for, and its messages, or the read flow that makes them."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()
    ref: str | None = None
    title: str | None = None
    needs: tuple[str, ...] = ()
    """Flows without which it makes no sense: who may not use them is not offered it."""
    for_writers: bool = False
    """Does it make no sense to somebody who can write nothing, whatever there is to write?"""

    @property
    def refs(self) -> tuple[str, ...]:
        """All flows it depends on."""
        return (*self.needs, *([self.ref] if self.ref else ()))

    def filled(self, given: Mapping[str, str]) -> list[Any]:
        """The messages, with what was given in its places."""
        values = {argument.name: given.get(argument.name, "") for argument in self.arguments}
        return [_filled(message, values) for message in self.messages]


def prompt_arguments(arguments: Mapping[str, str] | Sequence[PromptArgument]) -> tuple[PromptArgument, ...]:
    """Arguments, also from a mapping of names and descriptions."""
    if isinstance(arguments, Mapping):
        return tuple(PromptArgument(name, description) for name, description in arguments.items())
    return tuple(arguments)


def user_message(text: str) -> Mapping[str, Any]:
    """A message with nothing but text, from the person."""
    return {"role": "user", "content": {"type": "text", "text": text}}


def complaints_about(prompt: Prompt, find: Mapping[str, Flow]) -> Iterator[str]:
    """What keeps a prompt from working."""
    for ref in prompt.refs:
        if ref not in find:
            yield f"The prompt {prompt.name} refers to {ref}, which is not there."
    if prompt.ref is not None and prompt.ref in find and find[prompt.ref].writes:
        yield f"The prompt {prompt.name} refers to {prompt.ref}, which is no read."
    known = {argument.name for argument in prompt.arguments}
    for place in sorted(set(_places(prompt.messages)) - known):
        yield f"The prompt {prompt.name} has a place for {place}, which is none of its arguments."


def _filled(part: Any, values: Mapping[str, str]) -> Any:
    if isinstance(part, str):
        return _PLACE.sub(lambda found: values.get(found[1], found[0]), part)
    if isinstance(part, Mapping):
        return {name: _filled(value, values) for name, value in part.items()}
    return [_filled(value, values) for value in part] if isinstance(part, list | tuple) else part


def _places(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield from _PLACE.findall(part)
    elif isinstance(part, Mapping | list | tuple):
        for value in part.values() if isinstance(part, Mapping) else part:
            yield from _places(value)
