"""Rate limits: who is counted, how often is too often, and what happens without the shared counter."""

from __future__ import annotations

import logging
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from engross.calls import Context
from engross.flows import Flow
from engross.governance import Knobs, Limits
from engross.governance.limits import PAUSE_SECONDS
from engross.replies import Denied, codes
from tests.bed.redis import RedisServer
from tests.governance.people import call_by, principal, read_flow, write_flow


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    import limits.storage.memory
    import limits.storage.redis

    clock = Clock()
    for storage in (limits.storage.memory, limits.storage.redis):
        monkeypatch.setattr(storage, "time", SimpleNamespace(time=clock))
    return clock


def knobs(**given: Any) -> Knobs:
    return Knobs(**{"rate_limits": {"read": "3/minute", "write": "2/minute", "upload": "1/minute"}, **given})


def rest(id_: str = "ada", **more: Any) -> Context:
    return call_by(principal("agent", "agent", id_=id_), **{"surface": "rest", **more})


def taken(limits: Limits, flow: Flow, context: Context | None = None, most: int = 500) -> int:
    """How many calls go through before one is refused."""
    for count in range(most):
        try:
            limits.take(context or rest(), flow)
        except Denied:
            return count
    return most


def wait(limits: Limits, flow: Flow) -> int:
    with pytest.raises(Denied) as caught:
        limits.take(rest(), flow)
    refused = caught.value
    assert refused.code == codes.RATE_LIMIT_EXCEEDED
    assert refused.data is not None
    assert refused.data == refused.params
    seconds: int = refused.data["retry_after_seconds"]
    return seconds


@pytest.mark.parametrize(
    ("flow", "allowed"),
    [
        (read_flow(), 300),
        (write_flow(), 100),
        (write_flow(rate="upload"), 10),
        (write_flow(rate="5/minute"), 5),
    ],
    ids=["reads", "writes", "uploads", "a-flow-with-a-rate-of-its-own"],
)
def test_by_default_calls_are_limited_by_what_they_do(clock: Clock, flow: Flow, allowed: int) -> None:
    assert taken(Limits(Knobs(), clock=clock), flow) == allowed


@pytest.mark.parametrize("surface", ["embedded", "cli", "mcp-stdio"])
def test_calls_that_do_not_come_over_http_are_not_counted(surface: str) -> None:
    limits = Limits(knobs())
    assert taken(limits, write_flow(), rest(surface=surface), most=20) == 20


def test_which_surfaces_are_counted_is_a_knob(clock: Clock) -> None:
    limits = Limits(knobs(rate_limit_surfaces=["cli"]), clock=clock)
    assert taken(limits, write_flow(), rest(surface="cli")) == 2
    assert taken(limits, write_flow(), rest(surface="rest"), most=20) == 20


def test_tenants_principals_and_flows_are_counted_apart(clock: Clock) -> None:
    limits = Limits(knobs(), clock=clock)
    assert taken(limits, write_flow()) == 2
    assert taken(limits, write_flow(), rest("bob")) == 2
    assert taken(limits, write_flow(), rest(tenant="other")) == 2
    assert taken(limits, write_flow("other-card")) == 2
    assert taken(limits, write_flow()) == 0


def test_no_choice_of_names_spends_the_calls_of_another(clock: Clock) -> None:
    limits = Limits(knobs(), clock=clock)
    assert taken(limits, write_flow(), rest("b/c", tenant="a")) == 2
    assert taken(limits, write_flow(), rest("c", tenant="a/b")) == 2
    assert taken(limits, write_flow(), rest("1:b:c", tenant="a")) == 2
    assert taken(limits, write_flow(), rest("c", tenant="a:1:b")) == 2


@pytest.mark.parametrize(
    ("rates", "flow", "allowed"),
    [
        ({"cards.*": "7/minute"}, write_flow(), 7),
        ({"cards.*": "7/minute"}, write_flow(rate="5/minute"), 7),
        ({"cards.*": "7/minute", "cards.update-card": "4/minute"}, write_flow(), 4),
        ({"*": "9/minute", "cards.*": "7/minute"}, write_flow(), 7),
        ({"*": "9/minute", "notes.*": "7/minute"}, write_flow(), 9),
        ({"cards.update-card": "unlimited"}, write_flow(), 30),
    ],
)
def test_what_the_operator_says_about_a_flow_by_name_comes_first(
    clock: Clock, rates: dict[str, str], flow: Flow, allowed: int
) -> None:
    assert taken(Limits(Knobs(rate_limits=rates), clock=clock), flow, most=30) == allowed


def test_a_tenant_may_have_rates_of_its_own(clock: Clock) -> None:
    given = Knobs.from_toml('[tenants.acme]\nrate_limits = { write = "6/minute" }')
    assert taken(Limits(given, clock=clock), write_flow()) == 6
    assert taken(Limits(given, clock=clock), write_flow(), rest(tenant="other")) == 100


@pytest.mark.parametrize("storage", ["memory", "redis"])
def test_a_moving_window_frees_each_call_when_its_time_has_passed(
    clock: Clock, storage: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("redis_url") if storage == "redis" else None
    limits, flow = Limits(knobs(), url, clock=clock), write_flow()
    limits.take(rest(), flow)
    clock.now += 40
    limits.take(rest(), flow)
    assert wait(limits, flow) == 20
    clock.now += 20.5
    limits.take(rest(), flow)
    assert wait(limits, flow) == 40


def test_a_fixed_window_frees_all_calls_at_once(clock: Clock) -> None:
    limits, flow = Limits(knobs(rate_limit_window="fixed"), clock=clock), write_flow()
    limits.take(rest(), flow)
    clock.now += 40
    limits.take(rest(), flow)
    assert wait(limits, flow) == 20
    clock.now += 20.5
    assert taken(limits, flow) == 2


def test_the_wait_is_at_least_a_second(clock: Clock) -> None:
    limits, flow = Limits(knobs(), clock=clock), write_flow()
    assert taken(limits, flow) == 2
    clock.now += 59.99
    assert wait(limits, flow) == 1


class TestRedis:
    """One count for several processes, as long as it is there."""

    @pytest.mark.parametrize("window", ["moving", "fixed"])
    def test_two_offices_count_together(self, redis_url: str, window: str) -> None:
        one, two = (Limits(knobs(rate_limit_window=window), redis_url) for _ in range(2))
        one.take(rest(), write_flow())
        two.take(rest(), write_flow())
        assert 1 <= wait(one, write_flow()) <= 60
        assert 1 <= wait(two, write_flow()) <= 60

    def test_without_it_calls_go_on_counted_in_the_process_and_that_is_logged_once(
        self, redis_url: str, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        server = RedisServer()
        limits = Limits(knobs(), server.url, clock=clock)
        limits.take(rest(), write_flow())
        server.stop()
        with caplog.at_level(logging.WARNING, "engross.limits"):
            assert taken(limits, write_flow()) == 2
            clock.now += PAUSE_SECONDS
            assert taken(limits, write_flow()) == 0
        assert len(caplog.records) == 1

    def test_it_is_not_asked_again_for_a_while(self, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        import limits.storage

        asked: list[float] = []

        def unreachable(*_: object, **__: object) -> None:
            asked.append(clock.now)
            raise ConnectionError

        monkeypatch.setattr(limits.storage, "storage_from_string", unreachable)
        counting = Limits(knobs(), "redis://127.0.0.1:1/0", clock=clock)
        start = clock.now
        for pause in (0, PAUSE_SECONDS / 2, PAUSE_SECONDS / 2, 1):
            clock.now += pause
            counting.take(rest(), read_flow(f"get-card-{pause:.0f}"))
        assert asked == [start, start + PAUSE_SECONDS]

    def test_when_it_is_back_it_counts_again(self, redis_url: str, clock: Clock) -> None:
        limits = Limits(knobs(), redis_url, clock=clock)
        limits._shared_again_at = clock.now + PAUSE_SECONDS
        assert taken(limits, write_flow()) == 2
        clock.now += PAUSE_SECONDS
        assert taken(limits, write_flow()) == 2


def test_the_library_is_imported_only_when_a_call_is_counted() -> None:
    script = (
        "import sys\n"
        "from engross.governance import Knobs, Limits\n"
        "Limits(Knobs(), 'redis://127.0.0.1:1/0')\n"
        "print(sorted({'limits', 'redis', 'asyncio'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
