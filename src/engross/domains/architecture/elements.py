"""Looking elements up: by id, by name, by a reference that a person would write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid, Issue, codes

from .metamodel import metamodel
from .names import folded
from .relationships import whole_of
from .rows import ELEMENT_COLUMNS, brief, element_of, of_row
from .search import similar
from .tables import AS_OF

MOST_SIMILAR = 5
MOST_CANDIDATES = 10
MOST_WHOLES = 5
SEARCH_HINT = "Use semanticSearch to find elements by description."


def find_element(reader: Reader, element_id: str) -> dict[str, Any] | None:
    """An element by its id, as callers see it."""
    row = reader.row(
        f"SELECT {ELEMENT_COLUMNS} FROM architecture_elements WHERE tenant = :tenant AND id = :id AND {AS_OF}",
        id=element_id,
    )
    return None if row is None else element_of(row)


def find_elements(reader: Reader, identifiers: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Elements by their ids; those that are not there are left out."""
    wanted = sorted(set(identifiers))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(wanted), 200):
        some = wanted[start : start + 200]
        places = ", ".join(f":id_{n}" for n in range(len(some)))
        rows = reader.rows(
            f"SELECT {ELEMENT_COLUMNS} FROM architecture_elements WHERE tenant = :tenant AND id IN ({places})"
            f" AND {AS_OF}",
            **{f"id_{n}": identifier for n, identifier in enumerate(some)},
        )
        found |= {row["id"]: element_of(row) for row in rows}
    return found


def whole_element(reader: Reader, element_id: str) -> dict[str, Any] | None:
    """An element with everything that its facts say."""
    row = reader.row(
        f"SELECT * FROM architecture_elements WHERE tenant = :tenant AND id = :id AND {AS_OF}", id=element_id
    )
    return None if row is None else of_row(row)


def require_element(reader: Reader, element_id: str, field: str = "id") -> dict[str, Any]:
    """The element; Invalid, with some that are like it, where there is none."""
    found = find_element(reader, element_id)
    if found is None:
        raise Invalid.many([no_such_element(reader, element_id, field)])
    return found


def no_such_element(reader: Reader, asked: str, field: str, model_id: str | None = None) -> Issue:
    """The element is not there, for this caller."""
    return Issue(
        codes.ELEMENT_NOT_FOUND,
        {"id": asked[:80]},
        f"/{field}",
        suggestions={"similar_elements": _perhaps_meant(reader, asked, model_id), "hint": SEARCH_HINT},
    )


def of_another_model(asked: str, field: str, why: str) -> Issue:
    """The element is there, but not in the model that the call is about."""
    hint = f"It belongs to another model. {why}"
    return Issue(codes.ELEMENT_NOT_FOUND, {"id": asked[:80]}, f"/{field}", suggestions={"hint": hint})


def elements_named(
    reader: Reader, model_id: str, name: str, types: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The elements of a model that have this name, of these types."""
    wanted = list(types if types is not None else metamodel().creatable_types)
    rows = reader.rows(
        _OF_ONE_TYPE if len(wanted) == 1 else _of_types(len(wanted)),
        model_id=model_id,
        folded=folded(name),
        most=MOST_CANDIDATES,
        **{f"type_{n}": one for n, one in enumerate(wanted)},
    )
    found = find_elements(reader, (row["id"] for row in rows)) if rows else {}
    return [found[row["id"]] for row in rows]


_OF_ONE_TYPE = (
    "SELECT id FROM architecture_elements WHERE tenant = :tenant AND model_id = :model_id"
    f" AND type = :type_0 AND folded = :folded AND {AS_OF} ORDER BY id LIMIT :most"
)


def _of_types(count: int) -> str:
    places = ", ".join(f":type_{n}" for n in range(count))
    return (
        "SELECT id FROM architecture_elements WHERE tenant = :tenant AND model_id = :model_id"
        f" AND type IN ({places}) AND folded = :folded AND {AS_OF} ORDER BY type, id LIMIT :most"
    )


def referred(reader: Reader, model_id: str, reference: str, field: str) -> dict[str, Any]:
    """The one element that `Name` or `Type/Name` stands for; Invalid where there is none, or more than one."""
    kind, slash, name = reference.partition("/")
    meant = metamodel().element_type(kind) if slash else None
    found = elements_named(reader, model_id, name, [meant.type]) if meant else []
    found = found or elements_named(reader, model_id, reference)
    if not found and (known := find_element(reader, reference)):
        return known
    if not found:
        raise Invalid.many([no_such_element(reader, name if meant else reference, field, model_id)])
    if len(found) > 1:
        raise ambiguous(reader, found, reference, field)
    return found[0]


def ambiguous(reader: Reader, found: Iterable[Mapping[str, Any]], reference: str, field: str) -> Invalid:
    """Several have the name; with where each of them is."""
    candidates = [{**brief(one), "model_id": one["model_id"], "path": _path(reader, one)} for one in found]
    return Invalid(
        codes.NEEDS_DISAMBIGUATION,
        {"reference": reference[:80]},
        field=field,
        suggestions={"candidates": candidates, "hint": "Refer to one of them by its id."},
    )


def _path(reader: Reader, element: Mapping[str, Any]) -> str:
    """The element behind what it is a part of, that behind what it is a part of, and so on."""
    steps = {element["id"]: f"{element['type']}/{element['name']}"}
    last = element["id"]
    while len(steps) <= MOST_WHOLES and (above := whole_of(reader, last)) and above not in steps:
        whole = find_element(reader, above)
        if whole is None:
            break
        steps[above] = f"{whole['type']}/{whole['name']}"
        last = above
    return " > ".join(reversed(steps.values()))


def free_names(reader: Reader, model_id: str, element_type: str, name: str, most: int = 3) -> list[str]:
    """Names like this one that no element of the type has."""
    blank = " " if " " in name else ""
    tried = [f"{name}{blank}2", f"{name}{blank}V2", f"New{blank}{name}"]
    tried += [f"{name}{blank}{count}" for count in range(3, 9)]
    places = ", ".join(f":name_{n}" for n in range(len(tried)))
    rows = reader.rows(
        "SELECT DISTINCT folded FROM architecture_elements WHERE tenant = :tenant AND model_id = :model_id"
        f" AND type = :type AND folded IN ({places}) AND {AS_OF}",
        model_id=model_id,
        type=element_type,
        **{f"name_{n}": folded(one) for n, one in enumerate(tried)},
    )
    taken = {row["folded"] for row in rows}
    return [one for one in tried if folded(one) not in taken][:most]


def _perhaps_meant(reader: Reader, asked: str, model_id: str | None) -> list[dict[str, Any]]:
    from .models import chosen_model

    chosen = model_id or chosen_model(reader)
    named = similar(reader, chosen, asked, most=MOST_SIMILAR) if chosen else []
    return named or _with_ids_like(reader, asked)


def _with_ids_like(reader: Reader, asked: str) -> list[dict[str, Any]]:
    from rapidfuzz.distance import OSA

    start = asked[:12]
    rows = reader.rows(
        f"SELECT {ELEMENT_COLUMNS} FROM architecture_elements WHERE tenant = :tenant AND id >= :first AND id < :last"
        f" AND {AS_OF} ORDER BY id LIMIT 50",
        first=start,
        last=start + "\U0010ffff",
    )
    near = sorted((-OSA.normalized_similarity(asked, row["id"]), row["id"]) for row in rows)
    known = {row["id"]: row for row in rows}
    return [brief(known[identifier]) for score, identifier in near if -score >= 0.8][:MOST_SIMILAR]
