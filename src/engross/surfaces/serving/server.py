"""Serving an office: one process, one port, until it is told to end."""

from __future__ import annotations

import logging
import resource
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextlib import closing as closing_socket
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import uvicorn
from msgspec.structs import replace

from engross.calls import Caller
from engross.flows import Aggregate
from engross.office import Office, Settings
from engross.office.capabilities import open_office
from engross.replies import Denied, Failed, codes
from engross.surfaces.collector import spare_what_stays
from engross.surfaces.desk import Desk
from engross.surfaces.watching import Daybook
from engross.surfaces.watching.logs import configure_logs, write_line
from engross.surfaces.watching.reading import have_served_calls_read

from .app import App, make_app
from .listening import BACKLOG, bind, bind_unix, is_loopback
from .names import bracketed, only_loopback, public_base
from .wire import Patience, patient

_log = logging.getLogger("engross.serving")
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080
CLOSING_SECONDS = 5
"""How long connections may take to close when their answers are out."""
ENOUGH_FILES = 65_536


class Address(NamedTuple):
    """Where an office is served, and with what one gets in."""

    url: str
    """What comes before a path, as others see it: `http://127.0.0.1:8080`, or the setting `public_url`."""
    here: str
    """The same as this machine sees it."""
    unix_socket: Path | None = None
    owner_token: Path | None = None
    """The file with the owner's token; None when nobody is asked for one."""
    agent_token: Path | None = None
    """The file with the token of the owner's agent."""
    own: tuple[tuple[str, str], ...] = ()
    """The exposures that have a port to themselves, and where that is."""

    @property
    def mcp(self) -> str:
        """What an MCP client connects to."""
        return f"{self.url}/mcp"

    @property
    def docs(self) -> str:
        """Where a person reads about the REST operations."""
        return f"{self.url}/docs"


class Place(NamedTuple):
    """Where to listen: at a host and port, or at a Unix socket."""

    host: str
    port: int | None
    unix_socket: Path | None = None

    def is_private(self) -> bool:
        """Whether nobody from another machine gets there."""
        return self.unix_socket is not None or is_loopback(self.host)

    @contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """The socket, listening, for a while."""
        listening = bind(self.host, self.port or 0) if self.unix_socket is None else bind_unix(self.unix_socket)
        try:
            yield listening
        finally:
            listening.close()
            if self.unix_socket is not None:
                self.unix_socket.unlink(missing_ok=True)

    def found(self, listening: socket.socket) -> Place:
        """The place with the port that the system chose; a Unix socket has none."""
        return self._replace(port=None if self.unix_socket else listening.getsockname()[1])

    @property
    def url(self) -> str:
        """What comes before a path, on this machine."""
        return "http://localhost" if self.port is None else f"http://{bracketed(self._nearest)}:{self.port}"

    @property
    def _nearest(self) -> str:
        """An address to use; one that stands for all of this machine's is none."""
        return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)


def serve(
    settings: Settings,
    aggregates: Iterable[Aggregate] = (),
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    unix_socket: Path | None = None,
    auth: bool = True,
    own_ports: bool = False,
    toolsets: Collection[str] | None = None,
    told: Callable[[Address], None] = lambda address: None,
    patience: Patience | None = None,
) -> None:
    """Open an office and serve it until SIGTERM or SIGINT; then finish what runs, seal, close, and return.

    `own_ports` opens the ports that documents ask for besides. `told` is called with the address once calls are taken.
    Failed, before anything is served, when that cannot be.
    """
    place = Place(host, port, unix_socket)
    if not auth:
        refuse_strangers(settings, place)
    configure_logs(settings.log_level)
    _make_room_for_connections()
    with place.bound() as listening, ExitStack() as closing:
        daybook = Daybook()
        # Spans may take their time to go out. The office closes first.
        closing.callback(daybook.close)
        office = open_office(settings, *aggregates, accept_documents=True)
        closing.callback(office.close)
        have_served_calls_read(daybook, settings, office.catalogue)
        desk = Desk(office, toolsets=toolsets, daybook=daybook)
        place = place.found(listening)
        listeners = office.catalogue.listeners if own_ports else ()
        if not auth:
            for one in listeners:
                refuse_strangers(settings, Place(one.address, one.port))
        more = [closing.enter_context(closing_socket(bind(one.address, one.port))) for one in listeners]
        app = make_app(
            desk,
            host=host,
            port=place.port,
            nobody=None if auth else _nobody(office),
            listeners={one.port: one for one in listeners},
        )
        address = _address(office, place, auth)._replace(
            own=tuple((one.namespace, Place(one.address, one.port).url) for one in listeners)
        )
        _Server(app, settings, patience, lambda: _begun(address, told)).run([listening, *more])
    _log.info("ended")


def _begun(address: Address, told: Callable[[Address], None]) -> None:
    write_line(_log, logging.INFO, {"event": "serving", "url": address.url, "here": address.here})
    spare_what_stays()
    try:
        told(address)
    except OSError as failure:
        # A pipe that nobody reads, or a disk that is full: whoever calls is answered all the same.
        _log.warning("nobody could be told where it is served: %s", type(failure).__name__)


def refuse_strangers(settings: Settings, place: Place) -> None:
    """Without credentials everybody who gets here is let in: that must be this machine alone."""
    if not place.is_private():
        raise _strangers("host", f"{place.host} can be reached from other machines: that needs credentials")
    if not only_loopback(settings):
        raise _strangers("hosts", "names of others are set: that needs credentials")


class _Server(uvicorn.Server):
    """uvicorn, which says when it has begun, lets calls end when it is told to, and then ends well."""

    def __init__(self, app: App, settings: Settings, patience: Patience | None, begun: Callable[[], None]) -> None:
        super().__init__(_config(app, patience or Patience(body_seconds=settings.body_seconds)))
        self._app = app
        self._seconds = settings.shutdown_seconds
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take nobody new, let calls end, then let go of everybody."""
        _log.info("closing")
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self._app.drain(self._seconds)
        await super().shutdown(sockets)
        if self.force_exit:
            # uvicorn would leave it at that.
            await self.lifespan.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends it in peace, the second one at once. Ending as told is no failure."""
        if self.should_exit:
            self.force_exit = True
            self._app.hurry()
        self.should_exit = True


def _config(app: App, patience: Patience) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=patient(patience),
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        # Who stands before us does not say who is calling, nor from where.
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )


def _nobody(office: Office) -> Caller:
    """Who everybody is when nobody is asked: the operating system user's agent, never a person."""
    return replace(office.door.stdio_caller("agent"), credential="none")


def _address(office: Office, place: Place, auth: bool) -> Address:
    urls = public_base(office.settings) or place.url, place.url
    tokens = None
    # An office that may not be written to cannot have tokens made; those that are there do.
    with suppress(Denied):
        tokens = office.door.local_tokens() if auth else None
    if tokens is None:
        return Address(*urls, place.unix_socket)
    return Address(*urls, place.unix_socket, tokens.owner, tokens.agent)


def _make_room_for_connections() -> None:
    """Every connection is an open file, and the usual limit on those is far below what the system would give."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _strangers(setting: str, problem: str) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data={"setting": setting, "problem": problem})
