"""What Prometheus is told, and who may read it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import disk_usage

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.bed.served import Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import ask, authorized

Labels = frozenset[tuple[str, str]]
CONNECTED = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def samples(served: Served) -> dict[tuple[str, Labels], float]:
    """Everything that is measured."""
    with served.client() as client:
        text = client.get("/metrics").text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def grown(served: Served, name: str, **labels: str) -> float:
    """The value of one of them."""
    return samples(served).get((name, frozenset(labels.items())), 0.0)


def test_calls_are_counted_and_timed_by_flow_surface_and_code(served: Served) -> None:
    labels = {"flow": "shelf.list-books", "surface": "rest", "type": "S", "code": "WA-READ-S-001"}
    before = grown(served, "engross_calls_total", **labels)
    for _ in range(3):
        assert served.call("shelf.list-books").status_code == 200
    assert grown(served, "engross_calls_total", **labels) == before + 3
    assert grown(served, "engross_call_seconds_count", flow="shelf.list-books", surface="rest") == before + 3


def test_a_call_is_under_way_until_it_ends_and_then_it_is_told_how_long_it_took(served: Served, tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    labels = {"flow": "rig.hold", "surface": "rest"}
    # Another engine's turn was counted by another process.
    seconds, calls = (grown(served, f"engross_call_seconds_{part}", **labels) for part in ("sum", "count"))
    assert (seconds, calls) == (0.0, 0.0)
    alone = grown(served, "engross_requests_in_flight")
    with ThreadPoolExecutor() as others:
        held = others.submit(served.call, "rig.hold", {"begun": str(begun), "until": str(until)})
        wait_for(begun.exists)
        assert grown(served, "engross_calls_in_flight") == 1
        assert grown(served, "engross_requests_in_flight") == alone + 1
        until.touch()
        assert held.result().status_code == 200
    (took,) = (line["duration_ms"] / 1000 for line in served.lines() if line.get("flow") == "rig.hold")
    found = samples(served)
    assert found["engross_calls_in_flight", frozenset()] == 0
    assert found["engross_call_seconds_sum", frozenset(labels.items())] == pytest.approx(took)
    buckets = {
        float(dict(named)["le"]): value
        for (name, named), value in found.items()
        if name == "engross_call_seconds_bucket" and labels.items() <= dict(named).items()
    }
    assert min(buckets) < took
    assert buckets == {bound: float(took <= bound) for bound in buckets}


def test_failed_calls_are_counted_under_their_codes(served: Served) -> None:
    served.call("shelf.get-book", {"id": "book_x"})
    served.call("rig.crash", {"words": "oh no"})
    found = samples(served)
    invalid = {"flow": "shelf.get-book", "surface": "rest", "type": "I", "code": "WA-RES-I-007"}
    failed = {"flow": "rig.crash", "surface": "rest", "type": "E", "code": "MCP-SYS-E-001"}
    for labels in (invalid, failed):
        assert found["engross_calls_total", frozenset(labels.items())] == 1


def test_refusals_are_counted(served: Served) -> None:
    before = grown(served, "engross_refusals_total", type="I", code="MCP-CFG-I-001")
    assert ask(served, "GET /v1/shelf/list-books").status == 401
    assert grown(served, "engross_refusals_total", type="I", code="MCP-CFG-I-001") == before + 1


def test_what_callers_make_up_becomes_no_label(served: Served) -> None:
    for number in range(20):
        served.call(f"shelf.no-such-flow-{number}")
        ask(served, f"GET /nowhere/{number}", authorized(served))
    flows = {dict(labels).get("flow", "") for name, labels in samples(served) if name == "engross_calls_total"}
    assert not any("no-such" in flow for flow in flows)


def test_the_process_and_the_store_are_measured(served: Served) -> None:
    found = samples(served)
    names = {name for name, _ in found}
    assert {"process_resident_memory_bytes", "process_open_fds", "python_info", "engross_disk_free_bytes"} <= names
    assert ("engross_store_connections" if served.store else "engross_store_bytes") in names
    engine = "postgres" if served.store else "sqlite"
    assert found["engross_info", frozenset({("version", "0.1.0"), ("engine", engine)})] == 1
    assert found["engross_calls_in_flight", frozenset()] == 0


def test_a_file_is_as_large_as_is_told(serving: Serving) -> None:
    served = serving(seal_seconds=3600)
    assert served.call("shelf.add-book", {"title": "Dune"}).status_code == 201
    log = served.folder / "office.db-wal"
    assert log.stat().st_size > 0
    assert grown(served, "engross_store_bytes") == (served.folder / "office.db").stat().st_size
    assert grown(served, "engross_store_log_bytes") == log.stat().st_size
    free = disk_usage(served.folder).free
    assert grown(served, "engross_disk_free_bytes") == pytest.approx(free, rel=0.2)


def test_connections_are_told_as_their_server_counts_them(postgres_dsn: str, serving: Serving, tmp_path: Path) -> None:
    served = serving(store=postgres_dsn, seal_seconds=3600)
    begun, until = tmp_path / "begun", tmp_path / "until"
    # One that was taken for the moment, as the pool's own, is given back.
    wait_for(lambda: grown(served, "engross_store_connections_free") == grown(served, "engross_store_connections") > 0)
    with ThreadPoolExecutor() as others, psycopg.connect(postgres_dsn) as server:
        held = others.submit(served.call, "rig.hold", {"begun": str(begun), "until": str(until)})
        wait_for(begun.exists)
        wait_for(lambda: taken(served) == 1)
        assert grown(served, "engross_store_connections") == server.execute(CONNECTED).fetchone()[0]  # type: ignore[index]
        assert grown(served, "engross_store_waiting") == 0
        until.touch()
        assert held.result().status_code == 200
    wait_for(lambda: taken(served) == 0)


def taken(served: Served) -> float:
    """How many connections somebody uses."""
    found = samples(served)
    none = frozenset[tuple[str, str]]()
    return found["engross_store_connections", none] - found["engross_store_connections_free", none]


def test_tenants_are_counted_whose_receipts_are_not_sealed_yet(store: str | None, serving: Serving) -> None:
    served = serving(store=store, seal_seconds=3600)
    clara = [served.token("clara", "human", "curator", tenant=tenant) for tenant in ("north", "south")]
    before = grown(served, "engross_unsealed_tenants")
    for number, token in enumerate(clara, 1):
        for title in ("Dune", "Emma"):
            assert served.call("shelf.add-book", {"title": title}, token=token).status_code == 201
        assert grown(served, "engross_unsealed_tenants") == before + number


def test_openmetrics_is_spoken_to_who_asks_for_it(plain: Served) -> None:
    heard = ask(plain, "GET /metrics", "Accept: application/openmetrics-text; version=1.0.0")
    assert heard.headers["content-type"].startswith("application/openmetrics-text")
    assert heard.body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    "line", ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.1"]
)
def test_who_comes_through_a_proxy_needs_to_be_an_admin(plain: Served, line: str) -> None:
    assert ask(plain, "GET /metrics", line).key == "AUTH_REQUIRED"
    heard = ask(plain, "GET /metrics", line, f"Authorization: Bearer {plain.agent}")
    assert (heard.status, heard.key) == (403, "INSUFFICIENT_SCOPE")
    assert ask(plain, "GET /metrics", line, authorized(plain)).status == 200


def test_a_bad_credential_is_refused_even_where_none_is_needed(plain: Served) -> None:
    assert ask(plain, "GET /metrics", "Authorization: Bearer nonsense").key == "AUTH_INVALID"


def test_who_calls_by_a_public_name_needs_to_be_an_admin_unless_metrics_are_open(serving: Serving) -> None:
    shut = serving(hosts="office.example.org")
    assert ask(shut, "GET /metrics", host="office.example.org").status == 401
    shut.stop()
    wide_open = serving(hosts="office.example.org", open_metrics=True)
    assert ask(wide_open, "GET /metrics", host="office.example.org").status == 200
