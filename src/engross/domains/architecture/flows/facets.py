"""What the domain's flows have in common: how what they take is published, held to, tidied up and refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from engross.flows import Normaliser
from engross.replies import codes

from ..metamodel import metamodel
from ..schemas import Schema, enforced
from ..tidy import tidying

AS_OF = ("proposal_id", "as_of")
"""The control fields of a read."""

# What flows are refused with, by what they look for or make.
NO_MODEL = (codes.MODEL_NOT_FOUND, codes.NO_DEFAULT_MODEL)
"""Whatever is about a model, named or not."""
NO_VIEW = (codes.RECORD_NOT_FOUND, codes.NEEDS_DISAMBIGUATION)
"""Whatever takes a view by its id or name."""
BY_NAME = (codes.ELEMENT_NOT_FOUND, codes.NEEDS_DISAMBIGUATION, *NO_MODEL)
"""Whatever takes an element by its name."""
NEW_CAPABILITY = (
    *NO_MODEL,
    *(codes.ELEMENT_NOT_FOUND, codes.INVALID_PARENT, codes.DUPLICATE_NAME, codes.PROFILE_INVALID),
)
NEW_ELEMENT = (codes.INVALID_ELEMENT_TYPE, *NEW_CAPABILITY)
NEW_STRUCTURE = (*NO_MODEL, codes.DUPLICATE_NAME, codes.PROFILE_INVALID)
NEW_COMPONENT = (codes.ELEMENT_NOT_FOUND, codes.DUPLICATE_NAME)
CHANGED_ELEMENT = (
    *(codes.ELEMENT_NOT_FOUND, codes.NO_CHANGES, codes.VERSION_CONFLICT),
    *(codes.DUPLICATE_NAME, codes.PROFILE_INVALID),
)
GONE_ELEMENT = (codes.ELEMENT_NOT_FOUND, codes.ELEMENT_HAS_RELATIONSHIPS, codes.VERSION_CONFLICT)
NEW_RELATIONSHIP = (
    *(codes.INVALID_RELATIONSHIP_TYPE, codes.INVALID_RELATIONSHIP, codes.JUNCTION_CONFLICT),
    *(codes.DUPLICATE_RELATIONSHIP, *BY_NAME),
)
GONE_RELATIONSHIP = (codes.RELATIONSHIP_NOT_FOUND, codes.VERSION_CONFLICT)
ANY_CHANGE = tuple(
    dict.fromkeys(
        (
            *(*NEW_ELEMENT, *NEW_RELATIONSHIP, *CHANGED_ELEMENT, *GONE_ELEMENT, *GONE_RELATIONSHIP),
            *(*NEW_CAPABILITY, *NEW_STRUCTURE, *NEW_COMPONENT),
        )
    )
)
"""Whatever makes several of these changes at once."""
ANY_FILE = (codes.IMPORT_UNREADABLE, codes.IMPORT_UNSAFE, codes.RECORD_NOT_FOUND)
"""Whatever reads a file, sent along or uploaded before."""
WHOLE_FILE = (
    *(*ANY_FILE, codes.MODEL_NOT_FOUND, codes.INVALID_ELEMENT_TYPE, codes.INVALID_RELATIONSHIP_TYPE),
    *(codes.INVALID_RELATIONSHIP, codes.JUNCTION_CONFLICT, codes.ELEMENT_NOT_FOUND),
)
"""Whatever takes over all that is in one."""


class Reading(TypedDict):
    """Facets of a flow that reads."""

    arguments: Schema
    enforced: Schema
    normaliser: Normaliser
    answers: None
    controls: Sequence[str]


class Changing(TypedDict):
    """Facets of a flow that changes a model."""

    arguments: Schema
    enforced: Schema
    normaliser: Normaliser
    answers: None
    version: str


def reading(
    schema: Schema, normaliser: Normaliser | None = None, *, controls: Sequence[str] = AS_OF, **more: Schema
) -> Reading:
    """A read that takes this; `more` are fields that are held to something else than what is published."""
    return {
        "arguments": schema,
        "enforced": enforced(schema, **more),
        "normaliser": normaliser or tidying(),
        "answers": None,
        "controls": controls,
    }


def changing(schema: Schema, normaliser: Normaliser | None = None, **more: Schema) -> Changing:
    """A write that takes this; `more` are fields that are known, and refused by the domain itself.

    The metamodel is part of its version, as it is of its rules: receipts name it, and what was checked by another one
    has to be checked again before it is committed.
    """
    return {
        "arguments": schema,
        "enforced": enforced(schema, **more),
        "normaliser": normaliser or tidying(),
        "answers": None,
        "version": f"1.0.0+{metamodel().mark}",
    }
