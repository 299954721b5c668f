"""Documents for the examples of flows."""

from __future__ import annotations

PATH = "notes/plan.oct.md"
NOTE = """\
===PLAN===
META:
  TYPE::NOTE
  VERSION::"1.0"
STATUS::DRAFT
SERVER:
  HOST::db1
  PORT::5432
===END===
"""
OTHER_NOTE = NOTE.replace("DRAFT", "ACTIVE")
WRITE_REF = "documents.octave-write"
A_NOTE: tuple[str, dict[str, object]] = (WRITE_REF, {"target_path": PATH, "content": NOTE})
TYPED_BY_HAND = """\
===PLAN===
META:
    TYPE::NOTE
    VERSION::"1.0"
    STATUS::active
FLOW::build -> test
===END===
"""
