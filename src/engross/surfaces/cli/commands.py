"""`engross`: what people and scripts do from a shell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from engross import __version__
from engross.flows import nearest
from engross.replies import Coded, Failed, Invalid, Trace, codes, record_crash, reply_of

from . import calls, doc, doctor, files, flow, memory, model, proposals, running, tokens, upkeep, why
from .answering import finish
from .flow_command import ARGUMENTS, Namespace, namespace_command, outlines_at, refuse_command
from .looks import markup
from .place import scanned
from .printing import say
from .streams import Untaken

MISREAD = (LookupError, TypeError, ValueError, AttributeError)
"""What reading an answer comes to that is not what it seems."""


class Commands(TyperGroup):
    """The commands, and behind them every namespace of flows, looked up when somebody asks for one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the whole line: which office it speaks of is needed before its commands are known."""
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, or the flows of a namespace; whatever is unknown is refused with the nearest."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        namespaces = {outline.namespace for outline in outlines_at(ctx).values()}
        if cmd_name not in namespaces:
            known = [*self.list_commands(ctx), *namespaces]
            if not nearest(cmd_name, known):
                # Its aggregates may be those of an office that lies in another folder.
                scanned(ctx.meta[ARGUMENTS]).require_office()
            refuse_command(ctx, cmd_name, known)
        return namespace_command(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. What it was refused with becomes its answer; of a crash only the trace is told."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as unfit:
            if type(unfit) is not typer.BadParameter:
                # What is missing altogether is for the help to say.
                raise
            answer = reply_of(_refusal_of(unfit))
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError, Untaken):
            raise
        except Coded as refusal:
            answer = reply_of(refusal)
        except Exception as crash:
            trace = Trace.new()
            record_crash(trace.trace_id, crash, "cli")
            answer = reply_of(_behind(crash, ctx.meta[ARGUMENTS])).traced(trace, "cli")
        finish(answer, json=_wants_json(ctx.meta[ARGUMENTS]))


def _refusal_of(unfit: typer.BadParameter) -> Invalid:
    """What is wrong about a value on the command line, in the words of every other refusal."""
    hint = unfit.param_hint or (unfit.param.get_error_hint() if unfit.param is not None else "")
    spelled = (hint if isinstance(hint, str) else " ".join(hint)).replace("'", "")
    name = spelled if unfit.param is None else unfit.param.name or spelled
    problem = f"{spelled}: {unfit.message}" if spelled else unfit.message
    field = name.strip("-[].").replace("-", "_").lower()
    return Invalid(codes.VALIDATION_ERROR, {"problem": problem.rstrip(".")}, field=field or None)


def _behind(crash: Exception, arguments: Sequence[str]) -> Exception:
    """What a crash comes from: where somebody else answered, from an answer that holds other things than it should."""
    if scanned(arguments).url is None or not isinstance(crash, MISREAD):
        return crash
    from engross.surfaces.client.unheard import WHERE_OFFICES_ARE

    told = {"problem": "what answered is no office", "hint": WHERE_OFFICES_ARE, "outcome": "unknown"}
    return Failed(codes.OFFICE_UNREACHABLE, data=told)


def _wants_json(arguments: Sequence[str]) -> bool:
    """As far as one can tell where no command could say it."""
    said = [word for word in arguments if word in ("--as-json", "--as-text")]
    return said[-1] == "--as-json" if said else "--json" in arguments


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Every flow is a command too: engross AGGREGATE FLOW --help. `engross flows` lists them.",
    pretty_exceptions_enable=False,
    rich_markup_mode=markup(),
    suggest_commands=False,
)


def _tell_version(asked: bool) -> None:
    if asked:
        say(__version__)
        raise typer.Exit


@app.callback()
def engross(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Agents draft; Engross makes it the record."""


for command in (
    running.serve,
    calls.flows,
    calls.call,
    calls.facts,
    why.why,
    files.upload,
    files.download,
    doctor.doctor,
    upkeep.verify,
    upkeep.backup,
    upkeep.restore,
    upkeep.migrate,
):
    app.command()(command)
app.command("mcp", context_settings=running.PASSED_ON, add_help_option=False)(running.mcp)
app.add_typer(doc.app, name="doc")
app.add_typer(flow.app, name="flow")
app.add_typer(proposals.app, name="proposals")
app.add_typer(memory.app, name="memory")
app.add_typer(model.app, name="model")
app.add_typer(tokens.app, name="token")


def shadowed(namespaces: Iterable[str]) -> list[str]:
    """Those of these aggregates whose flows are no commands, because one that is always there has their name."""
    fixed: Mapping[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    return [name for name in namespaces if name in fixed and not isinstance(fixed[name], Namespace)]
