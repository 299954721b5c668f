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
    with _refusing(output):
        # Whoever reads it meanwhile sees the old file or the new one.
        fresh = output.with_name(f".{output.name}.part")
        with fresh.open("wb") as file:
            file.writelines(pieces)
        fresh.replace(output)


def _write_folder(output: Path, table: str, pages: Iterator[Mapping[str, Any]]) -> int:
    count = 0
    with _refusing(output):
        output.mkdir(parents=True, exist_ok=True)
        for count, page in enumerate(pages, start=1):
            (output / f"{table}-{count:05d}.parquet").write_bytes(b64decode(page["content_base64"]))
    return count


@contextmanager
def _refusing(output: Path) -> Iterator[None]:
    """Turns what a disk says into what a person at a shell understands."""
    try:
        yield
    except OSError as error:
        problem = f"{output} cannot be written: {error.strerror}"
        raise typer.BadParameter(problem, param_hint="--output") from None
