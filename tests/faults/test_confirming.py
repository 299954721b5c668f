"""A confirmation that was used when the process crashed: spent with what it confirmed, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.audit import audit
from tests.faults.confirming import open_careful
from tests.faults.nursery import Nursery

pytestmark = [pytest.mark.faults, pytest.mark.requirement("NEW-02")]


def crash_in(nursery: Nursery, folder: Path, flow: str, arguments: dict[str, str]) -> dict[str, str]:
    """Have a process die in a confirmed call; the arguments with the token that it used."""
    with open_careful(folder) as client:
        token = client.call(flow, arguments).data["confirm_token"]
    confirmed = {**arguments, "confirm_token": token}
    given = [f"{name}={value}" for name, value in confirmed.items()]
    assert nursery.start("tests.faults.confirming", str(folder), flow, *given).wait() == 9
    return confirmed


def test_a_crash_before_the_commit_leaves_the_token_unspent(tmp_path: Path, nursery: Nursery) -> None:
    confirmed = crash_in(nursery, tmp_path, "notes.add-note", {"text": "hello"})
    with open_careful(tmp_path) as client:
        assert client.call("notes.add-note", confirmed).message_key == "CREATED"
        assert client.call("notes.add-note", confirmed).data["confirm_token_used"] is True
        audit(client)


def test_a_crash_while_another_system_is_called_leaves_the_token_spent(tmp_path: Path, nursery: Nursery) -> None:
    confirmed = crash_in(nursery, tmp_path, "post.send-letter", {"to": "Ann"})
    with open_careful(tmp_path) as client:
        again = client.call("post.send-letter", confirmed)
        assert (again.message_key, again.data["confirm_token_used"]) == ("CONFIRMATION_REQUIRED", True)
        assert (tmp_path / "outside").read_text().split() == ["Ann"]
        fresh = {**confirmed, "confirm_token": again.data["confirm_token"]}
        assert client.call("post.send-letter", fresh).message_key == "DONE"
