"""Taking a parcel over: new things are created, what came from the same place before is brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from engross.ledger import Reader, Unit, last_version
from engross.replies import Issue

from ..checks import NAMESPACE
from ..metamodel import metamodel
from ..models import find_model, model_named
from ..names import clean
from ..patch import changed, spread, value_of
from ..refusals import malformed, profile_issues, raise_all
from ..relationships import all_tied_to
from ..rows import of_row, relationship_of
from ..stating import end_relationship
from ..tables import AS_OF
from .identifiers import ncname
from .parcel import Parcel, Piece
from .views_in import view_body

Ids = dict[str, str]
Known = dict[str, dict[str, Any]]

Tell = Callable[[float, float | None, str | None], None]

ENDS = ("source_id", "target_id")
MOST_HELD = 5_000
"""More new things than this are not held until the commit."""
TOLD_EVERY = 10_000

MERGED = ("name", "description", "properties", "profile")
ELEMENT_FIELDS = (*MERGED, "extra")
RELATIONSHIP_FIELDS = ("name", "description", "properties", "extra", "access_type", "modifier", "is_directed")


class Takeover:
    """One import on its way into a model."""

    def __init__(self, unit: Unit, parcel: Parcel, skipped: set[str], tell: Tell | None = None) -> None:
        """`tell` is told how far it is."""
        self._unit = unit
        self._tell = tell or _to_nobody
        self._parcel = parcel
        self._skipped = skipped
        self.counts = dict.fromkeys(
            (
                *("elements_created", "elements_updated", "relationships_created", "relationships_updated"),
                *("views_created", "views_updated", "unchanged"),
            ),
            0,
        )
        self.counts["relationships_skipped"] = 0

    def into(self, model_id: str | None, name: str | None) -> dict[str, Any]:
        """Take everything over into a model: a named one, or a new one; the model as it stands then."""
        model = self._model(model_id, name)
        fresh = model["version"] == 1 and model_id is None
        known = {} if fresh else _known(self._unit, "architecture_elements", model["id"])
        elements = self._elements(model["id"], known)
        tied = {} if fresh else _known(self._unit, "architecture_relationships", model["id"])
        relationships = self._relationships(model["id"], elements, tied)
        self._views(
            model["id"], elements, relationships, {} if fresh else _known(self._unit, "architecture_views", model["id"])
        )
        return {name: model[name] for name in ("id", "name", "version")}

    def _model(self, model_id: str | None, name: str | None) -> dict[str, Any]:
        parcel = self._parcel
        said: dict[str, Any] = {"name": name or parcel.name}
        extra = {**parcel.extra, **({"external_id": parcel.id} if parcel.id else {})}
        for key, value in (("description", parcel.description), ("properties", parcel.properties), ("extra", extra)):
            if value:
                said[key] = value
        if model_id is None:
            said["name"] = _free_name(self._unit, said["name"])
            identifier = self._unit.new_id("model_")
            self._unit.append("ModelCreated", identifier, 0, said, fields=said)
            return {"id": identifier, "version": 1, **said}
        before = find_model(self._unit, model_id)
        assert before is not None
        after = {
            "name": name or before["name"],
            "description": said.get("description") or before.get("description"),
            "properties": {**before.get("properties", {}), **said.get("properties", {})},
            "extra": {**before.get("extra", {}), **extra},
        }
        changes = {key: value for key, value in after.items() if value and value != before.get(key)}
        if not changes:
            return before
        whole = {key: value for key, value in after.items() if value}
        # What was erased leaves no row behind, and its versions go on.
        follows = before["version"] or last_version(self._unit, NAMESPACE, model_id)
        self._unit.append("ModelUpdated", model_id, follows, whole, before=before, fields=changes)
        return {**before, **whole, "version": follows + 1}

    def _elements(self, model_id: str, known: Known) -> Ids:
        raise_all([issue for piece in self._parcel.elements if (issue := _of_another_type(piece, known))])
        ids: Ids = {}
        new: list[Piece] = []
        for piece in self._parcel.elements:
            before = _same(known, piece)
            if before is None:
                new.append(piece)
                continue
            ids[piece.id] = before["id"]
            self._bring_up_to_date("Element", before, lifted(piece.said), ELEMENT_FIELDS)
        fresh = self._new_ids("el_", len(new))
        ids.update(zip((piece.id for piece in new), fresh, strict=True))
        self.counts["elements_created"] = self._create(
            "Element",
            len(new),
            ((ids[one.id], {"model_id": model_id, **lifted(one.said), "external_id": one.id}) for one in new),
        )
        return ids

    def _relationships(self, model_id: str, elements: Ids, known: Known) -> Ids:
        wanted = [piece for piece in self._parcel.relationships if piece.id not in self._skipped]
        self.counts["relationships_skipped"] = len(self._parcel.relationships) - len(wanted)
        standing = {piece.id: before for piece in wanted if (before := _same(known, piece))} if known else {}
        fresh = iter(self._new_ids("rel_", len(wanted)))
        ids = {piece.id: standing[piece.id]["id"] if piece.id in standing else next(fresh) for piece in wanted}
        wanted = self._without_dangling(wanted, elements, ids)
        self._let_go_of_moved(wanted, elements, ids, standing)
        new = []
        for piece in wanted:
            before = standing.get(piece.id)
            if before is None:
                new.append(piece)
            else:
                self._bring_up_to_date("Relationship", before, piece.said, RELATIONSHIP_FIELDS)
        self.counts["relationships_created"] = self._create(
            "Relationship", len(new), ((ids[one.id], self._related(one, model_id, elements, ids)) for one in new)
        )
        return ids

    @staticmethod
    def _related(piece: Piece, model_id: str, elements: Ids, ids: Ids) -> dict[str, Any]:
        said = {name: value for name, value in piece.said.items() if value not in ("", None)}
        return {"model_id": model_id, **said, **_ends(piece, elements, ids), "external_id": piece.id}

    def _create(self, kind: str, count: int, new: Iterable[tuple[str, dict[str, Any]]]) -> int:
        """State what is new; of very much, without holding it all."""
        if count > MOST_HELD:
            return self._unit.append_all(f"{kind}Created", self._told(kind, count, new))
        for identifier, whole in new:
            self._unit.append(f"{kind}Created", identifier, 0, whole, fields=whole)
        return count

    def _told(
        self, kind: str, count: int, new: Iterable[tuple[str, dict[str, Any]]]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, one in enumerate(new):
            if number % TOLD_EVERY == 0:
                self._tell(number, count, f"Writing {kind.lower()}s")
            yield one

    def _new_ids(self, prefix: str, count: int) -> list[str]:
        """As many new ids, in ascending order: rows that come in the order of their keys are written much faster."""
        return sorted(self._unit.new_id(prefix) for _ in range(count))

    def _let_go_of_moved(self, wanted: list[Piece], elements: Ids, ids: Ids, standing: Known) -> None:
        """End those that are of another type or between other ends by now; they are made anew, under other ids.

        What is tied to one of them has then moved as well, so this goes on until nothing more has.
        """
        moved: dict[str, dict[str, Any]] = {}
        while found := [
            piece.id
            for piece in wanted
            if (before := standing.get(piece.id)) is not None
            and (piece.said["type"], _ends(piece, elements, ids))
            != (before["type"], {end: before[end] for end in ENDS})
        ]:
            for identifier in found:
                moved[identifier] = standing.pop(identifier)
                ids[identifier] = self._unit.new_id("rel_")
        gone = {one["id"]: one for before in moved.values() for one in (*all_tied_to(self._unit, before["id"]), before)}
        for one in gone.values():
            end_relationship(self._unit, relationship_of(one))

    def _without_dangling(self, wanted: list[Piece], elements: Ids, ids: Ids) -> list[Piece]:
        """What is tied to a relationship that was left out is left out too."""
        while True:
            kept = [
                piece
                for piece in wanted
                if all(piece.said[end] in elements or piece.said[end] in ids for end in ("source_id", "target_id"))
            ]
            if len(kept) == len(wanted):
                return kept
            for identifier in {piece.id for piece in wanted} - {piece.id for piece in kept}:
                ids.pop(identifier, None)
                self.counts["relationships_skipped"] += 1
            wanted = kept

    def _views(self, model_id: str, elements: Ids, relationships: Ids, known: Known) -> None:
        for piece in self._parcel.views:
            body = view_body(piece.said["tree"], elements, relationships)
            said = {"model_id": model_id, "name": piece.said["name"], "external_id": piece.id, "body": body}
            before = _same(known, piece)
            if before is None:
                self._unit.append("ViewCreated", self._unit.new_id("view_"), 0, said, fields=["name", "body"])
                self.counts["views_created"] += 1
            elif before["body"] != body or before["name"] != said["name"]:
                self._unit.append("ViewUpdated", before["id"], before["version"], said, fields=["name", "body"])
                self.counts["views_updated"] += 1
            else:
                self.counts["unchanged"] += 1

    def _bring_up_to_date(
        self, kind: str, before: dict[str, Any], said: Mapping[str, Any], fields: tuple[str, ...]
    ) -> None:
        wanted = spread({name: said[name] for name in fields if said.get(name) not in ("", None)})
        changes = changed(before, wanted)
        if not changes:
            self.counts["unchanged"] += 1
            return
        held = {field: value_of(before, field) for field in changes}
        self._unit.append(f"{kind}Updated", before["id"], before["version"], changes, before=held, fields=changes)
        self.counts[f"{kind.lower()}s_updated"] += 1


def _known(reader: Reader, table: str, model_id: str) -> Known:
    """What a model holds, by the ids under which it goes out: a file that came from here finds its own again."""
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF}", model_id=model_id
    )
    things = [of_row(row) for row in rows]
    for one in things:
        if "body" in one:
            one["body"] = orjson.loads(one["body"])
    found = {one.get("external_id") or one["id"]: one for one in things}
    for name, one in list(found.items()):
        found.setdefault(ncname(name), one)
    return found


def _same(known: Known, piece: Piece) -> dict[str, Any] | None:
    """What is there already under the id of a piece, or under the id that XML makes of it."""
    return (known.get(piece.id) or known.get(ncname(piece.id))) if known else None


def _of_another_type(piece: Piece, known: Known) -> Issue | None:
    before = _same(known, piece)
    if before is None or before["type"] == piece.said["type"]:
        return None
    problem = f"{piece.id[:80]} is a {before['type']} in the model and a {piece.said['type']} in the file"
    return malformed("/content", problem, "Give it another id in the file, or delete the element first.")


def _ends(piece: Piece, elements: Ids, relationships: Ids) -> dict[str, str]:
    return {end: elements.get(piece.said[end]) or relationships[piece.said[end]] for end in ENDS}


def lifted(said: Mapping[str, Any]) -> dict[str, Any]:
    """An element whose profile was written as properties has it as a profile again."""
    properties = said.get("properties") or {}
    own = {key.removeprefix("profile."): value for key, value in properties.items() if key.startswith("profile.")}
    if said["type"] not in metamodel().profiles or not own or profile_issues(said["type"], own):
        return dict(said)
    rest = {key: value for key, value in properties.items() if not key.startswith("profile.")}
    whole = {**said, "profile": own, "properties": rest}
    return {key: value for key, value in whole.items() if key != "properties" or value}


def _to_nobody(done: float, total: float | None, message: str | None) -> None:
    """Nobody listens."""


def _free_name(reader: Reader, name: str) -> str:
    """A name that no model has."""
    name = clean(name)[:240] or "Imported model"
    if model_named(reader, name) is None:
        return name
    number = 2
    while model_named(reader, f"{name} ({number})") is not None:
        number += 1
    return f"{name} ({number})"
