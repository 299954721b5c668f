"""Facts: what happened, in the order it happened, for good.

A fact's payload lies beside its digest. The digest is salted, and the salt lies with the payload: once both are erased
nobody can find out by guessing what the payload was, and the ledger still verifies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson
from msgspec import Struct

from engross.calls import FactDraft
from engross.chance import drawn
from engross.replies import freeze
from engross.store import Params, Reading, Row

from .canonical import canonical, digest

SOURCE = "urn:engross:office"
TYPE_PREFIX = "io.engross"
ASKED_AT_ONCE = 200

COLUMNS = (
    "tenant, position, ordinal, id, aggregate, type, schema_version, subject, version, ends, fields,"
    " causation, time, digest, salt, payload"
)
INSERT = (
    f"INSERT INTO facts ({COLUMNS}) VALUES (:tenant, :position, :ordinal, :id, :aggregate, :type, :schema_version,"
    " :subject, :version, :ends, :fields, :causation, :time, :digest, :salt, :payload)"
)

INSERT_FOLLOWING = INSERT.replace(
    ":version,",
    "(SELECT before.version + 1 FROM facts before WHERE before.tenant = :tenant AND before.aggregate = :aggregate"
    " AND before.subject = :subject AND before.version = :version - 1),",
)
"""Has no version, and is refused, where there is no fact that it could follow: asking first would be another trip."""


class Fact(Struct, frozen=True):
    """One fact of the ledger. `payload` is None once it was erased."""

    tenant: str
    position: int
    ordinal: int
    id: str
    aggregate: str
    type: str
    schema_version: int
    subject: str
    version: int
    time: str
    payload: Mapping[str, Any] | None
    fields: tuple[str, ...] = ()
    ends: bool = False
    causation: str | None = None
    digest: str = ""

    def envelope(self) -> list[Any]:
        """What a receipt's digest covers of this fact: everything but the payload, and the payload's digest."""
        return [
            self.ordinal,
            self.id,
            self.aggregate,
            self.type,
            self.schema_version,
            self.subject,
            self.version,
            self.ends,
            self.fields,
            self.causation,
            self.time,
            self.digest,
        ]

    def cloudevent(self, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """The fact in the form of CloudEvents 1.0."""
        return {
            "specversion": "1.0",
            "id": self.id,
            "source": f"{SOURCE}:{self.aggregate}",
            "type": f"{TYPE_PREFIX}.{self.aggregate}.fact.{self.type}.v{self.schema_version}",
            "subject": self.subject,
            "time": self.time,
            "datacontenttype": "application/json",
            "dataschema": f"{SOURCE}:{self.aggregate}:{self.type}:v{self.schema_version}",
            "tenantid": self.tenant,
            "correlationid": receipt["correlation_id"],
            "causationid": self.causation or receipt["message_id"],
            "traceparent": receipt["traceparent"],
            "position": self.position,
            "ordinal": self.ordinal,
            "data": {"version": self.version, "payload": self.payload, "erased": self.payload is None},
        }


class Written(Struct, frozen=True):
    """A fact on its way into the ledger: the fact, its row, and its draft."""

    fact: Fact
    draft: FactDraft
    row: Params


def write_down(
    draft: FactDraft, *, tenant: str, position: int, ordinal: int, id: str, time: str, causation: str | None
) -> Written:
    """Fix a draft as the fact it becomes at a place in the ledger."""
    stated = freeze(draft.payload)
    payload = canonical(stated)
    salt = drawn(16)
    sealed = sha256(salt + payload).hexdigest()
    fact = Fact(
        tenant,
        position,
        ordinal,
        id,
        draft.aggregate,
        draft.type,
        draft.schema_version,
        draft.subject,
        draft.version,
        time,
        stated,
        draft.fields,
        draft.ends,
        causation,
        sealed,
    )
    row = {
        "position": position,
        "ordinal": ordinal,
        "id": id,
        "aggregate": draft.aggregate,
        "type": draft.type,
        "schema_version": draft.schema_version,
        "subject": draft.subject,
        "version": draft.version,
        "ends": int(draft.ends),
        "fields": ",".join(draft.fields),
        "causation": causation,
        "time": time,
        "digest": sealed,
        "salt": salt,
        "payload": payload.decode(),
    }
    return Written(fact, draft, row)


def fact_of(row: Row) -> Fact:
    """The fact that a row holds."""
    payload = row["payload"]
    return Fact(
        tenant=row["tenant"],
        position=row["position"],
        ordinal=row["ordinal"],
        id=row["id"],
        aggregate=row["aggregate"],
        type=row["type"],
        schema_version=row["schema_version"],
        subject=row["subject"],
        version=row["version"],
        time=row["time"],
        payload=None if payload is None else orjson.loads(payload),
        fields=tuple(row["fields"].split(",")) if row["fields"] else (),
        ends=bool(row["ends"]),
        causation=row["causation"],
        digest=row["digest"],
    )


def facts_digest(facts: Iterable[Fact]) -> str:
    """The digest that a receipt keeps of its facts."""
    return digest([fact.envelope() for fact in facts])


def drafts_digest(drafts: Iterable[FactDraft]) -> str:
    """The digest of what a reviewer is shown: the facts themselves, wherever in the ledger they will come to lie."""
    return digest([draft.as_data() for draft in drafts])


def facts_after(reading: Reading, position: int, *, most: int) -> list[tuple[Fact, dict[str, Any]]]:
    """The next settled facts behind a position, each with its receipt's body; commits are never cut in two."""
    return _with_receipts(
        reading,
        "f.position > :after AND f.position <= :settled AND f.position IN ("
        " SELECT DISTINCT position FROM facts WHERE tenant = :tenant AND position > :after"
        " AND position <= :settled ORDER BY position LIMIT :most) ORDER BY f.position, f.ordinal",
        {"after": position, "settled": reading.watermark(), "most": most},
    )


def latest_facts(reading: Reading, *, most: int) -> list[tuple[Fact, dict[str, Any]]]:
    """The facts of the last settled commits, in order, each with its receipt's body."""
    return _with_receipts(
        reading,
        "f.position <= :settled AND f.position IN ("
        " SELECT DISTINCT position FROM facts WHERE tenant = :tenant AND position <= :settled"
        " ORDER BY position DESC LIMIT :most) ORDER BY f.position, f.ordinal",
        {"settled": reading.watermark(), "most": most},
    )


def facts_at(reading: Reading, position: int, *, most: int) -> list[tuple[Fact, dict[str, Any]]]:
    """The first facts of the commit at a position, each with its receipt's body."""
    return _with_receipts(
        reading, "f.position = :position ORDER BY f.ordinal LIMIT :most", {"position": position, "most": most}
    )


def facts_about(
    reading: Reading, aggregate: str, subject: str, *, after_version: int, most: int
) -> list[tuple[Fact, dict[str, Any]]]:
    """The next facts about one subject behind a version, each with its receipt's body."""
    return _with_receipts(
        reading,
        "f.aggregate = :aggregate AND f.subject = :subject AND f.version > :version ORDER BY f.version LIMIT :most",
        {"aggregate": aggregate, "subject": subject, "version": after_version, "most": most},
    )


def facts_of_versions(
    reading: Reading, aggregate: str, subject: str, versions: Iterable[int]
) -> list[tuple[Fact, dict[str, Any]]]:
    """The facts about one subject that made these versions of it, in order, each with its receipt's body."""
    asked = {f"v_{n}": version for n, version in enumerate(sorted(set(versions)))}
    if not asked:
        return []
    return _with_receipts(
        reading,
        f"f.aggregate = :aggregate AND f.subject = :subject AND f.version IN ({_named(asked)}) ORDER BY f.version",
        {"aggregate": aggregate, "subject": subject, **asked},
    )


def envelopes_at(
    reading: Reading, aggregate: str, places: Iterable[tuple[int, str]]
) -> list[tuple[Fact, dict[str, Any]]]:
    """The facts of an aggregate at these positions and about these subjects, each with its receipt's body.

    They come without their payloads: one fact may say as much as a whole import.
    """
    asked = set(places)
    if not asked:
        return []
    positions = {f"p_{n}": position for n, position in enumerate(sorted({position for position, _ in asked}))}
    subjects = {f"s_{n}": subject for n, subject in enumerate(sorted({subject for _, subject in asked}))}
    found = _with_receipts(
        reading,
        f"f.position IN ({_named(positions)}) AND f.aggregate = :aggregate AND f.subject IN ({_named(subjects)})"
        " ORDER BY f.position, f.ordinal",
        {"aggregate": aggregate, **positions, **subjects},
        payloads=False,
    )
    return [(fact, receipt) for fact, receipt in found if (fact.position, fact.subject) in asked]


def changes_after(reading: Reading, position: int, *, most: int) -> tuple[int, list[tuple[int, str, str]]]:
    """Who was changed behind a position, as (position, aggregate, subject), and up to where that is all of it."""
    settled = reading.watermark()
    if settled <= position:
        return position, []
    rows = reading.rows(
        "SELECT DISTINCT position, aggregate, subject FROM facts WHERE tenant = :tenant AND position > :after"
        " AND position <= :settled AND position IN (SELECT DISTINCT position FROM facts WHERE tenant = :tenant"
        " AND position > :after AND position <= :settled ORDER BY position LIMIT :most) ORDER BY position",
        {"after": position, "settled": settled, "most": most},
    )
    found = [(row["position"], row["aggregate"], row["subject"]) for row in rows]
    is_all = len({place for place, _, _ in found}) < most
    return settled if is_all else found[-1][0], found


def history(reading: Reading, aggregate: str, subject: str, *, after_version: int = 0) -> list[Fact]:
    """All facts about one subject behind a version."""
    rows = reading.rows(
        f"SELECT {COLUMNS} FROM facts WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject"
        " AND version > :version ORDER BY version",
        {"aggregate": aggregate, "subject": subject, "version": after_version},
    )
    return [fact_of(row) for row in rows]


def envelopes_about(reading: Reading, aggregate: str, subject: str) -> list[Fact]:
    """All facts about one subject, without their payloads: enough to choose those that are worth reading."""
    rows = reading.rows(
        f"SELECT {_bare(COLUMNS)} FROM facts WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject"
        " ORDER BY version",
        {"aggregate": aggregate, "subject": subject},
    )
    return [fact_of(row) for row in rows]


def stated_aggregates(reading: Reading) -> list[str]:
    """The aggregates that have facts, by name. Each costs one look into the index, however many facts it has."""
    found: list[str] = []
    while rows := reading.rows(
        "SELECT aggregate FROM facts WHERE tenant = :tenant AND aggregate > :last ORDER BY aggregate LIMIT 1",
        {"last": found[-1] if found else ""},
    ):
        found.append(rows[0]["aggregate"])
    return found


def current_versions(reading: Reading, subjects: Sequence[str]) -> dict[str, int]:
    """The committed version of each `aggregate/subject`; 0 where there is none."""
    versions = dict.fromkeys(subjects, 0)
    for start in range(0, len(subjects), ASKED_AT_ONCE):
        asked = [subject.partition("/") for subject in subjects[start : start + ASKED_AT_ONCE]]
        params = {f"a{n}": aggregate for n, (aggregate, _, _) in enumerate(asked)}
        params |= {f"s{n}": name for n, (_, _, name) in enumerate(asked)}
        wanted = ", ".join(f"(:a{n}, :s{n})" for n in range(len(asked)))
        rows = reading.rows(
            f"WITH wanted (aggregate, subject) AS (VALUES {wanted})"
            " SELECT w.aggregate, w.subject, max(f.version) AS version FROM wanted w JOIN facts f"
            " ON f.tenant = :tenant AND f.aggregate = w.aggregate AND f.subject = w.subject"
            " GROUP BY w.aggregate, w.subject",
            params,
        )
        versions |= {f"{row['aggregate']}/{row['subject']}": row["version"] for row in rows}
    return versions


def fields_touched(reading: Reading, aggregate: str, subject: str, *, since: int) -> set[str]:
    """Which fields of a subject were set behind a version."""
    return {field for fact in history(reading, aggregate, subject, after_version=since) for field in fact.fields}


def _with_receipts(
    reading: Reading, condition: str, params: Params, *, payloads: bool = True
) -> list[tuple[Fact, dict[str, Any]]]:
    columns = _prefixed("f") if payloads else _bare(_prefixed("f"))
    rows = reading.rows(
        f"SELECT {columns}, r.body AS receipt FROM facts f"
        " JOIN receipts r ON r.tenant = f.tenant AND r.position = f.position"
        f" WHERE f.tenant = :tenant AND {condition}",
        params,
    )
    return [(fact_of(row), orjson.loads(row["receipt"])) for row in rows]


def _named(params: Iterable[str]) -> str:
    return ", ".join(f":{name}" for name in params)


def _bare(columns: str) -> str:
    """The columns, with none of what a fact says."""
    return ", ".join([*columns.split(", ")[:-1], "NULL AS payload"])


def _prefixed(alias: str) -> str:
    return ", ".join(f"{alias}.{column.strip()}" for column in COLUMNS.split(","))
