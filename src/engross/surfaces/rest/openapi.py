"""The OpenAPI 3.1 document: every flow as an operation, made from the catalogue and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from engross.flows import Aggregate, Flow, Tool
from engross.office import own_refusals
from engross.replies.envelopes import DIALECTS, JSON, REPLY_JSON
from engross.surfaces.desk import Desk

from .arguments import KEY
from .asked import DRY_RUN
from .components import FAILURES, REF, Json, components, header, if_match, parameter, schema
from .exposed_paths import exposed_paths, exposed_tags

OPENAPI = "3.1.1"
ABOUT = "x-engross"
CALLING = ("traceparent", "correlation", "timeout")
READ = {"200": "Here it is."}
WRITTEN = {
    "200": "Done; or, on a dry run, what would have been done.",
    "201": "Done: something new is there.",
    "202": "Kept as a proposal, or sent for review: nothing is changed yet.",
}
DESCRIPTION = (
    "Every flow of the office, one operation each. Branch on `reply.reply_type` and `reply.code`, never on a message. "
    "Failures are problems (RFC 9457); what a code means is at `/problems/{code}`. "
    f"With `Accept: {REPLY_JSON}` every answer is the Reply itself, in no dialect."
)
FILES = "Files"
KEEP, GET = "record.keep-blob", "record.get-blob"
# OpenAPI 3.1 describes bytes by saying nothing about them.
BYTES: Json = {}


def openapi_document(desk: Desk, base_url: str = "") -> Json:
    """The whole document."""
    from engross import __version__

    flows = desk.flows
    tools = _tools_of(desk, flows)
    return {
        "openapi": OPENAPI,
        "info": {"title": "Engross", "version": __version__, "description": DESCRIPTION},
        "servers": [{"url": base_url or "/"}],
        "security": [{"bearer": []}],
        "tags": [
            *(_tag(aggregate) for aggregate in _aggregates(flows)),
            {"name": FILES, "description": "Bytes that are too many for a call."},
            *exposed_tags(desk),
        ],
        "paths": {
            **{f"/v1/{flow.aggregate.namespace}/{flow.name}": _path(flow, tools[flow.ref]) for flow in flows},
            "/v1/blobs": _uploads(desk.catalogue.flow(KEEP)),
            "/v1/blobs/{content_hash}": _downloads(desk.catalogue.flow(GET)),
            **exposed_paths(desk, _answers_of, lambda flow: {ABOUT: _about(flow, tools.get(flow.ref, []))}),
        },
        "components": components({_answer_of(flow): _answer(flow) for flow in flows}),
    }


def _answers_of(flow: Flow) -> Json:
    return _responses(flow, WRITTEN if flow.writes else READ)


def _tools_of(desk: Desk, flows: Iterable[Flow]) -> dict[str, list[Tool]]:
    tools: dict[str, list[Tool]] = {flow.ref: [] for flow in flows}
    for tool in desk.catalogue.tools():
        if tool.flow.ref in tools:
            tools[tool.flow.ref].append(tool)
    return tools


def _aggregates(flows: Iterable[Flow]) -> Iterable[Aggregate]:
    return {flow.aggregate.namespace: flow.aggregate for flow in flows}.values()


def _tag(aggregate: Aggregate) -> Json:
    return {"name": aggregate.display, "description": f"The flows of `{aggregate.namespace}`."}


def _path(flow: Flow, tools: list[Tool]) -> Json:
    common = {
        "tags": [flow.aggregate.display],
        "summary": tools[0].title if tools else flow.title,
        "description": tools[0].description if tools else flow.description,
        ABOUT: _about(flow, tools),
        **({"deprecated": True} if flow.deprecated_since else {}),
    }
    name = tools[0].name if tools else flow.ref
    path = {"post": {"operationId": name, **common, **_posted(flow)}}
    if flow.semantics.safe:
        # A tool's name has no dot, so this one cannot be another's.
        path["get"] = {"operationId": f"{name}.query", **common, **_queried(flow)}
    return path


def _about(flow: Flow, tools: list[Tool]) -> Json:
    about: Json = {
        "ref": flow.ref,
        "version": flow.version,
        "kind": flow.kind,
        "effect": flow.effect,
        "tier": flow.tier,
        "posture": flow.posture,
        "people_only": flow.people_only,
        "dialect": flow.dialect,
        "hints": tools[0].hints if tools else flow.hints(),
        "tools": [tool.name for tool in tools],
        "toolsets": sorted({tool.exposure.toolset for tool in tools}),
        "consistency": {"tier": flow.consistency.tier, "max_delay_ms": flow.consistency.max_delay_ms},
        "determinism": {"deterministic": flow.determinism.deterministic, "reason": flow.determinism.reason},
        "refuses": [{"code": one.code, "message_key": one.key, "status": one.http} for one in own_refusals(flow)],
        "state_at": flow.state_at,
        "expects": flow.expects,
        "rate": flow.rate,
        "timeout_seconds": flow.timeout_seconds,
        "deprecated_since": flow.deprecated_since,
    }
    return {name: value for name, value in about.items() if value is not None}


def _posted(flow: Flow) -> Json:
    content: Json = {"schema": flow.published}
    if flow.examples:
        content["examples"] = {f"example{number}": _example(flow, number) for number in range(len(flow.examples))}
    headers = [*CALLING, "dryRun"]
    fields = flow.published["properties"]
    if KEY in fields:
        headers.append("idempotencyKey")
    return {
        "parameters": [*(parameter(name) for name in headers), *if_match(flow)],
        # A flow that needs no arguments can do without a body.
        "requestBody": {"required": bool(flow.published.get("required")), "content": {JSON: content}},
        "responses": _responses(flow, WRITTEN if flow.writes else READ),
    }


def _queried(flow: Flow) -> Json:
    needed = flow.published.get("required", ())
    shapes = flow.published["properties"]
    fields = [_field(name, shape, name in needed) for name, shape in shapes.items()]
    steering = (*CALLING, "ifNoneMatch", *(() if DRY_RUN in shapes else ("dryRun",)))
    return {
        "parameters": [*(parameter(name) for name in steering), *fields],
        "responses": {**_responses(flow, READ), "304": _unchanged()},
    }


def _field(name: str, shape: Mapping[str, Any], required: bool) -> Json:
    field: Json = {"name": name, "in": "query", "required": required}
    if "description" in shape:
        field["description"] = shape["description"]
    if shape.get("type") == "object":
        return {**field, "content": {JSON: {"schema": shape}}}
    return {**field, "schema": shape}


def _example(flow: Flow, number: int) -> Json:
    example = flow.examples[number]
    before = [f"`{ref}` with `{orjson.dumps(arguments).decode()}`" for ref, arguments in example.given]
    given = f" After {', then '.join(before)}; `$0.a.b` stands for that place in the first answer." if before else ""
    told = f"Ends in {example.reply}.{given}"
    about = {"reply": example.reply, "given": [list(before) for before in example.given]}
    return {"summary": example.title, "description": told, "value": dict(example.arguments), ABOUT: about}


def _responses(flow: Flow, successes: Mapping[str, str]) -> Json:
    """What an operation answers: the flow's own output, or a failure."""
    own = {JSON: {"schema": schema(_answer_of(flow))}, REPLY_JSON: {"schema": schema("Reply")}}
    headers = {name: header(name) for name in ("traceparent", "ETag")}
    told: Json = {
        status: {"description": description, "headers": headers, "content": own}
        for status, description in successes.items()
    }
    plain = "" if DIALECTS[flow.dialect].problems else "Plain"
    return told | {status: {REF: f"#/components/responses/{plain}Failure{status}"} for status in FAILURES}


def _answer_of(flow: Flow) -> str:
    return f"{flow.ref}.answer"


def _answer(flow: Flow) -> Json:
    return {**flow.output, "properties": {**flow.output["properties"], "reply": schema("Outcome")}}


def _unchanged() -> Json:
    return {"description": "It is what the client has already.", "headers": {"ETag": header("ETag")}}


def _uploads(keep: Flow) -> Json:
    fields = keep.published["properties"]
    upload: Json = {
        "tags": [FILES],
        "description": "Send the bytes themselves as the body, with their own Content-Type; they become one file of the"
        " office's record. Who may not write is refused before the bytes are let in.",
        "parameters": [
            *(parameter(name) for name in ("traceparent", "correlation", "dryRun", "idempotencyKey", "contentDigest")),
            _field("name", {**fields["name"], "default": "file"}, False),
            _field("sha256", {**fields["content_hash"], "description": "What the bytes should be, in hex."}, False),
        ],
        "requestBody": {"required": False, "content": {"application/octet-stream": BYTES, "*/*": BYTES}},
        "responses": _responses(keep, WRITTEN),
    }
    return {
        "post": {"operationId": "uploadBlob", "summary": "Upload a file", **upload},
        "put": {"operationId": "uploadBlob.put", "summary": "Upload a file", **upload},
    }


def _downloads(get: Flow) -> Json:
    shape = get.published["properties"]["content_hash"]
    given = {"name": "content_hash", "in": "path", "required": True, "schema": shape}
    names = ("traceparent", "ETag", "Content-Disposition", "Repr-Digest", "Accept-Ranges")
    headers = {name: header(name) for name in names}
    fetched: Json = {
        "tags": [FILES],
        "description": "The bytes of a file that is on the record. Always sent to be saved, never to be shown.",
        "parameters": [given, *(parameter(name) for name in ("traceparent", "ifMatchBytes", "ifNoneMatch", "range"))],
        "responses": {
            "200": {"description": "All the bytes.", "headers": headers, "content": {"*/*": BYTES}},
            "206": {
                "description": "A part of the bytes.",
                "headers": {**headers, "Content-Range": header("Content-Range")},
                "content": {"*/*": BYTES},
            },
            "304": _unchanged(),
            **_responses(get, {}),
        },
    }
    return {"get": {"operationId": "getBlob.bytes", "summary": "Fetch a file", **fetched}}
