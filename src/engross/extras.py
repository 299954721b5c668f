"""Libraries that only some offices need. Each comes with an extra of Engross, and who lacks one is told which."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal

from engross.replies import Failed, codes

Extra = Literal["otel", "parquet", "postgres", "redis"]

LIBRARIES: Mapping[Extra, tuple[str, ...]] = {
    # Deep inside: the API comes with MCP, and packages of the same name with other exporters.
    "otel": ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg", "psycopg_pool"),
    "redis": ("redis",),
}


def missing(extra: Extra) -> str | None:
    """The first library of an extra that is not installed."""
    return next((library for library in LIBRARIES[extra] if not _is_there(library)), None)


def how_to_have(extra: Extra) -> str:
    """What to do about it. Engross may come from a folder or an index: only the name of the extra is the same."""
    return f"Install Engross with its extra `{extra}`."


def require(extra: Extra, *, setting: str) -> None:
    """Refuse a setting for which a library is missing."""
    if (library := missing(extra)) is not None:
        problem = f"it needs the library {library}, which is not installed"
        told = {"setting": setting, "problem": problem, "hint": how_to_have(extra)}
        raise Failed(codes.CONFIG_INVALID, {"setting": setting}, data=told)


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ImportError:  # a package on the way to it is missing
        return False
