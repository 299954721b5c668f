"""Very many facts in one unit.

A unit holds its facts until it commits, which is right for a change that a person could look through, and too much for
a whole model or mailbox. Facts that are stated in bulk are written down on the way, batch by batch, in the unit's own
transaction: of each only its line in the receipt's digest is kept, and of all of them the first few, to be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from engross.calls import FactDraft
from engross.chance import drawn
from engross.store import Params

from .canonical import canonical
from .drafts import require_names
from .facts import INSERT, Fact

if TYPE_CHECKING:
    from .unit import Unit

BATCH = 5_000
SHOWN = 100
SALT = 16

New = tuple[str, Mapping[str, Any]]
"""A new subject, and what is said about it."""


class Kind(NamedTuple):
    """What the facts of one call to `append_all` have in common."""

    aggregate: str
    type: str
    schema_version: int


class Bulk:
    """The facts of a unit that were written down already, and the digest of all its facts so far."""

    __slots__ = ("_digest", "_lined", "count", "first")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[FactDraft] = []
        self._digest: Any = None
        self._lined = 0
        """How many of the facts that the unit holds are in the digest."""

    def clear(self) -> None:
        """Begin again."""
        self.count = self._lined = 0
        self.first.clear()
        self._digest = None

    def enter(self, unit: Unit, kind: Kind, stated: Iterable[New]) -> int:
        """Write facts about new subjects down, apply them, and count them."""
        before = self.count
        rest = iter(stated)
        self._catch_up(unit)
        while batch := list(islice(rest, BATCH)):
            made = [self._written(unit, kind, unit.stated + n, *one) for n, one in enumerate(batch)]
            unit.apply_all([fact for fact, _ in made])
            unit.transaction.execute_all((INSERT, row) for _, row in made)
            self.count += len(made)
        return self.count - before

    def digest(self, unit: Unit) -> str:
        """The digest of all facts of the unit, as a receipt keeps it."""
        self._catch_up(unit)
        assert self._digest is not None
        whole = self._digest.copy()
        whole.update(b"]")
        return str(whole.hexdigest())

    def _catch_up(self, unit: Unit) -> None:
        """Facts go into the digest in the order in which they are stated, those that the unit holds too."""
        for written in unit.written[self._lined :]:
            self._line(written.fact)
            self._lined += 1

    def _line(self, fact: Fact) -> None:
        if self._digest is None:
            self._digest = sha256(b"[" + canonical(fact.envelope()))
        else:
            self._digest.update(b"," + canonical(fact.envelope()))

    def _written(
        self, unit: Unit, kind: Kind, ordinal: int, subject: str, payload: Mapping[str, Any]
    ) -> tuple[Fact, Params]:
        text = canonical(payload)
        salt = drawn(SALT)
        sealed = sha256(salt + text).hexdigest()
        context = unit.context
        fields = tuple(payload)
        require_names(kind.type, fields)
        fact = Fact(
            unit.transaction.tenant,
            unit.transaction.position,
            ordinal,
            unit.fact_id(ordinal),
            kind.aggregate,
            kind.type,
            kind.schema_version,
            subject,
            1,
            context.occurred_at,
            payload,
            fields,
            False,
            context.causation_id,
            sealed,
        )
        if len(self.first) < SHOWN:
            draft = FactDraft(kind.aggregate, kind.type, kind.schema_version, subject, 1, payload, None, fields)
            self.first.append(draft)
        self._line(fact)
        row = {
            "position": fact.position,
            "ordinal": ordinal,
            "id": fact.id,
            "aggregate": kind.aggregate,
            "type": kind.type,
            "schema_version": kind.schema_version,
            "subject": subject,
            "version": 1,
            "ends": 0,
            "fields": ",".join(fields),
            "causation": fact.causation,
            "time": fact.time,
            "digest": sealed,
            "salt": salt,
            "payload": text.decode(),
        }
        return fact, row
