"""What it means that nothing came back from an address: in words, for whoever asked."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx2

WHERE_OFFICES_ARE = "Look at the host and the port, and whether a proxy in between passes everything on."
"""What to do about an answer of something that is no office."""


class Unheard(Exception):
    """Nothing came back: why, and what to do about it."""

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice


def unheard(error: Exception) -> Unheard:
    """What a failing network comes to, in words. The causes behind an error say more than it does itself."""
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return Unheard("its name is not known here", "Look at the address, and whether this machine resolves it.")
        if isinstance(cause, ssl.SSLCertVerificationError):
            advice = "Renew it, or have this machine trust who made it (SSL_CERT_FILE)."
            return Unheard(f"its certificate is not accepted: {cause.verify_message}", advice)
        if isinstance(cause, ssl.SSLError):
            return Unheard("no TLS is spoken there", "Begin the address with http://, or name the port that has TLS.")
        if isinstance(cause, ConnectionRefusedError):
            return Unheard("nothing listens there", "Start it with `engross serve`, or look at the port.")
    if isinstance(error, httpx2.TimeoutException):
        advice = "Look whether a firewall is in between, and whether the office has too much to do."
        return Unheard("no answer comes in time", advice)
    if isinstance(error, httpx2.RemoteProtocolError):
        return Unheard("what answers speaks no HTTP", "Look at the port; where TLS is spoken, begin with https://.")
    if isinstance(error, httpx2.ConnectError | httpx2.NetworkError):
        return Unheard(f"the way there is broken ({type(error).__name__})", "Look at the network, and try again.")
    return Unheard("this is no address that can be asked", "Give it as https://office.example, or with a port.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        yield cause
        cause = cause.__cause__ or cause.__context__
