"""Rows as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.replies import Invalid

from ..refusals import malformed


def as_parquet(columns: Mapping[str, str], rows: Sequence[dict[str, Any]]) -> bytes:
    """Rows as one Parquet file; Invalid where nothing is installed that writes it."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        hint = "Have it installed as engross[parquet], or choose csv."
        raise Invalid.many([malformed("/format", "this office cannot write Parquet", hint)]) from None
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in columns.items()])
    table = pyarrow.table({name: [row[name] for row in rows] for name in columns}, schema=schema)
    out = pyarrow.BufferOutputStream()
    parquet.write_table(table, out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content
