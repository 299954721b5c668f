"""Every flow at an address of its own: POST with its arguments as JSON, and GET as well where nothing is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

from starlette.types import Receive, Scope, Send

from engross.calls import Caller
from engross.flows import Flow, shortened
from engross.flows.pointer import pointer
from engross.replies import Coded, Invalid, Issue, Reply, codes
from engross.surfaces.desk import Desk

from .answers import form_of, send_empty, send_reply
from .arguments import from_query, with_headers
from .asked import Asked, Fields, take_dry_run
from .body import ClientGone, collected, read_json
from .etags import State, content_tag, is_known, state_tag

READING = ("GET", "HEAD")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "POST")
WRITE_METHODS = ("OPTIONS", "POST")
REVALIDATED = "private, no-cache"


class Calls:
    """The ASGI endpoint of all flows."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._desk = desk
        self._base = base_url
        self._settings = desk.office.settings
        self._catalogue = desk.catalogue
        self._edition = -1
        self._flows: dict[str, Flow] = {}
        self._addresses: dict[str, Flow] = {}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Answer one request to the address of a flow, or to one that looks like it."""
        place = scope["path_params"]
        ref = f"{place['namespace']}.{place['flow']}"
        return self.answer(scope, receive, send, ref, self._known().get(ref))

    async def answer(self, scope: Scope, receive: Receive, send: Send, ref: str, flow: Flow | None) -> None:
        """Answer one request to a flow, if there is one of that name."""
        asked = Asked(scope)
        caller: Caller = scope["state"]["caller"]
        if asked.method == "OPTIONS" and flow is not None:
            await send_empty(send, 204, {"allow": ", ".join(methods_of(flow))})
            return
        trace = asked.trace
        options: dict[str, Any] = {}
        arguments: Any = None
        try:
            flow = flow or self._desk.catalogue.flow(ref, self._desk.hidden)
            if asked.method != "POST":
                refuse_method(asked.method, methods_of(flow))
            options = asked.options(flow, self._settings.call_seconds)
            if asked.body is None and asked.method not in READING:
                await self._collect(asked, receive)
            arguments = self._arguments(asked, flow, options)
        except Coded as refusal:
            answer = self._desk.refuse(caller, ref, "rest", refusal, **trace)
        except ClientGone:
            return
        else:
            answer = await self._desk.call(caller, ref, arguments, "rest", **trace, **options)
        stands = flow is not None and will_stand(flow, arguments, options)
        await self._answered(scope, send, asked, flow, answer, stands=stands)

    def at(self, path: str) -> Flow | None:
        """The flow whose address this is."""
        self._known()
        return self._addresses.get(path)

    def dialect_of(self, namespace: str, flow: str) -> str:
        """In which dialect a flow answers; one that is not there, in that of its neighbours."""
        known = self._known().get(f"{namespace}.{flow}")
        if known is not None:
            return known.dialect
        return next((one.dialect for one in self._flows.values() if one.aggregate.namespace == namespace), "plain")

    def _known(self) -> dict[str, Flow]:
        if self._edition != self._catalogue.edition:
            self._edition = self._catalogue.edition
            self._flows = {flow.ref: flow for flow in self._desk.flows}
            self._addresses = {f"/v1/{flow.aggregate.namespace}/{flow.name}": flow for flow in self._flows.values()}
        return self._flows

    def _arguments(self, asked: Asked, flow: Flow, options: dict[str, Any]) -> Any:
        if asked.method in READING:
            own = flow.published["properties"]
            arguments: Any = from_query(take_dry_run(asked.fields, options, own), flow.published)
        else:
            if fields := asked.fields:
                refuse_fields(take_dry_run(fields, options))
            arguments = self._said(asked)
        return with_headers(arguments, asked, flow)

    async def _collect(self, asked: Asked, receive: Receive) -> None:
        """Wait for a body that did not come along with the head."""
        asked.body = await collected(asked, receive, self._settings.most_body_bytes, self._settings.body_seconds)

    def _said(self, asked: Asked) -> Any:
        """What the body says, once it is there."""
        return read_json(asked, asked.body or b"", self._settings.most_body_bytes)

    def _answered(
        self, scope: Scope, send: Send, asked: Asked, flow: Flow | None, answer: Reply, *, stands: bool
    ) -> Awaitable[None]:
        """Send the answer; what does not stand, for it is tried or drafted, has no tag that a write could take."""
        headers = {}
        if flow is not None and answer.ok:
            reading, state = asked.method in READING, flow.state_in(answer.data) if stands else None
            tag = content_tag(answer.data, form_of(scope), state) if reading else _written_tag(flow, answer, state)
            if tag is not None:
                headers["etag"] = tag
            if reading:
                headers["cache-control"] = REVALIDATED
                if_none_match = asked.header(b"if-none-match")
                if if_none_match is not None and is_known(headers["etag"], if_none_match):
                    return send_empty(send, 304, {**headers, "vary": "accept", "traceparent": answer.traceparent or ""})
        elif answer.code == codes.METHOD_NOT_ALLOWED:
            headers["allow"] = ", ".join(answer.data["allowed_methods"])
        return send_reply(
            scope,
            send,
            answer,
            dialect=self.dialect_of(**scope["path_params"]) if flow is None else flow.dialect,
            base=self._base,
            headers=headers,
            if_match=b"if-match" in asked.headers,
            by_address=flow is None,
        )


def methods_of(flow: Flow) -> tuple[str, ...]:
    """How a flow can be called."""
    return SAFE_METHODS if flow.semantics.safe else WRITE_METHODS


def refuse_method(method: str, allowed: tuple[str, ...]) -> None:
    """Refuse a method that an address does not have."""
    if method not in allowed:
        data = {"allowed_methods": list(allowed)}
        raise Invalid(codes.METHOD_NOT_ALLOWED, {"method": shortened(method)}, data=data)


def refuse_fields(fields: Fields, known: tuple[str, ...] = ("dry_run",)) -> None:
    """Refuse fields of the query that nothing would look at."""
    unknown = dict.fromkeys(name for name, _ in fields)
    if unknown:
        raise Invalid.many(
            [
                Issue(
                    codes.UNKNOWN_FIELD,
                    {"field": shortened(name)},
                    pointer([shortened(name)]),
                    {"in": "query"},
                    {"allowed_fields": list(known), "hint": "Arguments go into the body."},
                )
                for name in unknown
            ][:100]
        )


def will_stand(flow: Flow, arguments: Any, options: Mapping[str, Any]) -> bool:
    """Is what a call shows so? Not in a dry run, nor in the draft of a proposal; one may be what a flow is about."""
    if options.get("dry_run", False):
        return False
    drafted = "proposal_id" in flow.controls and "proposal_id" not in flow.own_fields
    return not (drafted and isinstance(arguments, dict) and arguments.get("proposal_id") is not None)


def _written_tag(flow: Flow, answer: Reply, state: State) -> str | None:
    """What was proposed is not there yet, and what was deleted no more."""
    there = answer.http_status in (200, 201) and flow.effect != "delete"
    return state_tag(state) if there else None
