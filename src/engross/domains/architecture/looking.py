"""What the reads answer: what was asked for, what to quote for it, and what it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid
from engross.searching.meaning import Embedder, Meaning, Shelf

from .elements import find_element, no_such_element, referred, require_element
from .graphs import Graph, neighbourhood
from .metamodel import metamodel
from .models import all_models, chosen_model, effective_model
from .pages import page_of_elements, page_of_relationships
from .refusals import malformed, no_such_element_type, no_such_relationship_type, raise_all
from .relationships import find_relationship
from .rows import citation
from .search import search

Arguments = Mapping[str, Any]
Answered = dict[str, Any]

ENDS = ("source_id", "target_id", "element_id")


def one_element(reader: Reader, arguments: Arguments) -> Answered:
    """The element that an id or a name stands for."""
    element = asked_for(reader, arguments)
    return cited(reader, element["model_id"], {"element": element}, [element])


def asked_for(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The element alone; Invalid where neither id nor name leads to one."""
    if ("id" in arguments) == ("ref" in arguments):
        raise Invalid.many([malformed("/id", "give either id or ref", "An id is never ambiguous.")])
    if "id" in arguments:
        return require_element(reader, arguments["id"])
    return referred(reader, effective_model(reader, arguments.get("model_id")), arguments["ref"], "ref")


def some_elements(reader: Reader, arguments: Arguments) -> Answered:
    """A page of elements."""
    model_id = effective_model(reader, arguments.get("model_id"))
    page = page_of_elements(
        reader,
        model_id,
        types=_wanted_types(arguments),
        starts_with=arguments.get("name_starts_with"),
        cursor=arguments.get("cursor"),
        limit=arguments.get("limit", 50),
    )
    return cited(reader, model_id, {"elements": page.found, "next_cursor": page.cursor}, page.found)


def some_relationships(reader: Reader, arguments: Arguments) -> Answered:
    """A page of relationships."""
    model_id = effective_model(reader, arguments.get("model_id"))
    ends = {name: arguments[name] for name in ENDS if name in arguments}
    raise_all(
        [
            no_such_element(reader, end, name, model_id)
            for name, end in ends.items()
            if not _is_in_model(reader, end, model_id)
        ]
    )
    page = page_of_relationships(
        reader,
        model_id,
        kind=_wanted_relationship(arguments),
        ends=ends,
        cursor=arguments.get("cursor"),
        limit=arguments.get("limit", 50),
    )
    return cited(reader, model_id, {"relationships": page.found, "next_cursor": page.cursor}, page.found)


def what_is_meant(shelf: Shelf, arguments: Arguments, embedder: Embedder) -> Meaning:
    """What a query means, in the model that it is about."""
    from .meanings import VECTORS, told_of

    asked = arguments.get("model_id")
    return VECTORS.meaning(shelf, embedder, lambda reader: effective_model(reader, asked), arguments["query"], told_of)


def found_elements(reader: Reader, arguments: Arguments, meaning: Meaning) -> Answered:
    """The elements that fit a query, and by what they were found."""
    model_id = effective_model(reader, arguments.get("model_id"))
    hits = search(
        reader,
        model_id,
        arguments["query"],
        most=arguments.get("limit", 10),
        types=_wanted_types(arguments),
        meaning=meaning,
    )
    results = [{**hit.element, "score": hit.score} for hit in hits.best]
    return cited(reader, model_id, {"results": results, **hits.near.told()}, results)


def around(reader: Reader, arguments: Arguments) -> Answered:
    """What is related to an element, so many steps far."""
    kinds = arguments.get("relationship_types")
    raise_all(
        [
            no_such_relationship_type(kind, f"relationship_types/{index}")
            for index, kind in enumerate(kinds or ())
            if metamodel().relationship_type(kind) is None
        ]
    )
    graph = neighbourhood(
        reader, arguments["id"], hops=arguments.get("hops", 1), limit=arguments.get("limit", 100), types=kinds
    )
    return graph_answer(reader, graph)


def graph_answer(reader: Reader, graph: Graph) -> Answered:
    """A graph with all that is in it."""
    model_id = graph.elements[0]["model_id"] if graph.elements else None
    data = {"elements": graph.elements, "relationships": graph.relationships, "truncated": graph.truncated}
    return cited(reader, model_id, data, [*graph.elements, *graph.relationships])


def every_model(reader: Reader) -> Answered:
    """All models, and which of them is the caller's."""
    models = all_models(reader)
    return cited(reader, None, {"models": models, "default_model_id": chosen_model(reader)}, models, "model")


def cited(
    reader: Reader, model_id: str | None, data: Answered, things: Iterable[Mapping[str, Any]], kind: str = "element"
) -> Answered:
    """The answer with what to quote for it, and what it was read from."""
    return {
        **data,
        "citations": [citation(one, kind) for one in things],
        "read_context": read_context(reader, model_id),
    }


def read_context(reader: Reader, model_id: str | None) -> Answered:
    """What something was read from: the model, and the position or the draft, unless it was the present."""
    context = {"model_id": model_id, "as_of": reader.context.as_of, "proposal_id": reader.context.proposal_id}
    return {name: value for name, value in context.items() if value is not None}


def _is_in_model(reader: Reader, end: str, model_id: str) -> bool:
    """Whether an element or a relationship is there, in this model: what is in another counts as not there."""
    thing = find_element(reader, end) or find_relationship(reader, end)
    return thing is not None and thing["model_id"] == model_id


def _wanted_types(arguments: Arguments) -> list[str] | None:
    """The types that a type and a layer leave; None for all."""
    if "type" in arguments:
        meant = metamodel().element_type(arguments["type"])
        if meant is None:
            raise Invalid.many([no_such_element_type(arguments["type"])])
        return [meant.type] if arguments.get("layer") in (None, metamodel().layer(meant.type)) else []
    if "layer" not in arguments:
        return None
    own = list(metamodel().types_in(arguments["layer"]))
    return own + list(metamodel().connectors) if arguments["layer"] == "other" else own


def _wanted_relationship(arguments: Arguments) -> str | None:
    if "type" not in arguments:
        return None
    meant = metamodel().relationship_type(arguments["type"])
    if meant is None:
        raise Invalid.many([no_such_relationship_type(arguments["type"])])
    return meant.type
