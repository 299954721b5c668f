"""What every served surface stands at: an office, which of its tools are offered, and who watches the calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from engross.calls import Caller, Surface
from engross.flows import Catalogue, Flow, Tool
from engross.office import Office, Request
from engross.replies import Reply

NOT_BY_DEFAULT = frozenset({"review", "legacy"})
"""Toolsets that are listed only when somebody names them."""
HIDDEN = frozenset({"legacy"})
"""Toolsets that are not even found before somebody names them."""

Observer = Callable[[Request], Callable[[Reply], None]]
"""Called when a call begins; what it gives back is called with the Reply."""


class Desk:
    """Offers an office's flows to callers. What a caller may use is the policy's word, not the desk's."""

    def __init__(
        self, office: Office, *, toolsets: Collection[str] | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """`toolsets` names those to list; by default all but `review` and `legacy`."""
        self.office = office
        self.observers = list(observers)
        self._listed = frozenset(_default(office.catalogue) if toolsets is None else toolsets)
        self._found = frozenset(office.catalogue.toolsets) - HIDDEN | self._listed

    @property
    def catalogue(self) -> Catalogue:
        """All flows and tools of the office."""
        return self.office.catalogue

    def tools(self, caller: Caller, surface: Surface) -> list[Tool]:
        """The tools to list for this caller."""
        return [tool for tool in self.catalogue.tools(self._listed) if self._may(caller, tool.flow, surface)]

    def reachable(self, caller: Caller, surface: Surface) -> Iterator[Tool]:
        """Every tool that this caller can use, listed or not."""
        return (tool for tool in self.catalogue.tools(self._found) if self._may(caller, tool.flow, surface))

    async def call(self, caller: Caller, flow: str, arguments: Any, surface: Surface, **options: Any) -> Reply:
        """Call a flow as this caller. Options are those of `Request`."""
        request = Request(flow, arguments, caller.tenant, caller.principal, surface=surface, **options)
        ends = [observe(request) for observe in self.observers]
        answer = await self.office.acall(request)
        for end in ends:
            end(answer)
        return answer

    def _may(self, caller: Caller, flow: Flow, surface: Surface) -> bool:
        return self.office.may_call(caller, flow, surface)


def _default(catalogue: Catalogue) -> set[str]:
    return set(catalogue.toolsets) - NOT_BY_DEFAULT
