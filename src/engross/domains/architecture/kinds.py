"""Of what type a thing is, also one that is gone: a type never changes."""

from __future__ import annotations

from engross.ledger import Reader

TYPED = ("architecture_elements", "architecture_relationships")


def type_of(reader: Reader, subject: str) -> str | None:
    """The ArchiMate type of an element or a relationship; None for a model, a view or a context."""
    for table in TYPED:
        found = reader.value(
            f"SELECT type FROM {table} WHERE tenant = :tenant AND id = :id ORDER BY version DESC LIMIT 1", id=subject
        )
        if found is not None:
            return str(found)
    return None
