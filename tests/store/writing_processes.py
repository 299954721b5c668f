"""Processes of their own that write notes or make tables, on a word from outside where they say `ready`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from threading import Thread

from engross.store import Store, Transaction, open_store
from engross.store.migrations import migrate as run_steps
from engross.store.opening import bring_up_to_date
from tests.store.notes import ROOMS, note, write_note


def start(*args: str) -> subprocess.Popen[str]:
    """Start such a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.writing_processes", *args],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def until_killed(location: str) -> None:
    """Write notes and say so, each after it was acknowledged."""
    store = open_store(location, ROOMS)
    for number in count():
        store.write("acme", note(str(number)))
        print(number, flush=True)


def many_writers(location: str, each: str, who: str) -> None:
    """Twenty threads that write all at once, on a word from outside."""
    store = open_store(location, ROOMS, unit_seconds=20)
    threads = [Thread(target=write_some, args=(store, f"{who}/{number}", int(each))) for number in range(20)]
    print("ready", flush=True)
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()


def write_some(store: Store, name: str, each: int) -> None:
    """Write notes that hold their own position."""
    for number in range(each):

        def work(transaction: Transaction, identifier: str = f"{name}/{number}") -> None:
            write_note(transaction, identifier, number=transaction.position)

        store.write("acme", work)


def migrate(location: str) -> None:
    """Bring a store up to date, and say which steps that took."""
    from tests.store.test_migrations import STEPS, unopened

    store = unopened(location)
    print("ready", flush=True)
    sys.stdin.readline()
    print(*(f"{step.room}/{step.number}" for step in bring_up_to_date(store, STEPS, dry_run=False)))


def migrate_and_die(location: str) -> None:
    """Be killed when some steps have run and others have not."""
    from tests.store.test_migrations import STEPS, unopened

    store = unopened(location)
    connection = store.connect()
    execute = connection.execute

    class Dying:
        def execute(self, sql: str) -> object:
            if "colour" in sql:
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(sql)

    run_steps(Dying(), store.engine, STEPS)


ROLES: dict[str, Callable[..., None]] = {
    "until-killed": until_killed,
    "many-writers": many_writers,
    "migrate": migrate,
    "migrate-and-die": migrate_and_die,
}

if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
