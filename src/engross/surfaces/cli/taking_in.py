"""Files on their way into memory, one call each."""

from __future__ import annotations

import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from engross.replies import Reply, codes
from engross.replies.envelopes import retry_after
from engross.surfaces.client import Client

from .answering import call_and_confirm
from .flow_command import Manner
from .looks import is_fancy

INGEST = "memory.ingest"
LARGEST_IN_CALL = 2_000_000
"""Larger files are uploaded before; a call could not carry them everywhere."""
MORE_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".eml": "message/rfc822",
    ".ics": "text/calendar",
    ".vcf": "text/vcard",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
}
BINARY = "application/octet-stream"
MANY = 2
MOST_WAITS = 5
LONGEST_WAIT_SECONDS = 61


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """The files that are meant, in the order of their names; what is hidden in a folder is not."""
    for path in paths:
        if path.is_dir():
            found = (one for one in path.rglob("*") if not _is_hidden(one, path) and not one.is_symlink())
            yield from sorted(one for one in found if one.is_file())
        elif path.is_file():
            yield path
        else:
            raise typer.BadParameter(f"there is no file {path}", param_hint="PATH")


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def each_ingested(
    client: Client, files: Sequence[Path], more: Mapping[str, Any], manner: Manner
) -> Iterator[tuple[Path, Reply]]:
    """Each file with what became of it, while a person sees how far it is."""
    if manner.json or not is_fancy(sys.stderr) or len(files) < MANY:
        yield from ((file, _ingest_one(client, file, more, manner)) for file in files)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("remembering", total=len(files))
        for file in files:
            yield file, _ingest_one(client, file, more, manner)
            progress.advance(task)


def _ingest_one(client: Client, file: Path, more: Mapping[str, Any], manner: Manner) -> Reply:
    media_type = _media_type(file)
    called = {"original_filename": file.name, "mime_type": media_type, **more}
    try:
        if file.stat().st_size > LARGEST_IN_CALL:
            if manner.dry_run:
                raise typer.BadParameter(f"{file} would have to be uploaded first", param_hint="--dry-run")
            kept = client.upload(file, name=file.name, media_type=media_type)
            if not kept.ok:
                return kept
            return _patiently(client, {"content_hash": kept.data["blob"]["content_hash"], **called}, manner)
        content = b64encode(file.read_bytes()).decode()
    except OSError as problem:
        raise typer.BadParameter(f"{file} cannot be read: {problem.strerror}", param_hint="PATH") from None
    return _patiently(client, {"file_content": content, **called}, manner)


def _patiently(client: Client, arguments: Mapping[str, Any], manner: Manner) -> Reply:
    """The answer; an office that says how long to wait is asked again then."""
    for _ in range(MOST_WAITS):
        answer = call_and_confirm(client, INGEST, arguments, **manner._asdict())
        wait = retry_after(answer)
        if answer.code != codes.RATE_LIMIT_EXCEEDED or wait is None:
            return answer
        time.sleep(min(wait, LONGEST_WAIT_SECONDS))
    return answer


def _media_type(file: Path) -> str:
    from mimetypes import guess_type

    return MORE_TYPES.get(file.suffix.lower()) or guess_type(file.name)[0] or BINARY
