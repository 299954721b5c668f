"""The two engines behind one port, the migrations that make their tables, and bytes on disk."""

from .base import STORE_ROOM
from .blobs import Blobs
from .migrations import Migration, migrate, pending, room
from .opening import open_store
from .port import FOREVER, Engine, Params, Reading, RequeueError, Row, Store, TooLong, Transaction
from .publishing import Publication, file_digest, publish
from .tenancy import tenant_name

__all__ = [
    "FOREVER",
    "STORE_ROOM",
    "Blobs",
    "Engine",
    "Migration",
    "Params",
    "Publication",
    "Reading",
    "RequeueError",
    "Row",
    "Store",
    "TooLong",
    "Transaction",
    "file_digest",
    "migrate",
    "open_store",
    "pending",
    "publish",
    "room",
    "tenant_name",
]
