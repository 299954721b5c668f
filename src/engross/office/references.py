"""Who refers to a blob: the rows through which a flow reaches its bytes, and what is not done yet and needs them.

A domain that was used once may be switched off today. Its rows still count, so it is the tables that are asked, not
the domains that the office has at the moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from engross.governance.proposals import OPEN_STATUS
from engross.ledger import Unit
from engross.store import Reading, Standing

HOLDERS = MappingProxyType(
    {
        "record": ("kept_blobs", "content_hash"),
        "memory": ("memory_records", "content_hash"),
        "documents": ("documents_versions", "digest"),
    }
)
"""By room, the table and the column that name bytes. A row that was withdrawn, but not erased, counts."""
_ROOMS = "SELECT DISTINCT room FROM migrations"
_PUBLISHED_SOON = (
    "SELECT 1 AS there FROM effects WHERE tenant = :tenant AND state = 'pending' AND kind = 'publish'"
    " AND body LIKE :named LIMIT 1"
)
_PROPOSED = (
    "SELECT 1 AS there FROM proposals p JOIN proposal_plans b ON b.tenant = p.tenant AND b.proposal = p.id"
    f" WHERE p.tenant = :tenant AND p.{OPEN_STATUS} AND b.body LIKE :named LIMIT 1"
)
_PAYLOADS = (
    "SELECT payload FROM facts WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject"
    " AND payload IS NOT NULL"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_IN_JSON = re.compile(rf'"({_DIGEST.pattern})"')


def standing(reading: Reading, digest: str) -> Standing:
    """Whether the bytes are still needed, for the tenant who is looked at."""
    rooms = {row["room"] for row in reading.rows(_ROOMS, {})}
    for room, (table, column) in HOLDERS.items():
        held = f"SELECT 1 AS there FROM {table} WHERE tenant = :tenant AND {column} = :digest LIMIT 1"
        if room in rooms and reading.rows(held, {"digest": digest}):
            return "held"
    named = {"named": f'%"{digest}"%'}
    is_awaited = reading.rows(_PUBLISHED_SOON, dict(named)) or reading.rows(_PROPOSED, dict(named))
    return "awaited" if is_awaited else "free"


def named_by(unit: Unit, aggregate: str, subject: str) -> Iterable[str]:
    """Everything about a subject that may be the name of a blob: who refers to it besides is looked at later."""
    found = {subject} if _DIGEST.fullmatch(subject) else set()
    for row in unit.rows(_PAYLOADS, aggregate=aggregate, subject=subject):
        found.update(_IN_JSON.findall(row["payload"]))
    return sorted(found)
