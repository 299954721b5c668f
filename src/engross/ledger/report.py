"""What a verification found, what it counted, and what it could not know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

from .checkpoint import Checkpoint, Pin

FindingKind = Literal[
    "receipt_altered",
    "receipt_moved",
    "facts_differ",
    "fact_unclaimed",
    "payload_altered",
    "payload_missing",
    "payload_back",
    "version_gap",
    "seal_altered",
    "seal_missing",
    "seal_unsigned",
    "seal_by_other_key",
    "chain_broken",
    "receipts_differ",
    "cut_off",
    "rewritten",
    "out_of_order",
    "unreadable",
]
UnknownKind = Literal[
    "cut_off_tail",
    "tail_since_checkpoint",
    "unsealed_receipts",
    "handed_over",
    "own_key_unused",
    "key_from_store",
]
KeySource = Literal["given", "checkpoint", "store"]
MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cannot be, if nobody tampered with the ledger."""

    kind: FindingKind
    tenant: str | None
    what: str
    position: int | None = None
    seal: int | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that this verification could not decide."""

    kind: UnknownKind
    what: str


@dataclass(frozen=True, slots=True)
class Tenure:
    """A key, and the seals that were made with it until another key took over."""

    public_key: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Chain:
    """One tenant's part of the ledger, counted. `sealed` and `unsealed` are receipts."""

    receipts: int = 0
    facts: int = 0
    erased: int = 0
    seals: int = 0
    sealed: int = 0
    unsealed: int = 0
    last_digest: str | None = None
    keys: tuple[Tenure, ...] = ()


class Findings:
    """Findings as they come: the first thousand in full, the others counted."""

    def __init__(self) -> None:
        self.listed: list[Finding] = []
        self.unlisted = 0

    def add(
        self,
        kind: FindingKind,
        tenant: str | None,
        what: str,
        *,
        position: object = None,
        seal: object = None,
    ) -> None:
        """Note a finding. A place that is no number is not a place."""
        if len(self.listed) >= MOST_LISTED:
            self.unlisted += 1
            return
        at = position if isinstance(position, int) else None
        number = seal if isinstance(seal, int) else None
        self.listed.append(Finding(kind, tenant, what, at, number))


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one verification."""

    findings: tuple[Finding, ...]
    unlisted_findings: int
    unknown: tuple[Unknown, ...]
    chains: Mapping[str, Chain]
    public_key: str | None
    key_source: KeySource | None

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def total(self) -> Chain:
        """The counts of all tenants together."""
        names = ("receipts", "facts", "erased", "seals", "sealed", "unsealed")
        return Chain(**{name: sum(getattr(chain, name) for chain in self.chains.values()) for name in names})

    def checkpoint(self) -> Checkpoint:
        """What to keep elsewhere, so that the next verification can tell whether anything was cut off."""
        if not self.ok or self.public_key is None:
            raise ValueError("only a ledger that verifies, and has a seal, makes a checkpoint")
        pins = {
            tenant: Pin(chain.seals, chain.last_digest, chain.sealed, chain.keys[-1].public_key)
            for tenant, chain in self.chains.items()
            if chain.last_digest is not None
        }
        return Checkpoint(MappingProxyType(pins))

    def as_data(self) -> dict[str, Any]:
        """The report as plain data."""
        total = asdict(self.total)
        del total["last_digest"], total["keys"]
        return {
            "verified": self.ok,
            "findings": [asdict(finding) for finding in self.findings],
            "unlisted_findings": self.unlisted_findings,
            "unknown": [asdict(unknown) for unknown in self.unknown],
            "counts": total,
            "tenants": {
                tenant: {**asdict(chain), "keys": [asdict(tenure) for tenure in chain.keys]}
                for tenant, chain in self.chains.items()
            },
            "public_key": self.public_key,
            "key_source": self.key_source,
        }
