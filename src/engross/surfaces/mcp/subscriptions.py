"""Hearing of changes: of a record, of a proposal's decision, of what is offered.

A client of the handshake era subscribes to addresses and is notified as long as its session lasts; one of the later era
opens a stream and listens. Both hear of what the feed of their tenant finds, and of nothing any more once their
credential is revoked, which the feed tells as well. Whoever cannot read what is at an address does not hear of it: it
is read as the caller when they subscribe, and again before anything is told.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from engross.flows import Catalogue, Found, Topic
from engross.office import Change
from engross.replies import Reply, codes

from .logs import connection_of
from .protocol import failed, unknown_resource
from .resources import not_read
from .window import RequestContext, Visit, Window

MOST_STREAMS = 1024
MOST_STREAMS_EACH = 128
"""So that nobody takes all of them."""
MOST_ADDRESSES = 1000
TOKENS = "door"
_KEPT = "engross.subscriptions"
_LISTS: tuple[ServerEvent, ...] = (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged())

_log = logging.getLogger("engross.subscriptions")

Topics = dict[str, Topic | None]
"""Whose facts change what is at an address; None when nothing does."""


class Subscriptions:
    """What the requests about subscriptions answer."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._streams: set[ListenHandler] = set()
        self._streams_of: Counter[tuple[str, str]] = Counter()

    async def subscribe(self, context: RequestContext, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/subscribe` of the handshake era."""
        visit = self._window.visit(context)
        found = visit.desk.resource(visit.caller, params.uri, visit.surface)
        if found is None:
            raise unknown_resource(context, params.uri)
        answer = await _read(visit, found)
        if not answer.ok:
            raise not_read(context, params.uri, answer)
        subscriber = await self._subscriber(context, visit)
        if len(subscriber.topics) >= MOST_ADDRESSES:
            raise MCPError(INVALID_PARAMS, "Too many subscriptions")
        subscriber.topics[params.uri] = found.topic
        return types.EmptyResult()

    async def unsubscribe(self, context: RequestContext, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/unsubscribe` of the handshake era."""
        subscriber: Subscriber | None = connection_of(context).state.get(_KEPT)
        if subscriber is not None:
            subscriber.topics.pop(params.uri, None)
        return types.EmptyResult()

    async def listen(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Answer `subscriptions/listen` of the later era; what cannot be read is not acknowledged."""
        visit = self._window.visit(context)
        whose = (visit.caller.tenant, visit.caller.principal.id)
        if len(self._streams) >= MOST_STREAMS or self._streams_of[whose] >= MOST_STREAMS_EACH:
            raise MCPError(INTERNAL_ERROR, "Subscription limit reached")
        wanted = (params.notifications.resource_subscriptions or [])[:MOST_ADDRESSES]
        hearing = await Hearing.begun(visit, await _topics(visit, wanted))
        hearing.follow(visit.desk.catalogue)
        stream = ListenHandler(hearing)
        hearing.when_revoked = stream.close
        self._streams.add(stream)
        self._streams_of[whose] += 1
        try:
            honoured = params.notifications.model_copy(update={"resource_subscriptions": list(hearing.topics)})
            return await stream(context, types.SubscriptionsListenRequestParams(notifications=honoured))
        finally:
            self._streams.discard(stream)
            self._streams_of[whose] -= 1
            if not self._streams_of[whose]:
                del self._streams_of[whose]
            hearing.end()

    def close(self) -> None:
        """End every stream, and say so to those who listen."""
        for stream in list(self._streams):
            stream.close()

    async def _subscriber(self, context: RequestContext, visit: Visit) -> Subscriber:
        connection = connection_of(context)
        subscriber: Subscriber | None = connection.state.get(_KEPT)
        if subscriber is None:
            subscriber = connection.state[_KEPT] = Subscriber(context)
            connection.exit_stack.callback(subscriber.end)
        await subscriber.listen(visit)
        return subscriber


class Hearing:
    """A listener of the feed, on an event loop; to the SDK, a bus that carries what this caller wants to hear."""

    def __init__(self, visit: Visit, topics: Topics) -> None:
        self.topics = topics
        self.when_revoked: Callable[[], None] = lambda: None
        self._visit = visit
        self._revocation = visit.desk.office.door.revocation(visit.caller)
        self._is_over = False
        self._has_ended = False
        self._loop = asyncio.get_running_loop()
        self._deliver: Callable[[ServerEvent], None] | None = None
        self._early: list[ServerEvent] = []
        self._news: dict[str, None] = {}
        """The addresses of which there is something to tell, in order."""
        self._telling: asyncio.Task[None] | None = None
        self._leave: Callable[[], None] = lambda: None
        self._leave_lists: Callable[[], None] = lambda: None
        self._ending: asyncio.TimerHandle | None = None

    @classmethod
    async def begun(cls, visit: Visit, topics: Topics) -> Hearing:
        """Listen from now on: what is committed after this is heard."""
        office = visit.desk.office
        hearing = cls(visit, topics)
        feed = office.feed
        beginning = asyncio.ensure_future(asyncio.to_thread(feed.listen, visit.caller.tenant, hearing._heard))
        try:
            hearing._leave = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            # The thread goes on all the same: what it begins must not be left listening for nobody.
            beginning.add_done_callback(lambda begun: begun.exception() or begun.result()())
            raise
        if visit.caller.until is not None:
            hearing._ending = hearing._loop.call_later(max(0.0, visit.caller.until - time.time()), hearing._revoked)
        if not await office.door.is_good(visit.caller) or hearing._is_over:
            # It was taken away between being let in and beginning to listen: nothing would tell of that any more.
            hearing.end()
            raise MCPError(INTERNAL_ERROR, "The credential is no longer accepted")
        return hearing

    def follow(self, catalogue: Catalogue) -> None:
        """Hear of changed lists as well."""
        self._leave_lists = catalogue.when_replaced(lambda: self._on_the_loop(lambda: self._arrived(_LISTS)))

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Deliver events to this listener, those that came before it too."""
        self._deliver = listener
        for event in self._early:
            listener(event)
        return self.end

    async def publish(self, event: ServerEvent) -> None:
        """Deliver an event of our own making."""
        self._arrived([event])

    def end(self) -> None:
        """Hear no more."""
        self._has_ended = True
        self._deliver = None
        if self._telling is not None:
            self._telling.cancel()
        self._leave()
        self._leave_lists()
        if self._ending is not None:
            self._ending.cancel()

    def _heard(self, change: Change) -> None:
        """On the feed's thread."""
        if (change.aggregate, change.subject) == self._revocation:
            self._on_the_loop(self._revoked)
            return
        if change.aggregate == TOKENS:
            # What the ledger says about tokens is not for an agent's channel, not even that there is something.
            return
        topics = list(self.topics.items())
        uris = [uri for uri, topic in topics if topic and topic.covers(change.aggregate, change.subject)]
        if uris:
            self._on_the_loop(lambda: self._changed(uris))

    def _on_the_loop(self, act: Callable[[], None]) -> None:
        # A loop that has ended takes nobody's news.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act)

    def _changed(self, uris: Iterable[str]) -> None:
        self._news.update(dict.fromkeys(uris))
        if not self._has_ended and (self._telling is None or self._telling.done()):
            self._telling = self._loop.create_task(self._tell())

    async def _tell(self) -> None:
        """Tell the news, each address once for all that happened there before it was read."""
        while self._news:
            uri = next(iter(self._news))
            del self._news[uri]
            if await self._is_readable(uri):
                self._arrived([ResourceUpdated(uri)])

    async def _is_readable(self, uri: str) -> bool:
        """Would this caller still be answered? What was removed, or taken out of their sight, is no news to them."""
        visit = self._visit
        try:
            found = visit.desk.resource(visit.caller, uri, visit.surface)
            return found is not None and (await _read(visit, found, is_counted=False)).ok
        except Exception as failure:
            _log.warning("what changed cannot be read: %s", type(failure).__name__)
            return False

    def _revoked(self) -> None:
        self._is_over = True
        self.end()
        self.when_revoked()

    def _arrived(self, events: Iterable[ServerEvent]) -> None:
        for event in events:
            if self._deliver is None:
                self._early.append(event)
            else:
                self._deliver(event)


class Subscriber:
    """A session of the handshake era that wants to be notified."""

    def __init__(self, context: RequestContext) -> None:
        self.topics: Topics = {}
        self._hearing: Hearing | None = None
        self._beginning = asyncio.Lock()
        self._session = context.session
        self._sending: set[asyncio.Task[Any]] = set()

    async def listen(self, visit: Visit) -> None:
        """Begin to listen, once."""
        async with self._beginning:
            if self._hearing is None:
                self._hearing = await Hearing.begun(visit, self.topics)
                self._hearing.subscribe(self.notify)

    def notify(self, event: ServerEvent) -> None:
        """Send one notification, in its own time."""
        assert isinstance(event, ResourceUpdated)
        if event.uri in self.topics:
            task = asyncio.get_running_loop().create_task(self._send(event.uri))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    def end(self) -> None:
        """The session is over."""
        if self._hearing is not None:
            self._hearing.end()
        for task in self._sending:
            task.cancel()

    async def _send(self, uri: str) -> None:
        # A client that has gone hears nothing more.
        with suppress(Exception):
            await self._session.send_resource_updated(uri)


async def _topics(visit: Visit, uris: Iterable[str]) -> Topics:
    """Those of the addresses that this caller can read. However many there are, they count as one read of each flow."""
    topics: Topics = {}
    counted: set[str] = set()
    for uri in dict.fromkeys(uris):
        found = visit.desk.resource(visit.caller, uri, visit.surface)
        if found is None:
            continue
        answer = await _read(visit, found, is_counted=found.flow.ref not in counted)
        counted.add(found.flow.ref)
        if answer.code == codes.RATE_LIMIT_EXCEEDED:
            raise failed(answer)
        if answer.ok:
            topics[uri] = found.topic
    return topics


async def _read(visit: Visit, found: Found, *, is_counted: bool = True) -> Reply:
    return await visit.call(found.flow.ref, found.arguments, is_counted=is_counted)
