"""The flows that read a model, now, as of a position, or inside a draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engross.flows import Aggregate, Example, Flow, NoArguments
from engross.ledger import Fact, Reader, facts_about
from engross.replies import Invalid, Issue

from .discovery import element_types, relationship_types, write_schema
from .drawing import mermaid, svg
from .elements import find_element, no_such_element, referred, require_element
from .graphs import Graph, drawn, neighbourhood, of_types
from .metamodel import metamodel
from .models import all_models, chosen_model, effective_model
from .pages import page_of_elements, page_of_relationships
from .refusals import malformed, no_such_element_type, no_such_relationship_type, raise_all
from .relationships import relationships_of
from .rows import citation
from .schemas import (
    ANY_ELEMENT_TYPE,
    CURSOR,
    IDENTIFIER,
    LAYER,
    LIMIT,
    MODEL_ID,
    RELATIONSHIP_TYPE,
    choice,
    flag,
    number,
    shape,
    taking,
    text,
)
from .search import search
from .tidy import tidying
from .views import drawn_views
from .ways import Ways
from .write_flows import A_CAPABILITY, A_COMPONENT, A_SERVICE, RELATED, writes_of
from .writing import NAMESPACE, Arguments

AS_OF = ("proposal_id", "as_of")
REF = text("Or its Name, or Type/Name.", 400)
GET_ELEMENT_TYPES = shape((), layer=LAYER, include_aspect=flag("Say the aspect of each.", False))
GET_RELATIONSHIP_TYPES = shape((), source_type=ANY_ELEMENT_TYPE, target_type=ANY_ELEMENT_TYPE)
GET_ELEMENT = shape((), id=IDENTIFIER, ref=REF, model_id=MODEL_ID)
LIST_ELEMENTS = shape(
    (),
    model_id=MODEL_ID,
    type=ANY_ELEMENT_TYPE,
    layer=LAYER,
    name_starts_with=text("Only names that begin so.", 255),
    limit=LIMIT,
    cursor=CURSOR,
)
LIST_RELATIONSHIPS = shape(
    (),
    model_id=MODEL_ID,
    type=RELATIONSHIP_TYPE,
    source_id=text("From this one.", 128),
    target_id=text("To this one.", 128),
    element_id=text("At this one, either end.", 128),
    limit=LIMIT,
    cursor=CURSOR,
)
NEIGHBOURHOOD = shape(
    ("id",),
    id=IDENTIFIER,
    hops=number("How many steps.", 1, 5, 1),
    relationship_types={
        "type": "array",
        "description": "Only along these.",
        "items": {"type": "string", "maxLength": 40},
        "maxItems": 11,
    },
    limit=number("At most so many elements.", 1, 500, 100),
)
GET_VIEW = shape(
    (),
    view_id=text("A view that was imported.", 128),
    element_id=text("Around this element.", 128),
    hops=number("How many steps around it.", 1, 5, 2),
    types={
        "type": "array",
        "description": "Or all of these types.",
        "items": {"type": "string", "maxLength": 40},
        "maxItems": 60,
    },
    model_id=MODEL_ID,
    format=choice("How to show it.", ["graph", "mermaid", "svg"], default="graph"),
    limit=number("At most so many elements.", 1, 500, 100),
)
SEARCH = shape(
    ("query",),
    query=text("What you look for, in words.", 1000),
    model_id=MODEL_ID,
    type=ANY_ELEMENT_TYPE,
    layer=LAYER,
    limit=number("At most so many.", 1, 100, 10),
)
WHY = shape((), id=IDENTIFIER, ref=REF, model_id=MODEL_ID, limit=number("At most so many facts.", 1, 500, 50))

Answered = Mapping[str, Any]


def add_read_flows(architecture: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that read."""
    _add_discovery(architecture)
    _add_lookups(architecture)
    _add_graphs(architecture)
    _add_search(architecture, ways)
    _add_why(architecture)


def _add_discovery(architecture: Aggregate) -> None:
    @architecture.read(
        **taking(GET_ELEMENT_TYPES),
        controls=(),
        normaliser=tidying(),
        answers=None,
        examples=[Example("All of them", {}), Example("Of a layer", {"layer": "strategy"})],
    )
    def get_element_types(reader: Reader, arguments: Arguments) -> Answered:
        """List element types by layer, with what they mean."""
        return element_types(arguments.get("layer"), arguments.get("include_aspect", False))

    @architecture.read(
        **taking(GET_RELATIONSHIP_TYPES),
        controls=(),
        normaliser=tidying(elements=["source_type", "target_type"]),
        answers=None,
        examples=[
            Example("Counts and examples", {}),
            Example("From a component", {"source_type": "ApplicationComponent"}),
            Example("Between two types", {"source_type": "Capability", "target_type": "ApplicationComponent"}),
            Example("No such type", {"source_type": "AppComponent"}, reply="INVALID_ELEMENT_TYPE"),
        ],
    )
    def get_relationship_types(reader: Reader, arguments: Arguments) -> Answered:
        """List relationship types; with types of ends, those that may join them, in both directions."""
        return relationship_types(arguments.get("source_type"), arguments.get("target_type"))


def add_write_schema(architecture: Aggregate) -> None:
    """Give an aggregate the flow that describes its writes; they must be there already."""
    operations = writes_of(architecture)

    @architecture.read(
        **taking(shape(("operation",), operation=choice("A write.", list(operations)))),
        controls=(),
        answers=None,
        examples=[Example("How to create an element", {"operation": "createElement"})],
    )
    def get_write_schema(reader: Reader, arguments: Arguments) -> Answered:
        """Show a write's JSON Schema, examples and fields."""
        return write_schema(operations[arguments["operation"]], arguments["operation"])


def _add_lookups(architecture: Aggregate) -> None:
    get_element = _add_get_element(architecture)
    architecture.resource(
        "architecture://elements/{id}",
        get_element,
        name="element",
        title="Element",
        description="An element. Subscribe to hear when it changes.",
    )

    @architecture.read(
        controls=AS_OF,
        answers=None,
        examples=[Example("All models", {}, given=(("architecture.create-model", {"name": "Target 2030"}),))],
    )
    def list_models(reader: Reader, arguments: NoArguments) -> Answered:
        """List models, and which is yours by default."""
        return {"models": all_models(reader), "default_model_id": chosen_model(reader)}

    @architecture.read(
        **taking(LIST_ELEMENTS),
        normaliser=tidying(elements=["type"]),
        controls=AS_OF,
        answers=None,
        examples=[
            Example("A layer", {"layer": "application"}, given=(A_COMPONENT,)),
            Example("No such type", {"type": "AppComponent"}, reply="INVALID_ELEMENT_TYPE"),
        ],
    )
    def list_elements(reader: Reader, arguments: Arguments) -> Answered:
        """List elements by type and name, a page at a time."""
        model_id = effective_model(reader, arguments.get("model_id"))
        page = page_of_elements(
            reader,
            model_id,
            types=_wanted_types(arguments),
            starts_with=arguments.get("name_starts_with"),
            cursor=arguments.get("cursor"),
            limit=arguments.get("limit", 50),
        )
        return _cited(reader, model_id, {"elements": page.found, "next_cursor": page.cursor}, page.found)

    @architecture.read(
        **taking(LIST_RELATIONSHIPS),
        normaliser=tidying(relationships=["type"]),
        controls=AS_OF,
        answers=None,
        examples=[Example("Of an element", {"element_id": "$0.element.id"}, given=(A_COMPONENT, A_SERVICE, RELATED))],
    )
    def list_relationships(reader: Reader, arguments: Arguments) -> Answered:
        """List relationships by type and id, a page at a time."""
        model_id = effective_model(reader, arguments.get("model_id"))
        page = page_of_relationships(
            reader,
            model_id,
            kind=_wanted_relationship(arguments),
            ends={name: arguments[name] for name in ("source_id", "target_id", "element_id") if name in arguments},
            cursor=arguments.get("cursor"),
            limit=arguments.get("limit", 50),
        )
        return _cited(reader, model_id, {"relationships": page.found, "next_cursor": page.cursor}, page.found)


def _add_get_element(architecture: Aggregate) -> Flow:
    @architecture.read(
        inline=True,
        **taking(GET_ELEMENT),
        normaliser=tidying(),
        controls=AS_OF,
        answers=None,
        examples=[
            Example("By id", {"id": "$0.element.id"}, given=(A_COMPONENT,)),
            Example("By name", {"ref": "ApplicationComponent/OrderService"}, given=(A_COMPONENT,)),
            Example("No such element", {"id": "el_nowhere"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def get_element(reader: Reader, arguments: Arguments) -> Answered:
        """Show an element, by id or name."""
        element = _asked_for(reader, arguments)
        return _cited(reader, element["model_id"], {"element": element}, [element])

    return get_element


def _add_graphs(architecture: Aggregate) -> None:
    @architecture.read(
        **taking(NEIGHBOURHOOD),
        normaliser=tidying(relationships=["relationship_types"]),
        controls=AS_OF,
        answers=None,
        examples=[Example("One step", {"id": "$0.element.id"}, given=(A_COMPONENT, A_SERVICE, RELATED))],
    )
    def get_neighborhood(reader: Reader, arguments: Arguments) -> Answered:
        """Show what is related to an element, some steps far."""
        issues: list[Issue] = []
        kinds = arguments.get("relationship_types")
        for index, kind in enumerate(kinds or ()):
            if metamodel().relationship_type(kind) is None:
                issues.append(no_such_relationship_type(kind, f"relationship_types/{index}"))
        raise_all(issues)
        graph = neighbourhood(
            reader, arguments["id"], hops=arguments.get("hops", 1), limit=arguments.get("limit", 100), types=kinds
        )
        return _graph_answer(reader, graph)

    @architecture.read(
        **taking(GET_VIEW),
        normaliser=tidying(elements=["types"]),
        controls=AS_OF,
        answers=None,
        examples=[
            Example(
                "Around a capability", {"element_id": "$0.capability.id", "format": "mermaid"}, given=(A_CAPABILITY,)
            ),
            Example("Of some types", {"types": ["ApplicationComponent", "ApplicationService"]}, given=(A_COMPONENT,)),
        ],
    )
    def get_view(reader: Reader, arguments: Arguments) -> Answered:
        """Draw a part of a model: as a graph, Mermaid or SVG."""
        title, graph = _viewed(reader, arguments)
        answer = _graph_answer(reader, graph)
        picture = _PICTURES.get(arguments.get("format", "graph"))
        named = {"name": title, "format": arguments.get("format", "graph")}
        if picture is None:
            return {**answer, "view": named, **_stored_views(reader, arguments)}
        told = {name: answer[name] for name in ("citations", "read_context", "truncated")}
        return {**told, "view": {**named, "text": picture(graph, title)}}

    @architecture.read(
        **taking(shape((), model_id=MODEL_ID)),
        normaliser=tidying(),
        controls=AS_OF,
        answers=None,
        exposed=False,
        examples=[Example("Those that were imported", {})],
    )
    def list_views(reader: Reader, arguments: Arguments) -> Answered:
        """List the views that came with imported models."""
        model_id = effective_model(reader, arguments.get("model_id"))
        return {"views": drawn_views(reader, model_id)}


def _add_search(architecture: Aggregate, ways: Ways) -> None:
    @architecture.read(
        **taking(SEARCH),
        normaliser=tidying(elements=["type"]),
        controls=AS_OF,
        answers=None,
        examples=[Example("By what it does", {"query": "takes orders"}, given=(A_COMPONENT,))],
    )
    def semantic_search(reader: Reader, arguments: Arguments) -> Answered:
        """Find elements by what they are called or do."""
        model_id = effective_model(reader, arguments.get("model_id"))
        hits = search(
            reader,
            model_id,
            arguments["query"],
            most=arguments.get("limit", 10),
            types=_wanted_types(arguments),
            embedder=ways.embedder,
        )
        mode = "words+names" if ways.embedder is None else f"words+names+embeddings:{ways.embedder.name}"
        results = [{**hit.element, "score": hit.score} for hit in hits]
        return _cited(reader, model_id, {"results": results, "search_mode": mode}, results)


def _add_why(architecture: Aggregate) -> None:
    @architecture.read(
        **taking(WHY),
        normaliser=tidying(),
        controls=(),
        answers=None,
        examples=[
            Example("How it came to be", {"ref": "OrderService"}, given=(A_COMPONENT,)),
            Example("No such element", {"id": "el_nowhere"}, reply="ELEMENT_NOT_FOUND"),
        ],
    )
    def why_element(reader: Reader, arguments: Arguments) -> Answered:
        """Tell how an element came to be what it is: facts, who, which proposal, who approved, receipts."""
        return _reasons(reader, arguments)


_PICTURES: Mapping[str, Callable[[Graph, str], str]] = {"mermaid": lambda graph, title: mermaid(graph), "svg": svg}


def _asked_for(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    if ("id" in arguments) == ("ref" in arguments):
        raise Invalid.many([malformed("/id", "give either id or ref", "An id is never ambiguous.")])
    if "id" in arguments:
        return require_element(reader, arguments["id"])
    return referred(reader, effective_model(reader, arguments.get("model_id")), arguments["ref"], "ref")


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


def _viewed(reader: Reader, arguments: Arguments) -> tuple[str, Graph]:
    chosen = [name for name in ("view_id", "element_id", "types") if name in arguments]
    if len(chosen) > 1:
        raise Invalid.many([malformed(f"/{chosen[1]}", f"give {' or '.join(chosen)}, not several")])
    limit = arguments.get("limit", 100)
    if "view_id" in arguments:
        view, graph = drawn(reader, arguments["view_id"])
        return view["name"], graph
    if "element_id" in arguments:
        graph = neighbourhood(reader, arguments["element_id"], hops=arguments.get("hops", 2), limit=limit)
        return f"Around {graph.elements[0]['name']}", graph
    issues = [
        no_such_element_type(word, f"types/{index}")
        for index, word in enumerate(arguments.get("types", ()))
        if metamodel().element_type(word) is None
    ]
    raise_all(issues)
    model_id = effective_model(reader, arguments.get("model_id"))
    types = arguments.get("types")
    return ", ".join(types) if types else "Model", of_types(reader, model_id, types, limit=limit)


def _stored_views(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The views that came with the model, for whoever has not chosen one."""
    if "view_id" in arguments or "element_id" in arguments:
        return {}
    return {"stored_views": drawn_views(reader, effective_model(reader, arguments.get("model_id")))}


def _graph_answer(reader: Reader, graph: Graph) -> dict[str, Any]:
    model_id = graph.elements[0]["model_id"] if graph.elements else None
    data = {"elements": graph.elements, "relationships": graph.relationships, "truncated": graph.truncated}
    return _cited(reader, model_id, data, [*graph.elements, *graph.relationships])


def _cited(reader: Reader, model_id: str | None, data: dict[str, Any], things: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer with what to quote for it, and what it was read from."""
    context = {"model_id": model_id, "as_of": reader.context.as_of, "proposal_id": reader.context.proposal_id}
    return {
        **data,
        "citations": [citation(one) for one in things],
        "read_context": {name: value for name, value in context.items() if value is not None},
    }


def _reasons(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    limit = arguments.get("limit", 50)
    element = None
    if "id" in arguments and "ref" not in arguments:
        subject = arguments["id"]
        element = find_element(reader, subject)
    else:
        element = _asked_for(reader, arguments)
        subject = element["id"]
    found = facts_about(reader.reading, NAMESPACE, subject, after_version=0, most=limit)
    if not found:
        raise Invalid.many([no_such_element(reader, subject, "id")])
    told = _told_reasons(reader, {receipt.get("proposal") for _, receipt in found})
    reasons = [_reason(fact, receipt, told) for fact, receipt in found]
    tied = relationships_of(reader, [subject], most=limit)
    return {
        "element": element,
        "element_id": subject,
        "is_deleted": element is None,
        "reasons": reasons,
        "fields": _last_set(reasons),
        "relationships": tied,
        "citations": [citation(element)] if element else [],
    }


def _told_reasons(reader: Reader, proposals: set[str | None]) -> dict[str, str]:
    """What the authors of proposals gave as their reason: the first fact of each says it."""
    found: dict[str, str] = {}
    for proposal in proposals:
        for fact, _ in facts_about(reader.reading, "proposals", proposal, after_version=0, most=1) if proposal else ():
            if fact.payload and fact.payload.get("reason"):
                found[fact.subject] = fact.payload["reason"]
    return found


def _reason(fact: Fact, receipt: Mapping[str, Any], told_reasons: Mapping[str, str]) -> dict[str, Any]:
    told = {
        "fact": fact.type,
        "fact_id": fact.id,
        "version": fact.version,
        "position": fact.position,
        "time": fact.time,
        "fields": list(fact.fields),
        "payload": fact.payload,
        "erased": fact.payload is None,
        "by": receipt.get("author") or receipt["principal"],
        "flow": receipt["flow"],
        "reason": told_reasons.get(receipt.get("proposal", "")) or receipt.get("reason"),
        "proposal": receipt.get("proposal"),
        "approvers": receipt.get("approvers", []),
        "receipt": {"position": fact.position, "facts_digest": receipt.get("facts_digest")},
    }
    return {name: value for name, value in told.items() if value is not None}


def _last_set(reasons: list[dict[str, Any]]) -> dict[str, str]:
    """For every field the fact that set it last."""
    return {field: one["fact_id"] for one in reasons for field in one["fields"]}
