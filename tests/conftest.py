"""Fixtures and options that every test may use; tests/bed holds what is behind them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from conformance.suite import Suite
from engross.surfaces.client import Client
from tests.bed.conformance import installed_suite
from tests.bed.offices import Offices
from tests.bed.postgres import PostgresServer
from tests.bed.programs import Unavailable
from tests.bed.promises import PromisesKept
from tests.bed.redis import RedisServer
from tests.bed.small_disk import SmallDisk
from tests.bed.unprivileged import Unprivileged
from tests.bed.wording import Wording
from tools.bind_requirements import read_rows

# The house is tested on the shelf alone. Whoever tests a built-in domain names it in `domains`.
os.environ["ENGROSS_DOMAINS"] = ""

T = TypeVar("T")
MISSING = pytest.StashKey[dict[str, str]]()
WORDING = pytest.StashKey[Wording]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("engross")
    group.addoption("--in-words", action="store_true", help="leave the messages as people read them in every test")
    group.addoption("--full-length", action="store_true", help="run the fault tests at their full length")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[MISSING] = {}
    config.stash[WORDING] = Wording()
    config.pluginmanager.register(
        PromisesKept(config, read_rows(), excused=lambda: bool(config.stash[MISSING]) and not _on_ci())
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    is_read = item.config.getoption("--in-words") or item.get_closest_marker("shows_text") is not None
    item.config.stash[WORDING].speak(in_words=is_read)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["missing"] = session.config.stash[MISSING]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[MISSING].update(getattr(node, "workeroutput", {}).get("missing", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for what, reason in config.stash[MISSING].items():
        terminalreporter.section(f"NOT TESTED: {what}", sep="!", yellow=True, bold=True)
        terminalreporter.line(f"Every test that needs {what} was skipped, because: {reason}")


def _on_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def _obtain(config: pytest.Config, what: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except Unavailable as reason:
        if _on_ci():
            pytest.fail(f"{what} is needed here: {reason}", pytrace=False)
        config.stash[MISSING][what] = str(reason)
        pytest.skip(f"no {what}: {reason}")


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Iterator[PostgresServer]:
    """A PostgreSQL server of this run's own."""
    server = _obtain(pytestconfig, "PostgreSQL", PostgresServer)
    yield server
    server.stop()


@pytest.fixture
def postgres_dsn(postgres_server: PostgresServer) -> Iterator[str]:
    """The DSN of a fresh database, owned by an ordinary role."""
    dsn = postgres_server.create_database()
    yield dsn
    postgres_server.drop_database(dsn)


@pytest.fixture(scope="session")
def redis_server(pytestconfig: pytest.Config) -> Iterator[RedisServer]:
    """A server of the Redis protocol of this run's own."""
    server = _obtain(pytestconfig, "Redis", RedisServer)
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty Redis."""
    redis_server.forget_everything()
    return redis_server.url


@pytest.fixture(params=["sqlite", "postgres"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """Each engine in turn: a test that asks for it runs on both."""
    kind: str = request.param
    if kind == "postgres":
        request.getfixturevalue("postgres_server")
    return kind


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def module_store(request: pytest.FixtureRequest) -> str | None:
    """Where the rows are of an office that the tests of a module share, on each engine in turn: None for SQLite."""
    if request.param == "sqlite":
        return None
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create_database()


@pytest.fixture
def offices(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Offices]:
    """Opens offices on one store, on each engine in turn."""
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    made = Offices(tmp_path / "office", store)
    yield made
    made.close()


@pytest.fixture
def curator(offices: Offices) -> Client:
    """The curator Clara at an office with the shelf."""
    return offices.open()


@pytest.fixture
def agent(curator: Client) -> Client:
    """The agent Scout at the same office."""
    return curator.as_("scout", "agent", ["agent"])


@pytest.fixture(scope="session")
def unprivileged(pytestconfig: pytest.Config) -> Unprivileged:
    """Runs programs and functions with an ordinary user's rights, also when the tests run as root."""
    return _obtain(pytestconfig, "an ordinary user's rights", Unprivileged)


@pytest.fixture(scope="session")
def small_disk(pytestconfig: pytest.Config) -> SmallDisk:
    """Runs functions in a process that has a disk of a few megabytes to itself."""
    return _obtain(pytestconfig, "a disk that can be filled", SmallDisk)


@pytest.fixture(scope="session")
def conformance_suite(pytestconfig: pytest.Config) -> Suite:
    """The published MCP conformance suite, from npm."""
    return _obtain(pytestconfig, "the MCP conformance suite", installed_suite)


@pytest.fixture(scope="session")
def full_length(pytestconfig: pytest.Config) -> bool:
    """Whether fault tests should take their full length."""
    return bool(pytestconfig.getoption("--full-length"))
