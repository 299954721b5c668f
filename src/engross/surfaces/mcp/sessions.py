"""Sessions of the handshake era over HTTP: how many there may be, and when they end.

The SDK keeps what a session needs, and gives it to nobody but the credential that opened it. What it does not know is
seen to here, at the requests that come by: one caller does not take every place, a client that has vanished does not
keep its own for ever, and nobody listens longer than their credential is good.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from math import ceil

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engross.calls import Caller
from engross.replies import Failed, Invalid, codes
from engross.surfaces.desk import Desk

from .subscriptions import Hearing
from .window import Visit, whose

NUMBER = b"mcp-session-id"
LAST_EVENT = b"last-event-id"
RETRY_SECONDS = 60
"""When to come again if no place is known to become free."""

Seat = tuple[str, str]
"""Tenant and principal: who takes a place, whichever of their credentials they use."""


class Session:
    """A session that is open, and what its requests are doing."""

    def __init__(self, number: bytes, caller: Caller, scope: Scope) -> None:
        self.number = number
        self.owner = whose(caller)
        self.seat = seat_of(caller)
        self.running = 0
        """How many of its requests are under way; a stream that is open is one."""
        self.is_over = False
        """Is its credential no longer good?"""
        self.ending: asyncio.TimerHandle | None = None
        """Ends it when no request comes in time."""
        self._user: AuthenticatedUser = scope["user"]
        self._host = [one for one in scope["headers"] if one[0] == b"host"]

    def farewell(self) -> Scope:
        """The request with which its owner would end it."""
        return {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "path": "/",
            "query_string": b"",
            "headers": [*self._host, (NUMBER, self.number)],
            "user": self._user,
        }


class Answer:
    """An answer on its way out."""

    def __init__(self, send: Send, begun: Callable[[Answer], None] = lambda answer: None) -> None:
        """`begun` is called when it begins, before anybody hears of it."""
        self._send = send
        self._begun = begun
        self.status = 0
        self.number: bytes | None = None
        """The session that it says it belongs to."""
        self._has_ended = False

    @property
    def is_good(self) -> bool:
        """Was the request granted?"""
        return 0 < self.status < 400

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.number = dict(message["headers"]).get(NUMBER)
            self._begun(self)
        elif not message.get("more_body", False):
            self._has_ended = True
        await self._send(message)

    async def end(self) -> None:
        """End it in good order, if nobody has."""
        if self.status and not self._has_ended:
            await self({"type": "http.response.body", "body": b"", "more_body": False})


class Sessions:
    """Lets requests of the handshake era through to the SDK."""

    def __init__(self, desk: Desk, sdk: ASGIApp) -> None:
        self._desk = desk
        self._sdk = sdk
        settings = desk.office.settings
        self._most, self._most_each = settings.most_sessions, settings.most_sessions_each
        self._seconds = settings.session_seconds
        self._open: dict[bytes, Session] = {}
        self._taken: Counter[Seat] = Counter()
        self._listening: set[asyncio.Event] = set()
        self._farewells: dict[bytes, asyncio.Task[None]] = {}

    async def handle(self, caller: Caller, number: bytes | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that names a session, or opens one; Coded, and nothing sent, if that cannot be."""
        if number is None:
            await self._begin(caller, scope, receive, send)
            return
        session = self._open.get(number)
        if session is None or session.owner != whose(caller):
            if (farewell := self._farewells.get(number)) is not None:
                await asyncio.wait([farewell])
            # The SDK says that it is not there, and says the same of a session that is somebody else's.
            await self._sdk(scope, receive, send)
            return
        self._resume(session)
        answer = Answer(send)
        try:
            if scope["method"] == "GET":
                await self._listen(session, caller, scope, receive, answer)
            else:
                await self._sdk(scope, receive, answer)
            if answer.status == 404 or (scope["method"] == "DELETE" and answer.is_good):
                self._forget(session)
        finally:
            self._pause(session)

    def end_streams(self) -> None:
        """Let nobody listen any longer."""
        for over in self._listening:
            over.set()

    def close(self) -> None:
        """The SDK ends all sessions: nothing is left to do for them."""
        for session in list(self._open.values()):
            self._forget(session)
        for farewell in list(self._farewells.values()):
            farewell.cancel()

    async def _begin(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through that may open a session: then it is known before its client can use it."""
        seat = seat_of(caller)
        self._require_place(seat)
        self._taken[seat] += 1
        opened: list[Session] = []

        def begun(answer: Answer) -> None:
            if answer.is_good and answer.number is not None and answer.number not in self._open:
                session = self._open[answer.number] = Session(answer.number, caller, scope)
                self._resume(session)
                opened.append(session)

        try:
            await self._sdk(scope, receive, Answer(send, begun))
        except BaseException:
            # The SDK has given it up as well.
            for session in opened:
                self._forget(session)
            raise
        finally:
            if not opened:
                self._free(seat)
            for session in opened:
                self._pause(session)

    async def _listen(self, session: Session, caller: Caller, scope: Scope, receive: Receive, answer: Answer) -> None:
        """Let a client listen until its credential is no longer good, whichever process took that away."""
        over = asyncio.Event()
        try:
            hearing = await Hearing.begun(Visit(self._desk, caller, "mcp-http", {}), {})
        except MCPError:
            raise Invalid(codes.AUTH_INVALID) from None

        def end() -> None:
            session.is_over = True
            over.set()

        hearing.when_revoked = end
        self._listening.add(over)
        # Nothing is kept to be told again, and the SDK would leave whoever asks for that without an answer.
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != LAST_EVENT]}
        try:
            await self._sdk(scope, _until(over, receive), answer)
            await answer.end()
        finally:
            self._listening.discard(over)
            hearing.end()

    def _resume(self, session: Session) -> None:
        session.running += 1
        if session.ending is not None:
            session.ending.cancel()
            session.ending = None

    def _pause(self, session: Session) -> None:
        """A request of a session is over. If it was the last one, the session waits for the next, but not for ever."""
        session.running -= 1
        if session.running or session.number not in self._open:
            return
        if session.is_over:
            self._end(session)
        else:
            session.ending = asyncio.get_running_loop().call_later(self._seconds, self._end, session)

    def _end(self, session: Session) -> None:
        self._forget(session)
        self._farewells[session.number] = asyncio.get_running_loop().create_task(self._part(session))

    async def _part(self, session: Session) -> None:
        try:
            await self._sdk(session.farewell(), _nothing, _unheard)
        finally:
            del self._farewells[session.number]

    def _forget(self, session: Session) -> None:
        if self._open.pop(session.number, None) is not None:
            self._free(session.seat)
        if session.ending is not None:
            session.ending.cancel()

    def _free(self, seat: Seat) -> None:
        self._taken[seat] -= 1
        if not self._taken[seat]:
            del self._taken[seat]

    def _require_place(self, seat: Seat) -> None:
        if self._taken[seat] >= self._most_each:
            raise _full(self._most_each, [one for one in self._open.values() if one.seat == seat])
        if self._taken.total() >= self._most:
            raise _full(self._most, self._open.values())


def seat_of(caller: Caller) -> Seat:
    """Whose place a session of this caller's takes."""
    return caller.tenant, caller.principal.id


def _full(limit: int, sessions: Iterable[Session]) -> Failed:
    """No place is free, and when there may be one."""
    now = asyncio.get_running_loop().time()
    ends = [one.ending.when() - now for one in sessions if one.ending is not None]
    wait = max(1, ceil(min(ends, default=RETRY_SECONDS)))
    hint = "End sessions that are no longer needed, with DELETE; one that is not used ends by itself."
    return Failed(codes.OFFICE_BUSY, data={"retry_after_seconds": wait, "most_sessions": limit, "hint": hint})


def _until(over: asyncio.Event, receive: Receive) -> Receive:
    """What comes from the client, and its end when this is over."""

    async def received() -> Message:
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(over.wait())
        try:
            await asyncio.wait((coming, ending), return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else {"type": "http.disconnect"}
        finally:
            coming.cancel()
            ending.cancel()

    return received


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    """Nobody waits for this answer."""
