"""`engross doctor`: is everything there that an office needs?"""

from __future__ import annotations

from typing import Annotated

import typer

from engross.replies import Reply, codes, reply

from .answering import FINDINGS, attempt, finish
from .place import AsJson, Capability, Data, Store, settings_at
from .printing import say

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(
    data: Data = None,
    store: Store = None,
    capability: Capability = None,
    host: Annotated[str, typer.Option(help="Where the office would listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port that should be free.", min=0, max=65535)] = 8080,
    json: AsJson = False,
) -> None:
    """Look at everything an office needs, and say what to do about what is wrong. Exit code 1: something fails."""
    from engross.office.examination import examine

    def work() -> Reply:
        findings = examine(settings_at(data, store, capability), host=host, port=port)
        healthy = all(finding.status != "fail" for finding in findings)
        return reply(codes.SYS_OK, data={"healthy": healthy, "checks": [finding.as_data() for finding in findings]})

    answer = finish(attempt(work), json=json, show=_show)
    if not answer.data["healthy"]:
        raise typer.Exit(FINDINGS)


def _show(answer: Reply) -> None:
    checks = answer.data["checks"]
    width = max(len(check["check"]) for check in checks)
    for check in checks:
        say(f"{check['status']:<4}  {check['check']:<{width}}  {check['what']}", style=STYLES[check["status"]])
        if check["advice"] and check["status"] != "ok":
            say(f"{'':<{width + 6}}  {check['advice']}")
