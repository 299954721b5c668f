"""What Prometheus is told: calls, refusals, the process, and how the store is doing.

Nothing here may cost much, since it is on the way of every call. Labels come from the catalogue and the registry of
codes, never from a caller, so their number is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Info,
    Metric,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder

import engross
from engross.office import Office
from engross.replies import Reply
from engross.surfaces.watching import Daybook, Ended
from engross.surfaces.watching.labels import Labels

from .tally import Tally

ABANDONED = "abandoned"
"""What stands for the code of a call whose caller did not wait for the answer."""
FIGURES = {
    "store_bytes": "Size of the SQLite file.",
    "store_log_bytes": "Size of the log beside the SQLite file.",
    "store_connections": "Connections to the PostgreSQL server.",
    "store_connections_free": "Connections to the PostgreSQL server that nobody uses.",
    "store_waiting": "Units of work that wait for a connection.",
    "disk_free_bytes": "Room on the disk of the data folder.",
    "unsealed_tenants": "Tenants with receipts that are not sealed yet.",
}


class Metrics:
    """Counts for one served office, in a registry of its own."""

    def __init__(self, office: Office, daybook: Daybook, requests: Callable[[], int] = lambda: 0) -> None:
        """Counts what the daybook tells; `requests` tells how many requests are under way."""
        daybook.readers.append(self._count)
        self._labels = Labels(office.catalogue)
        self.registry = CollectorRegistry(auto_describe=False)
        self._tally = Tally()
        self.registry.register(self._tally)
        self._refusals = Counter(
            "engross_refusals", "Requests that were refused before any flow.", ("type", "code"), registry=self.registry
        )
        Gauge("engross_calls_in_flight", "Calls under way.", registry=self.registry).set_function(
            lambda: daybook.under_way
        )
        Gauge(
            "engross_requests_in_flight", "Requests under way, streams among them.", registry=self.registry
        ).set_function(requests)
        Info("engross", "The program.", registry=self.registry).info(
            {"version": engross.__version__, "engine": office.store.engine}
        )
        self.registry.register(_Figures(office))
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def refused(self, answer: Reply) -> None:
        """Count a request that came to no call."""
        self._refusals.labels(answer.reply_type, answer.code).inc()

    def page(self, accept: str | None) -> tuple[bytes, str]:
        """All of it, in the form that the reader asks for."""
        encode, media_type = choose_encoder(accept or "")
        return encode(self.registry), media_type

    def _count(self, ended: Iterable[Ended]) -> None:
        for one in ended:
            flow, surface, answer = self._labels.of(one.request.flow), one.request.surface, one.answer
            if answer is None:
                self._tally.count(flow, surface, "", ABANDONED, None)
            else:
                self._tally.count(flow, surface, answer.entry.type, answer.code, answer.duration_ms)


class _Figures:
    """The office's own numbers, read when somebody asks."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def collect(self) -> Iterable[Metric]:
        """One gauge for each."""
        for name, value in self._office.figures().items():
            yield GaugeMetricFamily(f"engross_{name}", FIGURES[name], value=value)
