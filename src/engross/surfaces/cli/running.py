"""Keeping an office open for others: over the network, or for one agent over standard input and output."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engross.office import Settings
from engross.office.door.local import FOLDER, os_user
from engross.office.presence import has_office, made_new

from .place import Capability, Data, Root, Store
from .printing import say
from .stdio import split_toolsets

if TYPE_CHECKING:
    from engross.surfaces.serving import Address

HOST, PORT = "127.0.0.1", 8080
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True}
"""What follows `engross mcp` is read by a parser that is quicker to have than this one."""


def serve(
    data: Data = None,
    store: Store = None,
    capability: Capability = None,
    root: Root = None,
    host: Annotated[str | None, typer.Option(help=f"The address to listen at. By default {HOST}.")] = None,
    port: Annotated[
        int | None, typer.Option(help=f"The port; 0 for any that is free. By default {PORT}.", min=0, max=65535)
    ] = None,
    unix_socket: Annotated[Path | None, typer.Option(help="Listen at this socket instead.", metavar="FILE")] = None,
    toolsets: Annotated[str | None, typer.Option(help="Toolsets to list, separated by commas.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every write. Wins over everything.")] = False,
    own_ports: Annotated[
        bool, typer.Option("--own-ports", help="Open the ports that documents ask for, besides this one.")
    ] = False,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Let everybody in who reaches the port; only on this machine.")
    ] = False,
) -> None:
    """Serve an office over MCP and REST until it is told to end."""
    from engross.surfaces.serving import serve as run

    for name, given in (("--host", host), ("--port", port)):
        if unix_socket is not None and given is not None:
            raise typer.BadParameter("a socket is listened at instead: leave out one of them", param_hint=name)
    settings = Settings.from_environment(
        data=data,
        store=store,
        capabilities=list(capability) if capability else None,
        document_roots=list(root) if root else None,
        read_only=read_only or None,
    )
    new = not has_office(settings)
    run(
        settings,
        host=HOST if host is None else host,
        port=PORT if port is None else port,
        unix_socket=unix_socket,
        auth=not no_auth,
        own_ports=own_ports,
        toolsets=split_toolsets(toolsets),
        told=lambda address: _tell(settings, address, auth=not no_auth, new=new),
    )


def mcp(ctx: typer.Context) -> None:
    """Serve an office to one agent over standard input and output."""
    from .stdio import run

    run(ctx.args)


def _tell(settings: Settings, address: Address, *, auth: bool, new: bool) -> None:
    """What somebody who started it needs next. Lines to be copied work from any folder."""
    if new:
        say(made_new(settings))
    say(f"the office in {settings.data} is open", style="bold green")
    say(f"  MCP    {address.mcp}")
    say(f"  REST   {address.url}, described at {address.docs}")
    for namespace, url in address.own:
        say(f"  port   {url} for {namespace}")
    if auth and address.owner_token is None:
        _tell_how_to_get_a_token(settings)
        return
    owner, agent = _text_of(address.owner_token), _text_of(address.agent_token)
    if address.owner_token:
        say(f"  token  {address.owner_token} for you, {address.agent_token} for your agent")
    if address.unix_socket is not None:
        say("a first call to try:")
        say(f"  curl --unix-socket {shlex.quote(str(address.unix_socket.absolute()))} {address.docs}")
        sys.stdout.flush()
        return
    say("connect an MCP client:")
    header = f' --header "Authorization: Bearer {agent}"' if agent else ""
    say(f"  claude mcp add --transport http engross {address.mcp}{header}")
    say("a first call to try:")
    say(f"  {_program()} proposals list --url {address.url}" + (f' --token "{owner}"' if owner else ""))
    sys.stdout.flush()


def _tell_how_to_get_a_token(settings: Settings) -> None:
    """Without a credential nothing that could be tried would work, and whoever is read-only makes none."""
    say(f"  token  none in {settings.data / FOLDER}, and a read-only office makes none")
    say("make one in a process that is not read-only, and call with what it prints:")
    store = " --store ADDRESS" if settings.store else ""
    place = f"--data {shlex.quote(str(settings.data.absolute()))}{store}"
    say(f"  {_program()} token create {shlex.quote(os_user())} --type human --roles curator {place}")
    sys.stdout.flush()


def _program() -> str:
    """How this program is called here: by its name if a shell finds it, else by its path."""
    return "engross" if shutil.which("engross") else shlex.quote(str(Path(sys.executable).with_name("engross")))


def _text_of(file: Path | None) -> str | None:
    """What a shell replaces by the text of a token, which is not for the screen."""
    return f"$(cat {shlex.quote(str(file.absolute()))})" if file else None
