"""Tables that the store itself needs."""

from __future__ import annotations

from .migrations import Migration

SQLITE_POSITIONS = """
CREATE TABLE positions (head $integer NOT NULL);
INSERT INTO positions (head) VALUES (0);
"""

POSTGRES_POSITIONS = """
CREATE TABLE positions (shift $integer NOT NULL);
INSERT INTO positions (shift) VALUES (0);
"""

TABLES = """
CREATE TABLE tenants (
    tenant     $text PRIMARY KEY,
    since      $text NOT NULL
)$clustered;

CREATE TABLE effects (
    tenant     $text NOT NULL,
    id         $text NOT NULL,
    kind       $text NOT NULL,
    body       $text NOT NULL,
    state      $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
CREATE INDEX effects_pending ON effects (tenant, id) WHERE state = 'pending';
"""

ERASURES = """
CREATE TABLE erasures (
    tenant     $text NOT NULL,
    digest     $text NOT NULL,
    state      $text NOT NULL,
    PRIMARY KEY (tenant, digest)
)$clustered;
"""

STORE_ROOM = (
    Migration("store", 1, "positions", {"sqlite": SQLITE_POSITIONS, "postgres": POSTGRES_POSITIONS}),
    Migration("store", 2, "tenants and effects", TABLES),
    Migration("store", 3, "bytes that may have to go", ERASURES),
)
