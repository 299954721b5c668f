"""Looking a whole model over: what the metamodel would not allow today, and what could be better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.ledger import Reader

from .exchange.checking import illegal
from .exchange.parcel import Piece
from .looking import cited
from .metamodel import RELATIONSHIP, metamodel
from .models import find_model
from .names import folded
from .refusals import profile_issues
from .rows import of_row
from .tables import AS_OF

ELEMENTS = f"""
SELECT id, type, name, description IS NULL AS undescribed, profile FROM architecture_elements
WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} ORDER BY type, id
"""
RELATIONSHIPS = f"""
SELECT id, type, source_id, target_id FROM architecture_relationships
WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} ORDER BY type, id
"""
Findings = list[dict[str, Any]]


def checkup(reader: Reader, model_id: str, most: int) -> dict[str, Any]:
    """Problems, which no write would make today, and remarks; of each kind so many are listed, and all are counted."""
    model = find_model(reader, model_id) or {"id": model_id, "name": model_id, "version": 0}
    elements = reader.rows(ELEMENTS, model_id=model_id)
    relationships = reader.rows(RELATIONSHIPS, model_id=model_id)
    problems = [*_illegal(elements, relationships), *_profiles(elements)]
    remarks = [*_doubles(elements), *_undescribed(elements), *_isolated(elements, relationships)]
    told = {
        "model": {name: model[name] for name in ("id", "name")},
        "sound": not problems,
        "counts": {
            "elements": len(elements),
            "relationships": len(relationships),
            "problems": len(problems),
            "remarks": len(remarks),
        },
        "problems": problems[:most],
        "remarks": _some_of_each(remarks, most),
        "metamodel": metamodel().stamp,
    }
    return cited(reader, model_id, told, [model], "model")


def _illegal(elements: list[dict[str, Any]], relationships: list[dict[str, Any]]) -> Findings:
    kinds = {row["id"]: row["type"] for row in elements}
    kinds |= dict.fromkeys((row["id"] for row in relationships), RELATIONSHIP)
    return illegal([Piece(row["id"], row) for row in relationships], kinds)


def _profiles(elements: Iterable[Mapping[str, Any]]) -> Findings:
    return [
        {
            "code": "PROFILE_INVALID",
            "id": row["id"],
            "type": row["type"],
            "name": row["name"],
            "field": issue.pointer[1:],
        }
        for row in elements
        if row["profile"]
        for issue in profile_issues(row["type"], of_row(row)["profile"])
    ]


def _doubles(elements: Iterable[Mapping[str, Any]]) -> Findings:
    seen: dict[tuple[str, str], Mapping[str, Any]] = {}
    found = []
    for row in elements:
        first = seen.setdefault((row["type"], folded(row["name"])), row)
        if first is not row and row["name"]:
            found.append({"code": "DUPLICATE_NAME", **_shown(row), "existing_id": first["id"]})
    return found


def _undescribed(elements: Iterable[Mapping[str, Any]]) -> Findings:
    return [
        {"code": "MISSING_DESCRIPTION", **_shown(row)}
        for row in elements
        if row["undescribed"] and not metamodel().is_junction(row["type"])
    ]


def _isolated(elements: Iterable[Mapping[str, Any]], relationships: Iterable[Mapping[str, Any]]) -> Findings:
    related = {row[end] for row in relationships for end in ("source_id", "target_id")}
    return [{"code": "ISOLATED_ELEMENT", **_shown(row)} for row in elements if row["id"] not in related]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "type", "name")}


def _some_of_each(remarks: Findings, most: int) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for remark in remarks:
        kind = told.setdefault(remark["code"], {"count": 0, "some": []})
        kind["count"] += 1
        if len(kind["some"]) < most:
            kind["some"].append({name: value for name, value in remark.items() if name != "code"})
    return told
