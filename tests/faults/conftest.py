"""The fault tests' own ground."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.faults.audit", "tests.faults.campaign")

from tests.faults.nursery import Nursery  # noqa: E402


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Splits off processes that may be killed."""
    with Nursery(tmp_path_factory.mktemp("nursery")) as made:
        yield made
