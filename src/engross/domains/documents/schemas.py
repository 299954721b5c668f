"""What the flows take, as JSON Schema."""

from __future__ import annotations

from typing import Any

from engross.flows import Limits

from .ways import LONGEST

Schema = dict[str, Any]

LIMITS = Limits(text=LONGEST, size=2 * LONGEST)
MODES = ["canonical", "authoring", "executive", "developer"]
FORMATS = ["octave", "json", "yaml", "markdown"]


def shape(required: tuple[str, ...], /, **fields: Schema) -> Schema:
    """An object with these fields, and no others."""
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def optional(field: Schema) -> Schema:
    """A field in which null means the same as leaving it out."""
    return {**field, "type": [field["type"], "null"]}


def a_text(description: str, **more: Any) -> Schema:
    """A text."""
    return {"type": "string", "description": description, **more}


def a_number(description: str, least: int, most: int, **more: Any) -> Schema:
    """A whole number with bounds."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most, **more}


def a_map(description: str) -> Schema:
    """An open map."""
    return {"type": "object", "description": description}


CONTENT = a_text("The whole document.")
SCHEMA_NAME = a_text("Schema name, as META or SESSION_LOG; list_schemas lists them.", maxLength=100)
TARGET_PATH = a_text("The file: absolute, or relative to a document root.", minLength=1, maxLength=1024)
BASE_HASH = a_text("Only if the file still has this SHA-256.", pattern="^[0-9a-f]{64}$")
CHANGES = a_map('Fields by dotted path: a value, null, or {"$op":"DELETE"}; what is not named stays.')
MUTATIONS = a_map("Fields of META to set, likewise.")
VERSION = a_number("A version, as document_history numbers them.", 1, 2**53)

VALIDATE = shape(
    ("content", "schema"),
    content=CONTENT,
    schema=SCHEMA_NAME,
    fix={"type": "boolean", "description": "Make the repairs instead of suggesting them.", "default": False},
)
WRITE = shape(
    ("target_path",),
    target_path=TARGET_PATH,
    content=optional(a_text("The whole document, for a new file or over what is there. Not with changes.")),
    changes=optional(CHANGES),
    mutations=optional(MUTATIONS),
    base_hash=optional(BASE_HASH),
    schema=optional(SCHEMA_NAME),
)
EJECT = shape(
    ("schema",),
    content=optional(a_text("The document; without one, the schema's template is shown.")),
    schema=SCHEMA_NAME,
    mode=a_text("How much of it.", enum=MODES, default="canonical"),
    format=a_text("In which format.", enum=FORMATS, default="octave"),
)
READ = shape(("path",), path=TARGET_PATH, version=VERSION)
HISTORY = shape(
    ("path",),
    path=TARGET_PATH,
    limit=a_number("At most so many.", 1, 200, default=50),
    before=a_number("Only versions before this one.", 1, 2**53),
)
FIELD = a_text("Only this field, block or section, by its dotted path.", minLength=1, maxLength=1024)
BLAME = shape(
    ("path",),
    path=TARGET_PATH,
    field=FIELD,
    line=a_number("Only the paragraph that this line is part of.", 1, 2**31),
)
WHY = shape(
    ("ref",),
    ref=a_text("The file: its path, or the end of it.", minLength=1, maxLength=1024),
    field=FIELD,
    limit=a_number("Most facts.", 1, 500, default=50),
)
COMPARE = shape(("path",), path=TARGET_PATH, old=VERSION, new=VERSION)
UNDO = shape(("path",), path=TARGET_PATH, version=VERSION, base_hash=optional(BASE_HASH))
ONE_SCHEMA = shape(("schema",), schema=SCHEMA_NAME)
LIST = shape(
    (),
    below=a_text("Only those whose path begins so.", maxLength=1024),
    limit=a_number("At most so many.", 1, 500, default=100),
    after=a_text("Only those behind this path.", maxLength=1024),
)
