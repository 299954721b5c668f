"""A capability with a field of every kind, which answers with what it got."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from engross import Aggregate
from engross.flows import Described
from engross.ledger import Reader, Unit

gauge = Aggregate("gauge", "A gauge")


class Everything(TypedDict):
    """A field of every kind."""

    text: NotRequired[Annotated[str, Described("Some [bold]text[/] in [brackets].")]]
    whole: NotRequired[Annotated[int, Described("A whole number.")]]
    number: NotRequired[Annotated[float, Described("A number.")]]
    flag: NotRequired[Annotated[bool, Described("A flag.")]]
    colour: NotRequired[Annotated[Literal["red", "green"], Described("A colour.")]]
    names: NotRequired[Annotated[list[str], Described("Names.")]]
    counts: NotRequired[Annotated[list[int], Described("Counts.")]]
    places: NotRequired[Annotated[list[dict[str, Any]], Described("Places.")]]
    properties: NotRequired[Annotated[dict[str, Any], Described("Properties.")]]
    data: NotRequired[Annotated[str, Described("A field that is called like an option.")]]
    json: NotRequired[Annotated[str, Described("Another one.")]]
    camelCase: NotRequired[Annotated[str, Described("A field in camel case.")]]


class Needed(TypedDict):
    """Two fields that are needed."""

    first: Annotated[str, Described("The first.")]
    second: Annotated[int, Described("The second.")]


@gauge.read
def measure(reader: Reader, arguments: Everything) -> Mapping[str, Any]:
    """Show [what] was given.

    The second paragraph is not for lists.
    """
    return {"got": dict(arguments)}


@gauge.read
def need(reader: Reader, arguments: Needed) -> Mapping[str, Any]:
    """Need two fields."""
    return {"got": dict(arguments)}


@gauge.record(effect="create")
def set_(unit: Unit, arguments: Needed) -> Mapping[str, Any]:
    """Change nothing, but be a write."""
    return {"got": dict(arguments)}
