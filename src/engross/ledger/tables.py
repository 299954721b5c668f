"""The ledger's tables."""

from __future__ import annotations

import re

from engross.store import room

FACTS = """
CREATE TABLE facts (
    tenant         $text NOT NULL,
    position       $integer NOT NULL,
    ordinal        $integer NOT NULL,
    id             $text NOT NULL,
    aggregate      $text NOT NULL,
    type           $text NOT NULL,
    schema_version $integer NOT NULL,
    subject        $text NOT NULL,
    version        $integer NOT NULL,
    ends           $integer NOT NULL,
    fields         $text NOT NULL,
    causation      $text,
    time           $text NOT NULL,
    digest         $text NOT NULL,
    salt           $bytes,
    payload        $text,
    PRIMARY KEY (tenant, position, ordinal)
)$clustered;
CREATE UNIQUE INDEX facts_of_subject ON facts (tenant, aggregate, subject, version);
"""

RECEIPTS = """
CREATE TABLE receipts (
    tenant   $text NOT NULL,
    position $integer NOT NULL,
    digest   $text NOT NULL,
    body     $text NOT NULL,
    PRIMARY KEY (tenant, position)
)$clustered;

CREATE TABLE seals (
    tenant    $text NOT NULL,
    number    $integer NOT NULL,
    digest    $text NOT NULL,
    signature $text NOT NULL,
    body      $text NOT NULL,
    PRIMARY KEY (tenant, number)
)$clustered;
"""

KEYS = """
CREATE TABLE keys (
    tenant      $text NOT NULL,
    operation   $text NOT NULL,
    key         $text NOT NULL,
    principal   $text NOT NULL,
    fingerprint $text NOT NULL,
    state       $text NOT NULL,
    position    $integer,
    answer      $text,
    created_at  $text NOT NULL,
    expires_at  $text NOT NULL,
    PRIMARY KEY (tenant, operation, key)
)$clustered;
CREATE INDEX keys_expiring ON keys (tenant, expires_at);
"""

ERASED_KEYS = "CREATE INDEX keys_erased ON keys (tenant, created_at) WHERE state = 'erased'"


def _by_arrival(table: str, definition: str) -> str:
    """SQLite's table anew, with its rows in the order in which they came instead of the order of their keys.

    These rows are long. In the order of their keys, whole rows stand where the tree branches, so that it branches four
    ways instead of a hundred; long ones lie on pages of their own; and keys that somebody drew by chance touch a
    page each. PostgreSQL never kept them like that.
    """
    columns = definition.partition(f"CREATE TABLE {table} (")[2].partition(")$clustered")[0]
    indexes = re.findall(rf"(?m)^CREATE .*INDEX .* ON {table} .*;$", definition)
    return f"""
CREATE TABLE {table}_by_arrival ({columns});
INSERT INTO {table}_by_arrival SELECT * FROM {table};
DROP TABLE {table};
ALTER TABLE {table}_by_arrival RENAME TO {table};
{"".join(indexes)}
"""


BY_ARRIVAL = {
    "sqlite": "".join([_by_arrival("facts", FACTS), _by_arrival("receipts", RECEIPTS), _by_arrival("keys", KEYS)]),
    "postgres": "SELECT 1",
}

LEDGER_ROOM = room(
    "ledger",
    [
        ("facts", FACTS),
        ("receipts and seals", RECEIPTS),
        ("keys", KEYS),
        ("facts, receipts and keys as they came", BY_ARRIVAL),
        ("erased keys", ERASED_KEYS),
    ],
)
