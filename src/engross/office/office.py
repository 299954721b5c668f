"""The office: the rooms put together around one store."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from engross.calls import Caller, Clock, Context, Principal, Surface, now, present
from engross.extras import require
from engross.flows import Aggregate, Catalogue, Flow
from engross.governance import Knobs, Limits, PlanTokens, Policy, refusal
from engross.ledger import (
    LEDGER_ROOM,
    RESTORED,
    FactBook,
    OfficeKey,
    keyed_digest,
    may_follow,
    newest_seals,
    of_another_key,
    rebuild_state,
    state_digest,
)
from engross.pipeline import (
    Answers,
    Fittings,
    Flights,
    MemoryAnswers,
    RedisAnswers,
    Request,
    Workers,
    adrive,
    drive,
    walk,
)
from engross.plainfile import only_plain, stands_at
from engross.replies import Denied, Failed, Invalid, Reply, Trace, codes, configure_crash_log
from engross.store import (
    STORE_ROOM,
    Arrivals,
    Blobs,
    Migration,
    Reading,
    Store,
    Transaction,
    ensure_tables,
    open_store,
    room,
)
from engross.store.failures import disk_failure, translated

from .blob_flows import Vouching
from .built_in import Surroundings, built_in
from .door import Door, Trust, door_aggregate
from .feed import Feed
from .housekeeping import Housekeeping
from .own_flows import own_aggregate
from .review import review_aggregate
from .settings import Settings
from .toolsets import hidden_in, named_in

if TYPE_CHECKING:
    from engross.ledger.checkpoint import Checkpoint

KEY = "office.key"
KNOBS = "knobs.toml"
WHERE_OFFICES_GO = (
    "Name a folder of the office's own; files that define aggregates are named by the setting capabilities."
)
SYSTEM = Principal("engross", "service", frozenset({"admin"}))


class Rebuilt(NamedTuple):
    """What came of building the state again from the facts."""

    tenant: str
    facts: int
    before: str
    after: str

    @property
    def same(self) -> bool:
        """Whether the state was what the facts say."""
        return self.before == self.after


class Office:
    """One running office. Open it, call it, close it."""

    def __init__(self, settings: Settings, aggregates: Iterable[Aggregate] = (), *, clock: Clock = now) -> None:
        self.settings = settings
        self._before_closing: list[Callable[[], object]] = []
        self.takes_up_documents = False
        """May what is offered change while the office is open?"""
        # A setting that does not fit is refused before anything is made.
        _refuse_without_libraries(settings)
        trust = Trust.of(settings)
        knobs = read_knobs(settings)
        given = (*own_aggregates(trust, lambda: self._fittings, lambda: self._vouching), *aggregates)
        around = Surroundings(settings, knobs, self.blobs, settings.schema_folder)
        self.catalogue = Catalogue(given, built_in(around, given))
        self.toolsets = named_in(settings, self.catalogue)
        """The toolsets that somebody named, if anybody did."""
        self.hidden = hidden_in(self.catalogue, self.toolsets)
        """The flows that are not there for those who come in, because nobody named their toolset."""
        present = self.catalogue.present
        policy = Policy(settings.policy_folder, knobs, read_only=settings.read_only)
        folder = prepare_folder(settings.data)
        configure_crash_log(folder / "logs")
        keys = folder / "keys"
        held = _held_key(keys)
        self.store = open_store(
            settings.location,
            migrations(present),
            unit_seconds=settings.unit_seconds,
            upgrade=settings.migrate,
            read_only=settings.read_only,
        )
        try:
            for aggregate in present:
                self._refuse_missing_tables(aggregate)
            self._key = held or _new_key(keys, self.store)
        except Failed:
            self.store.close()
            raise
        self._vouching = Vouching(self._key.secret("upload"))
        self.feed = Feed(self.store)
        arrivals = Arrivals()
        self._fittings = Fittings(
            store=self.store,
            catalogue=self.catalogue,
            book=FactBook(present),
            policy=policy,
            knobs=knobs,
            limits=Limits(knobs, settings.redis),
            tokens=PlanTokens(self._key.secret("plan token")),
            digest=keyed_digest(self._key.secret("digest")),
            answers=_answers(settings, self._key),
            clock=clock,
            blobs=lambda tenant: Blobs(folder / "blobs", tenant, arrivals),
            flights=Flights(),
            workers=Workers(),
            call_seconds=settings.call_seconds,
            lease_seconds=settings.lease_seconds,
            most_reply_bytes=settings.most_reply_bytes,
            entered=set(),
            unsealed=set(),
            bulk_seconds=settings.bulk_seconds,
            stir=self.feed.stir,
        )
        self.catalogue.welcome(self._make_room)
        self.door = Door(settings, trust, self._key, self._fittings, self.call)
        self._housekeeping = Housekeeping(
            self._fittings,
            self._key,
            settings.seal_seconds,
            restored=_restored(keys),
            expire=self._expire,
            acting_for=self._system_context,
            arrivals=arrivals,
        )
        self._housekeeping.start()

    def call(self, request: Request) -> Reply:
        """Answer a call on this thread."""
        return drive(walk(self._fittings, request))

    def acall(self, request: Request) -> Coroutine[Any, Any, Reply]:
        """Answer a call on this event loop."""
        return adrive(walk(self._fittings, request))

    def may_call(self, caller: Caller, flow: Flow, surface: Surface) -> bool:
        """May this caller use the flow at all, whatever the arguments?"""
        context = self._context(caller.tenant, caller.principal, flow.ref, surface)
        return self._fittings.policy.may_call(context, flow).verdict != "deny"

    def count_call(self, caller: Caller, flow: Flow, surface: Surface) -> None:
        """Count a call that a surface answers by itself; Denied if there were too many."""
        self._fittings.limits.take(self._context(caller.tenant, caller.principal, flow.ref, surface), flow)

    def require_call(self, context: Context, flow: Flow) -> None:
        """Refuse a flow to whoever may not call it, as a part of another call too."""
        decision = self._fittings.policy.may_call(replace(context, flow=flow.ref), flow)
        if decision.verdict == "deny":
            raise refusal(decision, flow.ref)

    def require_admin(self, caller: Caller | None) -> None:
        """Refuse whoever may not look into how the office is run."""
        if caller is None:
            raise Invalid(codes.AUTH_REQUIRED)
        if "admin" not in caller.principal.roles:
            raise Denied(codes.INSUFFICIENT_SCOPE, {"required": "the role admin"})

    def secret(self, purpose: str) -> bytes:
        """A secret of this office's for one purpose: the same in every process that has its key."""
        return self._key.secret(purpose)

    def blobs(self, tenant: str) -> Blobs:
        """A tenant's blobs."""
        return self._fittings.blobs(tenant)

    def vouch(self, tenant: str, content_hash: str, size: int) -> str:
        """The token with which `record.keep-blob` puts bytes on the record that came in for this tenant."""
        return self._vouching.token(tenant, content_hash, size)

    @property
    def public_key(self) -> str:
        """The key that verifies this office's seals."""
        return self._key.public

    @property
    def policy_version(self) -> str:
        """Which policy is in force."""
        return self._fittings.policy.version

    def reach_store(self) -> None:
        """Make the way to the store and back, or raise the failure that says why it is not possible. Blocks."""
        self.store.read(SYSTEM.id, lambda reading: reading.rows("SELECT 1 AS there", {}))

    def figures(self) -> dict[str, float]:
        """How the office is doing, in numbers that are cheap to read."""
        from shutil import disk_usage

        return {
            **self.store.figures(),
            "disk_free_bytes": disk_usage(self.settings.data).free,
            "unsealed_tenants": len(self._fittings.unsealed),
        }

    def seal(self) -> int:
        """Seal everything that is settled, now."""
        return self._housekeeping.seal(self.store.tenants())

    def tidy(self) -> None:
        """Purge keys and end proposals that are past their time, and do what was left undone, now."""
        self._housekeeping.tidy(self.store.tenants())

    def rebuild(self, tenant: str, *, keep: bool = False) -> Rebuilt:
        """Build a tenant's state again from its facts and compare; the new one stays only with `keep`."""
        context = self._system_context(tenant)
        self.catalogue.complete()
        book = self._fittings.book

        def work(transaction: Transaction) -> Rebuilt:
            before = state_digest(transaction, book)
            facts = rebuild_state(transaction, context, book)
            rebuilt = Rebuilt(tenant, facts, before, state_digest(transaction, book))
            if not keep:
                transaction.rewind()
            return rebuilt

        seconds = self.settings.bulk_seconds
        return self.store.write(tenant, work, tentative=not keep, timeout=seconds, long=seconds)

    def before_closing(self, work: Callable[[], object]) -> None:
        """Do this first when the office closes."""
        self._before_closing.append(work)

    def close(self) -> None:
        """Finish what was accepted, seal it, and let go of everything."""
        while self._before_closing:
            self._before_closing.pop()()
        self._housekeeping.stop()
        self.feed.close()
        self._fittings.workers.close()
        self._fittings.answers.close()
        self.store.close()

    def _make_room(self, aggregate: Aggregate) -> None:
        """Get ready for an aggregate that joins now: its tables, and the code that reads its facts."""
        ensure_tables(
            self.store,
            room(aggregate.namespace, aggregate.migrations),
            upgrade=self.settings.migrate,
            read_only=self.settings.read_only,
        )
        self._refuse_missing_tables(aggregate)
        self._fittings.book.enter(aggregate)

    def _refuse_missing_tables(self, aggregate: Aggregate) -> None:
        """A table that an aggregate names must be there, and belong to tenants."""
        for table in aggregate.tables:
            look = partial(_look_at, table)
            try:
                self.store.read(SYSTEM.id, look)
            except Failed:
                raise
            except Exception as error:
                problem = f"{table} is not there, or has no column tenant: add it to the migrations"
                data = {"aggregate": aggregate.namespace, "problem": problem}
                raise Failed(codes.CONFIG_INVALID, {"setting": "tables"}, data=data) from error

    def _expire(self, tenant: str) -> None:
        self.call(Request("proposals.expire-proposals", {}, tenant, SYSTEM))

    def _system_context(self, tenant: str) -> Context:
        return self._context(tenant, SYSTEM, "office.housekeeping", "embedded")

    def _context(self, tenant: str, principal: Principal, flow: str, surface: Surface) -> Context:
        trace = Trace.new()
        time = present(self._fittings.clock)
        return Context(tenant, principal, flow, trace.trace_id, time, trace, trace.trace_id, surface=surface)


def _look_at(table: str, reading: Reading) -> None:
    reading.rows(f"SELECT 1 AS there FROM {table} WHERE tenant = :tenant LIMIT 1", {})


def prepare_folder(folder: Path) -> Path:
    """The data folder with its parts, for its owner only."""
    for place in (folder, *(folder / part for part in ("blobs", "keys", "logs"))):
        with translated(partial(_folder_failure, place)):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _folder_failure(place: Path, error: BaseException) -> BaseException:
    if isinstance(error, FileExistsError | NotADirectoryError):
        told = {"file": str(place), "problem": "something that is no folder stands there", "hint": WHERE_OFFICES_GO}
        return Failed(codes.CONFIG_INVALID, {"setting": "data"}, data={"setting": "data", **told})
    return disk_failure(error, file=str(place), problem=f"it cannot be made or entered ({type(error).__name__})")


def own_aggregates(
    trust: Trust | None, fittings: Callable[[], Fittings], vouching: Callable[[], Vouching]
) -> tuple[Aggregate, ...]:
    """What every office has. Their flows need the office they are part of, which comes to be after them."""
    return (
        review_aggregate(fittings),
        own_aggregate(fittings, vouching),
        door_aggregate(fittings, trust.issuer if trust else None),
    )


def migrations(aggregates: Sequence[Aggregate]) -> list[Migration]:
    """Every step that an office with these aggregates needs."""
    steps = [*STORE_ROOM, *LEDGER_ROOM]
    for aggregate in aggregates:
        steps.extend(room(aggregate.namespace, aggregate.migrations))
    return steps


def _refuse_without_libraries(settings: Settings) -> None:
    if settings.store:
        require("postgres", setting="store")
    if settings.redis:
        require("redis", setting="redis")


def _answers(settings: Settings, key: OfficeKey) -> Answers:
    """The adapter cache. Offices that share a Redis server, but not a key, do not share answers."""
    return (
        RedisAnswers(settings.redis, prefix=f"engross:{key.secret('answers').hex()[:16]}:")
        if settings.redis
        else MemoryAnswers()
    )


def _held_key(keys: Path) -> OfficeKey | None:
    """The office's key, where there is one."""
    return OfficeKey.at(keys / KEY) if stands_at(keys / KEY) else None


def _new_key(keys: Path, store: Store) -> OfficeKey:
    """A key for an office that has none: beside seals of another one it is made only to take over from that."""
    restored = _restored(keys)
    foreign = any(not may_follow(seal, None, restored) for seal in newest_seals(store))
    # Whoever made the key in the meantime may have sealed with it.
    if foreign and not stands_at(keys / KEY):
        raise of_another_key(file=str(keys / KEY))
    return OfficeKey.at(keys / KEY)


def _restored(keys: Path) -> Checkpoint | None:
    """How far the chains had come that the office was restored with, if it was and had no key then."""
    if not stands_at(keys / RESTORED):
        return None
    from engross.ledger.keyring import restored_in

    return restored_in(keys)


def read_knobs(settings: Settings) -> Knobs:
    """The knobs that the operator set."""
    folder = settings.policy_folder
    if folder is None or not stands_at(file := folder / KNOBS):
        return Knobs()
    try:
        with open(file, encoding="utf-8", opener=only_plain) as content:
            text = content.read()
    except (OSError, UnicodeDecodeError) as error:
        told = {"setting": KNOBS, "file": str(file), "problem": f"it cannot be read as text ({type(error).__name__})"}
        raise Failed(codes.CONFIG_INVALID, {"setting": KNOBS}, data=told) from error
    try:
        return Knobs.from_toml(text)
    except Failed as unfit:
        raise Failed(unfit.code, unfit.params, data={"file": str(file), **(unfit.data or {})}) from unfit
