"""Rows as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.extras import how_to_have, lack
from engross.replies import Invalid

from ..refusals import malformed


def as_parquet(columns: Mapping[str, str], rows: Sequence[dict[str, Any]]) -> bytes:
    """Rows as one Parquet file; Invalid where nothing is installed that writes it."""
    if lack("parquet"):
        hint = f"Choose csv. Or, if the office is yours: {how_to_have('parquet')}"
        raise Invalid.many([malformed("/format", "this office cannot write Parquet", hint)])
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import parquet

    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in columns.items()])
    table = pyarrow.table({name: [row[name] for row in rows] for name in columns}, schema=schema)
    out = pyarrow.BufferOutputStream()
    parquet.write_table(table, out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content
