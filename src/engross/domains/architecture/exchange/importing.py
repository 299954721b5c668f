"""Taking a parcel over: new things are created, what came from the same place before is brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from engross.ledger import Reader, Unit, last_version

from ..checks import NAMESPACE
from ..metamodel import metamodel
from ..models import find_model
from ..patch import changed, spread, value_of
from ..refusals import profile_issues
from ..relationships import all_tied_to
from ..rows import relationship_of
from .definitions import defined_by_both
from .folders import merged
from .parcel import Parcel, Piece
from .standing import Standing
from .views_in import view_body

Ids = dict[str, str]
Tell = Callable[[float, float | None, str | None], None]

ENDS = ("source_id", "target_id")
TOLD_EVERY = 10_000

MERGED = ("name", "description", "properties", "profile")
ELEMENT_FIELDS = (*MERGED, "extra")
RELATIONSHIP_FIELDS = ("name", "description", "properties", "extra", "access_type", "modifier", "is_directed")


class Rehearsal(Reader):
    """Reads like a unit of work, and states nothing: what an import would do is only counted."""

    __slots__ = ("_ids",)
    most_held = Unit.most_held

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit.reading, unit.context)
        self._ids = 0

    def new_id(self, prefix: str = "") -> str:
        """An id that nothing has."""
        self._ids += 1
        return f"{prefix}{self._ids}"

    def append(self, type: str, subject: str, follows: int, payload: Mapping[str, Any], **more: Any) -> None:
        """Nothing is stated."""

    def append_all(self, type: str, stated: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
        """Nothing is stated; how much it would have been."""
        return sum(1 for _ in stated)


class Takeover:
    """One import on its way into a model."""

    def __init__(
        self, unit: Unit | Rehearsal, parcel: Parcel, standing: Standing, skipped: set[str], tell: Tell | None = None
    ) -> None:
        """`skipped` relationships are left out; `tell` is told how far it is."""
        self._unit = unit
        self._tell = tell or _to_nobody
        self._parcel = parcel
        self._standing = standing
        self._skipped = skipped
        new = len(parcel.elements) - len(standing.elements.same)
        new += len(parcel.relationships) - len(standing.relationships.same)
        self._in_bulk = new > unit.most_held
        self.counts = dict.fromkeys(
            (
                *("elements_created", "elements_updated", "relationships_created", "relationships_updated"),
                *("views_created", "views_updated", "unchanged"),
            ),
            0,
        )
        self.counts["relationships_skipped"] = 0

    def into(self, model_id: str | None, name: str) -> dict[str, Any]:
        """Take everything over into a model: a known one, or a new one; the model as it stands then."""
        model = self._model(model_id, name)
        elements = self._elements(model["id"])
        relationships = self._relationships(model["id"], elements)
        self._views(model["id"], elements, relationships)
        return {key: model[key] for key in ("id", "name", "version")}

    def _model(self, model_id: str | None, name: str) -> dict[str, Any]:
        parcel = self._parcel
        extra = {**parcel.extra, **({"external_id": parcel.id} if parcel.id else {})}
        told = {"name": name, "description": parcel.description, "properties": parcel.properties, "extra": extra}
        said = {key: value for key, value in told.items() if value}
        if model_id is None:
            identifier = self._unit.new_id("model_")
            self._unit.append("ModelCreated", identifier, 0, said, fields=said)
            return {"id": identifier, "version": 1, **said}
        before = find_model(self._unit, model_id)
        assert before is not None
        after = {
            "name": name,
            "description": said.get("description") or before.get("description"),
            "properties": {**before.get("properties", {}), **parcel.properties},
            "extra": _together(before.get("extra", {}), extra),
        }
        changes = {key: value for key, value in after.items() if value and value != before.get(key)}
        if not changes:
            return before
        whole = {key: value for key, value in after.items() if value}
        # What was erased leaves no row behind, and its versions go on.
        follows = before["version"] or last_version(self._unit, NAMESPACE, model_id)
        self._unit.append("ModelUpdated", model_id, follows, whole, before=before, fields=changes)
        return {**before, **whole, "version": follows + 1}

    def _elements(self, model_id: str) -> Ids:
        ids: Ids = {}
        new: list[Piece] = []
        for piece in self._parcel.elements:
            before = self._standing.elements.same.get(piece.id)
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

    def _relationships(self, model_id: str, elements: Ids) -> Ids:
        known = self._standing.relationships.same
        wanted = [piece for piece in self._parcel.relationships if piece.id not in self._skipped]
        self.counts["relationships_skipped"] = len(self._parcel.relationships) - len(wanted)
        standing = {piece.id: known[piece.id] for piece in wanted if piece.id in known}
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
        if self._in_bulk:
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

    def _let_go_of_moved(
        self, wanted: list[Piece], elements: Ids, ids: Ids, standing: dict[str, dict[str, Any]]
    ) -> None:
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
        gone = {
            one["id"]: relationship_of(one)
            for before in moved.values()
            for one in (*all_tied_to(self._unit, before["id"]), before)
        }
        for one in gone.values():
            self._unit.append("RelationshipDeleted", one["id"], one["version"], {}, before=one, ends=True)

    def _without_dangling(self, wanted: list[Piece], elements: Ids, ids: Ids) -> list[Piece]:
        """What is tied to a relationship that was left out is left out too."""
        tied: dict[str, list[str]] = {}
        for piece in wanted:
            for end in ENDS:
                if piece.said[end] not in elements:
                    tied.setdefault(piece.said[end], []).append(piece.id)
        lost = [end for end in tied if end not in ids]
        gone: set[str] = set()
        while lost:
            for identifier in tied.get(lost.pop(), ()):
                if identifier not in gone:
                    gone.add(identifier)
                    lost.append(identifier)
        for identifier in gone:
            ids.pop(identifier, None)
        self.counts["relationships_skipped"] += len(gone)
        return [piece for piece in wanted if piece.id not in gone] if gone else wanted

    def _views(self, model_id: str, elements: Ids, relationships: Ids) -> None:
        for piece in self._parcel.views:
            body = view_body(piece.said["tree"], elements, relationships)
            said = {"model_id": model_id, "name": piece.said["name"], "external_id": piece.id, "body": body}
            before = self._standing.views.same.get(piece.id)
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


def _together(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What the files of a model say about the whole: the later one counts, and what only the former has stays."""
    whole = {**before, **new, **defined_by_both(before, new)}
    if "organizations" in whole:
        whole["organizations"] = merged(before.get("organizations", ()), new.get("organizations", ()))
    return whole


def _to_nobody(done: float, total: float | None, message: str | None) -> None:
    """Nobody listens."""
