"""The flow that finds elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engross.flows import Aggregate, Example
from engross.ledger import Reader
from engross.replies import codes

from ..schemas import ANY_ELEMENT_TYPE, ANY_LAYER, MODEL_ID, number, shape, text
from ..tidy import tidying
from ..ways import Ways
from .facets import NO_MODEL, reading
from .samples import A_COMPONENT

if TYPE_CHECKING:
    from engross.searching.meaning import Meaning, Shelf

SEARCH = shape(
    ("query",),
    query=text("What you look for.", 1000),
    model_id=MODEL_ID,
    type=ANY_ELEMENT_TYPE,
    layer=ANY_LAYER,
    limit=number("At most.", 1, 100, 10),
)


def add_search_flows(architecture: Aggregate, ways: Ways) -> None:
    """Elements by words, by likeness, and by meaning where an embedder is configured."""
    embedder = ways.embedder

    @architecture.read(
        **reading(SEARCH, tidying(elements=["type"])),
        refuses=[codes.INVALID_ELEMENT_TYPE, *NO_MODEL],
        examples=[Example("By what it does", {"query": "takes orders"}, given=(A_COMPONENT,))],
    )
    def semantic_search(reader: Reader, asked: Any) -> Mapping[str, Any]:
        """Find elements by what they are called or do."""
        from engross.searching.meaning import NO_MEANING

        from ..looking import found_elements

        arguments, meaning = (asked, NO_MEANING) if embedder is None else asked
        return found_elements(reader, arguments, meaning)

    if embedder is not None:

        @semantic_search.prepare
        def meant(shelf: Shelf, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], Meaning]:
            from ..looking import what_is_meant

            return arguments, what_is_meant(shelf, arguments, embedder)
