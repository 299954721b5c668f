"""The three CSV files that Archi writes and reads: elements, relations and properties."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engross.replies import codes

from ..metamodel import metamodel
from ..names import clean
from .parcel import Parcel, Piece, unreadable
from .values import VALUES, as_text, current, shown_values

FORMAT = "archi_csv"
MODEL = "ArchimateModel"
ELEMENTS = ("ID", "Type", "Name", "Documentation", "Specialization")
RELATIONS = ("ID", "Type", "Name", "Documentation", "Source", "Target", "Specialization")
PROPERTIES = ("ID", "Key", "Value")
FILES = ("elements.csv", "relations.csv", "properties.csv")
JUNCTIONS = {"And": "AndJunction", "Or": "OrJunction"}
SPECIAL = "specialization"
ATTRIBUTES = {"access_type": "Access_Type", "modifier": "Influence_Strength", "is_directed": "Directed"}
DELIMITERS = ",;\t"
LONGEST_FIELD = 1_000_000

Values = dict[str, list[dict[str, str]]]
"""The values of a thing's properties, by their keys."""
Properties = dict[str, Values]
"""These by the ids of the things."""


def read_csv(files: Mapping[str, str]) -> Parcel:
    """What the three files bring; those of relations and properties may be missing."""
    found = {_plain_name(name): text for name, text in files.items()}
    if "elements.csv" not in found:
        raise unreadable(FORMAT, "there is no elements.csv", files=sorted(files)[:10])
    properties: Properties = {}
    for row in _rows(found.get("properties.csv", ""), PROPERTIES, "properties.csv"):
        properties.setdefault(row["ID"], {}).setdefault(row["Key"], []).append({"value": row["Value"]})
    parcel = Parcel("Imported model", FORMAT)
    for row in _rows(found["elements.csv"], ELEMENTS, "elements.csv"):
        _element(row, properties, parcel)
    for row in _rows(found.get("relations.csv", ""), RELATIONS, "relations.csv"):
        _relationship(row, properties, parcel)
    return parcel


def write_csv(
    model: Mapping[str, Any], elements: Sequence[Mapping[str, Any]], relationships: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """The three files of a model. Things come with `external_id`, the id that they have outside."""
    elements, relationships = (sorted(things, key=_place) for things in (elements, relationships))
    names = {one["id"]: one["external_id"] for one in (*elements, *relationships)}
    told = [[model["external_id"], MODEL, model["name"], model.get("description") or "", ""]]
    told += [
        [one["external_id"], _element_kind(one["type"]), one["name"], one.get("description") or "", _special(one)]
        for one in elements
    ]
    related = [
        [
            one["external_id"],
            f"{one['type']}Relationship",
            one.get("name") or "",
            one.get("description") or "",
            names[one["source_id"]],
            names[one["target_id"]],
            _special(one),
        ]
        for one in relationships
    ]
    values = [
        [one["external_id"], key, text]
        for one in (model, *elements, *relationships)
        for key, value in _all_properties(one)
        for text in _all_values(one, key, value)
    ]
    tables = ((ELEMENTS, told), (RELATIONS, related), (PROPERTIES, values))
    return {name: _written(header, rows) for name, (header, rows) in zip(FILES, tables, strict=True)}


def _place(thing: Mapping[str, Any]) -> tuple[str, str]:
    return thing["type"], thing["external_id"]


def _plain_name(name: str) -> str:
    """Archi lets its users put a prefix before the names of the files."""
    return next((known for known in FILES if name.lower().endswith(known)), name)


def _rows(text: str, header: Sequence[str], name: str) -> Iterable[dict[str, str]]:
    text = text.removeprefix("\ufeff")
    if not text.strip():
        return []
    if "\0" in text:
        raise unreadable(FORMAT, f"{name} is not text")
    first = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    csv.field_size_limit(LONGEST_FIELD)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        raise unreadable(FORMAT, f"{name} is not CSV") from None
    titles = [title.strip() for title in rows[0]]
    needed = header[: len(header) - 1] if header[-1] == "Specialization" else header
    if titles[: len(needed)] != list(needed):
        raise unreadable(FORMAT, f"{name} does not begin with {', '.join(header)}")
    found = []
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) < len(needed):
            raise unreadable(FORMAT, f"{name} lacks fields", line=number)
        found.append(dict(zip(titles, row, strict=False)))
    return found


def _element(row: Mapping[str, str], properties: Properties, parcel: Parcel) -> None:
    own = properties.get(row["ID"], {})
    if row["Type"] == MODEL:
        parcel.id, parcel.name = row["ID"], clean(row["Name"]) or parcel.name
        parcel.description = row["Documentation"] or None
        parcel.properties, parcel.extra = _shown(own)
        return
    kind: str | None
    if row["Type"] == "Junction":
        kind = JUNCTIONS.get(_taken(own, "Junction_Type") or "And", "AndJunction")
    else:
        meant = metamodel().element_type(row["Type"])
        kind = meant.type if meant else None
    if kind is None:
        parcel.refuse(codes.INVALID_ELEMENT_TYPE, row["ID"], type=row["Type"][:80])
        return
    parcel.elements.append(Piece(row["ID"], _said(row, kind, own)))


def _relationship(row: Mapping[str, str], properties: Properties, parcel: Parcel) -> None:
    own = properties.get(row["ID"], {})
    meant = metamodel().relationship_type(row["Type"])
    if meant is None:
        parcel.refuse(codes.INVALID_RELATIONSHIP_TYPE, row["ID"], type=row["Type"][:80])
        return
    attributes: dict[str, Any] = {}
    if meant.type == "Access":
        attributes["access_type"] = _taken(own, "Access_Type") or "Access"
    if meant.type == "Influence" and (strength := _taken(own, "Influence_Strength")):
        attributes["modifier"] = strength[:20]
    if meant.type == "Association" and (directed := _taken(own, "Directed")):
        attributes["is_directed"] = directed == "true"
    said = _said(row, meant.type, own)
    said |= {"source_id": row["Source"], "target_id": row["Target"], **attributes}
    parcel.relationships.append(Piece(row["ID"], said))


def _said(row: Mapping[str, str], kind: str, own: Values) -> dict[str, Any]:
    said: dict[str, Any] = {"type": kind, "name": clean(row["Name"])}
    if row["Documentation"]:
        said["description"] = row["Documentation"]
    properties, extra = _shown(own)
    if row.get("Specialization"):
        properties[SPECIAL] = row["Specialization"]
    said |= {"properties": properties} if properties else {}
    return {**said, "extra": extra} if extra else said


def _shown(own: Values) -> tuple[dict[str, Any], dict[str, Any]]:
    """Properties, and all values of those that have several rows."""
    several = {key: values for key, values in own.items() if len(values) > 1}
    return {key: shown_values(values)[0] for key, values in own.items()}, {VALUES: several} if several else {}


def _taken(own: Values, name: str) -> str:
    """What a property says that is none of the user's."""
    return own.pop(name, [{"value": ""}])[-1]["value"]


def _element_kind(kind: str) -> str:
    return "Junction" if metamodel().is_junction(kind) else kind


def _special(thing: Mapping[str, Any]) -> str:
    return as_text((thing.get("properties") or {}).get(SPECIAL, ""))


def _all_properties(thing: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    own = {key: value for key, value in (thing.get("properties") or {}).items() if key != SPECIAL}
    own |= {f"profile.{key}": value for key, value in (thing.get("profile") or {}).items()}
    if metamodel().is_junction(thing.get("type", "")):
        own["Junction_Type"] = thing["type"].removesuffix("Junction")
    own |= {name: thing[field] for field, name in ATTRIBUTES.items() if thing.get(field) is not None}
    return sorted(own.items())


def _all_values(thing: Mapping[str, Any], key: str, value: Any) -> list[str]:
    """A row for each value; of one in several languages, for the one that is shown."""
    text = as_text(value)
    told = current(text, thing.get("extra") or {}, key)
    return [text] if any("lang" in one for several in told for one in several) else [one[0]["value"] for one in told]


def _written(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    target = io.StringIO(newline="")
    writer = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return target.getvalue()
