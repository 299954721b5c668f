"""What a fact has to be before it may be stated: the ledger never forgets one that does not fit in.

A subject's facts are numbered from 1 without a gap. A commit cannot leave one: the row of a fact that follows none has
no version. Whether a plan that is only proposed would is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engross.calls import FactDraft
from engross.store import Transaction

from .facts import current_versions


class UnsoundFact(ValueError):
    """A domain stated a fact that the ledger cannot take: the domain is to be mended, not the call."""


def require_sound(draft: FactDraft) -> None:
    """Refuse a draft that could not be written down and read again as the same fact."""
    if type(draft.version) is not int or draft.version < 1:
        raise UnsoundFact(f"{draft.type} follows version {draft.version!r} - 1, which is no number from 0 on")
    require_names(draft.type, draft.fields)


def require_names(type: str, fields: Iterable[str]) -> None:
    """Refuse fields that could not be told apart in a fact's row."""
    for field in fields:
        if not isinstance(field, str) or not field or "," in field:
            raise UnsoundFact(f"{type} names the field {field!r}: a name is a text without a comma")


def require_unbroken(transaction: Transaction, drafts: Sequence[FactDraft]) -> None:
    """Refuse facts of which one follows a fact that there is not."""
    stated = {(f"{draft.aggregate}/{draft.subject}", draft.version) for draft in drafts}
    followed = {(subject, version - 1) for subject, version in stated if version > 1} - stated
    current = current_versions(transaction, sorted({subject for subject, _ in followed}))
    for subject, version in sorted(followed):
        if version > current[subject]:
            raise UnsoundFact(f"version {version + 1} of {subject} follows version {version}, which is not there")
