"""One request and its response, and what can go wrong between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

Trouble: TypeAlias = Literal["host", "unreachable", "timeout", "large", "broken", "redirect", "unrecorded"]


class Sent(NamedTuple):
    """A request, complete."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class Received(NamedTuple):
    """A response, read to its end. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class OutboundError(Exception):
    """There is no response. `reached`: the other side may have seen the request; `at`: who did not answer it."""

    def __init__(self, trouble: Trouble, *, reached: bool, at: str | None = None) -> None:
        self.trouble = trouble
        self.reached = reached
        self.at = at
        super().__init__(trouble)


class Origin(NamedTuple):
    """Scheme, host and port: who is called."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """The origin of an absolute URL; ValueError when it has none."""
        from urllib.parse import urlsplit

        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        if scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("an address starts with http:// or https:// and a host, without a user")
        return cls(scheme, parts.hostname.lower().rstrip("."), parts.port or (443 if scheme == "https" else 80))
