"""The schema of what a flow answers: `reply` for sure, everything else open."""

from __future__ import annotations

from .schemas import Schema, Shape, opened, schema_of

# A failed call uses these in its own way; a client that checks every answer must not trip over their types.
_USED_BY_FAILURES = ("error", "errors", "field", "details", "suggestions")

REPLY: Schema = {
    "type": "object",
    "description": "The outcome. Branch on reply_type and code, never on the message.",
    "properties": {
        "reply_type": {
            "type": "string",
            "description": "S done, I mend the input, D ask for approval, E stop and report the trace_id.",
            "enum": ["S", "I", "D", "E"],
        },
        "code": {"type": "string", "description": "What happened, exactly."},
        "message_key": {"type": "string", "description": "The name of the code."},
        "message": {"type": "string", "description": "For people."},
        "trace_id": {"type": ["string", "null"], "description": "Names this call in the logs."},
    },
    "required": ["reply_type", "code"],
    "additionalProperties": True,
}


def output_of(answers: Shape | None, subject: str) -> Schema:
    """The output schema for these answers."""
    fields = opened(schema_of(answers, subject)).get("properties", {}) if answers is not None else {}
    told = {name: _loosened(part) if name in _USED_BY_FAILURES else part for name, part in fields.items()}
    return {
        "type": "object",
        "properties": {**told, "reply": REPLY},
        "required": ["reply"],
        "additionalProperties": True,
    }


def _loosened(schema: Schema) -> Schema:
    return {"description": schema["description"]} if "description" in schema else {}
