"""What a replay may say that the first answer did not, and nothing else."""

from __future__ import annotations

from typing import Any

from engross.replies import Reply

REPLAY_FIELDS = ("idempotent_replay", "original_request_time", "original_trace_id")


def is_replay(answer: Reply) -> bool:
    """Does the answer say that nothing happened this time?"""
    return answer.data.get("idempotent_replay") is True


def lasting(answer: Reply) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The part of an answer that every replay of it must repeat."""
    data = {name: value for name, value in answer.data.items() if name not in REPLAY_FIELDS}
    return answer.code, dict(answer.params), data


def assert_replays(again: Reply, first: Reply, *, at: str, **more: Any) -> None:
    """`again` is `first` once more, but for the replay fields and what is named."""
    code, params, data = lasting(first)
    assert lasting(again) == (code, params, {**data, **more})
    assert again.data["idempotent_replay"] is True
    assert again.data["original_request_time"] == at
    assert again.data["original_trace_id"] == first.trace_id
    assert again.trace_id != first.trace_id
