"""What a client stands on: an office in this process, or one far away."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Mapping
from typing import IO, Any, Protocol

from engross.replies import Reply

from .content import Upload
from .options import Options
from .outline import Outline


class Port(Protocol):
    """The way from a client to its office. Whatever happens on it, a call ends in a Reply."""

    def call(self, flow: str, arguments: Any, options: Options) -> Reply:
        """Call a flow, and wait."""

    def acall(self, flow: str, arguments: Any, options: Options) -> Coroutine[Any, Any, Reply]:
        """Call a flow on an event loop."""

    def upload(self, upload: Upload) -> Reply:
        """Put a file on the record; the answer has its `content_hash`."""

    def download(self, content_hash: str, target: IO[bytes]) -> Reply:
        """Write the bytes of a file that is on the record to a stream."""

    def namespaces(self) -> Collection[str]:
        """The names of all aggregates; empty while the office cannot say."""

    def flow_names(self, namespace: str) -> Collection[str]:
        """The names of an aggregate's flows; empty while the office cannot say."""

    def outlines(self) -> Mapping[str, Outline]:
        """Every flow by ref; raises Failed while the office cannot say."""

    def close(self) -> None:
        """Let go."""
