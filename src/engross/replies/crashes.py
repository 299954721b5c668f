"""The crash log: stacks stay on this machine, filed under the trace id that the caller is told."""

from __future__ import annotations

import os
import re
import threading
from datetime import UTC, datetime
from pathlib import Path

import orjson

from engross.visible import visible

FILE = "crashes.jsonl"
MAX_BYTES = 5_000_000
KEEP = 3
MAX_STACK = 64_000
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
SECRET_NAMES = "password|passwd|secret|token|api[_-]?key|authorization"
"""What is called so, or ends with it, is not told."""
_SECRETS = (
    re.compile(rf"(?i)((?:{SECRET_NAMES})[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic)\s+)?)" r"[^\s\"',;&]+"),
    re.compile(r"(?i)(bearer\s+)[\w.~+/=-]+"),
    re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)"),
    # An office's own token and a JWT are secrets wherever they stand, and a piece of one is a piece of a secret.
    re.compile(r"(?i)(egr_)[0-9a-f]{2}[\w-]*"),
    re.compile(r"(eyJ)[\w-]{8,}(?:\.[\w-]*)*"),
)


class CrashLog:
    """JSON lines in one file that only its owner may read, turned over when it grows too long."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self.path = folder / FILE
        self.max_bytes = max_bytes
        self.keep = keep
        self._lock = threading.Lock()

    def write(self, record: dict[str, object]) -> None:
        """Add one record; raises OSError when the disk refuses."""
        line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        with self._lock:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._open(len(line))
            try:
                _write_all(file, line)
            finally:
                os.close(file)

    def holds(self, trace_id: str) -> bool:
        """Whether the record of a call that crashed just now is in the file."""
        try:
            return trace_id.encode() in self.path.read_bytes()
        except OSError:
            return False

    def _open(self, coming: int) -> int:
        import fcntl

        while True:
            file = os.open(self.path, _APPENDING, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            held = os.fstat(file)
            # Another process may have turned the file over between our opening and locking it.
            if _is_same(self.path, held):
                if held.st_size == 0 or held.st_size + coming <= self.max_bytes:
                    os.fchmod(file, 0o600)
                    return file
                self._turn_over()
            os.close(file)

    def _turn_over(self) -> None:
        for number in range(self.keep - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        if self.keep:
            self.path.replace(self._numbered(1))
        else:
            self.path.unlink()

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{FILE}.{number}")


def default_folder() -> Path:
    """Where crashes go until somebody says otherwise."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "engross"


_configured: CrashLog | None = None


def configure_crash_log(folder: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
    """Send crashes to a folder of your own."""
    global _configured
    _configured = CrashLog(Path(folder), max_bytes, keep)


def crash_log() -> CrashLog:
    """The crash log in use."""
    global _configured
    if _configured is None:
        _configured = CrashLog(default_folder())
    return _configured


def record_crash(trace_id: str | None, failure: BaseException, tool: str | None = None) -> None:
    """File a stack under its trace id; a failure to do so never reaches the caller."""
    record_stack(trace_id, type(failure).__name__, _stack(failure), tool)


def record_stack(trace_id: str | None, kind: str, stack: str, tool: str | None = None) -> None:
    """The same for the stack of an exception that somebody wrote out already."""
    try:
        crash_log().write(_record(trace_id, kind, stack, tool))
    except Exception:
        _tell_log(trace_id, kind, tool)


def _record(trace_id: str | None, kind: str, stack: str, tool: str | None) -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="microseconds"),
        "trace_id": trace_id,
        "tool": None if tool is None else visible(redact(tool)),
        "error": kind,
        "stack": visible(redact(_cut(stack))),
    }


def _stack(failure: BaseException) -> str:
    import traceback

    try:
        return "".join(traceback.format_exception(failure))
    except Exception:
        return f"{type(failure).__name__}, and its stack cannot be shown"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_STACK else f"{text[: MAX_STACK // 4]}\n...\n{text[-(MAX_STACK * 3) // 4 :]}"


def redact(text: str) -> str:
    """The text without what looks like a password, a key or a token."""
    for secret in _SECRETS:
        text = secret.sub(r"\1***", text)
    return text


def _tell_log(trace_id: str | None, kind: str, tool: str | None) -> None:
    import logging

    try:
        told = "the crash log cannot be written; %s in %s, trace %s"
        logging.getLogger("engross.crashes").error(told, kind, tool, trace_id)
    except Exception:
        return


def _is_same(path: Path, held: os.stat_result) -> bool:
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (found.st_ino, found.st_dev) == (held.st_ino, held.st_dev)


def _write_all(file: int, line: bytes) -> None:
    before = os.fstat(file).st_size
    rest = memoryview(line)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        # On a full disk some of the line fits, and would spoil the next one.
        os.ftruncate(file, before)
        raise
