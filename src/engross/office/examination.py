"""The doctor's examination of an office: everything it needs, looked at one by one, and nothing changed.

Every check says what it found and, where something is wrong, what to do about it. One that fails keeps none of the
others from being made, but for a store that is away: whoever needs it would only wait for it again. What keeps several
from being made is told once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from engross.calls import instant, now, parse_instant
from engross.extras import required
from engross.ledger import OfficeKey, Seal, last_seal, may_follow, signed_by, stated_aggregates
from engross.ledger.canonical import canonical
from engross.ledger.keyring import restored_in
from engross.ledger.merkle import merkle_root
from engross.ledger.seals import LARGEST_SEAL
from engross.ledger.signing import HOW_TO_SEAL
from engross.plainfile import stands_at
from engross.redis_server import connections
from engross.replies import Coded, Reply, codes, reply_of
from engross.store import Migration, Reading
from engross.store.opening import bring_up_to_date

from .built_in import DOMAINS
from .capabilities import FOLDER, catalogue_of, load_capabilities
from .door import Trust
from .door.fetching import Away
from .door.local import FOLDER as TOKENS
from .maintenance import existing_store, known_migrations
from .office import read_knobs
from .presence import has_store
from .settings import Settings, unknown_variables

if TYPE_CHECKING:
    from engross.store.postgres import PostgresStore
    from engross.store.sqlite import SqliteStore

Status = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 51, 3)
"""Before it, a reset of the log could damage a database that several processes use."""
LITTLE_ROOM, NO_ROOM = 500_000_000, 20_000_000
CLOCK_MAY_DIFFER = timedelta(seconds=5)
OF_THE_STORE = ("tables", "facts", "seals", "clock")
REMEDIES: Mapping[str, str] = {
    codes.STORE_CORRUPT: "Keep a copy of it as it is, then restore a backup: `engross restore`.",
    codes.STORE_FULL: "Make room on the disk that the store is on.",
    codes.STORE_NEWER: "Update the program: `engross --version` is older than what wrote the store.",
    codes.MIGRATION_PENDING: "Run `engross migrate`, after `engross backup`.",
    codes.CONFIG_INVALID: "Mend what is named, and look again.",
}
"""What the person who runs the office does about a refusal. The advice in the registry is for their callers."""


class Finding(NamedTuple):
    """What one check found, and what to do about it."""

    check: str
    status: Status
    what: str
    advice: str | None = None

    def as_data(self) -> dict[str, Any]:
        """The finding as JSON."""
        return self._asdict()


class Outcome(NamedTuple):
    """What a check comes to, before it has a name."""

    status: Status
    what: str
    advice: str | None = None
    code: str | None = None


def examine(settings: Settings, *, host: str = "127.0.0.1", port: int = 8080) -> list[Finding]:
    """Look at everything that an office with these settings needs."""
    checks: Sequence[tuple[str, Callable[[], Outcome]]] = (
        ("python", _python),
        ("sqlite", _sqlite),
        ("environment", _environment),
        ("data folder", lambda: _data_folder(settings)),
        ("disk", lambda: _disk(settings)),
        ("key", lambda: _key(settings)),
        ("policies", lambda: _policies(settings)),
        ("capabilities", lambda: _capabilities(settings)),
        ("store", lambda: _store(settings)),
        ("tables", lambda: _tables(settings)),
        ("facts", lambda: _facts(settings)),
        ("seals", lambda: _seals(settings)),
        ("clock", lambda: _clock(settings)),
        ("tokens", lambda: _tokens(settings)),
        ("redis", lambda: _redis(settings)),
        ("otlp", lambda: _otlp(settings)),
        ("port", lambda: _port(host, port)),
    )
    return list(_findings(checks, settings))


def _findings(checks: Sequence[tuple[str, Callable[[], Outcome]]], settings: Settings) -> Iterator[Finding]:
    met: dict[str, str] = {}
    away = False
    for name, check in checks:
        if away and name in OF_THE_STORE:
            yield _not_made(name, "store")
            continue
        made = _made(check, settings)
        away = away or (name == "store" and made.code == codes.STORE_UNAVAILABLE)
        before = met.setdefault(made.what, name) if made.status == "fail" else name
        yield Finding(name, made.status, made.what, made.advice) if before == name else _not_made(name, before)


def _not_made(name: str, because: str) -> Finding:
    return Finding(name, "fail", f"not known before what {because} found is mended")


def _made(check: Callable[[], Outcome], settings: Settings) -> Outcome:
    try:
        return check()
    except Coded as refusal:
        answer = reply_of(refusal)
        what = f"{answer.message_key} {answer.message} {_in_words(answer)}".rstrip()
        return Outcome("fail", what, answer.data.get("hint") or _remedy(answer, settings), answer.code)
    except Exception as error:
        return Outcome("fail", f"the check itself failed: {type(error).__name__}", "Report this with the version.")


def _remedy(answer: Reply, settings: Settings) -> str | None:
    if answer.code == codes.STORE_UNAVAILABLE:
        database = "the database that --store or ENGROSS_STORE names, and " if settings.store else ""
        return f"See that the user that runs the office can reach {database}everything in {settings.data}."
    return REMEDIES.get(answer.code, answer.entry.advice)


def _in_words(answer: Reply) -> str:
    """What a refusal holds besides its message and advice; all that is allowed only where nothing near is known."""
    left_out = ("setting", "hint", *(("allowed",) if answer.data.get("did_you_mean") else ()))
    return "; ".join(
        f"{name.replace('_', ' ')}: {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for name, value in answer.data.items()
        if name not in left_out and value not in (None, [], ())
    )


def _python() -> Outcome:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Outcome("fail", f"Python {version}", "Use Python 3.11 or newer.")
    return Outcome("ok", f"Python {version}")


def _sqlite() -> Outcome:
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        return Outcome("fail", f"SQLite {version}", "Install a newer apsw: this SQLite can damage its log.")
    return Outcome("ok", f"SQLite {version}, apsw {apsw.apsw_version()}")


def _environment() -> Outcome:
    if unknown := unknown_variables():
        advice = "Nothing of the office reads them. If they are none of yours, as Kubernetes sets them, all is well."
        return Outcome("warn", f"no settings: {', '.join(unknown)}", advice)
    return Outcome("ok", "every variable that begins with ENGROSS_ is known")


def _data_folder(settings: Settings) -> Outcome:
    folder = settings.data
    if not folder.exists():
        return Outcome("warn", f"{folder} is not there yet", "`engross serve` makes it, or name another with --data.")
    if not folder.is_dir():
        return Outcome("fail", f"{folder} is no folder", "Name another with --data.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Outcome("fail", f"{folder} cannot be written", "Give the user that runs the office all rights to it.")
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return Outcome("warn", f"{folder} belongs to another user", "Run the office as the user that owns the folder.")
    if found.st_mode & 0o077:
        return Outcome("warn", f"{folder} is open to others", f"Keep it to yourself: chmod 700 {folder}")
    return Outcome("ok", f"{folder}, for its owner only")


def _disk(settings: Settings) -> Outcome:
    from shutil import disk_usage

    place = settings.data.absolute()
    while not place.exists():
        place = place.parent
    free = disk_usage(place).free
    told = f"{free / 1e9:.1f} GB free"
    if free < NO_ROOM:
        return Outcome("fail", told, "Make room: nothing can be written any more.")
    return Outcome("warn", told, "Make room soon.") if free < LITTLE_ROOM else Outcome("ok", told)


def _key(settings: Settings) -> Outcome:
    file = _key_file(settings)
    if not stands_at(file):
        return Outcome("ok", "none" if has_store(settings) else "none yet; it is made when the office first opens")
    public = OfficeKey.at(file).public
    if file.stat().st_mode & 0o077:
        return Outcome("fail", f"{file} is open to others", f"Whoever reads it can sign: chmod 600 {file}")
    return Outcome("ok", f"public key {public}")


def _policies(settings: Settings) -> Outcome:
    from engross.governance.policy_files import laid_over, shipped_policies
    from engross.governance.rules import Rules

    folder = settings.policy_folder
    texts = shipped_policies() if folder is None else laid_over(folder)
    Rules(texts)
    read_knobs(settings)
    where = "those that ship with the program" if folder is None else f"with those in {folder}"
    return Outcome("ok", f"{len(texts)} files, {where}")


def _capabilities(settings: Settings) -> Outcome:
    found = load_capabilities(settings.capabilities, settings.data)
    flows = len(catalogue_of(settings))
    if not found:
        return Outcome("ok", f"none; {flows} flows of the office's own", f"Put files into {settings.data / FOLDER}.")
    return Outcome("ok", f"{', '.join(aggregate.namespace for aggregate in found)}; {flows} flows in all")


def _store(settings: Settings) -> Outcome:
    if not has_store(settings):
        return Outcome("ok", "none yet; it is made when the office first opens")
    with _opened(settings) as store:
        tenants = len(store.tenants())
        return Outcome("ok", f"{store.engine}, {tenants} tenant{'' if tenants == 1 else 's'}")


def _tables(settings: Settings) -> Outcome:
    if not has_store(settings):
        return Outcome("ok", "none yet")
    known = known_migrations(settings)
    pending = bring_up_to_date(existing_store(settings), known, dry_run=True)
    if not pending or (settings.migrate and _only_unused_domains(known, pending)):
        later = f"; {len(pending)} more when a domain is first used" if pending else ""
        return Outcome("ok", f"up to date, {len(known) - len(pending)} steps{later}")
    told = f"{len(pending)} steps are pending"
    if settings.read_only:
        advice = "Run `engross migrate`, after `engross backup`, while the setting read_only is off."
        return Outcome("fail", told, advice)
    if settings.migrate:
        return Outcome("warn", told, "They run when the office opens. Make a backup before: `engross backup`.")
    return Outcome("fail", told, "Run `engross migrate`, after `engross backup`.")


def _only_unused_domains(known: Sequence[Migration], pending: Sequence[Migration]) -> bool:
    """A built-in domain makes its tables when it is first used."""
    unused = {room for room in DOMAINS if all(step in pending for step in known if step.room == room)}
    return all(step.room in unused for step in pending)


def _facts(settings: Settings) -> Outcome:
    """That whoever stated what is on the record is there to account for it."""
    if not has_store(settings):
        return Outcome("ok", "none yet")
    with _opened(settings) as store:
        stated = {one for name in store.tenants() for one in store.read(name, stated_aggregates)}
    missing = sorted(stated.difference(catalogue_of(settings).namespaces))
    if missing:
        return Outcome(
            "warn",
            f"the ledger holds facts of {', '.join(missing)}, and this office was given no such aggregate",
            _way_back(missing),
        )
    return Outcome("ok", f"of {', '.join(sorted(stated))}" if stated else "none yet")


def _way_back(missing: Sequence[str]) -> str:
    ways = {"ENGROSS_DOMAINS" if name in DOMAINS else "--capability or ENGROSS_CAPABILITIES" for name in missing}
    return f"Without it their flows are missing: name what has them, by {' and '.join(sorted(ways))}."


def _seals(settings: Settings) -> Outcome:
    """The newest seal of every tenant: by a key that this office's may follow, over the receipts there are."""
    file = _key_file(settings)
    if not has_store(settings):
        return Outcome("ok", "none yet")
    public, restored = OfficeKey.at(file).public if stands_at(file) else None, restored_in(file.parent)
    with _opened(settings) as store:
        newest = {name: seal for name in store.tenants() if (seal := store.read(name, last_seal))}
        broken = [name for name, seal in newest.items() if not store.read(name, partial(_holds, seal))]
    if broken:
        told = f"the newest seal does not hold for {_some(broken)}"
        return Outcome(
            "fail", told, "Run `engross verify` for the whole ledger, and keep a copy of the store as it is."
        )
    foreign = [name for name, seal in newest.items() if not may_follow(seal, public, restored)]
    if foreign:
        keys = _some(sorted({newest[name].body["key"] for name in foreign}))
        told = (
            f"those of {_some(foreign)} are by {keys}, which is not this folder's key, so that nothing is sealed here"
        )
        return Outcome("fail", told, HOW_TO_SEAL)
    return Outcome("ok", "the newest one of every tenant holds; `engross verify` checks all of them")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _holds(seal: Seal, reading: Reading) -> bool:
    body = seal.body
    digests = reading.rows(
        "SELECT digest FROM receipts WHERE tenant = :tenant AND position > :after AND position <= :upto"
        " ORDER BY position LIMIT :most",
        {"after": body["after"], "upto": body["upto"], "most": LARGEST_SEAL + 1},
    )
    text = canonical(body)
    return (
        sha256(text).hexdigest() == seal.digest
        and signed_by(body["key"], text, seal.signature)
        and merkle_root([row["digest"] for row in digests]) == body["root"]
    )


def _clock(settings: Settings) -> Outcome:
    today = now()
    if not has_store(settings):
        return Outcome("ok", instant(today))
    with _opened(settings) as store:
        times = [store.read(name, _last_time) for name in store.tenants()]
    latest = max((time for time in times if time), default=None)
    if latest is not None and parse_instant(latest) > today + CLOCK_MAY_DIFFER:
        advice = "Set the clock: what is written now would be older than what it follows."
        return Outcome("warn", f"it is {instant(today)} here, and the last commit was at {latest}", advice)
    return Outcome("ok", instant(today))


def _last_time(reading: Reading) -> str | None:
    rows = reading.rows("SELECT time FROM facts WHERE tenant = :tenant ORDER BY position DESC LIMIT 1", {})
    return rows[0]["time"] if rows else None


def _tokens(settings: Settings) -> Outcome:
    trust = Trust.of(settings)
    told = "local ones" if trust is None else f"local ones, and those of {trust.issuer}"
    folder = settings.data / TOKENS
    if stands_at(folder) and not folder.is_dir():
        return Outcome("fail", f"{folder} is no folder", "Move away what is there; `engross serve` makes the folder.")
    files = sorted(folder.glob("*.token"))
    if open_to_others := [file for file in files if file.stat().st_mode & 0o077]:
        advice = "Whoever read them can come in: `engross token revoke`, and delete them."
        return Outcome("fail", f"{', '.join(map(str, open_to_others))}: open to others", advice)
    try:
        if trust is not None:
            trust.fetch_keys()
    except Away as away:
        advice = "Look whether the issuer is up and ENGROSS_ISSUER is its address; nobody of its callers gets in."
        return Outcome("fail", f"the keys of {trust.issuer if trust else ''} cannot be had: {away}", advice)
    return Outcome("ok", f"{told}; {len(files)} in {folder}" if files else f"{told}; `engross serve` makes the first")


def _redis(settings: Settings) -> Outcome:
    if settings.redis is None:
        return Outcome("ok", "not used")
    pool = connections(settings.redis)
    from redis import Redis

    try:
        with Redis.from_pool(pool) as client:
            client.ping()
    except Exception as error:  # an office goes on without it, whatever is wrong
        advice = "Start it, or mend ENGROSS_REDIS. Without it every process has a cache and limits of its own."
        return Outcome("warn", f"it cannot be used ({type(error).__name__})", advice)
    return Outcome("ok", "it answers")


def _otlp(settings: Settings) -> Outcome:
    if settings.otlp is None:
        return Outcome("ok", "not set")
    with required("otel", setting="otlp"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        OTLPSpanExporter(endpoint=settings.otlp)
    return Outcome("ok", "the libraries are there")


def _port(host: str, port: int) -> Outcome:
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
    except OSError as error:
        advice = "If that is this office, all is well; else serve with another --port."
        return Outcome("warn", f"{port} at {host} is taken ({error.strerror})", advice)
    return Outcome("ok", f"{port} at {host} is free")


@contextmanager
def _opened(settings: Settings) -> Iterator[SqliteStore | PostgresStore]:
    store = existing_store(settings)
    store.open()
    try:
        yield store
    finally:
        store.close()


def _key_file(settings: Settings) -> Path:
    return settings.data / "keys" / "office.key"
