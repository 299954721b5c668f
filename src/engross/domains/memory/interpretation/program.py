"""Other programs that read a file for us: bounded in time, in memory and in what they may answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import NamedTuple

LEAST_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}


class Outcome(NamedTuple):
    """What a program answered; None if it was not there, took too long, or failed."""

    output: bytes | None
    problem: str | None = None


def run(command: Sequence[str], content: bytes, seconds: float) -> Outcome:
    """Give a program the bytes, and wait for its answer."""
    try:
        done = subprocess.run(
            command, input=content, capture_output=True, timeout=seconds, check=False, env=LEAST_ENVIRONMENT
        )
    except FileNotFoundError:
        return Outcome(None, "missing")
    except subprocess.TimeoutExpired:
        return Outcome(None, "slow")
    except OSError:
        return Outcome(None, "failed")
    return Outcome(done.stdout) if done.returncode == 0 else Outcome(None, "failed")
