"""Every flow as a command of its own, with options made from its published schema.

A command is made when somebody asks for it: which flows there are depends on the office that the line speaks of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from engross.flows import nearest
from engross.replies import Reply
from engross.surfaces.client import Outline

from .answering import attempt, call_and_confirm, finish
from .field import CALL_PANEL, fields_of
from .looks import markup, unmarked
from .place import AsJson, Place, any_office, scanned, taken_out, with_signature

ARGUMENTS = "engross.arguments"
OUTLINES = "engross.outlines"
WHERE_FLOWS_COME_FROM = "`engross flows` lists what an office can do; aggregates of yours come with --capability."

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would happen.", rich_help_panel=CALL_PANEL, show_default=False)
]
Output = Annotated[
    bool | None,
    typer.Option("--as-json/--as-text", help="Answer as JSON, or for people, whatever else is said."),
]
Yes = Annotated[
    bool,
    typer.Option("--yes", help="Confirm what has to be confirmed.", rich_help_panel=CALL_PANEL, show_default=False),
]


class Manner(NamedTuple):
    """How a flow is to be called, and told about."""

    dry_run: bool
    yes: bool
    json: bool


class Instead(NamedTuple):
    """What a command takes besides the arguments of its flow, and what it does where that was given."""

    parameters: Sequence[inspect.Parameter]
    work: Callable[[Place, dict[str, Any], Mapping[str, Any], Manner], bool]
    """Whether it was done; else the flow is called, with what was added to its arguments."""


def flow_command(outline: Outline, instead: Instead | None = None) -> Any:
    """The command that calls a flow."""
    besides = instead.parameters if instead else ()
    fields = {f"field_{number}": field for number, field in enumerate(fields_of(outline.arguments))}

    def run(
        ctx: typer.Context,
        json: bool,
        as_json: bool | None,
        dry_run: bool = False,
        yes: bool = False,
        **given: Any,
    ) -> None:
        answers_json = json if as_json is None else as_json
        place = taken_out(ctx, given)
        more = {parameter.name: given.pop(parameter.name) for parameter in besides}
        said = {fields[key].name: fields[key].value(value) for key, value in given.items() if _is_given(value)}

        if instead is not None and instead.work(place, said, more, Manner(dry_run, yes, answers_json)):
            return

        def work() -> Reply:
            with place.client(may_make=True) as client:
                return call_and_confirm(client, outline.ref, said, dry_run=dry_run, yes=yes, json=answers_json)

        finish(attempt(work), json=answers_json, dialect=outline.dialect)

    own = [field.parameter(key) for key, field in fields.items()]
    app = typer.Typer(add_completion=False, rich_markup_mode=markup())
    app.command(
        outline.name,
        help=unmarked(outline.description),
        short_help=unmarked(outline.description.strip().partition("\n")[0]),
        deprecated=outline.deprecated_since is not None,
    )(with_signature(run, [*besides, *own, *_call_parameters(outline)]))
    return get_command(app)


class Namespace(TyperGroup):
    """The commands of one aggregate: those that are written by hand, and every flow."""

    instead: ClassVar[Mapping[str, Instead]] = MappingProxyType({})
    """What the commands of some flows take and do besides."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; an unknown one is refused with the nearest."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        outlines = outlines_at(ctx)
        outline = outlines.get(f"{self.name}.{cmd_name}")
        if outline is None:
            refuse_command(ctx, cmd_name, self.list_commands(ctx))
        return flow_command(outline, self.instead.get(cmd_name))

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, those of the flows last."""
        names = [outline.name for outline in outlines_at(ctx).values() if outline.namespace == self.name]
        return list(dict.fromkeys([*super().list_commands(ctx), *names]))


def namespace_command(name: str) -> Any:
    """The group of a namespace's flows."""
    app = typer.Typer(
        cls=Namespace,
        add_completion=False,
        no_args_is_help=True,
        help=f"The flows of {name}.",
        rich_markup_mode=markup(),
        suggest_commands=False,
    )
    app.callback()(with_signature(any_office, ()))
    group = get_command(app)
    group.name = name
    return group


def outlines_at(ctx: Any) -> Mapping[str, Outline]:
    """The flows of the office that the command line speaks of."""
    kept = ctx.meta
    if OUTLINES not in kept:
        kept[OUTLINES] = scanned(kept[ARGUMENTS]).outlines()
    found: Mapping[str, Outline] = kept[OUTLINES]
    return found


def refuse_command(ctx: Any, name: str, known: Iterable[str]) -> NoReturn:
    """End with what there is instead of an unknown command."""
    close = nearest(name, known)
    hint = f"Did you mean {' or '.join(close)}?" if close else WHERE_FLOWS_COME_FROM
    ctx.fail(f"No such command {name!r}. {hint}")
    raise AssertionError("that ended the program")


def _call_parameters(outline: Outline) -> list[inspect.Parameter]:
    of_writes = {} if outline.kind == "read" else {"dry_run": (DryRun, False), "yes": (Yes, False)}
    options = {"json": (AsJson, False), "as_json": (Output, None), **of_writes}
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, kind, default=usual, annotation=told) for name, (told, usual) in options.items()]


def _is_given(value: Any) -> bool:
    return value is not None and value != []
