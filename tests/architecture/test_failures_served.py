"""What only a policy, a crowd or a fault brings about: a write is refused or fails alike over MCP and over REST."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from tests.architecture.door import Door, Refused, open_door
from tests.bed.postgres import PostgresServer
from tests.bed.programs import PATIENCE_SECONDS
from tests.bed.small_disk import Disk, SmallDisk

NEW = {"type": "Node", "name": "Server"}
CREATE = "architecture.create-element"
NO_DELETIONS = """
@id("house.deletions")
@denial("INSUFFICIENT_SCOPE")
forbid (principal, action in [Action::"commit", Action::"propose"], resource)
when { resource.aggregate == "architecture" && resource.effect == "delete" }
unless { principal.roles.containsAny(["curator", "admin"]) };
"""
OVERFLOWS = """
@id("house.overflows")
forbid (principal, action == Action::"commit", resource)
when { resource.aggregate == "architecture" && context.tier * 9223372036854775807 > 10 };
"""


def database(door: Door) -> apsw.Connection:
    """The office's own file, as another program opens it."""
    return apsw.Connection(str(door.served.folder / "office.db"))


@contextmanager
def locked(door: Door) -> Iterator[None]:
    """Another program is in the middle of a transaction. Tokens lie in the same file, so they are made before."""
    assert door.tokens
    with_lock = database(door)
    with_lock.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        with_lock.execute("ROLLBACK")
        with_lock.close()


def failed(door: Door, code: str) -> dict[str, Any]:
    """Both ways in tell of a failure of ours; the details of the one over MCP."""
    error = door.refused("createElement", Refused(code, None, set()), **NEW)
    assert "suggestions" not in error
    details: dict[str, Any] = error.get("details", {})
    return details


def test_a_right_that_a_credential_lacks(tmp_path: Path) -> None:
    with open_door(tmp_path / "office", policy=NO_DELETIONS) as door:
        known = door.element("Node")
        lacking = Refused("INSUFFICIENT_SCOPE", None, set())
        details = door.refused("deleteElement", lacking, "agent", id=known)["details"]
        assert details["because"] == ["house.deletions"]
        assert "house.deletions" in details["required"]
        assert details["hint"]
        told = door.rest("architecture.delete-element", "agent", id=known)
        assert told["http"] == 403
        assert "house.deletions" in told["reply"]["params"]["required"]
        assert door.rest("architecture.delete-element", id=known)["error"]["code"] == "CONFIRMATION_REQUIRED"


def test_a_policy_that_cannot_decide(tmp_path: Path) -> None:
    with open_door(tmp_path / "office", policy=OVERFLOWS) as door:
        failed(door, "POLICY_ERROR")
        assert door.made("architecture.list-elements")["elements"] == []


def test_a_request_that_still_runs(tmp_path: Path) -> None:
    """Of four who send the same, one waits for the file; the others hear so, at least one of them in each way."""
    asked = {**NEW, "client_request_id": "create-server-1"}
    with open_door(tmp_path / "office") as door, ThreadPoolExecutor(4) as threads:
        with locked(door):
            running: set[Future[dict[str, Any]]] = set()
            for _ in range(2):
                running.add(threads.submit(door.rest, CREATE, **asked))
                running.add(threads.submit(_over_mcp, door, asked))
            told = []
            while len(running) > 1:
                done, running = wait(running, PATIENCE_SECONDS, FIRST_COMPLETED)
                assert done, "nobody was told"
                told += [one.result() for one in done]
        (last,) = running
        assert last.result(PATIENCE_SECONDS)["element"]["name"] == "Server"
        assert len({"http" in one for one in told}) == 2
        for answer in told:
            error = answer["error"]
            assert (error["code"], error["field"]) == ("REQUEST_IN_PROGRESS", "client_request_id")
            assert error["details"] == {"retry_after_seconds": 1, "retryable": True}
            assert (answer["reply"]["reply_type"], answer.get("http", 409)) == ("I", 409)
        assert door.made(CREATE, **asked)["idempotent_replay"] is True
        assert len(door.made("architecture.list-elements")["elements"]) == 1


def _over_mcp(door: Door, asked: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = door.asked("tools/call", "owner", "createElement", arguments=asked)["structuredContent"]
    return told


def test_a_file_that_another_program_holds(tmp_path: Path) -> None:
    with open_door(tmp_path / "office", call_seconds=1.0) as door, locked(door):
        assert failed(door, "TIMEOUT") == {"outcome": "unknown"}
        told = door.rest(CREATE, **NEW)
        assert (told["http"], told["reply"]["retryable"]) == (504, True)


def test_a_table_that_is_gone(tmp_path: Path) -> None:
    with open_door(tmp_path / "office") as door:
        door.element("Node")
        behind_our_back = database(door)
        behind_our_back.execute("DROP TABLE architecture_elements")
        behind_our_back.close()
        assert failed(door, "SYS_CRASH") == {}
        told = door.rest(CREATE, **NEW)
        assert (told["http"], told["reply"]["retryable"]) == (500, False)
        assert "architecture_elements" not in str(told)


def test_a_store_that_cannot_be_reached(tmp_path: Path, postgres_server: PostgresServer, postgres_dsn: str) -> None:
    """Nobody has to show a token: else the door already says so, which asks the same store about tokens."""
    with open_door(tmp_path / "office", postgres_dsn, auth=False, unit_seconds=1.0) as door:
        door.element("Node")
        postgres_server.drop_database(postgres_dsn)
        failed(door, "STORE_UNAVAILABLE")
        told = door.rest(CREATE, **NEW)
        assert (told["http"], told["reply"]["retryable"]) == (503, True)


def written_on_a_full_disk(disk: Disk) -> str:
    """What becomes of a write while there is no room, and afterwards."""
    with open_door(disk.folder / "office") as door:
        door.element("Node")
        disk.fill()
        large = {**NEW, "description": "x" * 20_000}
        door.refused("createElement", Refused("STORE_FULL", None, set()), **large)
        assert door.rest(CREATE, **large)["http"] == 507
        disk.make_room()
        return str(door.made(CREATE, **large)["status"])


def test_a_disk_without_room(small_disk: SmallDisk) -> None:
    assert small_disk.run(16, written_on_a_full_disk) == "committed"
