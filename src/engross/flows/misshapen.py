"""Arguments that do not have the shape of their flow, and the part of them that does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engross.replies import Invalid, Issue

from .checked import Checked
from .controls import NO_CONTROLS, Controls
from .fault import Path
from .pointer import pointer


class Remainder(NamedTuple):
    """What is left of a call without the places that were refused."""

    checked: Checked
    told: frozenset[str]
    """The fields that something was said about: whoever looks on need not miss them."""
    places: tuple[str, ...]


class Misshapen(Invalid):
    """The refusal of a call's shape, and what is left to look at, where that can be told apart."""

    rest: Remainder | None = None
    controls: Controls = NO_CONTROLS
    """Those that fit, and the reason in any case: policies ask whether there is one."""

    def joined(self, more: Iterable[Issue]) -> Invalid:
        """The same refusal, with what else is wrong; about a place that was refused already, nothing is added."""
        places = self.rest.places if self.rest else ()
        return Invalid.many([*self.issues, *(issue for issue in more if not _is_told(issue, places))], data=self.data)


def remainder(arguments: Mapping[str, Any], paths: Iterable[Path]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments without what is at these paths, and the pointers to it.

    A list goes as a whole: what stands behind a missing item would get another place.
    """
    left = dict(arguments)
    cut = [_up_to_a_list(path) for path in paths]
    for path in cut:
        _take_out(left, path)
    return left, tuple(dict.fromkeys(pointer(path) for path in cut))


def _up_to_a_list(path: Path) -> Path:
    first = next((index for index, step in enumerate(path) if isinstance(step, int)), len(path))
    return path[:first]


def _take_out(left: dict[str, Any], path: Path) -> None:
    around: Any = left
    for step in path[:-1]:
        if not isinstance(around.get(step), dict):
            return
        # The caller's own objects stay as they are.
        around[step] = around = dict(around[step])
    if path:
        around.pop(path[-1], None)


def _is_told(issue: Issue, places: Iterable[str]) -> bool:
    return any(issue.pointer == place or issue.pointer.startswith(f"{place}/") for place in places)
