"""From facts to rows: the only code that writes the state tables. And what type the facts are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State
from engross.store import FOREVER

from .models import CONTEXT, require_empty
from .names import folded, postings
from .patch import patched
from .rows import ELEMENT_TEXTS, MODEL_TEXTS, RELATIONSHIP_TEXTS, as_text, flat, of_row
from .tables import AS_OF

ENDED = "SET to_position = :position WHERE tenant = :tenant AND id = :id AND to_position = :forever"
INSERT_ELEMENT = (
    "INSERT INTO architecture_elements (tenant, id, version, model_id, type, name, folded, description, properties,"
    " profile, external_id, extra, from_position, to_position) VALUES (:tenant, :id, :version, :model_id, :type, :name,"
    " :folded, :description, :properties, :profile, :external_id, :extra, :from_position, :to_position)"
)
INSERT_RELATIONSHIP = (
    "INSERT INTO architecture_relationships (tenant, id, version, model_id, type, source_id, target_id, name,"
    " description, properties, access_type, modifier, is_directed, external_id, extra, from_position, to_position)"
    " VALUES (:tenant, :id, :version, :model_id, :type, :source_id, :target_id, :name, :description, :properties,"
    " :access_type, :modifier, :is_directed, :external_id, :extra, :from_position, :to_position)"
)
INSERT_MODEL = (
    "INSERT INTO architecture_models (tenant, id, version, name, folded, description, properties, extra,"
    " from_position, to_position) VALUES (:tenant, :id, :version, :name, :folded, :description, :properties, :extra,"
    " :from_position, :to_position)"
)
INSERT_VIEW = (
    "INSERT INTO architecture_views (tenant, id, version, model_id, name, external_id, body, from_position,"
    " to_position) VALUES (:tenant, :id, :version, :model_id, :name, :external_id, :body, :from_position, :to_position)"
)
INSERT_WORD = (
    "INSERT INTO architecture_words (tenant, model_id, word, rank, element_id, from_position, to_position)"
    " VALUES (:tenant, :model_id, :word, :rank, :id, :position, :forever)"
)
KEEP_CONTEXT = (
    "INSERT INTO architecture_contexts (tenant, principal, version, model_id) VALUES (:tenant, :principal, :version,"
    " :model_id) ON CONFLICT (tenant, principal) DO UPDATE SET version = :version, model_id = :model_id"
)
TYPED_TABLES = ("architecture_elements", "architecture_relationships")
ERASED_TABLES = (
    "architecture_models",
    "architecture_elements",
    "architecture_relationships",
    "architecture_views",
)


def add_appliers(architecture: Aggregate) -> None:
    """Teach an aggregate what its facts mean."""
    architecture.applies("ModelCreated")(_model_written)
    architecture.applies("ModelUpdated")(_model_written)
    architecture.applies("ElementCreated", together=_elements_created)(_element_created)
    architecture.applies("ElementUpdated")(_element_updated)
    architecture.applies("ElementDeleted")(_element_deleted)
    architecture.applies("RelationshipCreated", together=_relationships_created)(_relationship_created)
    architecture.applies("RelationshipUpdated")(_relationship_updated)
    architecture.applies("RelationshipDeleted")(_relationship_deleted)
    architecture.applies("ViewCreated")(_view_written)
    architecture.applies("ViewUpdated")(_view_written)
    architecture.applies("ContextSet")(_context_set)
    architecture.erases(_erased)
    architecture.keeps(require_empty)
    architecture.classifies(_type_of)


def _type_of(reader: Reader, subject: str) -> str | None:
    """The type of an element or a relationship, also of one that is gone: it never changes."""
    for table in TYPED_TABLES:
        found = reader.value(
            f"SELECT type FROM {table} WHERE tenant = :tenant AND id = :id ORDER BY version DESC LIMIT 1", id=subject
        )
        if found is not None:
            return str(found)
    return None


def _model_written(state: State, fact: Fact) -> None:
    if fact.version > 1:
        _end(state, "architecture_models", fact)
    model = fact.payload or {}
    state.execute(
        INSERT_MODEL,
        **_stands(fact),
        name=model["name"],
        folded=folded(model["name"]),
        description=model.get("description"),
        **flat(model, MODEL_TEXTS),
    )


def _element_created(state: State, fact: Fact) -> None:
    element = fact.payload or {}
    _write_element(state, fact, element)
    _index(state, fact, element["model_id"], postings(element["name"], element.get("description")))


def _elements_created(state: State, facts: Sequence[Fact]) -> None:
    """As one by one. Words come in the order of their key, and elements and words apart: that is much quicker."""
    state.execute_all((INSERT_ELEMENT, _element_row(fact, fact.payload or {})) for fact in facts)
    found = [
        (fact.payload["model_id"], word, rank, fact.subject, fact.position)
        for fact in facts
        if fact.payload
        for word, rank in postings(fact.payload["name"], fact.payload.get("description")).items()
    ]
    state.execute_all(
        (
            INSERT_WORD,
            {"model_id": model, "word": word, "rank": rank, "id": subject, "position": position, "forever": FOREVER},
        )
        for model, word, rank, subject, position in sorted(found)
    )


def _element_updated(state: State, fact: Fact) -> None:
    before = of_row(_standing(state, "architecture_elements", fact.subject))
    after = patched(before, fact.payload or {})
    _end(state, "architecture_elements", fact)
    _write_element(state, fact, after)
    old, new = (postings(one["name"], one.get("description")) for one in (before, after))
    _unindex(state, fact, before["model_id"], {word: rank for word, rank in old.items() if new.get(word) != rank})
    _index(state, fact, before["model_id"], {word: rank for word, rank in new.items() if old.get(word) != rank})


def _element_deleted(state: State, fact: Fact) -> None:
    before = of_row(_standing(state, "architecture_elements", fact.subject))
    _end(state, "architecture_elements", fact)
    _unindex(state, fact, before["model_id"], postings(before["name"], before.get("description")))


def _relationship_created(state: State, fact: Fact) -> None:
    _write_relationship(state, fact, fact.payload or {})


def _relationships_created(state: State, facts: Sequence[Fact]) -> None:
    state.execute_all((INSERT_RELATIONSHIP, _relationship_row(fact, fact.payload or {})) for fact in facts)


def _relationship_updated(state: State, fact: Fact) -> None:
    before = of_row(_standing(state, "architecture_relationships", fact.subject))
    _end(state, "architecture_relationships", fact)
    _write_relationship(state, fact, patched(before, fact.payload or {}))


def _relationship_deleted(state: State, fact: Fact) -> None:
    _end(state, "architecture_relationships", fact)


def _view_written(state: State, fact: Fact) -> None:
    if fact.version > 1:
        _end(state, "architecture_views", fact)
    view = fact.payload or {}
    state.execute(
        INSERT_VIEW,
        **_stands(fact),
        model_id=view["model_id"],
        name=view["name"],
        external_id=view.get("external_id"),
        body=as_text(view["body"]),
    )


def _context_set(state: State, fact: Fact) -> None:
    chosen = fact.payload or {}
    state.execute(KEEP_CONTEXT, principal=chosen["principal"], version=fact.version, model_id=chosen["model_id"])


def _erased(state: State, fact: Fact) -> None:
    """Nothing of the subject stays, in no version; what was tied to it ends here."""
    from .meanings import VECTORS

    known = state.rows(
        "SELECT DISTINCT model_id, name, description FROM architecture_elements WHERE tenant = :tenant AND id = :id",
        id=fact.subject,
    )
    for row in known:
        VECTORS.forget(state, row["model_id"], fact.subject)
        for word, rank in postings(row["name"], row["description"]).items():
            state.execute(
                "DELETE FROM architecture_words WHERE tenant = :tenant AND model_id = :model_id AND word = :word"
                " AND rank = :rank AND element_id = :id",
                model_id=row["model_id"],
                word=word,
                rank=rank,
                id=fact.subject,
            )
    state.execute(
        "DELETE FROM architecture_contexts WHERE tenant = :tenant AND principal = :principal",
        principal=fact.subject.removeprefix(CONTEXT),
    )
    for table in ERASED_TABLES:
        state.execute(f"DELETE FROM {table} WHERE tenant = :tenant AND id = :id", id=fact.subject)
    _end_what_is_tied_to(state, fact, fact.subject)


def _end_what_is_tied_to(state: State, fact: Fact, subject: str) -> None:
    tied = [
        row["id"]
        for end in ("source_id", "target_id")
        for row in state.rows(
            f"SELECT id FROM architecture_relationships WHERE tenant = :tenant AND {end} = :id"
            " AND to_position = :forever",
            id=subject,
            forever=FOREVER,
        )
    ]
    for relationship in sorted(set(tied)):
        state.execute(
            f"UPDATE architecture_relationships {ENDED}", id=relationship, position=fact.position, forever=FOREVER
        )
        _end_what_is_tied_to(state, fact, relationship)


def _write_element(state: State, fact: Fact, element: Mapping[str, Any]) -> None:
    state.execute(INSERT_ELEMENT, **_element_row(fact, element))


def _write_relationship(state: State, fact: Fact, relationship: Mapping[str, Any]) -> None:
    state.execute(INSERT_RELATIONSHIP, **_relationship_row(fact, relationship))


def _element_row(fact: Fact, element: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_stands(fact),
        "model_id": element["model_id"],
        "type": element["type"],
        "name": element["name"],
        "folded": folded(element["name"]),
        "description": element.get("description"),
        "external_id": element.get("external_id"),
        **flat(element, ELEMENT_TEXTS),
    }


def _relationship_row(fact: Fact, relationship: Mapping[str, Any]) -> dict[str, Any]:
    directed = relationship.get("is_directed")
    return {
        **_stands(fact),
        "model_id": relationship["model_id"],
        "type": relationship["type"],
        "source_id": relationship["source_id"],
        "target_id": relationship["target_id"],
        "name": relationship.get("name"),
        "description": relationship.get("description"),
        "access_type": relationship.get("access_type"),
        "modifier": relationship.get("modifier"),
        "is_directed": None if directed is None else int(directed),
        "external_id": relationship.get("external_id"),
        **flat(relationship, RELATIONSHIP_TEXTS),
    }


def _stands(fact: Fact) -> dict[str, Any]:
    return {"id": fact.subject, "version": fact.version, "from_position": fact.position, "to_position": FOREVER}


def _standing(state: State, table: str, subject: str) -> dict[str, Any]:
    row = state.row(f"SELECT * FROM {table} WHERE tenant = :tenant AND id = :id AND {AS_OF}", id=subject)
    assert row is not None
    return row


def _end(state: State, table: str, fact: Fact) -> None:
    state.execute(f"UPDATE {table} {ENDED}", id=fact.subject, position=fact.position, forever=FOREVER)


def _index(state: State, fact: Fact, model_id: str, found: Mapping[str, int]) -> None:
    if found:
        state.execute(_insert_words(len(found)), **_bound(fact, model_id, found))


@cache
def _insert_words(count: int) -> str:
    places = ", ".join(f"(:tenant, :model_id, :word_{n}, :rank_{n}, :id, :position, :forever)" for n in range(count))
    return (
        "INSERT INTO architecture_words (tenant, model_id, word, rank, element_id, from_position, to_position)"
        # A word that comes and goes within one commit stands from the same position twice.
        f" VALUES {places} ON CONFLICT (tenant, model_id, word, rank, element_id, from_position)"
        " DO UPDATE SET to_position = excluded.to_position"
    )


def _unindex(state: State, fact: Fact, model_id: str, gone: Mapping[str, int]) -> None:
    for word, rank in gone.items():
        # One by one: an engine that is given all of them at once may read through every word of the model.
        state.execute(
            "UPDATE architecture_words SET to_position = :position WHERE tenant = :tenant AND model_id = :model_id"
            " AND word = :word AND rank = :rank AND element_id = :id AND to_position = :forever",
            model_id=model_id,
            word=word,
            rank=rank,
            id=fact.subject,
            position=fact.position,
            forever=FOREVER,
        )


def _bound(fact: Fact, model_id: str, found: Mapping[str, int]) -> dict[str, Any]:
    params: dict[str, Any] = {
        "model_id": model_id,
        "id": fact.subject,
        "position": fact.position,
        "forever": FOREVER,
    }
    for n, (word, rank) in enumerate(found.items()):
        params[f"word_{n}"], params[f"rank_{n}"] = word, rank
    return params
