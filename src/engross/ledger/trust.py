"""Whose signature counts, and for which seals.

A chain may have seals of several keys, one after the other. The first seal of a key names the one that it takes over
from, and signs the digest of that one's last seal: so it vouches for all that was sealed before. Nobody signed for it
with the old key. A stretch of seals therefore holds if its key counts, or one that counts took over from it later on;
what comes behind the last key that counts does not hold, whatever it says of itself.

The keys that count are those that were named, by hand or by a checkpoint. If none was, the store is asked: the key of
the folder, and up to where it was restored the keys of the seals that were there then; else those of the first chain,
and of whoever shares a key with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .checkpoint import Checkpoint
from .keyring import Keyring
from .report import Chain, Findings, KeySource, Tenure, Unknown

Chains = Mapping[str, Chain]


class Trust:
    """The keys that count in one verification."""

    def __init__(self, given: Collection[str], checkpoint: Checkpoint | None, keyring: Keyring) -> None:
        known = [pin.public_key for pin in checkpoint.pins.values()] if checkpoint else []
        self.named = frozenset((*given, *known))
        self._first_choice = [*given][-1:] or known[:1]
        self._source: KeySource = "given" if given else "checkpoint" if known else "store"
        self._keyring = keyring

    def judge(self, chains: Chains, findings: Findings) -> None:
        """Note the seals at the end of each chain that no key that counts made or took over."""
        counting = self.named or self._counting_in_store(chains)
        for tenant, chain in chains.items():
            for tenure in _behind(chain, counting, self._restored_seals(tenant)):
                what = (
                    f"made with the key {tenure.public_key} up to seal {tenure.last}, and it is not a key that counts"
                )
                findings.add("seal_by_other_key", tenant, what, seal=tenure.first)

    def public_key(self, chains: Chains) -> str | None:
        """The key that newer seals should have."""
        newest = [chain.keys[-1].public_key for chain in chains.values() if chain.keys]
        if self._first_choice or not newest:
            return next(iter(self._first_choice), self._keyring.signer)
        return self._keyring.own if self._keyring.own in newest else newest[0]

    def source(self, chains: Chains) -> KeySource | None:
        """Where the key is from."""
        return None if self.public_key(chains) is None else self._source

    def unknown(self, chains: Chains) -> Iterator[Unknown]:
        """What cannot be known about the keys."""
        handed_over = sum(
            tenure.last - tenure.first + 1
            for chain in chains.values()
            for tenure in chain.keys[:-1]
            if tenure.public_key not in self.named
        )
        if handed_over:
            yield Unknown(
                "handed_over",
                f"{handed_over} seals were made with a key that another one took over from: that it was to do so, and"
                " what it found there, is said by the new key alone",
            )
        if self.source(chains) != "store":
            return
        own = self._keyring.own
        foreign = [tenant for tenant, chain in chains.items() if chain.keys and own not in _keys_of(chain)]
        if own is not None and foreign:
            told = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
            yield Unknown("own_key_unused", f"the folder's own key has signed nothing of {told} yet")
        yield Unknown(
            "key_from_store",
            "the key came from the store itself: whoever holds the store could have signed everything anew",
        )

    def _restored_seals(self, tenant: str) -> int:
        """How many seals were there when the office was restored. That they are the same is the pin's business."""
        if self.named or self._keyring.restored is None or tenant not in self._keyring.restored.pins:
            return 0
        return self._keyring.restored.pins[tenant].seal

    def _counting_in_store(self, chains: Chains) -> frozenset[str]:
        if self._keyring.signer is not None:
            return frozenset({self._keyring.signer})
        own = self._keyring.own
        # A folder whose key is new may hold seals of an older one; but nobody else took over from that.
        if own is not None and (self._keyring.restored or any(_concerns(own, chain) for chain in chains.values())):
            return frozenset({own})
        return _related([_keys_of(chain) for chain in chains.values() if chain.keys])


def _behind(chain: Chain, counting: frozenset[str], restored: int) -> list[Tenure]:
    """The stretches behind the last one that holds by itself."""
    last_ones: list[Tenure] = []
    for tenure in reversed(chain.keys):
        if tenure.public_key in counting or tenure.last <= restored:
            break
        last_ones.insert(0, tenure)
    return last_ones


def _concerns(own: str, chain: Chain) -> bool:
    return len(chain.keys) > 1 or own in _keys_of(chain)


def _keys_of(chain: Chain) -> frozenset[str]:
    return frozenset(tenure.public_key for tenure in chain.keys)


def _related(chains: list[frozenset[str]]) -> frozenset[str]:
    """The keys of the first chain, and of all that share one with it."""
    related = chains[0] if chains else frozenset()
    while more := [keys for keys in chains if keys & related and not keys <= related]:
        related = related.union(*more)
    return related
