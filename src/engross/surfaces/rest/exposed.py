"""Flows at addresses of their own, as documents expose them: `GET /shelf/items/{sku}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import unquote

from starlette.routing import Match
from starlette.routing import Route as StarletteRoute
from starlette.types import Receive, Scope, Send

from engross.calls import Caller
from engross.flows import Flow, Route, RouteField
from engross.replies import Coded, Invalid, codes
from engross.surfaces.desk import Desk

from .answers import refuse_address, send_empty, send_refusal
from .arguments import as_declared, from_query, with_headers
from .asked import Asked, Fields, take_dry_run
from .body import ClientGone
from .calls import Calls, refuse_fields, refuse_method, will_stand
from .skills import Skills

WITHOUT_BODY = ("GET", "HEAD", "DELETE")


class Place(NamedTuple):
    """What is at an address: the values in its path, and a route for each method."""

    values: Mapping[str, str]
    routes: Mapping[str, Route]
    is_looked_at: bool
    """Does its GET change nothing? A document may give one to a write, and nobody expects HEAD to be one."""

    @property
    def methods(self) -> tuple[str, ...]:
        """How it can be called."""
        more = ("HEAD",) if self.is_looked_at else ()
        return tuple(sorted({*self.routes, *more, "OPTIONS"}))


class Below(StarletteRoute):
    """Whatever lies below the namespaces that documents expose. All else is somebody else's."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._exposed = Exposed(desk, base_url)
        super().__init__("/{rest:path}", self._exposed, name="exposed")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Only what begins with such a namespace."""
        namespace = scope.get("path", "").lstrip("/").partition("/")[0]
        return super().matches(scope) if self._exposed.has(namespace) else (Match.NONE, {})


class Exposed(Calls):
    """The ASGI endpoint of everything that documents expose. Who is not admitted has no caller here."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        super().__init__(desk, base_url)
        self._skills = Skills(desk, base_url)
        self._map: dict[str, list[tuple[list[str], Route]]] = {}
        self._drawn = -1

    def has(self, namespace: str) -> bool:
        """Is anything exposed under this name?"""
        return namespace in self._routes() or namespace in self._skills.namespaces()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        namespace, _, below = scope["path"].lstrip("/").partition("/")
        if below.partition("/")[0] == "skills" and namespace in self._skills.namespaces():
            await self._skills(scope, receive, send)
            return
        asked = Asked(scope)
        try:
            place = self._place(scope)
        except Coded as refusal:
            await send_refusal(scope, send, refusal, self._base)
            return
        if asked.method == "OPTIONS":
            await send_empty(send, 204, {"allow": ", ".join(place.methods)})
            return
        await self._called(scope, receive, send, asked, place)

    async def _called(self, scope: Scope, receive: Receive, send: Send, asked: Asked, place: Place) -> None:
        caller: Caller = scope["state"]["caller"]
        route = place.routes.get("GET" if asked.method == "HEAD" else asked.method)
        ref = route.ref if route is not None else next(iter(place.routes.values())).ref
        flow = self._desk.catalogue.flow(ref)
        options: dict[str, Any] = {}
        arguments: Any = None
        try:
            refuse_method(asked.method, place.methods)
            assert route is not None
            options = asked.options(flow, self._settings.call_seconds)
            arguments = await self._given(asked, route, flow, receive, place.values, options)
        except Coded as refusal:
            answer = self._desk.refuse(caller, ref, "rest", refusal, **asked.trace)
        except ClientGone:
            return
        else:
            answer = await self._desk.call(caller, ref, arguments, "rest", **asked.trace, **options)
        await self._answered(scope, send, asked, flow, answer, stands=will_stand(flow, arguments, options))

    def _place(self, scope: Scope) -> Place:
        """What is meant by an address. Of several that fit, the one with the most fixed words."""
        segments = _segments(scope)
        fitting: list[tuple[int, list[str], Route]] = []
        for pattern, route in self._routes().get(segments[0] if segments else "", ()):
            if len(pattern) == len(segments) and all(
                _is_variable(one) or one == given for one, given in zip(pattern, segments, strict=True)
            ):
                fitting.append((sum(not _is_variable(one) for one in pattern), pattern, route))
        if not fitting:
            refuse_address(scope)
        most = max(fixed for fixed, _, _ in fitting)
        pattern = next(pattern for fixed, pattern, _ in fitting if fixed == most)
        values = {one[1:-1]: given for one, given in zip(pattern, segments, strict=True) if _is_variable(one)}
        routes = {route.method: route for fixed, _, route in fitting if fixed == most}
        get = routes.get("GET")
        is_looked_at = get is not None and self._desk.catalogue.flow(get.ref).semantics.safe
        return Place(values, routes, is_looked_at)

    def _routes(self) -> dict[str, list[tuple[list[str], Route]]]:
        if self._drawn != self._desk.edition:
            self._drawn = self._desk.edition
            self._map = {}
            for route in self._desk.catalogue.routes:
                self._map.setdefault(route.namespace, []).append((route.address.strip("/").split("/"), route))
        return self._map

    async def _given(
        self,
        asked: Asked,
        route: Route,
        flow: Flow,
        receive: Receive,
        values: Mapping[str, str],
        options: dict[str, Any],
    ) -> Any:
        """The arguments that a request carries, each where its field says."""
        schema: Mapping[str, Any] = flow.published["properties"]
        fields = route.fields_for(flow.own_fields)
        in_query = {field.name for field in fields if field.where == "query" and not field.fixed}
        query = take_dry_run(asked.fields, options, in_query)
        arguments: dict[str, Any] = from_query([one for one in query if one[0] in in_query], flow.published)
        rest = [one for one in query if one[0] not in in_query]
        if asked.method in WITHOUT_BODY:
            arguments |= from_query(_controls(rest, flow), flow.published)
            rest = [one for one in rest if one[0] not in flow.controls]
        else:
            if asked.body is None:
                await self._collect(asked, receive)
            arguments = {**_from_body(self._said(asked), fields, schema), **arguments}
        refuse_fields(rest, ("dry_run", *sorted(in_query)))
        arguments |= {field.name: field.constant for field in fields if field.fixed}
        arguments |= _from_head(asked, fields, schema, values)
        return with_headers(arguments, asked, flow)


def _segments(scope: Scope) -> list[str]:
    """The parts of the path; a slash inside one was written as %2F."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    try:
        return [unquote(part, errors="strict") for part in raw.decode("ascii").split("?")[0].strip("/").split("/")]
    except UnicodeDecodeError:
        refuse_address(scope)


def _is_variable(part: str) -> bool:
    return part.startswith("{") and part.endswith("}")


def _controls(fields: Fields, flow: Flow) -> Fields:
    return [one for one in fields if one[0] in flow.controls]


def _from_body(body: Any, declared: Sequence[RouteField], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What the body holds: what a path finds, what is called by name, or all of it for the only one."""
    fields = [field for field in declared if field.where == "body" and not field.fixed]
    found = {field.name: value for field in fields if field.find and (value := field.find(body)) is not None}
    if any(field.find for field in fields):
        return found
    if len(fields) == 1 and _is_whole(body, fields[0], schema):
        return {fields[0].name: body}
    if not isinstance(body, dict):
        raise Invalid(codes.VALIDATION_ERROR, {"problem": "the body has to be a JSON object"})
    elsewhere = {field.name for field in declared if field.where != "body" or field.fixed}
    for name in body:
        if name in elsewhere:
            problem = f"{name[:80]} does not go into the body"
            raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field=name)
    return {**body, **found}


def _is_whole(body: Any, field: RouteField, schema: Mapping[str, Any]) -> bool:
    kind = schema.get(field.name, {}).get("type")
    if isinstance(body, dict):
        return kind == "object" and bool(body) and field.name not in body
    return kind == "array" and isinstance(body, list)


def _from_head(
    asked: Asked, fields: Sequence[RouteField], schema: Mapping[str, Any], values: Mapping[str, str]
) -> dict[str, Any]:
    """What stands in the path, in headers and in cookies."""
    cookies = _cookies(asked) if any(field.where == "cookie" for field in fields) else {}
    found = {}
    for field in fields:
        if field.fixed or field.where in ("query", "body"):
            continue
        text = values.get(field.name) if field.where == "path" else _header(asked, field, cookies)
        if text is not None:
            found[field.name] = as_declared(text, schema.get(field.name, {}))
    return found


def _header(asked: Asked, field: RouteField, cookies: Mapping[str, str]) -> str | None:
    return cookies.get(field.name) if field.where == "cookie" else asked.header(field.name.lower().encode())


def _cookies(asked: Asked) -> dict[str, str]:
    try:
        found: Iterable[tuple[str, Any]] = SimpleCookie(asked.header(b"cookie") or "").items()
    except CookieError:
        return {}
    return {name: one.value for name, one in found}
