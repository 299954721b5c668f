"""Libraries that only some offices need. Each comes with an extra of Engross, and who lacks one is told which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Literal

from engross.replies import Failed, codes

Extra = Literal["otel", "parquet", "postgres", "redis"]

LIBRARIES: Mapping[Extra, tuple[str, ...]] = {
    # Deep inside: the API comes with MCP, and packages of the same name with other exporters.
    "otel": ("opentelemetry.sdk.trace.export", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
    "parquet": ("pyarrow", "pyarrow.parquet"),
    "postgres": ("psycopg", "psycopg_pool"),
    "redis": ("redis",),
}


def lack(extra: Extra) -> str | None:
    """What keeps an extra from being used: the first of its libraries that cannot be loaded, and why."""
    for library in LIBRARIES[extra]:
        try:
            # Looking for it is not enough: what it needs itself, or a part of it for this machine, may be missing.
            import_module(library)
        except Exception as error:  # of any kind: this is the code of others, in whatever state it was left
            return f"it needs the library {library}, which cannot be loaded: {_words(error)}"
    return None


def how_to_have(extra: Extra) -> str:
    """What to do about it. Engross may come from a folder or an index: only the name of the extra is the same."""
    return f"Install Engross with its extra `{extra}`."


def require(extra: Extra, *, setting: str) -> None:
    """Load the libraries of an extra, or refuse the setting that needs them."""
    if (problem := lack(extra)) is not None:
        raise _refused(extra, setting, problem)


@contextmanager
def required(extra: Extra, *, setting: str) -> Iterator[None]:
    """The same for libraries that load more when they are first used."""
    require(extra, setting=setting)
    try:
        yield
    except ImportError as error:
        raise _refused(extra, setting, f"a library that it needs cannot be loaded: {_words(error)}") from error


def _refused(extra: Extra, setting: str, problem: str) -> Failed:
    told = {"setting": setting, "problem": problem, "hint": how_to_have(extra)}
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data=told)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())
