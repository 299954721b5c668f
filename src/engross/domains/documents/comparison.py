"""Two texts side by side: what differs, as a unified diff; and which lines of one come from the other.

Lines that stand once in each text are the landmarks. Between them the search goes on with what is unique there, and
small gaps are searched line by line. A gap that would take too long is taken for wholly different: the time is bounded
by the length of the texts, whatever they hold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

MOST_CHARACTERS = 200_000
MOST_STEPS = 4_000_000
SMALL = 40_000
AROUND = 3
CUT = "... (the rest of the difference is left out)\n"
NO_NEWLINE = "\n\\ No newline at end of file"


class Run(NamedTuple):
    """So many lines that stand in both texts, and where they begin in the old and in the new one."""

    old: int
    new: int
    size: int


class Change(NamedTuple):
    """Lines of the old text, and those of the new one in their place."""

    old: int
    old_end: int
    new: int
    new_end: int


def unified(before: bytes | None, after: bytes | None, name: str, most: int = MOST_CHARACTERS) -> str:
    """The unified diff of two contents; None stands for no file. Nothing where they are the same."""
    if before == after:
        return ""
    told = [
        f"--- {name if before is not None else '/dev/null'}\n",
        f"+++ {name if after is not None else '/dev/null'}\n",
    ]
    size = 0
    for line in _hunks(_ended(before), _ended(after)):
        size += len(line)
        if size > most:
            told.append(CUT)
            break
        told.append(line)
    return "".join(told)


def lines_of(content: bytes | None) -> list[str]:
    """The lines of a content. A carriage return stays part of its line, so that it shows."""
    lines = (content or b"").decode("utf-8", "replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """What both texts have, in order."""
    return _Search(old, new).runs()


class _Search:
    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._steps = MOST_STEPS
        self._found: list[Run] = []

    def runs(self) -> list[Run]:
        gaps = [Change(0, len(self._old), 0, len(self._new))]
        while gaps:
            gaps += self._look_into(gaps.pop())
        return _joined(sorted(self._found))

    def _look_into(self, gap: Change) -> list[Change]:
        """Note what the ends of a gap have in common, and its landmarks; the gaps that are left between them."""
        gap = self._ends(gap)
        if gap.old == gap.old_end or gap.new == gap.new_end:
            return []
        landmarks = self._landmarks(gap)
        if not landmarks:
            self._line_by_line(gap)
            return []
        self._found += [Run(old, new, 1) for old, new in landmarks]
        stones = [(gap.old - 1, gap.new - 1), *landmarks, (gap.old_end, gap.new_end)]
        return [Change(left[0] + 1, right[0], left[1] + 1, right[1]) for left, right in pairwise(stones)]

    def _ends(self, gap: Change) -> Change:
        old, old_end, new, new_end = gap
        while old < old_end and new < new_end and self._old[old] == self._new[new]:
            old, new = old + 1, new + 1
        while old < old_end and new < new_end and self._old[old_end - 1] == self._new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        self._found += [Run(gap.old, gap.new, old - gap.old)] if old > gap.old else []
        self._found += [Run(old_end, new_end, gap.old_end - old_end)] if old_end < gap.old_end else []
        return Change(old, old_end, new, new_end)

    def _landmarks(self, gap: Change) -> list[tuple[int, int]]:
        """Lines that stand once on either side, as many as keep their order."""
        once_old = _once(self._old, gap.old, gap.old_end)
        once_new = _once(self._new, gap.new, gap.new_end)
        pairs = [(place, once_new[line]) for line, place in once_old.items() if line in once_new]
        return _rising(pairs)

    def _line_by_line(self, gap: Change) -> None:
        """The longest common subsequence, if the gap is small and there is time left."""
        height, width = gap.old_end - gap.old, gap.new_end - gap.new
        if height * width > min(SMALL, self._steps):
            return
        self._steps -= height * width
        longest = [[0] * (width + 1) for _ in range(height + 1)]
        for row in range(height - 1, -1, -1):
            line, here, below = self._old[gap.old + row], longest[row], longest[row + 1]
            for column in range(width - 1, -1, -1):
                same = line == self._new[gap.new + column]
                here[column] = below[column + 1] + 1 if same else max(below[column], here[column + 1])
        row = column = 0
        while row < height and column < width:
            if self._old[gap.old + row] == self._new[gap.new + column]:
                self._found.append(Run(gap.old + row, gap.new + column, 1))
                row, column = row + 1, column + 1
            elif longest[row + 1][column] >= longest[row][column + 1]:
                row += 1
            else:
                column += 1


def _once(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(lines[start:end])
    return {lines[place]: place for place in range(start, end) if counts[lines[place]] == 1}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs in which the second places rise as well; the first ones do already."""
    tails: list[int] = []
    piles: list[int] = []
    before: list[int | None] = []
    for number, (_, new) in enumerate(pairs):
        pile = bisect_left(tails, new)
        before.append(piles[pile - 1] if pile else None)
        if pile == len(tails):
            tails.append(new)
            piles.append(number)
        else:
            tails[pile], piles[pile] = new, number
    rising: list[tuple[int, int]] = []
    at = piles[-1] if piles else None
    while at is not None:
        rising.append(pairs[at])
        at = before[at]
    return rising[::-1]


def _joined(found: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in found:
        last = joined[-1] if joined else None
        if last is not None and (last.old + last.size, last.new + last.size) == (run.old, run.new):
            joined[-1] = Run(last.old, last.new, last.size + run.size)
        else:
            joined.append(run)
    return joined


def _ended(content: bytes | None) -> list[str]:
    """The lines, the last of which shows that it has no end."""
    lines = lines_of(content)
    if lines and content and not content.endswith(b"\n"):
        lines[-1] += NO_NEWLINE
    return lines


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of the hunks: changes with what stands around them."""
    group: list[Change] = []
    for change in _changes(old, new):
        if group and change.old - group[-1].old_end > 2 * AROUND:
            yield from _hunk(old, new, group)
            group = []
        group.append(change)
    if group:
        yield from _hunk(old, new, group)


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    at_old = at_new = 0
    for run in [*runs(old, new), Run(len(old), len(new), 0)]:
        if at_old < run.old or at_new < run.new:
            yield Change(at_old, run.old, at_new, run.new)
        at_old, at_new = run.old + run.size, run.new + run.size


def _hunk(old: Sequence[str], new: Sequence[str], group: list[Change]) -> Iterator[str]:
    first, last = group[0], group[-1]
    begin, end = max(0, first.old - AROUND), min(len(old), last.old_end + AROUND)
    begin_new, end_new = begin + first.new - first.old, end + last.new_end - last.old_end
    yield f"@@ -{_range(begin, end)} +{_range(begin_new, end_new)} @@\n"
    at = begin
    for change in group:
        yield from (f" {line}\n" for line in old[at : change.old])
        yield from (f"-{line}\n" for line in old[change.old : change.old_end])
        yield from (f"+{line}\n" for line in new[change.new : change.new_end])
        at = change.old_end
    yield from (f" {line}\n" for line in old[at:end])


def _range(begin: int, end: int) -> str:
    size = end - begin
    return f"{begin + 1}" if size == 1 else f"{begin + (1 if size else 0)},{size}"
