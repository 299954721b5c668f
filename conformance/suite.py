"""The published conformance suite: an npm package of a pinned version, run by a Node.js that comes along with it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
MODULES = FOLDER / "node_modules"
REVISIONS = ("2026-07-28", "2025-11-25")
OLDEST_NODE = 22
MOST_SECONDS = 600
# The suite keeps what a revision requires as YAML, and brings a reader for it.
REQUIREMENTS = """
import {readFileSync} from "fs"; import {parse} from "yaml";
console.log(JSON.stringify(parse(readFileSync(process.argv[1], "utf8"))));
"""


class SuiteMissing(Exception):
    """The suite cannot be had on this machine."""


class Check(NamedTuple):
    """One thing that a scenario looked at."""

    id: str
    status: str
    message: str
    untestable: bool


class Ran(NamedTuple):
    """A scenario that was run, with what it found."""

    scenario: str
    checks: tuple[Check, ...]


class Requirements(NamedTuple):
    """What a revision asks of servers, in the suite's own words."""

    required: tuple[str, ...]
    not_scored: Mapping[str, str]
    """The other scenarios that the suite runs for this revision, and why they do not count."""


class Suite:
    """The installed suite."""

    def __init__(self) -> None:
        _install()
        self._node = _node()
        self._program = str(MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")

    def requirements(self, revision: str) -> Requirements:
        """What the revision asks of servers."""
        file = MODULES / "@modelcontextprotocol" / "conformance" / "requirements" / f"{revision}.yaml"
        done = _output([self._node, "--input-type=module", "--eval", REQUIREMENTS, str(file)])
        said = json.loads(done)
        others = {each["scenario"]: each["reason"] for each in said["not_scored"] if each["leg"] == "server"}
        return Requirements(tuple(said["server"]), others)

    def run(self, url: str, revision: str) -> list[Ran]:
        """Run everything that the suite has for servers of this revision."""
        with TemporaryDirectory(prefix="engross-conformance-") as folder:
            # Its exit code says less than what it found: it passes over warnings, and over what it could not try.
            subprocess.run(
                [self._node, self._program, "server", "--url", url, "--requirements", revision, "-o", folder],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=MOST_SECONDS,
                check=False,
            )
            return [_ran(file) for file in Path(folder).glob("*/checks.json")]


def _ran(file: Path) -> Ran:
    # The folder's name is server-<scenario>-<when>.
    scenario = file.parent.name.removeprefix("server-")[: -len("-2026-07-28T00-00-00-000Z")]
    return Ran(scenario, tuple(_check(found) for found in json.loads(file.read_text())))


def _check(found: Mapping[str, Any]) -> Check:
    details = found.get("details") or {}
    message = found.get("errorMessage") or details.get("message") or details.get("note") or ""
    return Check(found["id"], found["status"], " ".join(str(message).split()), bool(details.get("untestable")))


def _install() -> None:
    stamp = MODULES / f".installed-{sha256((FOLDER / 'package-lock.json').read_bytes()).hexdigest()[:16]}"
    with (FOLDER / "package-lock.json").open() as alone:
        # Whoever comes second finds it installed.
        flock(alone, LOCK_EX)
        if not stamp.exists():
            _install_anew(stamp)


def _install_anew(stamp: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissing("npm is not installed; the suite is an npm package")
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=FOLDER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SuiteMissing(f"npm could not install it: {done.stderr.strip()[-1000:]}")
    stamp.touch()


def _node() -> str:
    """The Node.js that was installed along, where there is one for this kind of machine, or else the machine's own."""
    along = MODULES / ".bin" / "node"
    found = str(along) if along.exists() else shutil.which("node")
    if found is None:
        raise SuiteMissing("there is no Node.js package for this kind of machine, and it has none of its own")
    version = _output([found, "--version"]).strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        raise SuiteMissing(f"the suite needs Node.js {OLDEST_NODE} or newer, and here is {version}")
    return found


def _output(argv: Sequence[str]) -> str:
    return subprocess.run(argv, cwd=FOLDER, capture_output=True, text=True, check=True).stdout
