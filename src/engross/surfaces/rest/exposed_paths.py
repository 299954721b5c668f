"""What documents expose, as paths of the OpenAPI document: every ref resolved to the flow that it means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from engross.flows import Flow, Route, RouteField
from engross.replies.envelopes import JSON as JSON_TYPE
from engross.surfaces.desk import Desk

from .components import Json, if_match, parameter

CALLING = ("traceparent", "correlation", "timeout")


def exposed_paths(desk: Desk, responses: Callable[[Flow], Json], about: Callable[[Flow], Json]) -> Json:
    """The paths, each with its methods."""
    paths: Json = {}
    names: Counter[str] = Counter()
    for route in desk.catalogue.routes:
        flow = desk.catalogue.flow(route.ref)
        # A tool's name has no dot, so this one cannot be another's.
        name = f"{route.namespace}.{route.name}.{route.method.lower()}"
        names[name] += 1
        operation = _operation(route, flow, name if names[name] == 1 else f"{name}.{names[name]}")
        told = {**operation, "responses": responses(flow), **about(flow)}
        paths.setdefault(route.address, {})[route.method.lower()] = told
    return paths


def exposed_tags(desk: Desk) -> Iterable[Json]:
    """A tag for each namespace that has paths."""
    names = dict.fromkeys(route.namespace for route in desk.catalogue.routes)
    return ({"name": name, "description": f"What is exposed below `/{name}`."} for name in names)


def _operation(route: Route, flow: Flow, name: str) -> Json:
    fields = [field for field in route.fields_for(flow.own_fields) if not field.fixed]
    named = [parameter(name) for name in (*CALLING, *_written(flow))]
    operation: Json = {
        "operationId": name,
        "tags": [route.namespace],
        "summary": route.title or flow.title,
        "description": route.description or flow.description,
        "parameters": [
            *named,
            *if_match(flow),
            *(_parameter(field, flow) for field in fields if field.where != "body"),
        ],
    }
    in_body = [field for field in fields if field.where == "body"]
    if in_body:
        operation["requestBody"] = _body(in_body, flow)
    return operation


def _written(flow: Flow) -> tuple[str, ...]:
    if not flow.writes:
        return ()
    return ("dryRun", "idempotencyKey") if "client_request_id" in flow.published["properties"] else ("dryRun",)


def _parameter(field: RouteField, flow: Flow) -> Json:
    shape: Any = flow.published["properties"].get(field.name, {})
    needed = field.where == "path" or field.name in flow.published.get("required", ())
    told: Json = {"name": field.name, "in": field.where, "required": needed}
    if "description" in shape:
        told["description"] = shape["description"]
    if shape.get("type") == "object":
        return {**told, "content": {JSON_TYPE: {"schema": shape}}}
    return {**told, "schema": shape}


def _body(fields: list[RouteField], flow: Flow) -> Json:
    if any(field.find for field in fields):
        # Where its parts lie is told by paths, which no schema can follow.
        return {"required": True, "content": {JSON_TYPE: {"schema": {"type": "object", "properties": {}}}}}
    names = [field.name for field in fields]
    controls = [name for name in flow.controls if name not in names]
    known = flow.published["properties"]
    needed = [name for name in flow.published.get("required", ()) if name in names]
    schema: Json = {
        "type": "object",
        "properties": {name: known[name] for name in (*names, *controls) if name in known},
        "additionalProperties": False,
    }
    if needed:
        schema["required"] = needed
    return {"required": bool(needed), "content": {JSON_TYPE: {"schema": schema}}}
