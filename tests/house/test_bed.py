"""The ground the other tests stand on is tested too."""

from __future__ import annotations

import errno
import os
import sys
from functools import partial
from pathlib import Path

import psycopg
import pytest
import redis

from tests.bed.postgres import PostgresServer
from tests.bed.small_disk import Disk, SmallDisk
from tests.bed.unprivileged import Unprivileged


def read_text(path: Path) -> str:
    return path.read_text()


def test_a_database_is_fresh_and_owned_by_the_role_that_uses_it(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        connection.execute("CREATE TABLE kept (id integer PRIMARY KEY)")
    assert tables == (0,)


def test_the_role_that_tests_use_has_no_special_rights(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        rights = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert rights == (False, False, False, False)


def test_the_server_keeps_its_word_to_whoever_commits_but_does_not_wait_for_the_disk(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        assert connection.execute("SHOW fsync").fetchone() == ("off",)


def test_text_sorts_by_language_unless_a_query_says_otherwise(
    postgres_server: PostgresServer, postgres_dsn: str
) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        order = connection.execute("SELECT 'a' < 'B', 'a' < 'B' COLLATE \"C\"").fetchone()
    assert order == (postgres_server.sorts_by_language, False)


def test_the_superuser_sees_the_same_database(postgres_server: PostgresServer, postgres_dsn: str) -> None:
    with (
        psycopg.connect(postgres_dsn) as ordinary,
        psycopg.connect(postgres_server.superuser_dsn(postgres_dsn)) as superuser,
    ):
        query = "SELECT current_database()"
        assert ordinary.execute(query).fetchone() == superuser.execute(query).fetchone()


@pytest.mark.parametrize("round_", [1, 2])
def test_no_test_sees_the_keys_of_another(redis_url: str, round_: int) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("key", round_)


def test_each_engine_has_its_turn(store_kind: str, request: pytest.FixtureRequest) -> None:
    assert f"[{store_kind}]" in request.node.name


def test_a_process_without_rights_cannot_write_to_a_read_only_folder(
    tmp_path: Path, unprivileged: Unprivileged
) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        unprivileged.run(os.mkdir, tmp_path / "new")


def test_a_process_without_rights_still_owns_its_files(tmp_path: Path, unprivileged: Unprivileged) -> None:
    note = tmp_path / "note"
    note.write_text("ours")
    note.chmod(0o600)
    assert unprivileged.run(read_text, note) == "ours"


def refusals(disk: Disk) -> list[int | None]:
    """What the disk says to a write: when it is full, when it has room again, and when it is read-only."""

    def write() -> int | None:
        try:
            (disk.folder / "note").write_text("some words")
        except OSError as error:
            return error.errno
        return None

    disk.fill()
    full = write()
    disk.make_room()
    roomy = write()
    disk.protect()
    return [full, roomy, write()]


def test_a_small_disk_can_be_filled_and_made_read_only(small_disk: SmallDisk) -> None:
    assert small_disk.run(1, refusals) == [errno.ENOSPC, None, errno.EROFS]


SERVERLESS = "def test_store(postgres_dsn): pass"


@pytest.fixture
def no_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bed.postgres.machine_programs", lambda: None)
    monkeypatch.setattr("tests.bed.postgres.wheel_folder", lambda package: None)


@pytest.mark.usefixtures("no_postgres")
def test_a_missing_server_is_skipped_loudly(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(SERVERLESS)
    result = pytester.runpytest_inprocess("-p", "no:hypothesispytest", "-p", "tests.conftest")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines("*NOT TESTED: PostgreSQL*")


@pytest.mark.usefixtures("no_postgres")
def test_a_missing_server_is_a_failure_where_nobody_reads_the_summary(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile(SERVERLESS)
    pytester.runpytest_inprocess("-p", "no:hypothesispytest", "-p", "tests.conftest").assert_outcomes(errors=1)


FAR_AWAY = """
from tests.bed.programs import Unavailable
from tests.conftest import _obtain

def gone(): raise Unavailable("nobody brought one")

def test_of_a_thing(request): _obtain(request.config, "a thing", gone)
"""


def test_what_one_of_several_workers_misses_is_told_as_loudly(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    pytester.makepyfile(FAR_AWAY)
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "tests.conftest", "-n", "1")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*NOT TESTED: a thing*", "*because: nobody brought one*"])


SPOKEN = """
import pytest
from engross.replies import REGISTRY

def said(): return REGISTRY.message("MCP-SYS-E-005", {})

@pytest.mark.shows_text
def test_wording(): assert " " in said()

def test_rest(): assert len(bytes.fromhex(said())) == 32

@pytest.mark.shows_text
def test_more_wording(): assert " " in said()
"""


def test_messages_say_nothing_but_where_people_read_them(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process of its own: the messages of this one are hashes already.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    pytester.makepyfile(SPOKEN)
    run = partial(pytester.runpytest_subprocess, "-p", "no:hypothesispytest", "-p", "tests.conftest")
    run().assert_outcomes(passed=3)
    run("--in-words").assert_outcomes(passed=2, failed=1)
