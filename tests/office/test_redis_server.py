"""The address of a Redis is read in one place: what is none is refused by whoever looks at it, and shown by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import Redis

from engross import connect
from engross.replies import Failed, codes
from tests.bed.offices import Offices, shelf
from tests.bed.redis import RedisServer
from tests.surfaces.cli.shell import run

SECRET = "S3CRET"
NO_ADDRESSES = {
    "another-system": f"memcached://u:{SECRET}@x",
    "in-the-process": "memory://x",
    "no-scheme": "127.0.0.1:6379",
    "one-slash": "redis:/x",
    "a-socket-by-its-other-name": "unix:///x",
    "a-socket-without-a-path": "redis+unix://",
    "a-slash-in-the-password": f"redis://:hunter2/{SECRET}@127.0.0.1:1/0",
    "a-port-in-letters": f"redis://:{SECRET}@127.0.0.1:notaport/0",
    "no-such-port": f"redis://:{SECRET}@127.0.0.1:99999/0",
    "half-a-bracket": f"redis://:{SECRET}@[::1/0",
    "an-option-of-another-kind": f"redis://:{SECRET}@127.0.0.1:1/0?socket_timeout=abc",
    "no-such-option": f"redis://127.0.0.1:1/0?{SECRET}=1",
}


@pytest.fixture(params=NO_ADDRESSES.values(), ids=list(NO_ADDRESSES))
def no_address(request: pytest.FixtureRequest) -> str:
    """What is not the address of a Redis."""
    given: str = request.param
    return given


@pytest.mark.requirement("ARCH-33")
def test_an_office_refuses_what_is_no_address_and_makes_nothing(tmp_path: Path, no_address: str) -> None:
    done = run("record", "who-am-i", "--json", "--data", tmp_path / "office", env={"ENGROSS_REDIS": no_address})
    assert (done.code, done.key, done.json["setting"]) == (4, "CONFIG_INVALID", "redis")
    assert "redis://host:6379" in done.json["hint"]
    assert SECRET not in done.out + done.err
    assert not (tmp_path / "office").exists()


@pytest.mark.requirement("ECO-03")
def test_the_doctor_fails_what_an_office_refuses(tmp_path: Path, no_address: str) -> None:
    with connect(tmp_path / "office", shelf()):
        pass
    done = run("doctor", "--json", "--data", tmp_path / "office", env={"ENGROSS_REDIS": no_address})
    (found,) = [check for check in done.json["checks"] if check["check"] == "redis"]
    assert (done.code, found["status"]) == (1, "fail")
    assert "CONFIG_INVALID" in found["what"]
    assert "redis://host:6379" in found["advice"]
    assert SECRET not in done.out + done.err


@pytest.mark.requirement("ECO-03")
@pytest.mark.parametrize(
    "address", ["redis://127.0.0.1:1/0", "redis+unix:///none/redis.sock", "redis://127.0.0.1:1/0?retry=x"]
)
def test_a_server_that_cannot_be_reached_is_a_warning_and_hinders_nobody(tmp_path: Path, address: str) -> None:
    with connect(tmp_path / "office", shelf(), redis=address) as office:
        for _ in range(2):
            assert office.shelf.add_book(title="Dune", client_request_id="change-0001").ok
    done = run("doctor", "--json", "--data", tmp_path / "office", env={"ENGROSS_REDIS": address})
    (found,) = [check for check in done.json["checks"] if check["check"] == "redis"]
    assert found["status"] == "warn"


@pytest.mark.requirement("ARCH-33")
def test_an_empty_address_is_none_either_and_nothing_leads_back_to_what_was_given(tmp_path: Path) -> None:
    for address in ("", NO_ADDRESSES["a-slash-in-the-password"]):
        with pytest.raises(Failed) as raised, connect(tmp_path / "office", redis=address):
            pass
        assert (raised.value.code, raised.value.params) == (codes.CONFIG_INVALID, {"setting": "redis"})
        assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.requirement("ARCH-33")
def test_a_redis_behind_a_socket_remembers_and_counts(
    offices: Offices, redis_server: RedisServer, redis_url: str
) -> None:
    curator = offices.open(redis=redis_server.socket_url)
    assert curator.shelf.add_book(title="Dune", client_request_id="change-0001").ok
    assert curator.as_("scout", "agent", ["agent"], surface="rest").shelf.list_books().ok
    with Redis.from_url(redis_url) as redis:
        names = sorted(name.partition(b":")[0] for name in redis.scan_iter())
    assert names == [b"LIMITS", b"engross"]
    done = run("doctor", "--json", "--data", offices.folder, env={"ENGROSS_REDIS": redis_server.socket_url})
    assert {check["check"]: check["status"] for check in done.json["checks"]}["redis"] == "ok"
