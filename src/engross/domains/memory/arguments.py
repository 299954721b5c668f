"""What the flows take: fields that several of them share."""

from collections.abc import Mapping
from typing import Annotated, Any

from engross.flows import Described

UserId = Annotated[str, Described("Leave out.", maxLength=255)]
EntityId = Annotated[str, Described("Entity id, ent_...", minLength=1, maxLength=128)]
EntityType = Annotated[str, Described("Type, as person or company.", minLength=1, maxLength=64)]
FieldName = Annotated[str, Described("Name of the field.", minLength=1, maxLength=256)]
Instant = Annotated[str, Described("ISO 8601.", minLength=1, maxLength=64)]
Limit = Annotated[int, Described("At most so many.", minimum=1, maximum=1000, default=100)]
Offset = Annotated[int, Described("Leave out so many.", minimum=0, maximum=1_000_000_000, default=0)]

Answered = Mapping[str, Any]

ACME: Mapping[str, object] = {
    "entities": [{"entity_type": "company", "name": "Acme Corp", "domain": "acme.com", "tax_id": "12-3456789"}]
}
JOHN: Mapping[str, object] = {
    "entities": [{"entity_type": "person", "name": "John Doe", "email": "john@example.com", "birth_date": "1980-02-29"}]
}
ACME_ID = "ent_af939bedafbd1838b259772a"
GIVEN_ACME = (("memory.ingest-structured", ACME),)
GIVEN_BOTH = (("memory.ingest-structured", ACME), ("memory.ingest-structured", JOHN))
"""What the examples of the flows begin with."""
