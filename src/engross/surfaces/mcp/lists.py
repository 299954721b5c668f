"""Telling a client of the handshake era that a list which it has read is another one by now.

What is offered changes under a running office when a document's new state is accepted. Clients of the later era open a
stream and listen there; these have a session, and hear of the lists that they asked for in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias, TypeVar

from engross.flows import Catalogue

from .logs import connection_of
from .protocol import is_modern
from .window import RequestContext

Kind: TypeAlias = Literal["tools", "prompts", "resources"]
Params = TypeVar("Params")
Listed = TypeVar("Listed")
_KEPT = "engross.lists"


def followed(
    kind: Kind, catalogue: Catalogue, listed: Callable[[RequestContext, Params], Awaitable[Listed]]
) -> Callable[[RequestContext, Params], Awaitable[Listed]]:
    """The answer to a request for a list; who reads it hears of the next one."""

    async def answer(context: RequestContext, params: Params) -> Listed:
        if not is_modern(context):
            _reader(context, catalogue).kinds.add(kind)
        return await listed(context, params)

    return answer


def _reader(context: RequestContext, catalogue: Catalogue) -> Reader:
    connection = connection_of(context)
    reader: Reader | None = connection.state.get(_KEPT)
    if reader is None:
        reader = connection.state[_KEPT] = Reader(context)
        connection.exit_stack.callback(catalogue.when_replaced(reader.changed))
    return reader


class Reader:
    """A session in which lists were read."""

    def __init__(self, context: RequestContext) -> None:
        self.kinds: set[Kind] = set()
        self._session = context.session
        self._loop = asyncio.get_running_loop()
        self._sending: set[asyncio.Task[Any]] = set()

    def changed(self) -> None:
        """What is offered has changed: on any thread."""
        # A loop that has ended takes nobody's news.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        for kind in sorted(self.kinds):
            task = self._loop.create_task(self._send(kind))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, kind: Kind) -> None:
        send = {
            "tools": self._session.send_tool_list_changed,
            "prompts": self._session.send_prompt_list_changed,
            "resources": self._session.send_resource_list_changed,
        }[kind]
        # A client that has gone hears nothing more.
        with suppress(Exception):
            await send()
