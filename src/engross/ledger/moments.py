"""Which position of the ledger an instant stands for.

Receipts say when each commit was made. Positions are what a read goes by, and they only ever grow; times nearly do:
calls overtake each other, and clocks are set back. So an instant is looked up by halving, which asks for one receipt
per binary digit of the latest position, however long the ledger is. Where times are in order, it finds the last commit
at or before the instant. Where they are not, the instant falls between commits more than once, and one of these places
is found: which positions are looked at does not depend on how far the ledger has got, so that it stays the same place
as the ledger grows.
"""

from __future__ import annotations

from engross.store import Reading

from .receipts import Receipt, last_receipt, latest_receipts


def position_at(reading: Reading, time: str) -> int:
    """The position of the last commit at or before an instant; 0 where there is none."""
    latest = latest_receipts(reading, 1)
    end = latest[0].position if latest else 0
    passed = found = 0
    for digit in reversed(range(end.bit_length())):
        probe = passed + (1 << digit)
        if probe > end:
            continue
        last = last_receipt(reading, after=passed, upto=probe)
        if last is None or _time_of(last) <= time:
            passed = probe
            found = found if last is None else last.position
    return found


def settled_position(reading: Reading, asked: int | str, now: str) -> int | None:
    """The position that a caller means by one, or by an instant; None for what is yet to come.

    What is shown of the past must never change, so it can only be a position that is settled.
    """
    settled = reading.watermark()
    if isinstance(asked, int):
        return asked if asked <= settled else None
    return min(position_at(reading, asked), settled) if asked <= now else None


def _time_of(receipt: Receipt) -> str:
    return str(receipt.body["time"])
