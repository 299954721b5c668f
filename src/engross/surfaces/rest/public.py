"""What anybody may look at: the description of the API, and what the codes mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from hashlib import sha256

import orjson
from starlette.types import Receive, Scope, Send

from engross.replies import REGISTRY, Coded
from engross.surfaces.desk import Desk

from .answers import refuse_address, send_bytes, send_empty, send_refusal
from .asked import Asked
from .etags import DIGITS, is_known
from .looking import looked_at
from .openapi import openapi_document
from .pages import POLICY, problem_data, problem_page, problems_page
from .reference import docs_page

JSON, HTML = "application/json", "text/html; charset=utf-8"
BRIEFLY = "public, max-age=300"

Shown = Callable[[Scope], tuple[str, bytes]]


class Description:
    """The API's description, made once for each edition of the office's flows."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._desk = desk
        self._base = base_url
        self._made = _Made(desk, base_url)

    def openapi(self, scope: Scope) -> tuple[str, bytes]:
        """For programs."""
        return JSON, self._current().json

    def docs(self, scope: Scope) -> tuple[str, bytes]:
        """For people, or for a program that says so."""
        made = self._current()
        return (JSON, made.json) if wants_json(scope) else (HTML, made.page)

    def _current(self) -> _Made:
        if self._made.edition != self._desk.edition:
            self._made = _Made(self._desk, self._base)
        return self._made


class _Made:
    """The description of one edition."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self.edition = desk.edition
        self._desk = desk
        self._base = base_url

    @cached_property
    def json(self) -> bytes:
        """For programs."""
        return orjson.dumps(openapi_document(self._desk, self._base))

    @cached_property
    def page(self) -> bytes:
        """For people."""
        return docs_page(openapi_document(self._desk, self._base))


def problem(scope: Scope) -> tuple[str, bytes]:
    """What one code means."""
    code = scope["path_params"]["code"]
    if code not in REGISTRY:
        refuse_address(scope)
    entry = REGISTRY.entry(code)
    return (JSON, orjson.dumps(problem_data(entry))) if wants_json(scope) else (HTML, problem_page(entry))


def problems(scope: Scope) -> tuple[str, bytes]:
    """What all codes mean."""
    if wants_json(scope):
        return JSON, orjson.dumps({"problems": [problem_data(entry) for entry in REGISTRY]})
    return HTML, problems_page()


class Public:
    """The ASGI endpoint of something that anybody may look at."""

    def __init__(self, shown: Shown, base_url: str) -> None:
        self._shown = shown
        self._base = base_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = Asked(scope)
        shown = await looked_at(asked, scope, send, self._base, self._shown)
        if shown is None:
            return
        media_type, content = shown
        tag = f'"{sha256(content).hexdigest()[:DIGITS]}"'
        headers = {"etag": tag, "cache-control": BRIEFLY, "content-security-policy": POLICY}
        if is_known(tag, asked.header(b"if-none-match") or ""):
            await send_empty(send, 304, headers)
        else:
            await send_bytes(send, 200, media_type, content, headers)


class Nowhere:
    """The ASGI endpoint of every address at which there is nothing."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            refuse_address(scope)
        except Coded as refusal:
            await send_refusal(scope, send, refusal, self._base)


def wants_json(scope: Scope) -> bool:
    """Would the client rather have data than a page?"""
    accept = (Asked(scope).header(b"accept") or "").lower()
    return "json" in accept and "text/html" not in accept
