"""The state: every version of every document, each a row that stays."""

from __future__ import annotations

TABLES = ("documents_versions",)

CREATE = """
CREATE TABLE documents_versions (
    tenant            $text NOT NULL,
    id                $text NOT NULL,
    version           $integer NOT NULL,
    kind              $text NOT NULL,
    digest            $text,
    size              $integer NOT NULL,
    name              $text,
    validation_status $text,
    position          $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
"""

BY_DIGEST = "CREATE INDEX documents_versions_by_digest ON documents_versions (tenant, digest);"
"""Whoever erases a version asks whether another one has the same bytes."""

MIGRATIONS = [("versions of documents", CREATE), ("versions by their bytes", BY_DIGEST)]
