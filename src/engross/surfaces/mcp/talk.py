"""The conversation that a call can have with the client that waits for it.

A client of the handshake era is asked by requests of our own, while the call waits. One of the later era is answered
with the questions, and sends the request again with its answers: the call then runs again from its beginning, and what
was answered in earlier rounds comes back with it, sealed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from threading import get_ident
from typing import Any, TypeAlias

import mcp_types as types

from engross.calls import CONVERSATION, Question, unanswered
from engross.calls.conversation import Level
from engross.replies import Reply

from .logs import wants
from .protocol import is_modern
from .questions import PATIENCE_SECONDS, Answers, put
from .state import State
from .window import RequestContext

BEAT_SECONDS = 1.0
LOGGER = "engross"

_Said: TypeAlias = tuple[float, float | None, str | None] | types.LoggingMessageNotification


class Talk:
    """One call's conversation."""

    def __init__(self, context: RequestContext, state: State) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._is_modern = is_modern(context)
        self._speaking: asyncio.Task[None] | None = None
        self._words: asyncio.Queue[_Said | None] = asyncio.Queue()
        self._has_reported = False
        self._is_over = False
        self._relays: list[Future[Answers]] = []
        self._state = state
        self.asked: Mapping[str, Question] | None = None
        """What the call cannot go on without, when the client is to send the request again."""
        self.lacking: list[str] = []
        """What the client would have to be capable of for the call to go on."""

    async def during(self, call: Awaitable[Reply]) -> Reply:
        """Wait for a call, and pass on meanwhile what it says."""
        token = CONVERSATION.set(self)
        if (self._context.meta or {}).get("progress_token") is not None:
            self._speak()
        try:
            return await call
        finally:
            CONVERSATION.reset(token)
            await self._fall_silent()

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Pass on how far the call is."""
        self._has_reported = True
        self._say((done, total, message))

    def remark(self, data: Any, level: Level) -> None:
        """Pass on something worth knowing, if the client wants to know such things."""
        if wants(self._context, level):
            params = types.LoggingMessageNotificationParams(level=level, data=data, logger=LOGGER)
            self._say(types.LoggingMessageNotification(params=params))

    def can_ask(self, means: str) -> bool:
        """Did the client say that it answers such questions, and is there a way to put them?"""
        offered = self._context.session.client_capabilities
        if offered is None or not (self._is_modern or self._context.session.can_send_request):
            return False
        if means == "elicitation":
            return can_fill_forms(offered)
        return getattr(offered, means) is not None

    def ask(self, questions: Mapping[str, Question]) -> Answers:
        """The answers; in the later era only once the client has sent them."""
        answers = {
            name: answer
            for name, question in questions.items()
            if (answer := self._state.answer(name, question)) is not None
        }
        missing = {name: question for name, question in questions.items() if name not in answers}
        if not missing:
            return answers
        self.lacking = [question.means for question in missing.values() if not self.can_ask(question.means)]
        if self.lacking:
            raise unanswered(missing)
        if self._is_modern:
            self.asked = missing
            raise unanswered(missing)
        return {**answers, **self._relayed(missing)}

    def _relayed(self, questions: Mapping[str, Question]) -> Answers:
        if get_ident() == self._thread:
            # On the loop's own thread, waiting for the answer would keep it from coming.
            raise unanswered(questions)
        waiting = asyncio.run_coroutine_threadsafe(self._relay(questions), self._loop)
        self._relays.append(waiting)
        try:
            return waiting.result(PATIENCE_SECONDS)
        except Exception:
            waiting.cancel()
            raise unanswered(questions) from None

    async def _relay(self, questions: Mapping[str, Question]) -> Answers:
        return {name: await put(self._context, question) for name, question in questions.items()}

    def _say(self, said: _Said) -> None:
        # From whichever thread: only the loop's own may touch the stream.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._said, said)

    def _said(self, said: _Said) -> None:
        if not self._is_over:
            self._speak()
            self._words.put_nowait(said)

    def _speak(self) -> None:
        if self._speaking is None:
            self._speaking = self._loop.create_task(self._pass_on())

    async def _fall_silent(self) -> None:
        """Pass on what was said, and nothing after that. Whoever still waits for an answer need not wait any longer."""
        self._is_over = True
        for waiting in self._relays:
            waiting.cancel()
        if self._speaking is not None:
            self._words.put_nowait(None)
            # A client that has gone hears nothing more; the call's outcome does not depend on it.
            with suppress(Exception):
                await self._speaking

    async def _pass_on(self) -> None:
        for beat in count(1):
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    said = await self._words.get()
            except TimeoutError:
                # A flow that speaks for itself is not spoken for: progress may only ever grow.
                if not self._has_reported:
                    await self._context.session.report_progress(beat, None, "still running")
                continue
            if said is None:
                return
            if isinstance(said, types.LoggingMessageNotification):
                await self._context.session.send_notification(said, self._context.request_id)
            else:
                await self._context.session.report_progress(*said)


def can_fill_forms(offered: types.ClientCapabilities) -> bool:
    """Can the person at this client be shown a form? A client that names no mode means this one."""
    means = offered.elicitation
    return means is not None and (means.form is not None or means.url is None)
