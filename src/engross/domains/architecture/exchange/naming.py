"""What the model is called that a file goes into."""

from __future__ import annotations

from engross.ledger import Reader

from ..models import find_model, model_named
from ..names import clean
from ..notices import Notices, notice

LONGEST = 240
"""So that a number fits behind it."""


def called(reader: Reader, model_id: str | None, wanted: str | None, own: str) -> tuple[str, Notices]:
    """The name that was wanted, else the model's, else the file's; with a number, and a warning, if it is taken."""
    known = find_model(reader, model_id) if model_id is not None else None
    if known is not None and wanted is None:
        return str(known["name"]), []
    name = clean(wanted or own)[:LONGEST] or "Imported model"
    free = _free(reader, name, model_id)
    if free == name:
        return name, []
    told = f"There is a model called {name} already; this one is called {free}."
    hint = "Give another model_name, or model_id to import into that one."
    return free, [notice("DUPLICATE_NAME", told, "model_name", hint)]


def _free(reader: Reader, name: str, model_id: str | None) -> str:
    """A name that no other model has."""
    free, number = name, 2
    while (found := model_named(reader, free)) is not None and found["id"] != model_id:
        free = f"{name} ({number})"
        number += 1
    return free
