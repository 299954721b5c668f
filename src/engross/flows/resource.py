"""A read flow as something that can be looked up under an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .address import Address

if TYPE_CHECKING:
    from .flow import Flow

JSON = "application/json"
ANY = "*"
_NUMBERS: dict[str, type] = {"integer": int, "number": float}
_TRUTHS = {"true": True, "false": False}


class Resource(NamedTuple):
    """Data: an address, the read flow that answers for it, and what of its answer is shown."""

    address: Address
    ref: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str = JSON
    text: str | None = None
    """The field of the answer that is the text. With neither this nor `blob`, it is the whole answer as JSON."""
    blob: str | None = None
    """The field of the answer that is the content in base64."""
    changes: str = ""
    """Whose facts change it: `aggregate/subject`, with variables, `*` for any. Nothing: it never changes."""
    arguments: Mapping[str, Any] = MappingProxyType({})
    """What the flow gets besides the variables."""

    @property
    def is_template(self) -> bool:
        """Does the address have variables?"""
        return bool(self.address.variables)


class Topic(NamedTuple):
    """Whose facts somebody wants to hear of; None stands for any."""

    aggregate: str | None
    subject: str | None

    def covers(self, aggregate: str, subject: str) -> bool:
        """Is a fact about this subject meant?"""
        return self.aggregate in (None, aggregate) and self.subject in (None, subject)


class Found(NamedTuple):
    """A resource at an address, and what the address says."""

    resource: Resource
    flow: Flow
    values: Mapping[str, str]

    @property
    def arguments(self) -> dict[str, Any]:
        """What to call the flow with: an address is all text, a number among the arguments is not."""
        fields: Mapping[str, Any] = self.flow.published.get("properties", {})
        return {
            **self.resource.arguments,
            **{name: as_declared(value, fields.get(name, {})) for name, value in self.values.items()},
        }

    @property
    def topic(self) -> Topic | None:
        """Whose facts change what is at this address; None when nothing does."""
        if not self.resource.changes:
            return None
        aggregate, _, subject = self.resource.changes.partition("/")
        return Topic(self._named(aggregate), self._named(subject))

    def _named(self, part: str) -> str | None:
        if part == ANY:
            return None
        return self.values[part[1:-1]] if part.startswith("{") else part


def as_declared(text: str, schema: Mapping[str, Any]) -> Any:
    """A text as the type its field has. What does not fit stays as it is, for the check to refuse."""
    kind = schema.get("type")
    if kind == "boolean":
        return _TRUTHS.get(text, text)
    number = _NUMBERS.get(kind) if isinstance(kind, str) else None
    if number is None:
        return text
    try:
        return number(text) if text.isascii() and "_" not in text else text
    except ValueError:
        return text


def complaints_about(resource: Resource, flow: Flow | None) -> Iterator[str]:
    """What keeps a resource from working."""
    template = resource.address.template
    if flow is None:
        yield f"The resource {template} refers to {resource.ref}, which is not there."
        return
    if flow.writes:
        yield f"The resource {template} refers to {resource.ref}, which is no read."
    taken = {*flow.own_fields, *flow.controls}
    given = {*resource.address.variables, *resource.arguments}
    for name in sorted(given - taken):
        yield f"The resource {template} has {name}, which is no argument of {resource.ref}."
    for name in sorted(_required(flow) - given):
        yield f"The resource {template} does not say {name}, which {resource.ref} needs."
    for part in resource.changes.split("/", 1) if resource.changes else ():
        if part.startswith("{") and part[1:-1] not in resource.address.variables:
            yield f"The resource {template} changes with {part}, which is no variable of it."


def _required(flow: Flow) -> set[str]:
    if isinstance(flow.arguments, Mapping):
        return set(flow.arguments.get("required", ()))
    return set(getattr(flow.arguments, "__required_keys__", ()))
