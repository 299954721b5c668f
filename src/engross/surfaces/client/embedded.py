"""An office in this process."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import IO, Any

from engross.calls import Principal, Surface
from engross.office import Office, Request
from engross.replies import Coded, Reply, Trace, reply_of

from .content import Upload, opened, pieces
from .options import Options
from .outline import Outline, outlines_of

KEEP, GET = "record.keep-blob", "record.get-blob"
NOT_YET = "0" * 64


@dataclass(frozen=True)
class EmbeddedPort:
    """A principal who walks straight into the office. Whoever opened it is taken at their word."""

    office: Office
    tenant: str
    principal: Principal
    surface: Surface = "embedded"

    def call(self, flow: str, arguments: Any, options: Options) -> Reply:
        """Call a flow, and wait."""
        return self.office.call(self._request(flow, arguments, options))

    def acall(self, flow: str, arguments: Any, options: Options) -> Coroutine[Any, Any, Reply]:
        """Call a flow on an event loop."""
        return self.office.acall(self._request(flow, arguments, options))

    def upload(self, upload: Upload) -> Reply:
        """Put bytes on the record; who may not is refused before they are let in."""
        told = {"name": upload.name, "media_type": upload.media_type}
        key = {} if upload.client_request_id is None else {"client_request_id": upload.client_request_id}
        with opened(upload.content) as (stream, size):
            rehearsed = {**told, "content_hash": NOT_YET, "size": size or 0, "upload_token": NOT_YET}
            answer = self.call(KEEP, rehearsed, {"dry_run": True})
            return self._kept({**told, **key}, stream) if answer.ok else answer

    def download(self, content_hash: str, target: IO[bytes]) -> Reply:
        """Write bytes that are on the record to a stream."""
        answer = self.call(GET, {"content_hash": content_hash}, {})
        if not answer.ok:
            return answer
        try:
            for piece in self.office.blobs(self.tenant).pieces(content_hash):
                target.write(piece)
        except Coded as refusal:
            return reply_of(refusal).traced(answer.trace or Trace.new(), GET)
        return answer

    def namespaces(self) -> Collection[str]:
        """The names of all aggregates."""
        return self.office.catalogue.namespaces

    def flow_names(self, namespace: str) -> Collection[str]:
        """The names of an aggregate's flows."""
        aggregate = self.office.catalogue.aggregate(namespace)
        flows = aggregate.flows if aggregate else {}
        return tuple(name for name, flow in flows.items() if flow.ref not in self.office.hidden)

    def outlines(self) -> Mapping[str, Outline]:
        """Every flow by ref."""
        return outlines_of(self.office.catalogue, self.office.hidden)

    def close(self) -> None:
        """Close the office."""
        self.office.close()

    def _kept(self, told: Mapping[str, Any], stream: IO[bytes]) -> Reply:
        try:
            with self.office.blobs(self.tenant).arriving() as arriving:
                for piece in pieces(stream):
                    arriving.write(piece)
                token = self.office.vouch(self.tenant, arriving.digest, arriving.size)
                came = {**told, "content_hash": arriving.digest, "size": arriving.size, "upload_token": token}
                if "client_request_id" in told:
                    # Only now is it known whether the key was used for another file; then this one is not kept at all.
                    rehearsed = self.call(KEEP, came, {"dry_run": True})
                    if not rehearsed.ok:
                        return rehearsed
                arriving.keep()
        except Coded as refusal:
            return reply_of(refusal).traced(Trace.new(), KEEP)
        return self.call(KEEP, came, {})

    def _request(self, flow: str, arguments: Any, options: Options) -> Request:
        return Request(
            flow,
            arguments,
            self.tenant,
            self.principal,
            surface=self.surface,
            hidden=self.office.hidden,
            **options,
        )
