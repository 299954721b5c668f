"""From an operation of an upstream and the values at hand to a request.

A blueprint is made once for each operation: templates are read, the address is put together, headers that are not a
document's to set are refused. Every value is written by the pen of its place, once.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import orjson

from .model import MISSING, Authentication, Body, Client, ConsumedInput, Operation
from .outbound.exchange import Origin, Sent
from .pen import FormPen, HeaderPen, JsonPen, PathPen, Pen, Unwritable, XmlPen, plain
from .resolution import rendered, roots, variables_in
from .template import Scope, compiled, path_template

Placed: TypeAlias = tuple[ConsumedInput, Any]
"""Where an operation wants something, and what is put there."""

AGENT = "engross"
KEY_HEADER = "Idempotency-Key"
_NOT_TO_SET = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BASE = re.compile(r"(?P<origin>https?://[^/?#]+)(?P<path>/[^?#]*)?", re.IGNORECASE)
_COOKIE_UNSAFE = re.compile(r"[^!#-+\--:<-\[\]-~]")
_MEDIA = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "formUrlEncoded": "application/x-www-form-urlencoded",
}
_ACCEPTED = {
    "json": "application/json",
    "xml": "application/xml, text/xml",
    "yaml": "application/yaml, text/yaml",
    "csv": "text/csv, */*;q=0.1",
}


class Blueprint:
    """An operation, ready to be filled in."""

    def __init__(self, client: Client, operation: Operation, binds: Mapping[str, str]) -> None:
        """ValueError where the document asks for something that cannot be sent."""
        self.operation = operation
        self.client = client
        self._binds = binds
        base = _BASE.fullmatch(_bound(client.base_uri, binds))
        if base is None or "{{" in base["origin"]:
            raise ValueError(f"the baseUri of {client.namespace} does not name a host")
        self._base = _in_ascii(base["origin"])
        self.origin = Origin.of(self._base)
        self._path = path_template(_joined(base["path"] or "", operation.path))
        self._inputs = tuple(operation.inputs.values())
        for one in self._inputs:
            if one.where == "header" and (one.name.lower() in _NOT_TO_SET or not _HEADER_NAME.fullmatch(one.name)):
                raise ValueError(f"{one.name} is no header that {client.namespace}.{operation.name} could set")

    @property
    def names(self) -> frozenset[str]:
        """The inputs and steps that the operation takes its values from, besides what `with` gives."""
        used = set(self._path.variables)
        for one in self._inputs:
            used |= variables_in(one.value) if one.value is not MISSING else {one.name}
        if self.operation.body is not None:
            used |= variables_in(self.operation.body.data)
        if self.client.authentication is not None:
            used |= variables_in(_credentials(self.client.authentication))
        return frozenset(roots(frozenset(used)))

    @property
    def secrets(self) -> Iterator[str]:
        """What shows who we are, as it goes over the wire."""
        said = self.client.authentication
        if said is not None and said.type == "basic":
            yield _basic(said, self._binds)

    def filled(self, scope: Scope, key: str | None = None) -> Sent:
        """The request for these values; Unwritable where one of them cannot stand in its place."""
        values: dict[str, Any] = {**scope, **self._binds}
        values |= {one.name: value for one in self._inputs if (value := _value(one, values)) is not MISSING}
        there = [(one, values[one.name]) for one in self._inputs if values.get(one.name) is not None]
        headers = self._headers(there, values, key)
        query = [pair for one, value in there if one.where == "query" for pair in _pairs(one.name, value)]
        self._authenticate(values, headers, query)
        body = self._body(there, values, headers)
        return Sent(self.operation.method, self._url(values, query), tuple(headers.items()), body)

    def _headers(self, there: Sequence[Placed], scope: Scope, key: str | None) -> dict[str, str]:
        headers = {
            "User-Agent": AGENT,
            "Accept": _ACCEPTED.get(self.operation.raw_format, "*/*"),
            "Accept-Encoding": "gzip",
        }
        if key is not None:
            headers[KEY_HEADER] = key
        for one, value in there:
            if one.where == "header":
                _set(headers, one.name, _line(one.name, value))
        cookies = [f"{one.name}={_cookie(value)}" for one, value in there if one.where == "cookie"]
        if cookies:
            _set(headers, "Cookie", "; ".join(cookies))
        return headers

    def _authenticate(self, scope: Scope, headers: dict[str, str], query: list[tuple[str, str]]) -> None:
        said = self.client.authentication
        if said is None:
            return
        if said.type == "basic":
            _set(headers, "Authorization", f"Basic {_basic(said, scope)}")
        elif said.type == "bearer":
            _set(headers, "Authorization", f"Bearer {compiled(said.token).render(scope, HeaderPen)}")
        elif said.placement == "query":
            query.append((compiled(said.key).render(scope), compiled(said.value).render(scope)))
        else:
            _set(headers, compiled(said.key).render(scope, HeaderPen), compiled(said.value).render(scope, HeaderPen))

    def _body(self, there: Sequence[Placed], scope: Scope, headers: dict[str, str]) -> bytes | None:
        body = self.operation.body
        fields = {one.name: value for one, value in there if one.where == "body"}
        if body is None and not fields:
            return b"" if self.operation.method in ("POST", "PUT", "PATCH") else None
        kind = "json" if body is None else body.type
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = _MEDIA[kind]
        return orjson.dumps(fields) if body is None else _encoded(body, scope)

    def _url(self, scope: Scope, query: list[tuple[str, str]]) -> str:
        url = self._base + self._path.render(scope, PathPen)
        if query:
            told = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query)
            url = f"{url}{'&' if '?' in url else '?'}{told}"
        return url


def _bound(text: str, binds: Mapping[str, str]) -> str:
    """The text with the values of binds in it; other variables stay as they are."""

    class Keeping(Pen):
        def value(self, name: str, value: Any) -> None:
            if value is MISSING:
                self.literal(f"{{{{{name}}}}}")
            elif "{{" in value:
                raise ValueError(f"the value of {name} has braces, and an address cannot")
            else:
                self.literal(value)

    return path_template(text).render(binds, Keeping).strip().rstrip("/")


def _in_ascii(origin: str) -> str:
    """With the host as the network knows it, where it is written in other letters."""
    if origin.isascii():
        return origin
    scheme, _, place = origin.partition("://")
    host, colon, port = place.partition(":")
    return f"{scheme}://{host.encode('idna').decode()}{colon}{port}"


def _joined(base: str, path: str) -> str:
    """Both with exactly one slash between them."""
    return f"{base.rstrip('/')}/{path.lstrip('/')}" if path.strip("/") else base or "/"


def _value(one: ConsumedInput, scope: Scope) -> Any:
    """What an operation's input is: what the document says, else the caller's, else the environment's."""
    if one.value is not MISSING:
        return rendered(one.value, scope)
    if one.name in scope:
        return scope[one.name]
    if one.where == "environment":
        return os.environ.get(one.name, MISSING)
    return MISSING


def _pairs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    for item in value if isinstance(value, list) else [value]:
        yield name, plain(item)


def _line(name: str, value: Any) -> str:
    pen = HeaderPen()
    pen.value(name, value)
    return pen.written().strip()


def _cookie(value: Any) -> str:
    return _COOKIE_UNSAFE.sub(lambda mark: quote(mark[0], safe=""), plain(value))


def _set(headers: dict[str, str], name: str, value: str) -> None:
    for there in [one for one in headers if one.lower() == name.lower()]:
        del headers[there]
    headers[name] = value.strip()


def _basic(said: Authentication, scope: Scope) -> str:
    user, password = compiled(said.username).render(scope), compiled(said.password).render(scope)
    return b64encode(f"{user}:{password}".encode()).decode()


def _credentials(said: Authentication) -> list[str]:
    return [said.username, said.password, said.token, said.key, said.value]


def _encoded(body: Body, scope: Scope) -> bytes:
    if body.type == "json":
        return _json_body(body.data, scope)
    if body.type == "formUrlEncoded":
        if isinstance(body.data, str):
            return compiled(body.data).render(scope, FormPen).encode()
        fields = rendered(body.data, scope)
        pairs = [pair for name, value in fields.items() if value is not None for pair in _pairs(name, value)]
        return urlencode(pairs).encode()
    text = body.data if isinstance(body.data, str) else plain(body.data)
    return compiled(text).render(scope, XmlPen if body.type == "xml" else Pen).encode()


def _json_body(data: Any, scope: Scope) -> bytes:
    if not isinstance(data, str):
        return orjson.dumps(rendered(data, scope))
    written = compiled(data).render(scope, JsonPen).encode()
    try:
        orjson.loads(written)
    except orjson.JSONDecodeError:
        raise Unwritable("body", "is no JSON when it is filled in") from None
    return written
