"""What the domain's flows have in common: how what they take is published, held to and tidied up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from engross.flows import Normaliser

from ..metamodel import metamodel
from ..schemas import Schema, enforced
from ..tidy import tidying

AS_OF = ("proposal_id", "as_of")
"""The control fields of a read."""


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
