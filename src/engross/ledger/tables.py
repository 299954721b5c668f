"""The ledger's tables."""

from __future__ import annotations

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

LEDGER_ROOM = room("ledger", [("facts", FACTS), ("receipts and seals", RECEIPTS), ("keys", KEYS)])
