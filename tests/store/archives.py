"""Looking into backups, and spoiling them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson

from engross.store.snapshot import snapshot_at

Contents = dict[str, bytes]
MANIFEST = "manifest.json"


def contents(archive: Path) -> Contents:
    """Every file of a backup."""
    with ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def repacked(archive: Path, spoil: Callable[[Contents], None], *, honest: bool = True) -> Path:
    """The backup with other contents; an honest one has a manifest that says so."""
    files = contents(archive)
    spoil(files)
    if honest and MANIFEST in files:
        files[MANIFEST] = _described(files)
    spoilt = archive.with_name("spoilt.zip")
    with ZipFile(spoilt, "w", ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return spoilt


def _described(files: Contents) -> bytes:
    manifest = orjson.loads(files[MANIFEST])
    held = {name: content for name, content in files.items() if name != MANIFEST}
    known = manifest["files"]
    manifest["files"] = {
        name: {
            **known.get(name, {"columns": []}),
            "sha256": sha256(content).hexdigest(),
            "size": len(content),
            "rows": content.count(b"\n") if name.startswith("tables/") else None,
        }
        for name, content in held.items()
    }
    return orjson.dumps(manifest)


def everything(location: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables but the engines' own way of counting positions."""
    snapshot = snapshot_at(location)
    try:
        return {
            table.name: [tuple(row) for row in snapshot.rows(table)]
            for table in snapshot.tables()
            if table.name != "positions"
        }
    finally:
        snapshot.close()


def files_under(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
