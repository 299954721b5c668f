"""Does the ledger still say what it said? Checked from outside, with no domain code and no office.

Per tenant, three streams are read side by side, in the order of their keys:

    facts       each payload against its salted digest, each subject's versions without a gap
    receipts    each against its digest, its place, and the facts that were committed with it
    seals       each against its signature and the seal before it, and the root over the receipts since

Whoever holds the store can rewrite everything in it that is not sealed, and can cut off its end: seals show the
first only for what they cover, and a checkpoint kept elsewhere shows the second. Which keys count is a matter of
trust, and has a module of that name. The report says what it could not know.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from engross.replies import Failed
from engross.store.port import Row

from .canonical import canonical
from .checkpoint import Checkpoint, Pin
from .factbook import ERASED
from .facts import fact_of
from .merkle import MerkleTree
from .report import Chain, FindingKind, Findings, Report, Tenure, Unknown
from .signing import signed_by
from .source import FACTS, RECEIPTS, SEALS, Source, noted, source_at
from .subjects import Subjects
from .trust import Trust

__all__ = ["Checkpoint", "Report", "Source", "source_at", "verify"]

TYPES: Mapping[str, tuple[type, ...]] = {
    "position": (int,),
    "number": (int,),
    "ordinal": (int,),
    "schema_version": (int,),
    "version": (int,),
    "ends": (int,),
    "causation": (str, type(None)),
    "salt": (bytes, type(None)),
    "payload": (str, type(None)),
}
SIGNATURE = re.compile(r"[0-9a-f]{128}")
DIGEST = re.compile(r"[0-9a-f]{64}")


def verify(
    source: str | Path | Source,
    *,
    public_key: str | Collection[str] | None = None,
    checkpoint: Checkpoint | None = None,
    tenant: str | None = None,
    keys: Path | None = None,
) -> Report:
    """Verify the ledger of all tenants, or of one, in a data folder, a database or a backup.

    `public_key` is the key, or all the keys, that count. `keys` is the folder with the office's own key, where that is
    not in the data folder that is verified.
    """
    given = [public_key] if isinstance(public_key, str) else list(public_key or ())
    if not isinstance(source, (str, Path)):
        return Verification(source, given, checkpoint, tenant).run()
    while True:
        opened = source_at(source, keys)
        try:
            report = Verification(opened, given, checkpoint, tenant).run()
            if not opened.disturbed():
                return report
        except Failed:
            if not opened.disturbed():
                raise
        finally:
            opened.close()


class Verification:
    """One run over one source."""

    def __init__(
        self, source: Source, given: Collection[str], checkpoint: Checkpoint | None, tenant: str | None
    ) -> None:
        self._source = source
        pinned = checkpoint or source.keyring.restored
        self._pins = dict(pinned.pins) if pinned else {}
        self._given_checkpoint = checkpoint is not None
        self._tenant = tenant
        self._findings = Findings()
        self._trust = Trust(given, checkpoint, source.keyring)

    def run(self) -> Report:
        """Read everything there is, once."""
        chains: dict[str, Chain] = {}
        for name in self._source.tenants():
            if self._tenant in (None, name):
                chains[name] = self._chain(name)
        if self._tenant is None:
            for name in sorted(self._pins.keys() - chains.keys()):
                self._findings.add("cut_off", name, "the checkpoint knows this tenant, and nothing of it is left")
        self._trust.judge(chains, self._findings)
        self._source.finish(self._findings, whole=self._tenant is None)
        return Report(
            findings=tuple(self._findings.listed),
            unlisted_findings=self._findings.unlisted,
            unknown=tuple(self._unknown(chains)),
            chains=chains,
            public_key=self._trust.public_key(chains),
            key_source=self._trust.source(chains),
        )

    def _chain(self, tenant: str) -> Chain:
        walk = Walk(self._source, tenant, self._trust, self._pins.get(tenant), self._findings)
        try:
            with noted(self._findings, tenant):
                walk.run()
        finally:
            walk.close()
        return walk.chain

    def _unknown(self, chains: Mapping[str, Chain]) -> Iterator[Unknown]:
        if not self._given_checkpoint:
            yield Unknown("cut_off_tail", "without a checkpoint, commits cut off the end cannot be seen")
        else:
            yield Unknown(
                "tail_since_checkpoint",
                "commits cut off the end that are younger than the checkpoint cannot be seen",
            )
        if unsealed := sum(chain.unsealed for chain in chains.values()):
            yield Unknown(
                "unsealed_receipts",
                f"{unsealed} receipts are not sealed yet: whoever holds the store could have rewritten them",
            )
        yield from self._trust.unknown(chains)


class Walk:
    """The verification of one tenant."""

    def __init__(self, source: Source, tenant: str, trust: Trust, pin: Pin | None, findings: Findings) -> None:
        self.chain = Chain()
        self._tenant = tenant
        self._trust = trust
        self._pin = pin
        self._findings = findings
        self._facts = Ahead(source.rows(FACTS, tenant))
        self._receipts = source.rows(RECEIPTS, tenant)
        self._seals = source.rows(SEALS, tenant)
        self._subjects = Subjects()
        self._tree = MerkleTree()
        self._upto = 0

    def run(self) -> None:
        """Read the three streams side by side."""
        seal = self._next_seal()
        last = 0
        for row in self._receipts:
            position = row["position"]
            if type(position) is not int or position <= last:
                self._note("out_of_order", "a receipt is not behind the one before it", row)
            else:
                last = position
            while seal is not None and last > seal["upto"]:
                self._compare(seal)
                seal = self._next_seal()
            self._receipt(row)
        while seal is not None:
            self._compare(seal)
            seal = self._next_seal()
        self._claim_facts(None)
        self._count(unsealed=self._tree.leaves)
        self._explain_missing()
        self._reach_pin()

    def close(self) -> None:
        """Let go of what was kept for the walk."""
        self._subjects.close()

    def _receipt(self, row: Row) -> None:
        self._count(receipts=1)
        digest, text = row["digest"], row["body"]
        body = _object(text)
        if body is None or sha256(text.encode()).hexdigest() != digest:
            self._note("receipt_altered", "a receipt is not what its digest says", row)
        elif (body.get("tenant"), body.get("position")) != (self._tenant, row["position"]):
            self._note("receipt_moved", "a receipt is not where it was written", row)
        found = self._claim_facts(row["position"])
        if body is not None and (body.get("facts"), body.get("facts_digest")) != found:
            self._note("facts_differ", "the facts of a commit are not those of its receipt", row)
        self._tree.add(digest if type(digest) is str and DIGEST.fullmatch(digest) else sha256(b"").hexdigest())

    def _claim_facts(self, position: Any) -> tuple[int, str]:
        """The number and the digest of the facts at a position. Facts in front of it belong to no receipt."""
        count, hashed = 0, sha256(b"[")
        while (row := self._facts.peek()) is not None:
            at = row["position"]
            if type(at) is int and type(position) is int and at > position:
                break
            self._facts.take()
            self._count(facts=1)
            envelope = self._fact(row)
            if at != position or position is None:
                self._note("fact_unclaimed", "there is no receipt for a fact", row)
                continue
            hashed.update((b"," if count else b"") + envelope)
            count += 1
        hashed.update(b"]")
        return count, hashed.hexdigest()

    def _fact(self, row: Row) -> bytes:
        """Check one fact by itself; the answer is the part of it that its receipt covers."""
        if not _well_typed(row) or row["ends"] not in (0, 1):
            self._note("facts_differ", "a fact holds a value of the wrong kind", row)
            return b""
        payload, salt = row["payload"], row["salt"]
        erased = payload is None and salt is None and row["type"] != ERASED
        if erased:
            self._count(erased=1)
        elif payload is None or salt is None or sha256(salt + payload.encode()).hexdigest() != row["digest"]:
            self._note("payload_altered", "a payload is not what its digest says", row)
        missing = 1 if erased else -_taken(row)
        before = self._subjects.follow(row["aggregate"], row["subject"], row["version"], missing)
        if row["version"] != before + 1:
            self._note(
                "version_gap",
                f"{row['aggregate']} {row['subject']} goes from version {before} to {row['version']}",
                row,
            )
        return canonical(fact_of({**row, "payload": None}).envelope())

    def _explain_missing(self) -> None:
        for aggregate, subject, missing in self._subjects.unexplained():
            if missing > 0:
                what = f"{missing} payloads of {aggregate} {subject} are gone, and no fact says that they were erased"
                self._findings.add("payload_missing", self._tenant, what)
            else:
                what = f"{-missing} payloads of {aggregate} {subject} that were erased are there again"
                self._findings.add("payload_back", self._tenant, what)

    def _next_seal(self) -> Mapping[str, Any] | None:
        """The next seal that can be read, checked by itself and against the one before it."""
        for row in self._seals:
            body = self._seal(row)
            if body is not None:
                return body
        return None

    def _seal(self, row: Row) -> Mapping[str, Any] | None:
        number, text = row["number"], row["body"]
        expected, previous = self.chain.seals + 1, self.chain.last_digest
        body = _object(text)
        if body is None or not _well_typed(row) or type(body.get("upto")) is not int:
            self._note("seal_altered", "a seal cannot be read", row)
            return None
        if number != expected:
            self._note("seal_missing", f"seal {number} comes where seal {expected} should be", row)
        if sha256(text.encode()).hexdigest() != row["digest"]:
            self._note("seal_altered", "a seal is not what its digest says", row)
        if (body.get("tenant"), body.get("number")) != (self._tenant, number):
            self._note("seal_altered", "a seal is not where it was written", row)
        if (body.get("previous"), body.get("after")) != (previous, self._upto):
            self._note("chain_broken", "a seal does not follow the one before it", row)
        self._signature(row, text, body)
        self.chain = replace(self.chain, seals=number, last_digest=row["digest"])
        return body

    def _signature(self, row: Row, text: str, body: Mapping[str, Any]) -> None:
        key, takes_over = body.get("key"), body.get("takes_over")
        if takes_over is not None and (not self.chain.keys or takes_over != self.chain.keys[-1].public_key):
            self._note("chain_broken", "a seal takes over from a key that did not make the one before it", row)
        if not isinstance(key, str) or not self._may_follow(key, takes_over):
            self._note("seal_by_other_key", f"a seal was made with the key {key}, which was not to make it", row)
            return
        self._extend_tenure(key, row["number"])
        if not SIGNATURE.fullmatch(row["signature"]) or not signed_by(key, text.encode(), row["signature"]):
            self._note("seal_unsigned", "a seal's signature is not that of its key", row)

    def _may_follow(self, key: str, takes_over: object) -> bool:
        """Whether a key made the seal before, or takes over from the one that did. It cannot come back later on."""
        if not self.chain.keys or key == self.chain.keys[-1].public_key:
            return True
        if any(key == tenure.public_key for tenure in self.chain.keys):
            return False
        before = self.chain.keys[-1].public_key
        return takes_over == before or {key, before} <= self._trust.named

    def _extend_tenure(self, key: str, number: int) -> None:
        *earlier, last = self.chain.keys or (Tenure(key, number, number),)
        if last.public_key != key:
            earlier.append(last)
            last = Tenure(key, number, number)
        self.chain = replace(self.chain, keys=(*earlier, replace(last, last=number)))

    def _compare(self, seal: Mapping[str, Any]) -> None:
        """Hold the receipts since the last seal against what the seal says of them."""
        tree, self._tree = self._tree, MerkleTree()
        if (seal.get("receipts"), seal.get("root")) != (tree.leaves, tree.root()):
            what = f"seal {seal.get('number')} covers other receipts than those that are there"
            self._findings.add("receipts_differ", self._tenant, what, seal=seal.get("number"))
        self._count(sealed=tree.leaves)
        self._upto = seal["upto"]
        self._compare_with_pin(seal)

    def _compare_with_pin(self, seal: Mapping[str, Any]) -> None:
        if self._pin is None or self.chain.seals != self._pin.seal:
            return
        if (self.chain.last_digest, self.chain.sealed) != (self._pin.digest, self._pin.receipts):
            what = "the chain of seals is not the one of the checkpoint"
            self._findings.add("rewritten", self._tenant, what, seal=self._pin.seal)

    def _reach_pin(self) -> None:
        if self._pin is not None and self.chain.seals < self._pin.seal:
            what = f"the checkpoint knows seal {self._pin.seal}, and the chain ends with seal {self.chain.seals}"
            self._findings.add("cut_off", self._tenant, what, seal=self.chain.seals)

    def _note(self, kind: FindingKind, what: str, row: Row) -> None:
        self._findings.add(kind, self._tenant, what, position=row.get("position"), seal=row.get("number"))

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.chain, name) + number for name, number in more.items()}
        self.chain = replace(self.chain, **counts)


class Ahead:
    """Rows with a look at the next one."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next: Row | None = None

    def peek(self) -> Row | None:
        """The next row, which stays the next one."""
        if self._next is None:
            self._next = next(self._rows, None)
        return self._next

    def take(self) -> None:
        """Go on to the one after it."""
        self._next = None


def _object(text: Any) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _well_typed(row: Row) -> bool:
    return all(type(value) in TYPES.get(name, (str,)) for name, value in row.items())


def _taken(row: Row) -> int:
    """How many payloads an erasure says it took."""
    body = _object(row["payload"]) if row["type"] == ERASED else None
    taken = (body or {}).get("payloads", 0)
    return taken if type(taken) is int else 0
