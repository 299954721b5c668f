"""A JSON document from an issuer, and nothing but that: no redirect, no endless answer, no other scheme."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from .address import is_loopback, is_safe

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

SECONDS = 5.0
LARGEST = 1_000_000
CHUNK = 65_536


class Away(Exception):
    """An issuer that cannot be asked, or does not answer what it should."""


def fetch(address: str) -> Mapping[str, Any]:
    """The object at an address. Blocks for some seconds at the most."""
    from http.client import HTTPException
    from urllib.error import HTTPError

    if not is_safe(address):
        raise Away("an address that is not safe")
    until = time.monotonic() + SECONDS
    try:
        with _opener(address).open(address, timeout=SECONDS) as response:
            document = orjson.loads(_content(response, until))
    except HTTPError as error:
        error.close()
        raise Away(f"HTTP {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise Away(type(error).__name__) from error
    if not isinstance(document, dict):
        raise Away("no JSON object")
    return document


def _content(response: HTTPResponse, until: float) -> bytes:
    """All of a body, unless it is too large or comes too slowly."""
    content = b""
    while chunk := response.read1(CHUNK):
        content += chunk
        if len(content) > LARGEST or time.monotonic() > until:
            raise Away("too large or too slow")
    return content


def _opener(address: str) -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirect(HTTPRedirectHandler):
        """What is sent elsewhere is an error like any other status."""

        def redirect_request(self, *_: object, **__: object) -> None:
            return None

    # No proxy can reach this machine's own addresses.
    direct = [ProxyHandler({})] if is_loopback(urlsplit(address).hostname or "") else []
    return build_opener(NoRedirect(), *direct)
