"""The cases that the format's reference gives: a text, and what a reader of it must or must not do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """One case. A contested one is where the published reader loses something."""

    name: str
    tier: str
    text: str
    canonical: str | None
    code: str | None
    data: Any
    lost_words: dict[str, int]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Case:
        """The case of a row."""
        return cls(
            row["name"],
            row["tier"],
            row["input"],
            row["canonical"],
            row["errors"][0]["code"] if row["errors"] else None,
            None if row["eject_json"] is None else row["eject_json"],
            row["lost_words"] or {},
        )


ALL = [Case.of(json.loads(line)) for line in Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines()]


def of_tier(prefix: str) -> list[Case]:
    """The cases whose tier begins so."""
    return [case for case in ALL if case.tier.startswith(prefix)]
