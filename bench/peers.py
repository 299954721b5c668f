"""Other people's programs to measure ours beside: found, or installed by name into a folder of their own.

`OCTAVE_MCP_PYTHON` names an interpreter that has `octave-mcp`. Without it, one is made beside this interpreter the
first time it is needed. Where that is not possible, what compares with it is left out, and said so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

PACKAGE = "octave-mcp"


@cache
def octave_mcp() -> str | None:
    """An interpreter that has the published implementation of OCTAVE, if there is or can be one."""
    named = os.environ.get("OCTAVE_MCP_PYTHON")
    for python in filter(None, (named, sys.executable, str(_own()))):
        if _has_it(python):
            return python
    return str(_own()) if _install() else None


def _own() -> Path:
    return Path(sys.prefix) / "peers" / PACKAGE / "bin" / "python"


def _has_it(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", "import octave_mcp"], capture_output=True).returncode == 0
    except OSError:
        return False


def _install() -> bool:
    folder = _own().parents[1]
    steps = ([sys.executable, "-m", "venv", str(folder)], [str(_own()), "-m", "pip", "install", "-q", PACKAGE])
    for step in steps:
        if subprocess.run(step, capture_output=True).returncode != 0:
            print(f"{PACKAGE} cannot be installed here, so nothing is compared with it", file=sys.stderr)
            return False
    return _has_it(str(_own()))
