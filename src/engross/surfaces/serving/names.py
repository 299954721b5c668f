"""Which names an office answers to, and which web pages may call it.

A page that a browser has open can send requests to any address, also to one that only this machine reaches, and with a
name of its own that suddenly points here (DNS rebinding). Such a request carries the page's name in Host or in Origin,
so both are held against what we know to be ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from engross.office import Settings
from engross.replies import Failed, codes

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::([0-9]{1,5}))?", re.ASCII)
_PUBLIC = re.compile(rf"(https?)://{_AUTHORITY.pattern}(?:/[^\s?#]*)?", re.ASCII)
_USUAL_PORTS = {"http": 80, "https": 443}
MOST_KNOWN = 100

Here = tuple[str, int | None] | None


class Named(NamedTuple):
    """A host as a URL or a Host header names it; where the port is the usual one, it is often left out."""

    name: str
    port: int | None = None


class Names:
    """The names that requests may be addressed to, and the origins that they may come from."""

    def __init__(self, host: str, port: int | None, settings: Settings) -> None:
        self._exact: set[Named] = set()
        self.listens_at(host, port)
        self._any_port: set[str] = set()
        for named in map(_host_setting, _listed(settings.hosts)):
            if named.port is None:
                self._any_port.add(named.name)
            else:
                self._exact.update(_spellings(*named))
        if settings.public_url is not None:
            self._exact.update(_spellings(*_public_authority(settings.public_url)))
        self._foreign = {_origin_setting(origin) for origin in _listed(settings.origins)}
        self._known: set[bytes] = set()

    def listens_at(self, host: str, port: int | None) -> None:
        """We also listen there."""
        here = (*LOOPBACK_NAMES, bracketed(host))
        self._exact.update(named for name in here for named in _spellings(name, port))

    def answers_to(self, host: bytes, here: Here) -> bool:
        """Whether a Host header names us. `here` is our own end of the connection."""
        if host in self._known:
            return True
        named = _named(host)
        if named is None:
            return False
        if named in self._exact or named.name in self._any_port:
            if len(self._known) < MOST_KNOWN:
                self._known.add(host)
            return True
        # Whoever wrote down our own number did not get here by a name that somebody else controls.
        return here is not None and named in _spellings(bracketed(here[0]), here[1])

    def welcomes(self, origin: bytes, here: Here) -> bool:
        """Whether pages of this origin may call us: our own, and those of the setting."""
        if self.is_foreign(origin):
            return True
        scheme, _, authority = origin.lower().partition(b"://")
        return scheme in (b"http", b"https") and self.answers_to(authority, here)

    def is_foreign(self, origin: bytes) -> bool:
        """Whether it is an origin of the setting: a browser has to be told that its pages may read the answer."""
        return origin.lower() in self._foreign


def is_loopback_name(host: bytes) -> bool:
    """Whether a Host header names this machine to itself."""
    named = _named(host)
    return named is not None and named.name in LOOPBACK_NAMES


def bracketed(host: str) -> str:
    """A host as it is written before a port."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


def only_loopback(settings: Settings) -> bool:
    """Whether the settings name nobody but this machine."""
    named = [_host_setting(host).name for host in _listed(settings.hosts)]
    return settings.public_url is None and not settings.origins and set(named) <= set(LOOPBACK_NAMES)


def public_base(settings: Settings) -> str:
    """What others put before a path, where the office was told; else nothing."""
    return (settings.public_url or "").rstrip("/")


def _named(authority: bytes) -> Named | None:
    found = _AUTHORITY.fullmatch(authority.decode("latin-1").lower())
    return None if found is None else Named(found[1], int(found[2]) if found[2] else None)


def _spellings(name: str, port: int | None) -> set[Named]:
    return {Named(name, port), Named(name)} if port in _USUAL_PORTS.values() else {Named(name, port)}


def _listed(setting: str | None) -> Iterable[str]:
    return (part.strip().lower() for part in (setting or "").split(",") if part.strip())


def _host_setting(text: str) -> Named:
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        raise _unusable("hosts", "names such as office.example.org or office.example.org:8443", given=text)
    return Named(found[1], int(found[2]) if found[2] else None)


def _origin_setting(text: str) -> bytes:
    scheme, _, authority = text.partition("://")
    if scheme not in _USUAL_PORTS or not _AUTHORITY.fullmatch(authority):
        raise _unusable("origins", "origins such as https://tools.example.org", given=text)
    return text.encode()


def _public_authority(url: str) -> Named:
    found = _PUBLIC.fullmatch(url.lower())
    if found is None:
        raise _unusable("public_url", "an address such as https://office.example.org")
    return Named(found[2], int(found[3]) if found[3] else _USUAL_PORTS[found[1]])


def _unusable(setting: str, expected: str, **more: str) -> Failed:
    data = {"setting": setting, "expected": expected, **more}
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data=data)
