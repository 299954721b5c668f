"""What a driver's exception means to a caller. The driver's own words stay in the crash log."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from engross.replies import Failed, codes

from .port import Engine


def timed_out(**data: Any) -> Failed:
    """The unit took longer than it may."""
    return Failed(codes.TIMEOUT, data=data)


def unavailable(error: BaseException | None = None, **data: Any) -> Failed:
    """The store cannot be used now."""
    return _caused(Failed(codes.STORE_UNAVAILABLE, data=data), error)


@contextmanager
def translated(failure_of: Callable[[BaseException], BaseException]) -> Iterator[None]:
    """Let a driver's exceptions out as the failures they stand for."""
    try:
        yield
    except Exception as error:
        failure = failure_of(error)
        if failure is error:
            raise
        raise failure from error


def disk_failure(error: BaseException, **data: Any) -> BaseException:
    """The failure that an operating system's refusal stands for; anything else is handed back as it is.

    What is told with it, a caller may read: a path is for whoever opens the office, and for nobody else.
    """
    if not isinstance(error, OSError):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _caused(Failed(codes.STORE_FULL, data=data), error)
    return unavailable(error, **data)


def sqlite_failure(error: BaseException, *, committing: bool = False) -> BaseException:
    """The failure that an apsw exception stands for; anything else is handed back as it is."""
    import apsw

    if isinstance(error, UnicodeDecodeError):
        return _caused(Failed(codes.STORE_CORRUPT), error)
    if not isinstance(error, apsw.Error):
        return error
    # A log's index has to be made longer before anybody reads; SQLite does not say what kept it from that.
    if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        return _caused(Failed(codes.STORE_FULL), error)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return _caused(Failed(codes.STORE_CORRUPT), error)
    if isinstance(error, apsw.InterruptError):
        return _caused(timed_out(), error)
    if isinstance(error, (apsw.SQLError, apsw.ConstraintError, apsw.MismatchError, apsw.BindingsError)):
        return error
    # What was written to the log but not synced is gone while we run, and may be back after a crash.
    return unavailable(error, outcome="unknown") if committing else unavailable(error)


def postgres_failure(error: BaseException, *, committing: bool = False) -> BaseException:
    """The failure that a psycopg exception stands for; anything else is handed back as it is."""
    import psycopg
    from psycopg import errors
    from psycopg_pool import PoolClosed, PoolTimeout

    if isinstance(error, errors.DiskFull):
        return _caused(Failed(codes.STORE_FULL), error)
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return _caused(Failed(codes.STORE_CORRUPT), error)
    if isinstance(error, (errors.QueryCanceled, errors.IdleInTransactionSessionTimeout)):
        return _caused(timed_out(), error)
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed)):
        return unavailable(error, outcome="unknown") if committing else unavailable(error)
    return error


FAILURES: Mapping[Engine, Callable[[BaseException], BaseException]] = {
    "sqlite": sqlite_failure,
    "postgres": postgres_failure,
}
"""What an exception of an engine's driver means."""


def _caused(failure: Failed, error: BaseException | None) -> Failed:
    failure.__cause__ = error
    return failure
