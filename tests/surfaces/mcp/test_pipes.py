"""Lines, however they arrive."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.surfaces.mcp.pipes import Lines


class Chunks:
    """A source that gives what it was given."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    async def read(self, size: int, /) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""


def lines(chunks: list[bytes], most: int = 10) -> list[bytes]:
    async def read() -> list[bytes]:
        return [line async for line in Lines(Chunks(chunks), most, b"TOO LONG")]

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([b"one\n"], [b"one"]),
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"n", b"e\nt", b"wo"], [b"one", b"two"]),
        ([b"\n\n  \n\r\n"], []),
        ([b"one\r\n"], [b"one\r"]),
        ([b"12345678901\nnext\n"], [b"TOO LONG", b"next"]),
        ([b"123456", b"78901", b"23\nnext\n"], [b"TOO LONG", b"next"]),
        ([b"12345678901", b"2345678901", b"more\nnext\n"], [b"TOO LONG", b"next"]),
    ],
)
def test_lines_are_put_together_and_what_is_too_long_is_not_kept(chunks: list[bytes], expected: list[bytes]) -> None:
    assert lines(chunks) == expected


@given(st.lists(st.binary(min_size=1, max_size=5).map(lambda text: text.replace(b"\n", b"x")), max_size=8), st.data())
def test_it_does_not_matter_where_the_chunks_end(words: list[bytes], data: st.DataObject) -> None:
    text = b"\n".join(words)
    chunks = []
    while text:
        size = data.draw(st.integers(1, len(text)))
        chunks.append(text[:size])
        text = text[size:]
    assert lines(chunks) == [word for word in words if word.strip()]
