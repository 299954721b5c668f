"""Words and bounds on a field of a TypedDict, without importing a modelling library to say them."""

from __future__ import annotations

from .definition import FlowDefinitionError
from .keywords import unknown_keywords


class Described:
    """`Annotated[str, Described("Title of the card.", maxLength=80, default="Untitled")]`.

    The first argument is the description; the others are JSON Schema keywords. pydantic's `Field` and `Doc`
    work as well; this one costs nothing to import. What is no keyword is refused: a bound with a slip in its name
    would guard nothing.
    """

    __slots__ = ("keywords",)

    def __init__(self, description: str, **keywords: object) -> None:
        if complaints := unknown_keywords(keywords):
            raise FlowDefinitionError(f"Described({description!r})", complaints)
        self.keywords: dict[str, object] = {"description": description, **keywords}

    def __repr__(self) -> str:
        return f"Described({self.keywords!r})"
