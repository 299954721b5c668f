"""Pages of an export on their way into one file, or into one folder."""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import typer

from engross.surfaces.client.content import arriving_at


def written(format: str, table: str, pages: Iterator[Mapping[str, Any]], output: Path | None) -> int:
    """Write the pages as one file, or into one folder; how many files that made."""
    if format == "parquet":
        assert output is not None
        return _write_folder(output, table, pages)
    if format == "prov_jsonld":
        whole = _joined(pages)
        _write(output, [orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
    else:
        _write(output, (page["text"].encode() for page in pages))
    return 1


def _joined(pages: Iterator[Mapping[str, Any]]) -> dict[str, Any]:
    """The documents of all pages as one: nodes that several of them have are there once."""
    context: Any = {}
    nodes: dict[str, Any] = {}
    for page in pages:
        context = page["document"]["@context"]
        for node in page["document"]["@graph"]:
            nodes.setdefault(node["@id"], node)
    return {"@context": context, "@graph": list(nodes.values())}


def _write(output: Path | None, pieces: Iterable[bytes]) -> None:
    if output is None:
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    with refusing(output, "--output"):
        put(output, pieces)


def _write_folder(output: Path, table: str, pages: Iterator[Mapping[str, Any]]) -> int:
    count = 0
    with refusing(output, "--output"):
        output.mkdir(parents=True, exist_ok=True)
        for count, page in enumerate(pages, start=1):
            put(output / f"{table}-{count:05d}.parquet", [b64decode(page["content_base64"])])
    return count


def put(file: Path, pieces: Iterable[bytes]) -> None:
    """Write a file. Whoever reads it meanwhile sees the old one or the new one."""
    with arriving_at(file) as arriving:
        arriving.file.writelines(pieces)
        arriving.whole = True


@contextmanager
def refusing(output: Path, hint: str) -> Iterator[None]:
    """Turns what a disk says into what a person at a shell understands."""
    try:
        yield
    except OSError as error:
        problem = f"{output} cannot be written: {error.strerror}"
        raise typer.BadParameter(problem, param_hint=hint) from None
