"""The state tables. Rows keep their versions: each stands from the position of one fact to that of another.

A look by name, or by an end, asks an index for ids alone, and then for the rows by their ids. The indexes hold all that
the first question needs: without statistics, SQLite would rather read through a tenant's rows than use one that does
not.
"""

from __future__ import annotations

TABLES = (
    "architecture_models",
    "architecture_elements",
    "architecture_relationships",
    "architecture_views",
    "architecture_words",
    "architecture_contexts",
)

CREATE = """
CREATE TABLE architecture_models (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,
    name          $text NOT NULL,
    folded        $text NOT NULL,
    description   $text,
    properties    $text,
    extra         $text,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
CREATE INDEX architecture_models_by_name ON architecture_models (tenant, folded, id);

CREATE TABLE architecture_elements (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,
    model_id      $text NOT NULL,
    type          $text NOT NULL,
    name          $text NOT NULL,
    folded        $text NOT NULL,
    description   $text,
    properties    $text,
    profile       $text,
    external_id   $text,
    extra         $text,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
CREATE INDEX architecture_elements_by_name ON architecture_elements
    (tenant, model_id, type, folded, id, from_position, to_position);

CREATE TABLE architecture_relationships (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,
    model_id      $text NOT NULL,
    type          $text NOT NULL,
    source_id     $text NOT NULL,
    target_id     $text NOT NULL,
    name          $text,
    description   $text,
    properties    $text,
    access_type   $text,
    modifier      $text,
    is_directed   $integer,
    external_id   $text,
    extra         $text,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
CREATE INDEX architecture_relationships_by_source ON architecture_relationships
    (tenant, source_id, type, target_id, id, from_position, to_position);
CREATE INDEX architecture_relationships_by_target ON architecture_relationships
    (tenant, target_id, type, id, from_position, to_position);
CREATE INDEX architecture_relationships_by_type ON architecture_relationships
    (tenant, model_id, type, id, from_position, to_position);

CREATE TABLE architecture_views (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,
    model_id      $text NOT NULL,
    name          $text NOT NULL,
    external_id   $text,
    body          $text NOT NULL,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
CREATE INDEX architecture_views_by_model ON architecture_views (tenant, model_id, id);

CREATE TABLE architecture_words (
    tenant        $text NOT NULL,
    model_id      $text NOT NULL,
    word          $text NOT NULL,
    rank          $integer NOT NULL,
    element_id    $text NOT NULL,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, model_id, word, rank, element_id, from_position)
)$clustered;

CREATE TABLE architecture_contexts (
    tenant        $text NOT NULL,
    principal     $text NOT NULL,
    version       $integer NOT NULL,
    model_id      $text,
    PRIMARY KEY (tenant, principal)
)$clustered;
"""

MIGRATIONS = [("models, elements, relationships, views, words and contexts", CREATE)]

AS_OF = "from_position <= :as_of AND to_position > :as_of"
