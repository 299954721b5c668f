"""Facts, receipts, keys and seals, and the units of work that write them."""

from . import keys
from .canonical import canonical, digest, fingerprint, keyed_digest
from .commit import write_commit
from .erasure import erase_subject, is_erased_subject, last_version
from .factbook import ERASED, REACHED, FactBook
from .facts import (
    Fact,
    changes_after,
    current_versions,
    drafts_digest,
    facts_about,
    facts_after,
    facts_at,
    fields_touched,
    history,
    latest_facts,
    stated_aggregates,
)
from .keys import (
    KEPT_DAYS,
    StoredKey,
    are_keys_past,
    clear_key,
    erased_keys,
    find_key,
    key_row,
    purge_keys,
    read_key,
    release_key,
)
from .moments import position_at, settled_position
from .rebuild import rebuild_state, state_digest
from .receipts import Receipt, latest_receipts, receipt_at, receipt_for, receipts_between
from .seals import RESTORED, Seal, has_unsealed, last_seal, may_follow, newest_seals, seal_receipts
from .signing import OfficeKey, of_another_key, signed_by
from .spent import can_spend, spend_token
from .tables import LEDGER_ROOM
from .unit import Reader, State, Unit

__all__ = [
    "ERASED",
    "KEPT_DAYS",
    "LEDGER_ROOM",
    "REACHED",
    "RESTORED",
    "Fact",
    "FactBook",
    "OfficeKey",
    "Reader",
    "Receipt",
    "Seal",
    "State",
    "StoredKey",
    "Unit",
    "are_keys_past",
    "can_spend",
    "canonical",
    "changes_after",
    "clear_key",
    "current_versions",
    "digest",
    "drafts_digest",
    "erase_subject",
    "erased_keys",
    "facts_about",
    "facts_after",
    "facts_at",
    "fields_touched",
    "find_key",
    "fingerprint",
    "has_unsealed",
    "history",
    "is_erased_subject",
    "key_row",
    "keyed_digest",
    "keys",
    "last_seal",
    "last_version",
    "latest_facts",
    "latest_receipts",
    "may_follow",
    "newest_seals",
    "of_another_key",
    "position_at",
    "purge_keys",
    "read_key",
    "rebuild_state",
    "receipt_at",
    "receipt_for",
    "receipts_between",
    "release_key",
    "seal_receipts",
    "settled_position",
    "signed_by",
    "spend_token",
    "state_digest",
    "stated_aggregates",
    "write_commit",
]
