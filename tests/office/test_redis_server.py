"""The address of a Redis is read in one place: what is none is refused by whoever looks at it, and shown by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import Redis

from engross import connect
from engross.redis_server import OPTIONS, TLS_OPTIONS, connections
from engross.replies import Failed, codes
from tests.bed.offices import Offices, shelf
from tests.bed.redis import RedisServer
from tests.surfaces.cli.shell import run

HOUSE = Path(__file__).parents[2]
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
    "an-option-that-only-code-can-give": f"redis://:{SECRET}@127.0.0.1:1/0?retry=3",
    "an-option-that-changes-the-answers": f"redis://:{SECRET}@127.0.0.1:1/0?encoding=utf-16",
    "an-option-twice": f"redis://127.0.0.1:1/0?client_name=a&client_name={SECRET}",
    "an-option-of-tls-without-it": f"redis://127.0.0.1:1/0?ssl_password={SECRET}",
    "an-option-without-a-value": f"redis://:{SECRET}@127.0.0.1:1/0?client_name=",
    "a-name-with-a-blank": f"redis://127.0.0.1:1/0?client_name=a%20{SECRET}",
    "no-time-to-connect": f"redis://:{SECRET}@127.0.0.1:1/0?socket_connect_timeout=0",
    "no-time-at-all": f"redis://:{SECRET}@127.0.0.1:1/0?socket_timeout=-1",
    "no-end-of-time": f"redis://:{SECRET}@127.0.0.1:1/0?socket_timeout=inf",
    "no-connections": f"redis://:{SECRET}@127.0.0.1:1/0?max_connections=0",
    "no-such-protocol": f"redis://:{SECRET}@127.0.0.1:1/0?protocol=4",
    "no-such-way-to-check": f"rediss://:{SECRET}@127.0.0.1:1/0?ssl_cert_reqs=maybe",
    "neither-true-nor-false": f"rediss://:{SECRET}@127.0.0.1:1/0?ssl_check_hostname=off",
    "a-database-in-letters": f"redis://127.0.0.1:1/{SECRET}",
    "a-database-below-another": f"redis://:{SECRET}@127.0.0.1:1/1/2",
    "two-databases": f"redis://:{SECRET}@127.0.0.1:1/1?db=2",
    "less-than-a-database": f"redis://:{SECRET}@127.0.0.1:1/?db=-1",
    "port-nought": f"redis://:{SECRET}@127.0.0.1:0/0",
    "a-hash-in-the-password": f"redis://:12#{SECRET}@127.0.0.1:1/0",
    "a-host-before-a-socket": f"redis+unix://:{SECRET}@relative/redis.sock",
    "a-port-before-a-socket": f"redis+unix://:{SECRET}@:1/redis.sock",
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
    "address",
    ["redis://127.0.0.1:1/0", "redis+unix:///none/redis.sock", "rediss://127.0.0.1:1/0?ssl_ca_certs=/none/ca.pem"],
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


EACH_OPTION = {
    "username": "default",
    "password": "a%2Bb%2525",
    "client_name": "the-office",
    "socket_timeout": "2.5",
    "socket_connect_timeout": "5",
    "max_connections": "20",
    "health_check_interval": "30",
    "protocol": "3",
}
EACH_OPTION_OF_TLS = {
    "ssl_ca_certs": "/ca.pem",
    "ssl_ca_path": "/certificates",
    "ssl_ca_data": "PEM",
    "ssl_certfile": "/office.pem",
    "ssl_keyfile": "/office.key",
    "ssl_password": "of-the-key",
    "ssl_cert_reqs": "optional",
    "ssl_check_hostname": "False",
}


def test_the_docs_name_every_option() -> None:
    page = (HOUSE / "docs" / "settings.md").read_text()
    assert [*OPTIONS] == ["db", *EACH_OPTION]
    assert [*TLS_OPTIONS] == [*EACH_OPTION_OF_TLS]
    assert all(f"`{option}`" in page for option in (*OPTIONS, *TLS_OPTIONS))


@pytest.mark.requirement("ARCH-33")
def test_what_an_address_says_is_what_the_connections_have() -> None:
    query = "&".join(f"{name}={value}" for name, value in {**EACH_OPTION, **EACH_OPTION_OF_TLS}.items())
    for written in (f"rediss://[::1]:7000/5?{query}", f"rediss://[::1]:7000?{query}&db=5"):
        has = connections(written).connection_kwargs
        assert (has["host"], has["port"], has["db"]) == ("::1", 7000, 5)
        assert (has["socket_timeout"], has["socket_connect_timeout"], has["health_check_interval"]) == (2.5, 5, 30)
        assert (has["username"], has["password"], has["client_name"]) == ("default", "a+b%25", "the-office")
        assert has["ssl_check_hostname"] is False
    plain = connections("redis://who:p%2Fw@host").connection_kwargs
    assert (plain["host"], plain["port"], plain["username"], plain["password"]) == ("host", 6379, "who", "p/w")
    assert (plain["socket_timeout"], plain["socket_connect_timeout"]) == (0.25, 0.25)
    socket = connections("redis+unix://:pw@/a%20b.sock?db=3").connection_kwargs
    assert (socket["path"], socket["password"], socket["db"]) == ("/a b.sock", "pw", 3)


@pytest.mark.requirement("ARCH-33")
def test_with_every_option_that_a_plain_server_knows_an_office_remembers(offices: Offices, redis_url: str) -> None:
    options = {name: value for name, value in EACH_OPTION.items() if name not in ("username", "password")}
    address = f"{redis_url}?{'&'.join(f'{name}={value}' for name, value in options.items())}"
    assert offices.open(redis=address).shelf.add_book(title="Dune", client_request_id="change-0001").ok
    with Redis.from_url(redis_url) as redis:
        assert [name.partition(b":")[0] for name in redis.scan_iter()] == [b"engross"]
        assert "the-office" in {client["name"] for client in redis.client_list()}
