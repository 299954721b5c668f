"""Words and bounds on a field of a TypedDict, without importing a modelling library to say them."""

from __future__ import annotations


class Described:
    """`Annotated[str, Described("Title of the card.", maxLength=80, default="Untitled")]`.

    The first argument is the description; the others are JSON Schema keywords. pydantic's `Field` and `Doc`
    work as well; this one costs nothing to import.
    """

    __slots__ = ("keywords",)

    def __init__(self, description: str, **keywords: object) -> None:
        self.keywords: dict[str, object] = {"description": description, **keywords}

    def __repr__(self) -> str:
        return f"Described({self.keywords!r})"
