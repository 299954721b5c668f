"""OpenTelemetry: one span a call, under the very ids that the Reply, the log and the ledger carry."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

import engross
from engross.extras import required
from engross.flows import Catalogue
from engross.office import Request, Settings
from engross.replies import Reply, Trace

from .daybook import Ended
from .labels import Labels

if TYPE_CHECKING:
    from opentelemetry.context import Context

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
NANOSECONDS_PER_MILLISECOND = 1_000_000


class Spans(Protocol):
    """Somebody who turns calls into spans."""

    def read(self, ended: Iterable[Ended]) -> None:
        """Make a span of each call that ended."""

    def close(self) -> None:
        """Send what is left."""


def spans_for(settings: Settings, catalogue: Catalogue, *, by_variables: bool = True) -> Spans | None:
    """Where spans go, if the settings say so, or OpenTelemetry's variables. Failed when the libraries are not there."""
    if settings.otlp is None and not (by_variables and any(map(os.environ.get, ENDPOINTS))):
        return None
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    with required("otel", setting="otlp"):
        return _Telemetry(settings.otlp, catalogue)


class _Telemetry:
    """Spans by way of the OpenTelemetry SDK, which reads the rest of its settings from its own variables."""

    def __init__(self, endpoint: str | None, catalogue: Catalogue) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import SpanKind, Status, StatusCode

        address = None if endpoint is None else f"{endpoint.rstrip('/')}/v1/traces"
        named = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "engross"), "service.version": engross.__version__}
        self._ids = _given_ids()
        self._provider = TracerProvider(resource=Resource.create(named), id_generator=self._ids)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
        self._tracer = self._provider.get_tracer("engross", engross.__version__)
        self._kind = SpanKind.SERVER
        self._failed = Status(StatusCode.ERROR)
        self._labels = Labels(catalogue)

    def read(self, ended: Iterable[Ended]) -> None:
        """Make a span of each call that ended."""
        for one in ended:
            if one.answer is not None and one.answer.trace is not None:
                self._draw(one.request, one.answer, one.answer.trace, one.at)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def _draw(self, request: Request, answer: Reply, trace: Trace, ended: int) -> None:
        """The office draws the ids of a call, so the span is made when it has ended."""
        flow = self._labels.of(request.flow)
        self._ids.give(trace)
        span = self._tracer.start_span(
            flow,
            context=_parent(trace),
            kind=self._kind,
            start_time=ended - int((answer.duration_ms or 0.0) * NANOSECONDS_PER_MILLISECOND),
            attributes={
                "engross.flow": flow,
                "engross.surface": request.surface,
                "engross.tenant": request.tenant,
                "engross.principal": request.principal.id,
                "engross.dry_run": request.dry_run,
                "engross.reply.type": answer.reply_type,
                "engross.reply.code": answer.code,
            },
        )
        if answer.reply_type == "E":
            span.set_status(self._failed)
        span.end(ended)


def _given_ids() -> Any:
    """An id generator that gives out the ids it was given."""
    from threading import local

    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class GivenIds(IdGenerator):
        """Ids of the trace that the thread at hand speaks of."""

        def __init__(self) -> None:
            self._here = local()

        def give(self, trace: Trace) -> None:
            self._here.trace = trace

        def generate_trace_id(self) -> int:
            return int(self._here.trace.trace_id, 16)

        def generate_span_id(self) -> int:
            return int(self._here.trace.span_id, 16)

    return GivenIds()


def _parent(trace: Trace) -> Context:
    """The caller's span, as the sampler wants to see it; nothing for a trace that began here."""
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
    from opentelemetry.trace.span import TraceState

    if trace.parent_span_id is None:
        return Context()
    flags = TraceFlags(TraceFlags.SAMPLED if trace.sampled else TraceFlags.DEFAULT)
    state = TraceState.from_header([trace.tracestate] if trace.tracestate else [])
    remote = SpanContext(int(trace.trace_id, 16), int(trace.parent_span_id, 16), True, flags, state)
    return set_span_in_context(NonRecordingSpan(remote), Context())
