"""Random bytes, fetched from the system for many draws at once: each trip there costs as much as a digest."""

from __future__ import annotations

import os

LARGEST = 24
AT_ONCE = 256
_pool: list[bytes] = []


def drawn(count: int) -> bytes:
    """So many random bytes, at most 24. No two draws share any."""
    try:
        piece = _pool.pop()
    except IndexError:
        block = os.urandom(LARGEST * AT_ONCE)
        _pool.extend(block[start : start + LARGEST] for start in range(LARGEST, len(block), LARGEST))
        piece = block[:LARGEST]
    return piece[:count]


# A process that is split in two must not draw the same in both.
os.register_at_fork(after_in_child=_pool.clear)
