"""A process that approves a call to another system, and ends before it is known to have been made."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Semantics
from engross.pipeline.reach import Reaching
from engross.surfaces.client import Client, connect

POINTS = ("before the call", "during the call", "after the call", "after the mark")


class Letter(TypedDict):
    """A letter to send."""

    to: Annotated[str, Described("Whom it is for.", maxLength=200)]


def post(outside: Path, *, ends: bool = False) -> Aggregate:
    """Flows whose other system is a file; with `ends` the process does not outlive the call."""
    aggregate = Aggregate("post", "The post")

    def deliver(reaching: Reaching, letter: Mapping[str, Any]) -> Mapping[str, Any]:
        with outside.open("a") as file:
            file.write(f"{letter['to']}\n")
        if ends:
            os._exit(9)
        return {"delivered": letter["to"]}

    @aggregate.reach
    def send_letter(reaching: Reaching, letter: Letter) -> Mapping[str, Any]:
        """Send a letter. Sending it twice is two letters."""
        return deliver(reaching, letter)

    @aggregate.reach(semantics=Semantics(idempotent=True))
    def announce(reaching: Reaching, letter: Letter) -> Mapping[str, Any]:
        """Announce something. Announcing it twice is announcing it once."""
        return deliver(reaching, letter)

    return aggregate


def open_post(folder: Path, *, ends: bool = False, **settings: Any) -> Client:
    """An office with the post."""
    outside = post(folder / "outside", ends=ends)
    return connect(folder / "office", outside, seal_seconds=3600.0, roles=["curator"], **settings)


def end_instead(module: str, name: str) -> None:
    """Replace a function by the end of the process."""
    setattr(sys.modules[module], name, lambda *_, **__: os._exit(9))


def main(place: str, flow: str, point: str) -> None:
    """An agent proposes, a curator approves, and the process ends at that point."""
    client = open_post(Path(place), ends=point == "during the call")
    agent = client.as_("scout", "agent", ["agent"])
    proposed = agent.call(flow, {"to": "Ann", "commit_mode": "proposal"}).data
    assert proposed is not None
    proposal = {"proposal_id": proposed["proposal"]["id"]}
    shown = client.call("proposals.get-proposal", proposal).data
    assert shown is not None
    if point == "before the call":
        end_instead("engross.pipeline.afterwards", "run_errand")
    elif point == "after the call":
        end_instead("engross.pipeline.afterwards", "mark_effects")
    decision = {"decision": "approve", "approval_token": shown["approval_token"]}
    client.call("proposals.review-proposal", {**proposal, **decision})
    os._exit(9)
