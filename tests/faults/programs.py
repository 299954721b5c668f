"""Starting the fault tests' own programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bed.programs import die_with_the_tests

ROOT = Path(__file__).parents[2]


def start_program(module: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Start one of our modules as a process of its own."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    argv = [sys.executable, "-m", module, *arguments]
    dying = die_with_the_tests(signal.SIGKILL)
    return subprocess.Popen(argv, env=environment, cwd=ROOT, stdout=subprocess.PIPE, preexec_fn=dying, **streams)
