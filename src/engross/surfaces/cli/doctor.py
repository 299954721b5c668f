"""`engross doctor`: is everything there that an office needs, and does one that is served work from outside?"""

from __future__ import annotations

from typing import Annotated

import typer

from engross.replies import Reply, codes, exit_code, reply
from engross.surfaces.client.connect import held_token

from .answering import FINDINGS, attempt, finish
from .place import AsJson, Capability, Data, Place, Store, Token, Url, settings_at
from .printing import print_json, say
from .running import HOST, PORT

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(
    data: Data = None,
    store: Store = None,
    capability: Capability = None,
    host: Annotated[str | None, typer.Option(help=f"Where the office would listen. By default {HOST}.")] = None,
    port: Annotated[
        int | None, typer.Option(help=f"The port that should be free. By default {PORT}.", min=0, max=65535)
    ] = None,
    url: Url = None,
    token: Token = None,
    json: AsJson = False,
) -> None:
    """Look at everything an office needs, and say what to do about what is wrong. Exit code 1: something fails.

    With --url, look at an office that is served, from outside. The exit code is then that of what failed first.
    """
    Place(data, store, capability, url=url, token=token).refuse_mixing()
    if url is None:
        _examine(data, store, capability, host or HOST, PORT if port is None else port, json=json)
        return
    for name, given in (("--host", host), ("--port", port)):
        if given is not None:
            raise typer.BadParameter("the office behind --url listens already", param_hint=name)
    _visit(url, held_token(token), json=json)


def _examine(data: Data, store: Store, capability: Capability, host: str, port: int, *, json: bool) -> None:
    from engross.office.examination import examine

    def work() -> Reply:
        findings = examine(settings_at(data, store, capability), host=host, port=port)
        healthy = all(finding.status != "fail" for finding in findings)
        return reply(codes.SYS_OK, data={"healthy": healthy, "checks": [finding.as_data() for finding in findings]})

    answer = finish(attempt(work), json=json, show=_show)
    if not answer.data["healthy"]:
        raise typer.Exit(FINDINGS)


def _visit(url: str, token: str | None, *, json: bool) -> None:
    from .visit import visit

    answer = visit(url, token)
    if json:
        print_json(answer)
    else:
        _show(answer)
    if not answer.ok:
        raise typer.Exit(exit_code(answer))


def _show(answer: Reply) -> None:
    checks = answer.data["checks"]
    width = max(len(check["check"]) for check in checks)
    for check in checks:
        say(f"{check['status']:<4}  {check['check']:<{width}}  {check['what']}", style=STYLES[check["status"]])
        if check["advice"] and check["status"] != "ok":
            say(f"{'':<{width + 6}}  {check['advice']}")
