"""The flow that finds elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Aggregate, Example
from engross.ledger import Reader
from engross.replies import codes

from ..schemas import ANY_ELEMENT_TYPE, ANY_LAYER, MODEL_ID, number, shape, text
from ..tidy import tidying
from ..ways import Ways
from .facets import NO_MODEL, reading
from .samples import A_COMPONENT

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

    @architecture.read(
        **reading(SEARCH, tidying(elements=["type"])),
        refuses=[codes.INVALID_ELEMENT_TYPE, *NO_MODEL],
        examples=[Example("By what it does", {"query": "takes orders"}, given=(A_COMPONENT,))],
    )
    def semantic_search(reader: Reader, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Find elements by what they are called or do."""
        from ..looking import found_elements

        return found_elements(reader, arguments, ways.embedder)
