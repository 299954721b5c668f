"""The state tables. All of them follow from facts.

Everything belongs to an owner within the tenant. An entity's row carries its board, from which its snapshot is read; an
entity that was merged into another keeps its own, and `memory_redirects` says who speaks for whom. What one fact
observed is listed once, with the run or in `memory_statements`: an index over all observations would cost as much as
they do. Every page that a write touches has to be made durable, so there are few rows; and entities, what was observed
about them, and those under a common term or type lie in the order in which they were first heard of, so that new ones
come together on the last page. Ids are digests: laid out by them, a hundred new entities would touch hundreds of pages.

A look by another column than the key asks an index for ids alone, and then for the rows by their ids. The indexes hold
all that the first question needs: without statistics, SQLite would rather read through an owner's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engross.searching import vector_tables

ENTITIES = """
CREATE TABLE memory_records (
    tenant       $text NOT NULL,
    owner        $text NOT NULL,
    id           $text NOT NULL,
    version      $integer NOT NULL,
    kind         $text NOT NULL,
    type         $text NOT NULL,
    category     $text,
    content_hash $text NOT NULL,
    mime_type    $text,
    name         $text,
    size         $integer,
    body         $text,
    provenance   $text,
    created_at   $text NOT NULL,
    retracted_at $text,
    PRIMARY KEY (tenant, owner, id)
)$clustered;

CREATE TABLE memory_runs (
    tenant               $text NOT NULL,
    owner                $text NOT NULL,
    id                   $text NOT NULL,
    record_id            $text NOT NULL,
    number               $integer NOT NULL,
    provider             $text NOT NULL,
    config               $text NOT NULL,
    status               $text NOT NULL,
    started_at           $text NOT NULL,
    completed_at         $text NOT NULL,
    entities_created     $integer NOT NULL,
    observations_created $integer NOT NULL,
    unknown_fields       $integer NOT NULL,
    fragments            $text,
    notes                $text,
    position             $integer NOT NULL,
    observed_at          $text NOT NULL,
    stated               $text NOT NULL,
    PRIMARY KEY (tenant, owner, record_id, number)
)$clustered;
CREATE INDEX memory_runs_by_time ON memory_runs (tenant, owner, started_at) WHERE provider <> 'structured';

CREATE TABLE memory_entities (
    tenant           $text NOT NULL,
    owner            $text NOT NULL,
    id               $text NOT NULL,
    type             $text NOT NULL,
    name             $text NOT NULL,
    born             $integer NOT NULL,
    created_at       $text NOT NULL,
    updated_at       $text NOT NULL,
    observations     $integer NOT NULL,
    last_observed_at $text,
    late             $integer NOT NULL,
    absorbed         $integer NOT NULL,
    survivor_id      $text,
    merged_at        $text,
    board            $text NOT NULL,
    PRIMARY KEY (tenant, owner, id)
)$clustered;

CREATE TABLE memory_directory (
    tenant    $text NOT NULL,
    owner     $text NOT NULL,
    type      $text NOT NULL,
    born      $integer NOT NULL,
    entity_id $text NOT NULL,
    PRIMARY KEY (tenant, owner, type, born, entity_id)
)$clustered;

CREATE TABLE memory_observations (
    tenant         $text NOT NULL,
    owner          $text NOT NULL,
    entity_id      $text NOT NULL,
    observed_at    $text NOT NULL,
    id             $text NOT NULL,
    position       $integer NOT NULL,
    ordinal        $integer NOT NULL,
    subject        $text NOT NULL,
    record_id      $text,
    run_id         $text,
    schema_version $text NOT NULL,
    priority       $integer NOT NULL,
    specificity    $text,
    name           $text,
    fields         $text NOT NULL,
    spans          $text,
    created_at     $text NOT NULL,
    withdrawn_at   $text,
    PRIMARY KEY (tenant, owner, entity_id, observed_at, id)
)$clustered;

CREATE TABLE memory_statements (
    tenant      $text NOT NULL,
    owner       $text NOT NULL,
    subject     $text NOT NULL,
    position    $integer NOT NULL,
    observed_at $text NOT NULL,
    stated      $text NOT NULL,
    PRIMARY KEY (tenant, owner, subject, position)
)$clustered;

CREATE TABLE memory_checkpoints (
    tenant       $text NOT NULL,
    owner        $text NOT NULL,
    entity_id    $text NOT NULL,
    observed_at  $text NOT NULL,
    observations $integer NOT NULL,
    board        $text NOT NULL,
    PRIMARY KEY (tenant, owner, entity_id, observed_at)
)$clustered;

CREATE TABLE memory_redirects (
    tenant      $text NOT NULL,
    owner       $text NOT NULL,
    from_id     $text NOT NULL,
    number      $integer NOT NULL,
    to_id       $text NOT NULL,
    survivor_id $text NOT NULL,
    reason      $text,
    merged_by   $text,
    merged_at   $text NOT NULL,
    ended_at    $text,
    PRIMARY KEY (tenant, owner, from_id, number)
)$clustered;
CREATE INDEX memory_redirects_to_survivor ON memory_redirects (tenant, owner, survivor_id, from_id, ended_at);
CREATE INDEX memory_redirects_to ON memory_redirects (tenant, owner, to_id, from_id, merged_at, ended_at);

CREATE TABLE memory_terms (
    tenant    $text NOT NULL,
    owner     $text NOT NULL,
    term      $text NOT NULL,
    rank      $integer NOT NULL,
    born      $integer NOT NULL,
    entity_id $text NOT NULL,
    PRIMARY KEY (tenant, owner, term, rank, born, entity_id)
)$clustered;

CREATE TABLE memory_relationships (
    tenant       $text NOT NULL,
    owner        $text NOT NULL,
    id           $text NOT NULL,
    version      $integer NOT NULL,
    type         $text NOT NULL,
    source_id    $text NOT NULL,
    target_id    $text NOT NULL,
    metadata     $text NOT NULL,
    created_at   $text NOT NULL,
    updated_at   $text NOT NULL,
    PRIMARY KEY (tenant, owner, id)
)$clustered;
CREATE INDEX memory_relationships_from ON memory_relationships (tenant, owner, source_id, type, target_id, id);
CREATE INDEX memory_relationships_to ON memory_relationships (tenant, owner, target_id, type, source_id, id);

CREATE TABLE memory_supports (
    tenant          $text NOT NULL,
    owner           $text NOT NULL,
    relationship_id $text NOT NULL,
    record_id       $text NOT NULL,
    created_at      $text NOT NULL,
    updated_at      $text NOT NULL,
    PRIMARY KEY (tenant, owner, relationship_id, record_id)
)$clustered;
CREATE INDEX memory_supports_of_record ON memory_supports (tenant, owner, record_id, relationship_id);

CREATE TABLE memory_events (
    tenant          $text NOT NULL,
    owner           $text NOT NULL,
    id              $text NOT NULL,
    event_type      $text NOT NULL,
    event_timestamp $text NOT NULL,
    record_id       $text NOT NULL,
    entity_ids      $text NOT NULL,
    properties      $text NOT NULL,
    created_at      $text NOT NULL,
    PRIMARY KEY (tenant, owner, id)
)$clustered;
CREATE INDEX memory_events_by_time ON memory_events (tenant, owner, event_timestamp, id);
CREATE INDEX memory_events_by_type ON memory_events (tenant, owner, event_type, event_timestamp, id);
CREATE INDEX memory_events_of_record ON memory_events (tenant, owner, record_id, event_timestamp, id);

CREATE TABLE memory_schemas (
    tenant         $text NOT NULL,
    entity_type    $text NOT NULL,
    schema_version $text NOT NULL,
    active         $integer NOT NULL,
    definition     $text NOT NULL,
    created_at     $text NOT NULL,
    PRIMARY KEY (tenant, entity_type, schema_version)
)$clustered;
"""

TABLES = (
    "memory_records",
    "memory_runs",
    "memory_entities",
    "memory_directory",
    "memory_observations",
    "memory_statements",
    "memory_checkpoints",
    "memory_redirects",
    "memory_terms",
    "memory_relationships",
    "memory_supports",
    "memory_events",
    "memory_schemas",
    "memory_derivations",
)

SAME = """tenant = o.tenant AND aggregate = 'memory' AND subject = o.subject AND position = o.position
    AND type = 'Observed'"""
FACT = f"""coalesce((SELECT min(ordinal) FROM facts WHERE {SAME}
    AND ((SELECT count(*) FROM facts WHERE {SAME}) = 1 OR payload LIKE '%"' || o.run_id || '"%')), 0)"""
"""Which fact of its commit stated an observation; only a proposal states several about one record."""
WITHDRAWN = """(SELECT min(position) FROM facts WHERE tenant = o.tenant AND aggregate = 'memory'
    AND subject = o.record_id AND type = 'RecordRetracted' AND time = o.withdrawn_at)"""
HEARD_OF_FIRST = """
UPDATE memory_runs SET entities_created = 0;
UPDATE memory_runs SET entities_created = c.created FROM (
    SELECT tenant, owner, run_id, count(*) AS created FROM (
        SELECT tenant, owner, run_id, row_number() OVER (
            PARTITION BY tenant, owner, born, entity_id ORDER BY position, fact, ordinal) AS place
        FROM memory_observations) AS said
    WHERE place = 1 AND run_id IS NOT NULL GROUP BY tenant, owner, run_id) AS c
WHERE c.tenant = memory_runs.tenant AND c.owner = memory_runs.owner AND c.run_id = memory_runs.id;
"""

BY_BIRTH = {
    "sqlite": f"""
CREATE TABLE memory_entities_by_birth (
    tenant           $text NOT NULL,
    owner            $text NOT NULL,
    born             $integer NOT NULL,
    id               $text NOT NULL,
    type             $text NOT NULL,
    name             $text NOT NULL,
    created_at       $text NOT NULL,
    updated_at       $text NOT NULL,
    observations     $integer NOT NULL,
    last_observed_at $text,
    late             $integer NOT NULL,
    absorbed         $integer NOT NULL,
    survivor_id      $text,
    merged_at        $text,
    board            $text NOT NULL,
    PRIMARY KEY (tenant, owner, born, id)
)$clustered;
INSERT INTO memory_entities_by_birth (tenant, owner, born, id, type, name, created_at, updated_at, observations,
    last_observed_at, late, absorbed, survivor_id, merged_at, board)
    SELECT tenant, owner, born, id, type, name, created_at, updated_at, observations,
    last_observed_at, late, absorbed, survivor_id, merged_at, board FROM memory_entities;
CREATE TABLE memory_observations_by_birth (
    tenant             $text NOT NULL,
    owner              $text NOT NULL,
    born               $integer NOT NULL,
    entity_id          $text NOT NULL,
    observed_at        $text NOT NULL,
    id                 $text NOT NULL,
    position           $integer NOT NULL,
    fact               $integer NOT NULL,
    ordinal            $integer NOT NULL,
    subject            $text NOT NULL,
    record_id          $text,
    run_id             $text,
    schema_version     $text NOT NULL,
    priority           $integer NOT NULL,
    specificity        $text,
    name               $text,
    fields             $text NOT NULL,
    spans              $text,
    created_at         $text NOT NULL,
    withdrawn_at       $text,
    withdrawn_position $integer,
    PRIMARY KEY (tenant, owner, born, entity_id, observed_at, id)
)$clustered;
INSERT INTO memory_observations_by_birth (tenant, owner, born, entity_id, observed_at, id, position, fact, ordinal,
    subject, record_id, run_id, schema_version, priority, specificity, name, fields, spans, created_at, withdrawn_at,
    withdrawn_position)
    SELECT o.tenant, o.owner, e.born, o.entity_id, o.observed_at, o.id, o.position, {FACT}, o.ordinal,
    o.subject, o.record_id, o.run_id, o.schema_version, o.priority, o.specificity, o.name, o.fields, o.spans,
    o.created_at, o.withdrawn_at, {WITHDRAWN} FROM memory_observations o
    JOIN memory_entities e ON e.tenant = o.tenant AND e.owner = o.owner AND e.id = o.entity_id;
DROP TABLE memory_entities;
DROP TABLE memory_observations;
ALTER TABLE memory_entities_by_birth RENAME TO memory_entities;
ALTER TABLE memory_observations_by_birth RENAME TO memory_observations;
CREATE UNIQUE INDEX memory_entities_by_id ON memory_entities (tenant, owner, id);
{HEARD_OF_FIRST}""",
    # Rows do not lie in the order of a key there. While a step runs no tenant is set, so that no row could be seen.
    "postgres": f"""
ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_runs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_entities NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_observations NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_observations ADD COLUMN born $integer, ADD COLUMN fact $integer,
    ADD COLUMN withdrawn_position $integer;
UPDATE memory_observations o SET born = e.born, fact = {FACT},
    withdrawn_position = {WITHDRAWN} FROM memory_entities e
    WHERE e.tenant = o.tenant AND e.owner = o.owner AND e.id = o.entity_id;
ALTER TABLE memory_observations ALTER COLUMN born SET NOT NULL, ALTER COLUMN fact SET NOT NULL;
ALTER TABLE memory_observations DROP CONSTRAINT memory_observations_pkey;
ALTER TABLE memory_observations ADD PRIMARY KEY (tenant, owner, born, entity_id, observed_at, id);
{HEARD_OF_FIRST}
ALTER TABLE memory_observations FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_entities FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_runs FORCE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
""",
}

DERIVATIONS = """
CREATE TABLE memory_derivations (
    tenant    $text NOT NULL,
    owner     $text NOT NULL,
    source    $text NOT NULL,
    record_id $text NOT NULL,
    PRIMARY KEY (tenant, owner, source, record_id)
)$clustered;
CREATE INDEX memory_derivations_of_record ON memory_derivations (tenant, owner, record_id, source);
INSERT INTO memory_derivations (tenant, owner, source, record_id)
"""
WHAT_PAYLOADS_NAME = {
    "sqlite": f"""{DERIVATIONS}
    SELECT DISTINCT r.tenant, r.owner, named.value, r.id
    FROM memory_records r, json_each(r.provenance, '$$.source_refs') AS named
    WHERE r.kind = 'payload' AND length(named.value) BETWEEN 1 AND 128
    AND named.value NOT GLOB '*[^A-Za-z0-9_-]*';
""",
    "postgres": f"""
ALTER TABLE memory_records NO FORCE ROW LEVEL SECURITY;
{DERIVATIONS}
    SELECT DISTINCT r.tenant, r.owner, named.value, r.id
    FROM memory_records r, json_array_elements_text(r.provenance::json -> 'source_refs') AS named(value)
    WHERE r.kind = 'payload' AND named.value ~ '^[A-Za-z0-9_-]{{1,128}}$$';
ALTER TABLE memory_records FORCE ROW LEVEL SECURITY;
""",
}
SPEAKING = """
WITH RECURSIVE way (tenant, owner, id, step, place) AS (
    SELECT tenant, owner, from_id, 0, from_id FROM memory_redirects WHERE ended_at IS NULL
    UNION ALL
    SELECT w.tenant, w.owner, w.id, w.step + 1, r.to_id FROM way w JOIN memory_redirects r
        ON r.tenant = w.tenant AND r.owner = w.owner AND r.from_id = w.place AND r.ended_at IS NULL),
speaking AS (
    SELECT w.tenant, w.owner, w.id, w.place, row_number() OVER (
        PARTITION BY w.tenant, w.owner, w.id ORDER BY w.step DESC) AS nearness
    FROM way w JOIN memory_entities e ON e.tenant = w.tenant AND e.owner = w.owner AND e.id = w.place)
UPDATE memory_redirects SET survivor_id = s.place FROM speaking s
    WHERE s.nearness = 1 AND s.tenant = memory_redirects.tenant AND s.owner = memory_redirects.owner
    AND s.id = memory_redirects.from_id AND memory_redirects.ended_at IS NULL
    AND memory_redirects.survivor_id <> s.place;
UPDATE memory_entities SET survivor_id = nullif(r.survivor_id, r.from_id),
    merged_at = CASE WHEN r.survivor_id = r.from_id THEN NULL ELSE r.merged_at END FROM memory_redirects r
    WHERE r.tenant = memory_entities.tenant AND r.owner = memory_entities.owner AND r.from_id = memory_entities.id
    AND r.ended_at IS NULL AND r.survivor_id <> memory_entities.survivor_id;
UPDATE memory_entities SET absorbed = (SELECT count(*) FROM memory_redirects r
    WHERE r.tenant = memory_entities.tenant AND r.owner = memory_entities.owner AND r.survivor_id = memory_entities.id
    AND r.from_id <> memory_entities.id AND r.ended_at IS NULL)
    WHERE (tenant, owner, id) IN (SELECT tenant, owner, survivor_id FROM memory_redirects WHERE ended_at IS NULL);
UPDATE memory_entities SET survivor_id = '' WHERE survivor_id IS NULL AND observations = 0 AND absorbed = 0;
INSERT INTO memory_directory (tenant, owner, type, born, entity_id)
    SELECT e.tenant, e.owner, e.type, e.born, e.id FROM memory_entities e JOIN memory_redirects r
        ON r.tenant = e.tenant AND r.owner = e.owner AND r.from_id = e.id AND r.ended_at IS NULL
    WHERE r.survivor_id = r.from_id AND e.survivor_id IS NULL;
"""
"""Nobody speaks who was erased: what had been merged into such a one was found nowhere."""
MERGED = ("memory_redirects", "memory_entities", "memory_directory")
SPEAKERS = {
    "sqlite": SPEAKING,
    "postgres": "\n".join(
        (
            *(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;" for table in MERGED),
            SPEAKING,
            *(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY;" for table in MERGED),
        )
    ),
}
VECTORS = {
    "sqlite": vector_tables("memory", "owner"),
    # Entities lie in the order of their births in the other engine alone.
    "postgres": vector_tables("memory", "owner")
    + "CREATE INDEX memory_entities_by_birth ON memory_entities (tenant, owner, born);",
}
"""What is derived from entities when somebody searches. It is no state, so it is not among the tables above."""

BY_CONTENT = "CREATE INDEX memory_records_by_content ON memory_records (tenant, content_hash);"
"""Whoever erases a source asks whether another one has the same bytes."""

MIGRATIONS: Sequence[tuple[str, str | Mapping[str, str]]] = [
    ("records, runs, entities, observations and what follows from them", ENTITIES),
    ("entities and observations in the order of their birth", BY_BIRTH),
    ("what payloads were made from", WHAT_PAYLOADS_NAME),
    ("nobody speaks who was erased", SPEAKERS),
    ("vectors", VECTORS),
    ("records by their content", BY_CONTENT),
]
"""Steps that have run are never edited: a change is another step."""
