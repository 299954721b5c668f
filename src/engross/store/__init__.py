"""The two engines behind one port, the migrations that make their tables, and bytes on disk."""

from .arrivals import Arrivals
from .base import STORE_ROOM
from .blobs import Blobs
from .effects import effect_states, intend, mark_effects, pending_effects, states_of_effects, tenants_in_debt
from .erasures import (
    Standing,
    are_here_to_stay,
    erase_unreferenced,
    intend_erasure,
    intend_unless_held,
    tenants_with_erasures,
)
from .migrations import Migration, migrate, pending, room
from .opening import ensure_tables, open_store
from .port import (
    FOREVER,
    Engine,
    Insert,
    Params,
    Reading,
    RequeueError,
    Row,
    Statement,
    Store,
    TooLong,
    Transaction,
)
from .publishing import Publication, file_digest, publish
from .statements import kind_of
from .tenancy import tenant_name
from .threads import Threads

__all__ = [
    "FOREVER",
    "STORE_ROOM",
    "Arrivals",
    "Blobs",
    "Engine",
    "Insert",
    "Migration",
    "Params",
    "Publication",
    "Reading",
    "RequeueError",
    "Row",
    "Standing",
    "Statement",
    "Store",
    "Threads",
    "TooLong",
    "Transaction",
    "are_here_to_stay",
    "effect_states",
    "ensure_tables",
    "erase_unreferenced",
    "file_digest",
    "intend",
    "intend_erasure",
    "intend_unless_held",
    "kind_of",
    "mark_effects",
    "migrate",
    "open_store",
    "pending",
    "pending_effects",
    "publish",
    "room",
    "states_of_effects",
    "tenant_name",
    "tenants_in_debt",
    "tenants_with_erasures",
]
