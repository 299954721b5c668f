"""Random bytes are drawn from the system, many at a time, and never twice."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from engross.chance import AT_ONCE, LARGEST, drawn


def test_a_draw_is_as_long_as_was_asked_for() -> None:
    assert [len(drawn(count)) for count in (1, 8, 16, LARGEST)] == [1, 8, 16, LARGEST]


def test_no_two_draws_are_alike_in_any_thread() -> None:
    with ThreadPoolExecutor(8) as threads:
        draws = [
            draw for some in threads.map(lambda _: [drawn(16) for _ in range(AT_ONCE)], range(40)) for draw in some
        ]
    assert len(set(draws)) == len(draws)


def test_a_process_that_splits_in_two_draws_differently_in_both() -> None:
    drawn(8)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, drawn(16))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 16)
    ours = [drawn(16) for _ in range(AT_ONCE)]
    for end in (reading, writing):
        os.close(end)
    assert len(theirs) == 16
    assert theirs not in ours
