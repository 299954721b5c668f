"""The types that come with the domain.

They say how fields are decided, and leave it open which other fields there are. A type without a schema is kept with
all its fields, the last write winning.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from .schema import EntitySchema, Policy

MERGED = Policy("merge_array")
_PLAIN = (
    *("holding", "income", "tax_event", "crypto_transaction", "liability", "flow", "purchase", "transfer"),
    *("tax_filing", "order", "fixed_cost", "property", "balance", "transaction", "contact"),
)
_LISTS: Mapping[str, str] = {"wallet": "accounts", "contract": "files", "account": "categories"}


@cache
def shipped_schemas() -> Mapping[str, EntitySchema]:
    """The schemas by type, all in their first version."""
    plain = {name: EntitySchema(name) for name in _PLAIN}
    return MappingProxyType(plain | {name: _with_list(name, field) for name, field in _LISTS.items()})


@lru_cache(maxsize=1024)
def shipped_schema(entity_type: str) -> EntitySchema:
    """The schema of a type that comes with the domain; an empty one where none does."""
    return shipped_schemas().get(entity_type) or EntitySchema(entity_type)


def _with_list(name: str, field: str) -> EntitySchema:
    fields = {field: MappingProxyType({"type": "array"})}
    return EntitySchema(name, fields=MappingProxyType(fields), policies=MappingProxyType({field: MERGED}))
