"""Tokens: who may come in from elsewhere, and until when."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from engross.calls import Role
from engross.replies import Reply, codes, reply
from engross.surfaces.client import Client

from .answering import finish
from .new_file import NewFile
from .place import AsJson, Place, at_folder, at_office
from .printing import print_fields, print_table, say

KEEPER: Role = "admin"
"""The role in which the folder's owner looks after tokens, unless another is named."""
COLUMNS = ("id", "principal", "type", "roles", "status", "expires_at", "note")
MIXED_UP = (
    "--role is the role in which you call; what the token may do is --roles. Leave --role out to call as an admin."
)
NAME_ONE = "Only an agent has a role without --roles. A person who decides is a curator: --roles curator."
ONE_BY_ONE = "--roles takes one role, and is repeated for another: --roles curator --roles admin."

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke the tokens that let callers in.")


@app.command()
@at_folder
def create(
    place: Place,
    principal: Annotated[str, typer.Argument(help="Who it stands for.")],
    type: Annotated[str, typer.Option(help="What they are: human, agent or service.")] = "agent",
    roles: Annotated[
        list[str] | None,
        typer.Option(
            help="A role that the token gets, not yours (--role); may be repeated. An agent has `agent` without it."
        ),
    ] = None,
    scopes: Annotated[
        list[str] | None, typer.Option(help="A scope, for policies that ask about it; may be repeated.")
    ] = None,
    expires_in_days: Annotated[int | None, typer.Option(help="How long it is good; else until it is revoked.")] = None,
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    to: Annotated[Path | None, typer.Option(help="Write it to this file, for its owner only.", metavar="FILE")] = None,
    json: AsJson = False,
) -> None:
    """Make a token, where the office's folder is, and print its text, a secret, and nothing else to standard output."""
    asked = {
        "principal": principal,
        "type": type,
        "roles": roles or (["agent"] if type == "agent" else None),
        "scopes": scopes or None,
        "expires_in_days": expires_in_days,
        "note": note,
    }
    with NewFile(to, "to") if to is not None else nullcontext() as file, place.client(KEEPER, may_make=True) as client:
        answer = client.call("door.create-token", {name: value for name, value in asked.items() if value is not None})
        if answer.ok:
            answer = _handed_over(client, answer, file)
        elif hint := _hint(answer, place.role, roles):
            answer = _in_its_trace(reply(answer.code, answer.params, {**answer.data, "hint": hint}), answer)
        with nullcontext() if file is not None or not answer.ok else _revoked_if_lost(client, answer):
            finish(answer, json=json, show=_show_token)


@app.command("list")
@at_office
def list_(
    place: Place,
    limit: Annotated[int | None, typer.Option(help="So many at the most.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    json: AsJson = False,
) -> None:
    """List the tokens that were made, ended ones too. Their texts are not shown."""
    asked: dict[str, Any] = {"limit": limit, "cursor": cursor}
    with place.client(KEEPER) as client:
        answer = client.call("door.list-tokens", {name: value for name, value in asked.items() if value is not None})
    finish(answer, json=json, show=_show_page)


@app.command()
@at_office
def revoke(
    place: Place,
    token_id: Annotated[str | None, typer.Argument(metavar="ID", help="The token's id, not its text.")] = None,
    jti: Annotated[str | None, typer.Option(help="The jti of a token of the issuer's, instead.")] = None,
    json: AsJson = False,
) -> None:
    """Revoke a token: it is refused from now on, in every process. There is no way back."""
    asked = {"token_id": token_id, "jti": jti}
    with place.client(KEEPER) as client:
        answer = client.call("door.revoke-token", {name: value for name, value in asked.items() if value is not None})
    finish(answer, json=json)


def _handed_over(client: Client, answer: Reply, file: NewFile | None) -> Reply:
    """The answer with the token's text, or without it where a file has it. A token that nobody was given is revoked."""
    token_id = answer.data["token"]["id"]
    text = client.office.door.text_of(client.tenant, token_id)
    if file is None:
        return _in_its_trace(reply(answer.code, answer.params, {**answer.data, "text": text}), answer)
    try:
        file.write(text)
    except OSError:
        revoked = client.call("door.revoke-token", {"token_id": token_id})
        data = {"token_id": token_id, "revoked": revoked.ok}
        unwritten = reply(codes.E_WRITE, data=data)  # reply-lint: L7 because this file is written here
        return _in_its_trace(unwritten, answer)
    return answer


@contextmanager
def _revoked_if_lost(client: Client, answer: Reply) -> Iterator[None]:
    """Nobody has the text of a token that could not be printed."""
    try:
        yield
    except OSError:
        token_id = answer.data["token"]["id"]
        revoked = client.call("door.revoke-token", {"token_id": token_id})
        what = "is revoked" if revoked.ok else f"is to be revoked: engross token revoke {token_id}"
        say(f"nobody has the text of the token {token_id}, so it {what}", style="red", stream=sys.stderr)
        raise


def _hint(answer: Reply, role: str | None, roles: list[str] | None) -> str | None:
    """What was probably meant by somebody who was refused."""
    if answer.code == codes.CALL_DENIED and role and not roles:
        return MIXED_UP
    if not any(error["field"].partition(".")[0] == "roles" for error in answer.data.get("errors", ())):
        return None
    if not roles:
        return NAME_ONE
    return ONE_BY_ONE if any("," in one for one in roles) else None


def _in_its_trace(told: Reply, answer: Reply) -> Reply:
    return told if answer.trace is None else told.traced(answer.trace, answer.tool, answer.duration_ms)


def _show_token(answer: Reply) -> None:
    if "text" in answer.data:
        say(answer.data["text"])
        sys.stdout.flush()
    print_fields(answer.data["token"], stream=sys.stderr)


def _show_page(answer: Reply) -> None:
    if not answer.data["tokens"]:
        say("no tokens")
        return
    print_table([{**token, "roles": " ".join(token.get("roles", ()))} for token in answer.data["tokens"]], COLUMNS)
    if answer.data["next_cursor"]:
        say(f"more: --cursor {answer.data['next_cursor']}")
