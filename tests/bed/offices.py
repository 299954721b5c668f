"""Offices for tests: on either engine, with the shelf of the last example, and a clock that the test moves."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from engross.flows import Aggregate
from engross.surfaces.client import Client, connect

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def example(name: str) -> ModuleType:
    """One step of the ladder of examples, as a module."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shelf() -> Aggregate:
    """The whole small domain that the tests run on."""
    aggregate: Aggregate = example("04-the-whole").shelf
    return aggregate


class TestClock:
    """A clock that a test moves."""

    __test__ = False

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def pass_(self, **time: float) -> None:
        """Let time go by, or back."""
        self.moment += timedelta(**time)


class Offices:
    """Opens offices that share one store, as several processes would, and closes what is left open."""

    def __init__(self, folder: Path, store: str | None) -> None:
        self.folder = folder
        self.store = store
        self.clock = TestClock()
        self._open: list[Client] = []

    def open(self, *aggregates: Aggregate, **settings: Any) -> Client:
        """An office with the shelf, or with these aggregates; its caller is the curator Clara."""
        from engross.calls import Principal

        settings = {"store": self.store, "seal_seconds": 3600.0, "clock": self.clock, **settings}
        settings.setdefault("principal", Principal("clara", "human", frozenset({"curator"})))
        client = connect(self.folder, *(aggregates or (shelf(),)), **settings)
        self._open.append(client)
        return client

    def close(self) -> None:
        """Close every office."""
        while self._open:
            self._open.pop().close()


OpenOffice = Callable[..., Client]
