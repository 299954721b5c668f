"""Flows that the shelf has no use for: every type in a query, other dialects, no control fields, an old tool."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, NoArguments
from engross.ledger import Reader, Unit

odds = Aggregate("odds", "Odds & <ends>", tables=(), migrations=())


class Everything(TypedDict):
    """One field of each kind."""

    text: NotRequired[Annotated[str, Described("A text.")]]
    whole: NotRequired[Annotated[int, Described("A whole number.")]]
    number: NotRequired[Annotated[float, Described("A number.")]]
    truth: NotRequired[Annotated[bool, Described("Yes or no.")]]
    words: NotRequired[Annotated[list[str], Described("Several texts.")]]
    numbers: NotRequired[Annotated[list[int], Described("Several numbers.")]]
    anything: NotRequired[Annotated[dict[str, Any], Described("An object.", properties={"here": True, "not": False})]]


class Rehearsed(TypedDict):
    """A field that is called like what steers a call."""

    dry_run: Annotated[bool, Described("Whether to rehearse.")]


class Seen(TypedDict):
    """What arrived."""

    seen: Annotated[dict[str, Any], Described("The arguments.")]


@odds.read(controls=())
def show(reader: Reader, arguments: Everything) -> Seen:
    """Show what arrived. <script>alert("docs")</script>"""
    return {"seen": dict(arguments)}


@odds.read(controls=())
def rehearse(reader: Reader, arguments: Rehearsed) -> Seen:
    """Show that it was to be a rehearsal."""
    return {"seen": dict(arguments)}


@odds.record(effect="update", tier=1, posture="direct", controls=())
def touch(unit: Unit, arguments: NoArguments) -> Mapping[str, Any]:
    """Change nothing, and keep no account of repetitions."""
    return {}


@odds.read(dialect="documents", controls=())
def validate(reader: Reader, arguments: Everything) -> Mapping[str, Any]:
    """Answer as a document would."""
    return {"canonical": "x"}


@odds.read(controls=(), deprecated_since="0.1.0")
def old_show(reader: Reader, arguments: Everything) -> Seen:
    """Show what arrived, as it used to be done."""
    return {"seen": dict(arguments)}


odds.expose(old_show, toolset="legacy")
