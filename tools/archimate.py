"""Builds the metamodel that the architecture domain is generated from, out of a published relationship table.

python tools/archimate.py TABLE.json           write src/engross/domains/architecture/metamodel.json
python tools/archimate.py TABLE.json --check   write nothing; fail if the file says something else

The table holds, for every pair of element types, the letters of the relationship types that may lead from the one to
the other, with layers, aliases and the rules of junctions. What the standard leaves to its users, as the profile of a
capability, is said here.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src/engross/domains/architecture/metamodel.json"
NAME, VERSION = "ArchiMate", "3.2"
LAST = "Association"

PROFILES: dict[str, Any] = {
    "Capability": {
        "required": ["owner", "criticality", "lifecycle"],
        "fields": {
            "owner": {"type": "string", "description": "Who answers for it."},
            "criticality": {"type": "string", "enum": ["Low", "Medium", "High"]},
            "lifecycle": {"type": "string", "enum": ["Planned", "Active", "Retiring", "Retired"]},
        },
    }
}
MORE_ALIASES: dict[str, dict[str, str]] = {"elements": {"Junction": "AndJunction"}, "relationships": {}}


def built(table: dict[str, Any]) -> dict[str, Any]:
    """The metamodel that a table says."""
    letters: dict[str, str] = table["letters"]
    return {
        "name": NAME,
        "version": VERSION,
        "source": table["meta"]["extracted_from"],
        "layers": table["layers"],
        "elements": {name: _element(one) for name, one in table["elements"].items()},
        "connectors": table["connectors"]["types"],
        "relationships": {name: _relationship(table["relationships"][name]) for name in _specific_first(letters)},
        "aliases": {kind: {**table["aliases"][kind], **MORE_ALIASES[kind]} for kind in ("elements", "relationships")},
        "profiles": PROFILES,
        "junctions": {
            "usable": table["connectors"]["usable_letters"],
            "members_of": ["Grouping", "Location"],
            "out": table["connectors"]["out_of_junction"],
        },
        "to_relationship": {
            "usual": table["relationship_endpoints"]["default_element_to_relationship"],
            **table["relationship_endpoints"]["element_to_relationship"],
        },
        "order": table["order"],
        "matrix": table["matrix"],
    }


def triples(metamodel: dict[str, Any]) -> list[str]:
    """Every allowed relationship as `Source|Type|Target`, sorted."""
    names = {one["letter"]: name for name, one in metamodel["relationships"].items()}
    return sorted(
        f"{source}|{names[letter]}|{target}"
        for source, row in metamodel["matrix"].items()
        for target, cell in zip(metamodel["order"], row.split(), strict=True)
        for letter in cell.replace("-", "")
    )


def spelled(metamodel: dict[str, Any]) -> str:
    """The file's text: one line per entry, so that a change shows as one."""
    parts = []
    for key, value in metamodel.items():
        if isinstance(value, dict):
            lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items()]
            parts.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Write the file, or say that it is stale."""
    table = json.loads(Path(arguments[0]).read_text("utf-8"))
    metamodel = built(table)
    listed = triples(metamodel)
    if sha256("\n".join(listed).encode()).hexdigest() != table["counts"]["allowed_triples_sha256"]:
        print("the table is not what it says of itself")
        return 1
    text = spelled(metamodel)
    if "--check" in arguments:
        return 0 if TARGET.exists() and TARGET.read_text("utf-8") == text else 1
    TARGET.write_text(text, "utf-8")
    print(f"{len(metamodel['elements'])} element types, {len(listed)} allowed triples")
    return 0


def _specific_first(letters: dict[str, str]) -> list[str]:
    return [*(name for name in letters.values() if name != LAST), LAST]


def _element(one: dict[str, Any]) -> dict[str, Any]:
    return {"layer": one["layer"], "group": one["group"], "aspect": one["aspect"], "description": one["desc"]}


def _relationship(one: dict[str, Any]) -> dict[str, Any]:
    told = {name: one[name] for name in ("letter", "category", "verb", "inverse")}
    return {**told, "description": one["meaning"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
