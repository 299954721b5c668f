"""The state tables. Rows keep their versions: each stands from the position of one fact to that of another.

A look by name, or by an end, asks an index for ids alone, and then for the rows by their ids. The indexes hold all that
the first question needs: without statistics, SQLite would rather read through a tenant's rows than use one that does
not.
"""

from __future__ import annotations

from engross.searching import vector_tables

TABLES = (
    "architecture_models",
    "architecture_elements",
    "architecture_relationships",
    "architecture_views",
    "architecture_words",
    "architecture_contexts",
)


def _versioned(table: str, columns: str) -> str:
    """A table of which each row is one version of a thing, and says from where to where in the ledger it stood."""
    return f"""
CREATE TABLE {table} (
    tenant        $text NOT NULL,
    id            $text NOT NULL,
    version       $integer NOT NULL,{columns}
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, id, version)
)$clustered;
"""


MODELS = (
    _versioned(
        "architecture_models",
        """
    name          $text NOT NULL,
    folded        $text NOT NULL,
    description   $text,
    properties    $text,
    extra         $text,""",
    )
    + "CREATE INDEX architecture_models_by_name ON architecture_models (tenant, folded, id);"
)
ELEMENTS = (
    _versioned(
        "architecture_elements",
        """
    model_id      $text NOT NULL,
    type          $text NOT NULL,
    name          $text NOT NULL,
    folded        $text NOT NULL,
    description   $text,
    properties    $text,
    profile       $text,
    external_id   $text,
    extra         $text,""",
    )
    + """CREATE INDEX architecture_elements_by_name ON architecture_elements
    (tenant, model_id, type, folded, id, from_position, to_position);"""
)
RELATIONSHIPS = (
    _versioned(
        "architecture_relationships",
        """
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
    extra         $text,""",
    )
    + """CREATE INDEX architecture_relationships_by_source ON architecture_relationships
    (tenant, source_id, type, target_id, id, from_position, to_position);
CREATE INDEX architecture_relationships_by_target ON architecture_relationships
    (tenant, target_id, type, id, from_position, to_position);
CREATE INDEX architecture_relationships_by_type ON architecture_relationships
    (tenant, model_id, type, id, from_position, to_position);"""
)
VIEWS = (
    _versioned(
        "architecture_views",
        """
    model_id      $text NOT NULL,
    name          $text NOT NULL,
    external_id   $text,
    body          $text NOT NULL,""",
    )
    + "CREATE INDEX architecture_views_by_model ON architecture_views (tenant, model_id, id);"
)
WORDS = """
CREATE TABLE architecture_words (
    tenant        $text NOT NULL,
    model_id      $text NOT NULL,
    word          $text NOT NULL,
    rank          $integer NOT NULL,
    element_id    $text NOT NULL,
    from_position $integer NOT NULL,
    to_position   $integer NOT NULL,
    PRIMARY KEY (tenant, model_id, word, rank, element_id, from_position)
)$clustered;"""
CONTEXTS = """
CREATE TABLE architecture_contexts (
    tenant        $text NOT NULL,
    principal     $text NOT NULL,
    version       $integer NOT NULL,
    model_id      $text,
    PRIMARY KEY (tenant, principal)
)$clustered;
"""
CREATE = "\n".join((MODELS, ELEMENTS, RELATIONSHIPS, VIEWS, WORDS, CONTEXTS))

VECTORS = (
    vector_tables("architecture", "model_id")
    + """CREATE INDEX architecture_elements_by_position ON architecture_elements (tenant, model_id, from_position);"""
)
"""What is derived from elements when somebody searches. It is no state, so it is not among the tables above."""

MIGRATIONS = [
    ("models, elements, relationships, views, words and contexts", CREATE),
    ("vectors", VECTORS),
]

# The sign keeps SQLite from walking by positions, of which nearly all fit, instead of by what else is asked for.
AS_OF = "+from_position <= :as_of AND to_position > :as_of"
