"""The three tools of before, under their old names. They warn, and go with the first major release."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from engross.calls import Answer
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit

from .refusals import OF_TEXTS, OF_WRITES
from .samples import A_NOTE, NOTE, PATH, TYPED_BY_HAND
from .schemas import (
    BASE_HASH,
    CHANGES,
    CONTENT,
    LIMITS,
    MUTATIONS,
    SCHEMA_NAME,
    TARGET_PATH,
    a_text,
    optional,
    shape,
)
from .ways import Ways
from .write_flows import BASE, REPEATABLE, STATE, conclude_with_file

LEGACY = "legacy"
SINCE, REMOVED_IN = "0.1.0", "1.0.0"
DROPPED = ("tier", "verbose")

INGEST = shape(
    ("content", "schema"),
    content=CONTENT,
    schema=SCHEMA_NAME,
    fix={"type": "boolean", "description": "As octave_validate takes it.", "default": True},
    tier=optional(a_text("Means nothing any more.", maxLength=40)),
    verbose={"type": ["boolean", "null"], "description": "Means nothing any more."},
)
CREATE = shape(
    ("target_path", "content"),
    target_path=TARGET_PATH,
    content=CONTENT,
    mutations=optional(MUTATIONS),
    schema=optional(SCHEMA_NAME),
)
AMEND = shape(
    ("target_path", "changes"),
    target_path=TARGET_PATH,
    changes=CHANGES,
    mutations=optional(MUTATIONS),
    base_hash=optional(BASE_HASH),
    schema=optional(SCHEMA_NAME),
)

_log = logging.getLogger("engross.documents")


def add_legacy_flows(documents: Aggregate, ways: Ways) -> None:
    """Give an aggregate the deprecated flows."""
    _add_ingest(documents, ways)
    _add_write(
        documents,
        ways,
        "octave-create",
        CREATE,
        Example("A new document", {"target_path": PATH, "content": NOTE}, reply="CREATED"),
    )
    _add_write(
        documents,
        ways,
        "octave-amend",
        AMEND,
        Example("A field", {"target_path": PATH, "changes": {"STATUS": "DONE"}}, given=(A_NOTE,), reply="UPDATED"),
    )


def _add_ingest(documents: Aggregate, ways: Ways) -> None:
    @documents.read(
        arguments=INGEST,
        answers=None,
        controls=(),
        limits=LIMITS,
        deprecated_since=SINCE,
        description=_description("octave_validate with fix=true"),
        refuses=OF_TEXTS,
        examples=[
            Example(
                "Repairs made",
                {"content": TYPED_BY_HAND, "schema": "META", "tier": "LENIENT", "verbose": True},
                reply="VALIDATION_DONE",
            )
        ],
    )
    def octave_ingest(reader: Reader, arguments: Mapping[str, Any]) -> Answer:
        from .checking import validated

        answer = validated(ways, arguments)
        dropped = [_dropped(name) for name in DROPPED if arguments.get(name) is not None]
        return replace(answer, warnings=(_warned("octave_ingest", "octave_validate"), *dropped, *answer.warnings))

    documents.expose(octave_ingest, toolset=LEGACY)


def _add_write(documents: Aggregate, ways: Ways, name: str, taken: Mapping[str, Any], example: Example) -> None:
    tool = name.replace("-", "_")
    instead = "octave_write with content" if "content" in taken["properties"] else "octave_write with changes"

    def handler(unit: Unit, prepared: Any) -> Answer:
        from .writing import perform_write

        answer = perform_write(ways, unit, prepared)
        return replace(answer, warnings=(_deprecation(tool, "octave_write"), *answer.warnings))

    flow = documents.define(
        "record",
        handler,
        name=name,
        description=_description(instead),
        effect="update",
        posture="direct",
        semantics=REPEATABLE,
        arguments=taken,
        answers=None,
        state_at=STATE,
        expects=BASE if BASE in taken["properties"] else None,
        limits=LIMITS,
        deprecated_since=SINCE,
        refuses=OF_WRITES,
        examples=[example],
    )

    @flow.prepare
    def prepare(reader: Reader, arguments: Mapping[str, Any]) -> Any:
        from .writing import prepare_write

        _warned(tool, "octave_write")
        return prepare_write(ways, reader, arguments)

    conclude_with_file(flow, ways)
    documents.expose(flow, toolset=LEGACY)


def _description(instead: str) -> str:
    return f"Deprecated, gone with {REMOVED_IN}: use {instead}."


def _warned(tool: str, instead: str) -> dict[str, Any]:
    _log.warning("%s is deprecated and goes with %s: use %s", tool, REMOVED_IN, instead)
    return _deprecation(tool, instead)


def _deprecation(tool: str, instead: str) -> dict[str, Any]:
    return {
        "code": "DEPRECATED_TOOL",
        "message": f"{tool} is deprecated and goes with {REMOVED_IN}.",
        "field": None,
        "suggestion": f"Use {instead}.",
    }


def _dropped(name: str) -> dict[str, Any]:
    return {
        "code": "DROPPED_PARAMETER",
        "message": f"{name} means nothing any more.",
        "field": name,
        "suggestion": "Leave it out.",
    }
