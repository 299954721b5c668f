"""Which office a command is about, and who stands at it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import typer

from engross.calls import DEFAULT_TENANT, Role
from engross.office import Settings
from engross.office.capabilities import catalogue_of, open_office
from engross.office.door.local import shell_principal
from engross.office.presence import has_office, made_new, require_office
from engross.office.toolsets import hidden_in, named_in
from engross.surfaces.client import Client, EmbeddedPort, Outline, connect, outlines_of
from engross.surfaces.client.address import SCHEMES, is_address

PANEL = "Which office"
DEFAULT_ROLE: Role = "curator"
_DECIDED_THERE = ("data", "store", "capability", "root", "role", "tenant")
_ELSEWHERE = ("url", "token")
_SEVERAL = ("capability", "root")

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The office's data folder. By default engross-data, or ENGROSS_DATA.",
        metavar="DIR",
        rich_help_panel=PANEL,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="A PostgreSQL address, if the rows are not in the data folder.",
        metavar="ADDRESS",
        rich_help_panel=PANEL,
    ),
]
Capability = Annotated[
    list[Path] | None,
    typer.Option(
        "--capability",
        help="A file that defines aggregates; may be repeated.",
        metavar="FILE",
        rich_help_panel=PANEL,
    ),
]
Root = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        help="A folder that documents may lie in, instead of the data folder's; may be repeated.",
        metavar="DIR",
        rich_help_panel=PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON.", show_default=False)]
Url = Annotated[
    str | None,
    typer.Option("--url", help="An office that runs elsewhere, instead.", metavar="ADDRESS", rich_help_panel=PANEL),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Your token there. By default ENGROSS_TOKEN.",
        metavar="TOKEN",
        rich_help_panel=PANEL,
    ),
]
_Role = Annotated[
    str | None,
    typer.Option(
        "--role",
        help=f"Call in this role yourself; for the folder's owner. By default {DEFAULT_ROLE}, for tokens admin.",
        metavar="ROLE",
        rich_help_panel=PANEL,
    ),
]
_Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", help=f"For this tenant. By default {DEFAULT_TENANT}.", metavar="TENANT", rich_help_panel=PANEL
    ),
]


class Place(NamedTuple):
    """Where a call goes: to the office in a folder, opened here, or to one behind an address."""

    data: Path | None = None
    store: str | None = None
    capability: Sequence[Path] | None = None
    root: Sequence[Path] | None = None
    url: str | None = None
    token: str | None = None
    role: str | None = None
    tenant: str | None = None

    @property
    def settings(self) -> Settings:
        """The settings of an office in a folder."""
        return settings_at(self.data, self.store, self.capability, self.root)

    @contextmanager
    def client(self, usual_role: Role = DEFAULT_ROLE, *, may_make: bool = False) -> Iterator[Client]:
        """Somebody at the office, for as long as a command takes; the folder's owner in the usual role.

        An office that is not there is made only if the command may be the first of all.
        """
        self.refuse_mixing()
        made = self._local(usual_role, may_make) if self.url is None else self._remote()
        with made as client:
            yield client

    def outlines(self) -> Mapping[str, Outline]:
        """The flows of the office, without opening it if it is in a folder."""
        self.refuse_mixing()
        if self.url is not None:
            with self._remote() as client:
                return client.outlines()
        settings = self.settings
        catalogue = catalogue_of(settings)
        return outlines_of(catalogue, hidden_in(catalogue, named_in(settings, catalogue)))

    def require_office(self) -> None:
        """Refuse a folder that holds none; behind an address, somebody else says so."""
        if self.url is None:
            require_office(self.settings)

    def refuse_mixing(self) -> None:
        """Refuse what cannot be said of the same office."""
        if self.token is not None and self.url is None:
            raise typer.BadParameter("a token goes with --url", param_hint="--token")
        for name in _DECIDED_THERE if self.url is not None else ():
            if getattr(self, name):
                raise typer.BadParameter("the office behind --url decides about that", param_hint=f"--{name}")
        if self.url is not None and not is_address(self.url):
            raise typer.BadParameter(f"it begins with {' or '.join(SCHEMES)}", param_hint="--url")

    def _remote(self) -> Client:
        return connect(self.url, token=self.token)

    def _local(self, usual_role: Role, may_make: bool) -> Client:
        settings = self.settings
        if not may_make:
            require_office(settings)
        new = not has_office(settings)
        principal = shell_principal(self.role, usual_role, settings.data)
        office = open_office(settings)
        if new:
            print(made_new(settings), file=sys.stderr)
        return Client(EmbeddedPort(office, self.tenant or DEFAULT_TENANT, principal, "cli"))


def settings_at(
    data: Path | None,
    store: str | None,
    capability: Sequence[Path] | None = None,
    root: Sequence[Path] | None = None,
) -> Settings:
    """The settings of the office in a folder; what a command does not say, the environment does."""
    return Settings.from_environment(
        data=data,
        store=store,
        capabilities=list(capability) if capability else None,
        document_roots=list(root) if root else None,
    )


OPTIONS: Mapping[str, Any] = {
    "data": Data,
    "store": Store,
    "capability": Capability,
    "root": Root,
    "url": Url,
    "token": Token,
    "role": _Role,
    "tenant": _Tenant,
}
"""The options that every command about a call has, by the field of `Place` that they fill."""


def _hidden(option: Any) -> Any:
    kind, told = get_args(option)
    unseen = copy(told)
    unseen.hidden = True
    return Annotated[kind, unseen]


_HERE: Mapping[str, Any] = {name: _hidden(option) if name in _ELSEWHERE else option for name, option in OPTIONS.items()}


def at_office(command: Callable[..., None], options: Mapping[str, Any] = OPTIONS) -> Callable[..., None]:
    """Give a command that takes a `place` the options that say which."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "place"]

    @wraps(command)
    def run(ctx: typer.Context, **given: Any) -> None:
        command(place=taken_out(ctx, given), **given)

    return with_signature(run, own, options)


def at_folder(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that works beside the office's folder alone: it refuses an address, and offers none."""

    def here(place: Place, **given: Any) -> None:
        for name in _ELSEWHERE:
            if getattr(place, name) is not None:
                raise typer.BadParameter("this is done where the office's folder is", param_hint=f"--{name}")
        command(place=place, **given)

    return at_office(wraps(command)(here), _HERE)


def any_office(**given: Any) -> None:
    """What a group of commands takes before the command: the same options."""


def with_signature(
    run: Callable[..., None], own: Iterable[inspect.Parameter], options: Mapping[str, Any] = OPTIONS
) -> Callable[..., None]:
    """The function with parameters of its own, then those of a place."""
    kind = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("ctx", kind, annotation=typer.Context)
    place = [inspect.Parameter(name, kind, default=None, annotation=option) for name, option in options.items()]
    setattr(run, "__signature__", inspect.Signature([*own, context, *place]))  # noqa: B010
    return run


def taken_out(ctx: typer.Context, given: dict[str, Any]) -> Place:
    """The place that the options of a command name, or those of the group before it."""
    before = ctx.parent.params if ctx.parent else {}
    own = {name: given.pop(name) for name in OPTIONS}
    # A word that is empty was given all the same; an option that may be repeated is empty when it was not.
    return Place(**{name: before.get(name) if value in (None, []) else value for name, value in own.items()})


def scanned(arguments: Sequence[str]) -> Place:
    """The place that a command line speaks of, as far as one can tell before its commands are known."""
    found: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name, given, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in OPTIONS:
            continue
        told = value if given else next(words, None)
        if told is None:
            break
        if name in _SEVERAL:
            found.setdefault(name, []).append(Path(told))
        else:
            found[name] = Path(told) if name == "data" else told
    return Place(**found)
