"""Files that are too large for a call, in and out."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from engross.replies import Reply

from .answering import finish
from .handing_out import refusing
from .place import AsJson, Place, at_office
from .printing import print_fields

STREAM = "-"


@at_office
def upload(
    place: Place,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file, or - for standard input.")],
    name: Annotated[str | None, typer.Option(help="The name to keep it under, instead of its own.")] = None,
    media_type: Annotated[str | None, typer.Option(help="What kind of file it is, as text/csv.")] = None,
    client_request_id: Annotated[
        str | None, typer.Option(help="Your id for this upload; a repeat with it changes nothing twice.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Put a file on the record; flows then take its content_hash."""
    if file != STREAM and not Path(file).is_file():
        raise typer.BadParameter(f"there is no file {file}", param_hint="FILE")
    content = sys.stdin.buffer if file == STREAM else Path(file)
    called = name or ("file" if file == STREAM else None)
    with place.client(may_make=True) as client:
        answer = client.upload(content, name=called, media_type=media_type, client_request_id=client_request_id)
    finish(answer, json=json)


@at_office
def download(
    place: Place,
    content_hash: Annotated[str, typer.Argument(metavar="CONTENT_HASH", help="Which file.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Where to put it, or - for standard output.")],
    json: AsJson = False,
) -> None:
    """Fetch a file that is on the record."""
    if target != STREAM and not Path(target).absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder for {target}", param_hint="TARGET")
    with place.client() as client, nullcontext() if target == STREAM else refusing(Path(target), "TARGET"):
        answer = client.download(content_hash, sys.stdout.buffer if target == STREAM else Path(target))
    sys.stdout.flush()
    # Standard output is the file then.
    if target != STREAM or not answer.ok:
        finish(answer, json=json, show=_show_file)


def _show_file(answer: Reply) -> None:
    print_fields(answer.data["blob"])
