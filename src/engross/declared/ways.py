"""What the operator of an office chose for calls to other systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from engross.replies import Failed, codes

Upstreams = Literal["live", "recorded", "record"]


@dataclass(frozen=True, slots=True)
class Ways:
    """Which addresses may be called, how long to wait, how much to read, and whether to call at all."""

    private_hosts: tuple[str, ...] = ()
    """Names, addresses and networks that may be called although they are private: `erp.internal`, `10.2.0.0/16`."""
    upstreams: Upstreams = "live"
    """`recorded`: answer from the recording beside the document, call nobody; `record`: call, and keep the answers."""
    recording: Path | None = None
    """The recording, if it does not lie beside the document."""
    timeout_seconds: float = 10.0
    """How long one call may take where the document does not say."""
    most_response_bytes: int = 8_000_000
    """The largest response that is read, after unpacking."""
    cache_seconds: float = 60.0
    """How long the answer of a cacheable flow is kept where the upstream does not say."""
    steps_at_once: int = 8
    """How many steps of one call may run together."""
    connections: int = 32
    """How many connections a document may hold open."""

    @classmethod
    def of(cls, *, private_hosts: str | None = None, upstreams: str = "live") -> Ways:
        """As settings say it: hosts separated by commas."""
        hosts = tuple(host.strip() for host in (private_hosts or "").split(",") if host.strip())
        if upstreams not in get_args(Upstreams):
            raise Failed(codes.CONFIG_INVALID, {"setting": "upstreams"}, data={"allowed": list(get_args(Upstreams))})
        return cls(private_hosts=hosts, upstreams=cast(Upstreams, upstreams))
