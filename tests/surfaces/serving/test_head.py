"""The head of a request is read once, and says the same to all who look at it."""

from __future__ import annotations

from typing import Any

import pytest

from engross.replies import Invalid, codes
from engross.surfaces.arrived import headers_of
from engross.surfaces.serving.head import MOST_HEADER_BYTES, MOST_HEADERS, read_head

HOST = (b"host", b"office")


def asking(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """A request with these headers besides its host."""
    return {"type": "http", "headers": [HOST, *headers]}


def test_blanks_around_a_value_do_not_count_for_anybody() -> None:
    scope = asking((b"accept", b" text/html\t"))
    assert read_head(scope)[b"accept"] == b"text/html"
    assert scope["headers"] == [HOST, (b"accept", b"text/html")]


def test_a_header_that_is_there_several_times_is_a_list() -> None:
    scope = asking((b"accept", b"a"), (b"accept", b"b "), (b"accept", b"c"))
    assert read_head(scope)[b"accept"] == b"a, b, c"
    assert headers_of(scope) is headers_of(scope)


@pytest.mark.parametrize("name", [b"authorization", b"content-length", b"host", b"idempotency-key", b"origin"])
@pytest.mark.parametrize("others", [0, MOST_HEADERS])
def test_what_must_be_one_thing_is_refused_when_it_is_there_twice(name: bytes, others: int) -> None:
    scope = asking(*([] if name == b"host" else [(name, b"1")]), (name, b"1"), *[(b"x-more", b"1")] * others)
    with pytest.raises(Invalid) as refused:
        read_head(scope)
    assert refused.value.code == codes.MALFORMED_INPUT


@pytest.mark.parametrize(
    "headers",
    [
        [(b"x-more", b"")] * MOST_HEADERS,
        [(b"x-%d" % number, b"") for number in range(MOST_HEADERS)],
        [(b"x", b"1" * MOST_HEADER_BYTES)],
        [(b"x", b"1" * (MOST_HEADER_BYTES // 2))] * 2,
    ],
)
def test_a_head_has_its_limits_however_it_is_filled(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Invalid) as refused:
        read_head(asking(*headers))
    assert refused.value.code == codes.LIMIT_EXCEEDED
