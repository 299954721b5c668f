"""Models, and which of them a call is about when it does not say."""

from __future__ import annotations

from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid, codes

from .names import folded
from .rows import of_row
from .tables import AS_OF

DEFAULT_ID = "default"
DEFAULT_MODEL: dict[str, Any] = {"id": DEFAULT_ID, "name": "Default", "version": 0}
"""Every tenant has it from the beginning; a fact is needed only to change it."""
EVERYONE = "everyone"
PIN = "model_id"
CONTEXT = "context_"
"""Before the subject of a fact about a context."""
MOST_LISTED = 1000
CONTENT = {
    "elements": "architecture_elements",
    "relationships": "architecture_relationships",
    "views": "architecture_views",
}
"""The tables of what is in a model."""


def contextual(principal: str) -> str:
    """The key under which somebody's context is kept."""
    return f"principal:{principal}"


def find_model(reader: Reader, model_id: str) -> dict[str, Any] | None:
    """A model by its id."""
    row = reader.row(
        f"SELECT id, version, name, description, properties, extra FROM architecture_models"
        f" WHERE tenant = :tenant AND id = :id AND {AS_OF}",
        id=model_id,
    )
    if row is not None:
        return of_row(row)
    return dict(DEFAULT_MODEL) if model_id == DEFAULT_ID else None


def all_models(reader: Reader) -> list[dict[str, Any]]:
    """Every model, the default one first, then by name."""
    rows = reader.rows(
        f"SELECT id, version, name, description FROM architecture_models WHERE tenant = :tenant AND {AS_OF}"
        " ORDER BY folded, id LIMIT :most",
        most=MOST_LISTED,
    )
    found = [of_row(row) for row in rows]
    if all(model["id"] != DEFAULT_ID for model in found):
        found.append(dict(DEFAULT_MODEL))
    return sorted(found, key=lambda model: (model["id"] != DEFAULT_ID, folded(model["name"]), model["id"]))


def model_named(reader: Reader, name: str) -> dict[str, Any] | None:
    """The model with this name."""
    row = reader.row(
        f"SELECT id, version, name FROM architecture_models WHERE tenant = :tenant AND folded = :folded AND {AS_OF}"
        " ORDER BY id LIMIT 1",
        folded=folded(name),
    )
    if row is not None:
        return row
    is_default = folded(name) == folded(DEFAULT_MODEL["name"])
    default = find_model(reader, DEFAULT_ID) if is_default else None
    return default if default and default["version"] == 0 else None


def chosen_model(reader: Reader) -> str | None:
    """The model that the caller works on without saying so: pinned to the call, kept for them, or everybody's."""
    pinned = reader.context.pins.get(PIN)
    if pinned:
        return pinned
    own = contextual(reader.context.principal.id)
    rows = reader.rows(
        "SELECT principal, model_id FROM architecture_contexts WHERE tenant = :tenant"
        " AND principal IN (:own, :everyone)",
        own=own,
        everyone=EVERYONE,
    )
    # One that was erased is chosen no longer.
    kept = {row["principal"]: row["model_id"] for row in rows if not _is_erased(reader, row["model_id"])}
    chosen: str | None = kept.get(own) or kept.get(EVERYONE, DEFAULT_ID)
    return chosen


def _is_erased(reader: Reader, model_id: str | None) -> bool:
    """Whether nothing is known of a model, at no position of the ledger."""
    if model_id in (None, DEFAULT_ID):
        return False
    known = reader.row(
        "SELECT 1 AS some FROM architecture_models WHERE tenant = :tenant AND id = :id LIMIT 1", id=model_id
    )
    return known is None


def effective_model(reader: Reader, model_id: str | None, field: str = "model_id") -> str:
    """The model that a call is about; Invalid where there is none."""
    chosen = model_id or chosen_model(reader)
    if chosen is None:
        raise Invalid(
            codes.NO_DEFAULT_MODEL,
            field=field,
            suggestions={"available_models": _choices(reader), "hint": "Pass model_id, or pin one with setContext."},
        )
    return require_model(reader, chosen, field)


def require_model(reader: Reader, called: str, field: str = "model_id") -> str:
    """The id of the model that an id or a name stands for; Invalid where there is none."""
    if called == DEFAULT_ID or find_model(reader, called) is not None:
        return called
    named = model_named(reader, called)
    if named is None:
        raise no_such_model(reader, called, field)
    return str(named["id"])


def require_empty(reader: Reader, subject: str) -> None:
    """Invalid where a subject is a model with something in it, which nobody could reach without the model."""
    # The default model is there, whatever is said about it.
    if subject == DEFAULT_ID or find_model(reader, subject) is None:
        return
    held = [kind for kind, table in CONTENT.items() if _has_any(reader, table, subject)]
    if held:
        code = codes.VALIDATION_ERROR  # reply-lint: L7 because whoever erases cannot know what is in a model
        raise Invalid(
            code,
            {"problem": "the model has something in it"},
            field="subject",
            suggestions={"model_has": held, "hint": "Delete or erase what is in it first, views too."},
        )


def _has_any(reader: Reader, table: str, model_id: str) -> bool:
    found = reader.row(
        f"SELECT 1 AS some FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} LIMIT 1",
        model_id=model_id,
    )
    return found is not None


def no_such_model(reader: Reader, model_id: str, field: str) -> Invalid:
    """The model is not there, for this caller."""
    return Invalid(
        codes.MODEL_NOT_FOUND,
        {"id": model_id[:80]},
        field=field,
        suggestions={"available_models": _choices(reader), "hint": "Take an id from listModels."},
    )


def _choices(reader: Reader) -> list[dict[str, Any]]:
    return [{"id": model["id"], "name": model["name"]} for model in all_models(reader)[:20]]
