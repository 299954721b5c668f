"""Making models, and choosing the one to work in."""

from __future__ import annotations

from engross.calls import Answer
from engross.ledger import Unit, last_version
from engross.replies import Invalid, codes

from .checks import NAMESPACE
from .models import CONTEXT, EVERYONE, chosen_model, contextual, model_named, require_model
from .stating import Arguments


def create_model(unit: Unit, arguments: Arguments) -> Answer:
    """A model under a name that no other has."""
    existing = model_named(unit, arguments["name"])
    if existing is not None:
        shown = {"id": existing["id"], "name": existing["name"]}
        raise Invalid(
            codes.DUPLICATE_NAME,
            {"kind": "model"},
            field="name",
            suggestions={"existing_model": shown, "hint": "Use the existing model, or choose another name."},
        )
    said = {name: arguments[name] for name in ("name", "description") if arguments.get(name)}
    identifier = unit.new_id("model_")
    unit.append("ModelCreated", identifier, 0, said, fields=said)
    return Answer({"model": {"id": identifier, "version": 1, **said}, "version": 1})


def set_context(unit: Unit, arguments: Arguments) -> Answer:
    """The model that somebody's calls are about, or everybody's."""
    called = arguments.get("model_id")
    model_id = None if called is None else require_model(unit, called)
    for_all = arguments.get("scope", "me") == "everyone"
    owner = EVERYONE if for_all else contextual(unit.context.principal.id)
    kept = unit.row(
        "SELECT version, model_id FROM architecture_contexts WHERE tenant = :tenant AND principal = :owner",
        owner=owner,
    )
    if kept is None or kept["model_id"] != model_id:
        subject = CONTEXT + owner
        follows = last_version(unit, NAMESPACE, subject) if kept is None else kept["version"]
        before = {"model_id": kept["model_id"] if kept else None}
        said = {"principal": owner, "model_id": model_id}
        unit.append("ContextSet", subject, follows, said, before=before, fields=["model_id"])
    return Answer({"context": {"model_id": chosen_model(unit), "scope": "everyone" if for_all else "me"}})
