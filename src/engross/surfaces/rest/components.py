"""The parts that the operations of the OpenAPI document share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Flow
from engross.flows.output import REPLY
from engross.replies.envelopes import JSON, PROBLEM_JSON, REPLY_JSON

Json = dict[str, Any]
REF = "$ref"
FAILURES = {
    "4XX": "The request cannot be carried out as stated (type I), or is refused by policy (type D).",
    "5XX": "We failed (type E): report the trace id. Nothing about why leaves the house.",
}


_FAILURE_SHAPES = {
    "Failure": {PROBLEM_JSON: "Problem", REPLY_JSON: "Reply"},
    # The flow's own failures are no problems; those of the door still are.
    "PlainFailure": {JSON: "Failure", PROBLEM_JSON: "Problem", REPLY_JSON: "Reply"},
}


def parameter(name: str) -> Json:
    """A parameter of many operations."""
    return {REF: f"#/components/parameters/{name}"}


def if_match(flow: Flow) -> list[Json]:
    """The parameter that stands for what a flow expects, if it expects anything."""
    if flow.expects is None:
        return []
    shape = flow.published["properties"][flow.expects]
    state = "[1-9][0-9]{0,15}" if shape.get("type") == "integer" else shape.get("pattern", "[0-9A-Za-z]+").strip("^$")
    told = f"The same as {flow.expects}: the tag of what was read or written. 412 if it is in another state by now."
    return [
        {
            "name": "If-Match",
            "in": "header",
            "description": told,
            "schema": {"type": "string", "pattern": f'^"{state}(-[0-9a-f]+)?"$'},
        }
    ]


def header(name: str) -> Json:
    """A header of many answers."""
    return {REF: f"#/components/headers/{name}"}


def schema(name: str) -> Json:
    """A shape that many answers have."""
    return {REF: f"#/components/schemas/{name}"}


def components(answers: Json) -> Json:
    """All of them, and the answers of all flows."""
    return {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A token of this office, or of its issuer."}
        },
        "schemas": {"Outcome": REPLY, "Problem": PROBLEM, "Failure": FAILURE, "Reply": WHOLE_REPLY, **answers},
        "headers": HEADERS,
        "parameters": PARAMETERS,
        "responses": {
            f"{kind}{status}": _failure(shapes, description)
            for kind, shapes in _FAILURE_SHAPES.items()
            for status, description in FAILURES.items()
        },
    }


def _failure(shapes: Mapping[str, str], description: str) -> Json:
    names = ("traceparent", "Retry-After", "WWW-Authenticate", "Allow")
    return {
        "description": description,
        "headers": {name: header(name) for name in names},
        "content": {media_type: {"schema": schema(shape)} for media_type, shape in shapes.items()},
    }


def _text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


PROBLEM: Json = {
    "type": "object",
    "description": "A failure (RFC 9457).",
    "properties": {
        "type": _text("An address that explains the code.", format="uri-reference"),
        "title": _text("The code in a few words."),
        "status": {"type": "integer", "description": "The status of this answer."},
        "detail": _text("For people."),
        "instance": _text("The trace of this call."),
        "code": _text("What happened, exactly."),
        "reply_type": {
            "type": "string",
            "description": "I mend the input, D ask a person, E stop and report.",
            "enum": ["I", "D", "E"],
        },
        "errors": {
            "type": "array",
            "description": "Everything that is wrong with the input, each with its place.",
            "items": {"type": "object", "additionalProperties": True},
        },
        "retry_after_seconds": {"type": "integer", "description": "When to try again.", "minimum": 0},
        "reply": schema("Outcome"),
    },
    "required": ["type", "title", "status", "detail", "code", "reply_type", "reply"],
    "additionalProperties": True,
}
FAILURE: Json = {
    "type": "object",
    "description": "A failure, in the shape of the flow's own answers.",
    "properties": {"reply": schema("Outcome")},
    "required": ["reply"],
    "additionalProperties": True,
}
WHOLE_REPLY: Json = {
    "type": "object",
    "description": "A Reply as it is: its outcome, the values in its message, its data, and where it comes from.",
    "properties": {
        "reply": schema("Outcome"),
        "params": {"type": "object", "description": "The values in the message.", "additionalProperties": True},
        "data": {"type": "object", "description": "What the flow answered.", "additionalProperties": True},
        "meta": {"type": "object", "description": "Trace, flow and duration.", "additionalProperties": True},
    },
    "required": ["reply", "params", "data", "meta"],
}
HEADERS: Json = {
    "traceparent": {"description": "The W3C trace context of this call.", "schema": {"type": "string"}},
    "ETag": {
        "description": "Which state this is. A tag that is not weak can be sent as If-Match to what changes the same.",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds until a repetition makes sense.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to get in, with 401.", "schema": {"type": "string"}},
    "Content-Disposition": {"description": "The name to save it under.", "schema": {"type": "string"}},
    "Content-Range": {"description": "Which part of the bytes this is.", "schema": {"type": "string"}},
    "Repr-Digest": {"description": "What all the bytes are (RFC 9530).", "schema": {"type": "string"}},
    "Accept-Ranges": {"description": "Parts can be asked for.", "schema": {"type": "string"}},
    "Allow": {"description": "The methods of this address, with 405.", "schema": {"type": "string"}},
}
PARAMETERS: Json = {
    "traceparent": {
        "name": "traceparent",
        "in": "header",
        "description": "W3C trace context: the call joins this trace.",
        "schema": {"type": "string"},
    },
    "correlation": {
        "name": "X-Correlation-ID",
        "in": "header",
        "description": "What this call belongs to, kept with its facts. By default, or if it is no id, the trace id.",
        "schema": {"type": "string"},
    },
    "timeout": {
        "name": "Engross-Timeout",
        "in": "header",
        "description": "How many seconds to wait, where that is less than the flow may take.",
        "schema": {"type": "number", "exclusiveMinimum": 0},
    },
    "dryRun": {
        "name": "dry_run",
        "in": "query",
        "description": "Say what would happen, and do nothing.",
        "schema": {"type": "boolean", "default": False},
    },
    "idempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "The same as client_request_id: a repetition with it changes nothing twice. May be quoted.",
        "schema": {"type": "string", "pattern": r'^("[A-Za-z0-9._:\-]{8,255}"|[A-Za-z0-9._:\-]{8,255})$'},
    },
    "ifMatchBytes": {
        "name": "If-Match",
        "in": "header",
        "description": "Tags of the bytes that are wanted: 412 if these are others.",
        "schema": {"type": "string"},
    },
    "ifNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "Tags of what the client has already: 304 if nothing changed.",
        "schema": {"type": "string"},
    },
    "range": {
        "name": "Range",
        "in": "header",
        "description": "A part of the bytes.",
        "schema": {"type": "string", "pattern": "^bytes=[0-9]+-[0-9]*$"},
    },
    "contentDigest": {
        "name": "Content-Digest",
        "in": "header",
        "description": "What the bytes should be (RFC 9530): `sha-256=:...:`.",
        "schema": {"type": "string"},
    },
}
