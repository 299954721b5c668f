"""Finding by meaning: the vectors of what a domain finds, and which of them point where a query points.

Vectors are derived data. No fact speaks of them, no state follows from them, and any of them may be lost. They belong
to a tenant and, within it, to a scope: an owner, or a model. Each stands for one embedder and for one text, known by
its digest; a stamp, which changes whenever the text may have changed, spares a search from reading every text.

No write waits for an embedder. A search has those made that are missing, the newest first and so many at a time,
before it looks, and holds nothing of the store meanwhile.

A vector is kept twice: whole, and as one bit for each number, whether it is positive. Of very many, the bits tell which
are worth comparing, at a hundredth of the cost; they lie in a table of their own, which is small enough to be read
through.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from math import sqrt
from operator import mul
from typing import Any, NamedTuple, Protocol, TypeVar

from engross.calls import Context
from engross.ledger import Reader, State
from engross.store import Row, Statement

T = TypeVar("T")
Vector = Sequence[float]

MOST_LISTED = 10_000
"""So many of the newest things are found by meaning."""
MOST_MADE = 256
MADE_AT_ONCE = 32
MAKING_SECONDS = 2.0
"""A search has vectors made for so long, and no more than so many."""
COMPARED = 400
MOST_NEAR = 50
FAINT = 0.2
"""What is less alike than this has nothing to do with a query, whatever the embedder."""
NEARLY = 0.75
"""What is this much less alike than the best is not found by meaning: embedders differ in what they call alike."""
ASKED_AT_ONCE = 200


class Embedder(Protocol):
    """Turns texts into vectors. Another model gives other vectors, so each says which it is."""

    name: str

    def __call__(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        """One vector for each text; None while it is away."""


class Shelf(Protocol):
    """What a search may do before it looks: read, and keep what is derived, with nothing held in between."""

    context: Context

    def look(self, work: Callable[[Reader], T]) -> T:
        """Do the work on a snapshot of what is committed."""

    def keep(self, statements: Sequence[Statement]) -> bool:
        """Write derived rows; False where that is not possible now."""


class Meaning(NamedTuple):
    """What a query means to an embedder; no vector where there is none, or where it is away."""

    embedder: str | None = None
    vector: Vector | None = None


NO_MEANING = Meaning()


class Near(NamedTuple):
    """How much the things that are near in meaning point where the query points, and how complete that is."""

    scores: Mapping[str, float]
    mode: str
    waiting: int = 0
    is_cut: bool = False

    def told(self) -> dict[str, Any]:
        """What an answer says about it."""
        told: dict[str, Any] = {"search_mode": self.mode}
        if self.waiting:
            told["unembedded"] = self.waiting
        return {**told, "embedded_newest": MOST_LISTED} if self.is_cut else told


class Vectors:
    """The vectors of one domain.

    `listed` selects `id, type, stamp, place` of what is visible in `:scope`, at most `:most`, the greatest places
    first; `standing` is the condition that the thing `:id` still has the `:stamp`.
    """

    def __init__(self, domain: str, scope: str, listed: str, standing: str) -> None:
        own = f"WHERE tenant = :tenant AND {scope} = :scope"
        columns, values = f"tenant, {scope}, id, embedder", ":tenant, :scope, :id, :embedder"
        self._list = (
            f"SELECT t.id, t.type, t.stamp, t.place, m.stamp AS kept, m.digest, m.bits FROM ({listed}) t LEFT JOIN"
            f" {domain}_meanings m ON m.tenant = :tenant AND m.{scope} = :scope AND m.id = t.id"
            " AND m.embedder = :embedder"
        )
        self._whole = f"SELECT id, vector FROM {domain}_vectors {own} AND embedder = :embedder AND id IN "
        self._restamp = (
            f"UPDATE {domain}_meanings SET stamp = :stamp {own} AND id = :id AND embedder = :embedder"
            " AND digest = :digest"
        )
        self._keep = [
            f"INSERT INTO {domain}_meanings ({columns}, stamp, digest, bits) SELECT {values}, :stamp, :digest, :bits"
            f" WHERE EXISTS ({standing}) ON CONFLICT ({columns}) DO UPDATE SET"
            " stamp = excluded.stamp, digest = excluded.digest, bits = excluded.bits",
            f"INSERT INTO {domain}_vectors ({columns}, vector) SELECT {values}, :vector WHERE EXISTS ({standing})"
            f" ON CONFLICT ({columns}) DO UPDATE SET vector = excluded.vector",
        ]
        self._forget = [f"DELETE FROM {domain}_{table} {own} AND id = :id" for table in ("meanings", "vectors")]

    def forget(self, state: State, scope: str, identifier: str) -> None:
        """Drop what something means, because it no longer stands."""
        for statement in self._forget:
            state.execute(statement, scope=scope, id=identifier)

    def meaning(
        self,
        shelf: Shelf,
        embedder: Embedder,
        scope: Callable[[Reader], str],
        query: str,
        told: Callable[[Reader, Sequence[str]], Mapping[str, str]],
    ) -> Meaning:
        """What a query means, after vectors were made for the newest of what has none; `told` gives texts by ids."""
        asked = embedder([query])
        if not asked:
            return Meaning(embedder.name)
        if shelf.context.as_of is None:
            self._make(shelf, embedder, scope, told)
        return Meaning(embedder.name, _even(asked[0]))

    def near(self, reader: Reader, scope: str, meaning: Meaning, types: Collection[str] | None = None) -> Near:
        """The visible things that are near in meaning, of these types."""
        if meaning.embedder is None:
            return Near({}, "words+names")
        if meaning.vector is None:
            return Near({}, f"words+names, without {meaning.embedder}, which is away")
        rows = self._rows(reader, scope, meaning.embedder)
        is_cut = len(rows) == MOST_LISTED
        current = [row for row in rows if row["kept"] == row["stamp"]]
        waiting = len(rows) - len(current)
        if not current:
            return Near({}, "words+names", waiting, is_cut)
        wanted = [row for row in current if types is None or row["type"] in types]
        scores = self._scores(reader, scope, meaning, _worth_comparing(meaning.vector, wanted))
        return Near(_nearest(scores), f"words+names+embeddings:{meaning.embedder}", waiting, is_cut)

    def _rows(self, reader: Reader, scope: str, embedder: str) -> list[Row]:
        return reader.rows(self._list, scope=scope, embedder=embedder, most=MOST_LISTED)

    def _scores(self, reader: Reader, scope: str, meaning: Meaning, identifiers: Sequence[str]) -> dict[str, float]:
        asked = meaning.vector or ()
        found: dict[str, float] = {}
        for start in range(0, len(identifiers), ASKED_AT_ONCE):
            some = identifiers[start : start + ASKED_AT_ONCE]
            places = ", ".join(f":id_{n}" for n in range(len(some)))
            rows = reader.rows(
                f"{self._whole}({places})",
                scope=scope,
                embedder=meaning.embedder,
                **{f"id_{n}": identifier for n, identifier in enumerate(some)},
            )
            found |= {row["id"]: _alike(asked, row["vector"]) for row in rows}
        return found

    def _make(
        self,
        shelf: Shelf,
        embedder: Embedder,
        scope: Callable[[Reader], str],
        told: Callable[[Reader, Sequence[str]], Mapping[str, str]],
    ) -> None:
        """Have vectors made for the newest of what has none, or has another text than its vector stands for."""

        def missing(reader: Reader) -> tuple[str, list[Row], Mapping[str, str]]:
            where = scope(reader)
            rows = [row for row in self._rows(reader, where, embedder.name) if row["kept"] != row["stamp"]]
            newest = sorted(rows, key=lambda row: row["place"], reverse=True)[:MOST_MADE]
            return where, newest, told(reader, [row["id"] for row in newest]) if newest else {}

        where, rows, texts = shelf.look(missing)
        rows = [{**row, "text": texts[row["id"]]} for row in rows if row["id"] in texts]
        same = [row for row in rows if row["digest"] == _digest(row["text"])]
        made = _made(embedder, [row for row in rows if row["digest"] != _digest(row["text"])])
        key = {"scope": where, "embedder": embedder.name}
        statements: list[Statement] = [(self._restamp, {**key, **_identified(row)}) for row in same]
        for statement in self._keep:
            statements += [(statement, {**key, **_identified(row), **_kept(vector)}) for row, vector in made]
        if statements:
            shelf.keep(statements)


def _made(embedder: Embedder, rows: Sequence[Row]) -> list[tuple[Row, Vector]]:
    """Rows with the vectors of their texts, as many as there is time for."""
    made: list[tuple[Row, Vector]] = []
    ends = time.monotonic() + MAKING_SECONDS
    for start in range(0, len(rows), MADE_AT_ONCE):
        some = rows[start : start + MADE_AT_ONCE]
        vectors = embedder([row["text"] for row in some])
        if not vectors:
            break
        made += zip(some, map(_even, vectors), strict=True)
        if time.monotonic() > ends:
            break
    return made


def _identified(row: Row) -> dict[str, str]:
    return {"id": row["id"], "stamp": row["stamp"], "digest": _digest(row["text"])}


def _kept(vector: Vector) -> dict[str, bytes]:
    bits = _as_bits(vector).to_bytes(len(vector) // 8 + 1, "big")
    return {"bits": bits, "vector": array("f", vector).tobytes()}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _even(vector: Vector) -> Vector:
    """The vector with a length of one, so that comparing is multiplying."""
    length = sqrt(sum(map(mul, vector, vector)))
    return [number / length for number in vector] if length else vector


def _as_bits(vector: Vector) -> int:
    return int("".join("1" if number > 0 else "0" for number in vector) or "0", 2)


def _alike(asked: Vector, packed: bytes) -> float:
    """How much two vectors point the same way; not at all where a model of the same name gave another kind."""
    other = array("f")
    other.frombytes(packed)
    return sum(map(mul, asked, other)) if len(other) == len(asked) else 0.0


def _worth_comparing(asked: Vector, rows: Sequence[Row]) -> list[str]:
    """All of them where they are few; else those whose bits differ least."""
    if len(rows) <= COMPARED:
        return [row["id"] for row in rows]
    bits = _as_bits(asked)
    differing = sorted(((int.from_bytes(row["bits"], "big") ^ bits).bit_count(), row["id"]) for row in rows)
    return [identifier for _, identifier in differing[:COMPARED]]


def _nearest(scores: Mapping[str, float]) -> dict[str, float]:
    least = max([FAINT, *(NEARLY * score for score in scores.values())])
    best = sorted(_enough(scores.items(), least), key=lambda one: (-one[1], one[0]))
    return dict(best[:MOST_NEAR])


def _enough(scores: Iterable[tuple[str, float]], least: float) -> list[tuple[str, float]]:
    return [(name, round(score, 6)) for name, score in scores if score >= least]
