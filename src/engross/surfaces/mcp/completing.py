"""Values that an argument or a variable may have, for whoever has typed their beginning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.office.pending import UNDECIDED

from .window import Visit

MOST_COMPLETED = 100


def beginning_with(start: str, values: Iterable[str]) -> list[str]:
    """The values that begin like this, in whatever case."""
    return [value for value in values if value.casefold().startswith(start.casefold())]


async def known_values(name: str, ref: str | None, visit: Visit) -> Iterable[str]:
    """What the office knows by a name such as `aggregate`; else what the schema of the flow lists, if there is one."""
    if name == "aggregate":
        return [aggregate.namespace for aggregate in visit.desk.catalogue.aggregates]
    if name == "proposal_id":
        return [identifier for status in UNDECIDED for identifier in await _proposals(visit, status)]
    fields: Mapping[str, Any] = {} if ref is None else visit.desk.catalogue.flow(ref).published["properties"]
    return [str(value) for value in fields.get(name, {}).get("enum", ())]


async def _proposals(visit: Visit, status: str) -> list[str]:
    found = await visit.call("proposals.list-proposals", {"status": status, "limit": MOST_COMPLETED})
    return [str(one["id"]) for one in found.data["proposals"]] if found.ok else []
