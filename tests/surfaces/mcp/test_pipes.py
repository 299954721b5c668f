"""Lines, however they arrive."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.surfaces.mcp.pipes import ENDS, Lines, Overlong


class Chunks:
    """A source that gives what it was given."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    async def read(self, size: int, /) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""


def lines(chunks: list[bytes], most: int = 10) -> list[bytes | Overlong]:
    async def read() -> list[bytes | Overlong]:
        return [line async for line in Lines(Chunks(chunks), most)]

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
    ],
)
def test_lines_are_put_together(chunks: list[bytes], expected: list[bytes]) -> None:
    assert lines(chunks) == expected


@pytest.mark.parametrize("pieces", [1, 2, 3, 7])
@pytest.mark.parametrize("end", [b"\nnext\n", b"\nnext", b""])
def test_of_a_line_that_is_too_long_the_ends_are_kept(pieces: int, end: bytes) -> None:
    line = b"head" + b"x" * 3 * ENDS + b"tail"
    size = len(line) // pieces + 1
    chunks = [line[start : start + size] for start in range(0, len(line), size)]
    first, *others = lines([*chunks[:-1], chunks[-1] + end], most=ENDS)
    assert isinstance(first, Overlong)
    assert (len(first.head), len(first.tail)) == (ENDS, ENDS)
    assert first.head.startswith(b"head")
    assert first.tail.endswith(b"tail")
    assert others == ([b"next"] if end else [])


@given(st.lists(st.binary(min_size=1, max_size=5).map(lambda text: text.replace(b"\n", b"x")), max_size=8), st.data())
def test_it_does_not_matter_where_the_chunks_end(words: list[bytes], data: st.DataObject) -> None:
    text = b"\n".join(words)
    chunks = []
    while text:
        size = data.draw(st.integers(1, len(text)))
        chunks.append(text[:size])
        text = text[size:]
    assert lines(chunks) == [word for word in words if word.strip()]
