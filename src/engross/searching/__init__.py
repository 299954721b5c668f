"""What the searches of all domains share: a vocabulary that bears misspelling, meaning, and one ranking of it all.

An office that nobody searches loads no more of it than the tables that vectors are kept in.
"""

from __future__ import annotations

__all__ = ["vector_tables"]


def vector_tables(domain: str, scope: str) -> str:
    """The tables of a domain's vectors, each of which belongs to a `scope`."""
    key = f"""
    tenant   $text NOT NULL,
    {scope} $text NOT NULL,
    id       $text NOT NULL,
    embedder $text NOT NULL,"""
    return f"""
CREATE TABLE {domain}_meanings ({key}
    stamp    $text NOT NULL,
    digest   $text NOT NULL,
    bits     $bytes NOT NULL,
    PRIMARY KEY (tenant, {scope}, id, embedder)
)$clustered;
CREATE TABLE {domain}_vectors ({key}
    vector   $bytes NOT NULL,
    PRIMARY KEY (tenant, {scope}, id, embedder)
)$clustered;
"""
