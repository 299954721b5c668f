"""A caller's hold on an office: flows as methods, Replies back."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Iterable, Mapping
from os import PathLike
from types import TracebackType
from typing import IO, Any, Never, Unpack, get_args

from msgspec.structs import replace

from engross.calls import Principal, PrincipalType, Surface
from engross.flows import nearest, shortened
from engross.office import Office
from engross.replies import Invalid, Reply, Trace, reply_of

from .content import Content, Upload, arriving_at
from .embedded import EmbeddedPort
from .options import Options, checked
from .outline import Outline
from .port import Port


class Client:
    """Somebody at an office. `call` blocks, `acall` awaits, and both answer with a Reply, whatever happens."""

    def __init__(self, port: Port) -> None:
        self._port = port

    def call(self, flow: str, arguments: Mapping[str, Any] | None = None, /, **options: Unpack[Options]) -> Reply:
        """Call a flow by its ref, as `cards.create-card`.

        Options: dry_run, timeout (seconds), traceparent, tracestate, correlation_id, causation_id, pins, break_glass.
        """
        try:
            fitting = checked(options)
        except Invalid as refusal:
            return _refused(refusal, flow, options)
        return self._port.call(flow, {} if arguments is None else arguments, fitting)

    def acall(
        self, flow: str, arguments: Mapping[str, Any] | None = None, /, **options: Unpack[Options]
    ) -> Coroutine[Any, Any, Reply]:
        """`call` for an event loop."""
        try:
            fitting = checked(options)
        except Invalid as refusal:
            return _told(_refused(refusal, flow, options))
        return self._port.acall(flow, {} if arguments is None else arguments, fitting)

    def upload(
        self,
        content: Content,
        *,
        name: str | None = None,
        media_type: str | None = None,
        client_request_id: str | None = None,
    ) -> Reply:
        """Put bytes, the file at a path, or what a stream holds on the record.

        Flows then take the `content_hash` that is in the answer's `blob`.
        """
        return self._port.upload(Upload.of(content, name, media_type, client_request_id))

    def download(self, content_hash: str, target: str | PathLike[str] | IO[bytes]) -> Reply:
        """Write what was uploaded to a file, which gets its name when it is whole, or to a stream."""
        if not isinstance(target, str | PathLike):
            return self._port.download(content_hash, target)
        with arriving_at(target) as stream:
            answer = self._port.download(content_hash, stream.file)
            stream.whole = answer.ok
        return answer

    def outlines(self) -> Mapping[str, Outline]:
        """What there is to know about each flow, by its ref; raises Failed while a remote office cannot be reached."""
        return self._port.outlines()

    def as_(
        self,
        name: str,
        type: PrincipalType = "human",
        roles: Iterable[str] = ("contributor",),
        *,
        tenant: str | None = None,
        surface: Surface | None = None,
    ) -> Client:
        """Somebody else at the same office, if it is in this process."""
        principal = known(Principal(name, type, held(roles)))
        here = self._here("as_")
        return Client(EmbeddedPort(here.office, tenant or here.tenant, principal, surface or here.surface))

    @property
    def office(self) -> Office:
        """The office itself, if it is in this process."""
        return self._here("office").office

    @property
    def principal(self) -> Principal:
        """Who is calling. At a remote office, the token says so, and the office knows."""
        return self._here("principal").principal

    @property
    def tenant(self) -> str:
        """For whom."""
        return self._here("tenant").tenant

    @property
    def surface(self) -> Surface:
        """By which way the calls come in."""
        return self._here("surface").surface

    def close(self) -> None:
        """Close an office in this process, for everybody; let go of a remote one."""
        self._port.close()

    def __getattr__(self, namespace: str) -> Calling:
        if namespace.startswith("_"):
            raise AttributeError(namespace)
        known = self._port.namespaces()
        if known and namespace.replace("_", "-") not in known:
            raise AttributeError(f"this office has no aggregate {namespace!r}{_meant(namespace, known)}")
        return Calling(self, namespace.replace("_", "-"))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name.replace("-", "_") for name in self._port.namespaces())})

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _here(self, asked: str) -> EmbeddedPort:
        if isinstance(self._port, EmbeddedPort):
            return self._port
        # No AttributeError: Python would go on looking for an aggregate of that name.
        raise TypeError(f"{asked} is only there when the office is in this process")


class Calling:
    """The flows of one aggregate as methods: `client.cards.create_card(title="...")`."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace

    def __getattr__(self, name: str) -> Method:
        if name.startswith("_"):
            raise AttributeError(name)
        known = self._names()
        if known and name.replace("_", "-") not in known:
            raise AttributeError(f"{self._namespace} has no flow {name!r}{_meant(name, known)}")
        return Method(self._client, f"{self._namespace}.{name.replace('_', '-')}")

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in self._names()]

    def _names(self) -> Collection[str]:
        return self._client._port.flow_names(self._namespace)


class Method:
    """One flow, called with its arguments by name."""

    def __init__(self, client: Client, ref: str) -> None:
        self._client = client
        self.ref = ref

    def __call__(self, *unnamed: Never, **arguments: Any) -> Reply:
        self._refuse(unnamed)
        return self._client.call(self.ref, arguments)

    async def acall(self, *unnamed: Never, **arguments: Any) -> Reply:
        """The same, awaited."""
        self._refuse(unnamed)
        return await self._client.acall(self.ref, arguments)

    def dry_run(self, *unnamed: Never, **arguments: Any) -> Reply:
        """What the call would do, and nothing done."""
        self._refuse(unnamed)
        return self._client.call(self.ref, arguments, dry_run=True)

    def _refuse(self, unnamed: tuple[object, ...]) -> None:
        if unnamed:
            raise TypeError(f"{self.ref} takes its arguments by name, as field=value; `call` takes a mapping of them")


def held(names: Iterable[str]) -> frozenset[str]:
    """Roles or scopes; a single one may be given as a word."""
    return frozenset([names] if isinstance(names, str) else names)


def known(principal: Principal) -> Principal:
    """A principal that an office can know; whatever else is given in its place is a slip of whoever calls."""
    if not isinstance(principal, Principal):
        raise TypeError(f"{principal!r} is no Principal: a person is Principal('clara', 'human', {{'curator'}})")
    if principal.type not in get_args(PrincipalType):
        raise ValueError(f"{principal.type!r} is no kind of principal: use one of {', '.join(get_args(PrincipalType))}")
    return replace(principal, roles=held(principal.roles), scopes=held(principal.scopes))


def _meant(name: str, known: Iterable[str]) -> str:
    near = [one.replace("-", "_") for one in nearest(name, known)]
    return f": did you mean {' or '.join(near)}?" if near else ""


async def _told(answer: Reply) -> Reply:
    return answer


def _refused(refusal: Invalid, flow: str, options: Options) -> Reply:
    trace = Trace.from_headers(options.get("traceparent"), options.get("tracestate"))
    return reply_of(refusal).traced(trace, shortened(flow))
