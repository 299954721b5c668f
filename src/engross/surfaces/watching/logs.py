"""Logs of an office: one JSON object a line, or something nicer to read on a terminal.

Every call leaves one line, with the trace id that its Reply carries. No line holds an argument, an answer or a
credential; of an exception it holds the kind and the place, and the stack goes to the crash log. Some of what is in
them was chosen by strangers, so no line holds anything either that a terminal would obey.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from pathlib import PurePath
from typing import Any, TextIO

import orjson
import structlog
from structlog.stdlib import ProcessorFormatter

from engross.calls import now, present
from engross.flows import Catalogue, shortened
from engross.office import Request
from engross.replies import Failed, Reply, codes, record_crash
from engross.replies.calllog import outcome_of
from engross.replies.crashes import SECRET_NAMES, record_stack, redact
from engross.visible import visible

from .daybook import Ended
from .labels import UNKNOWN, Labels

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
OF_TYPE = {"S": logging.INFO, "I": logging.WARNING, "D": logging.WARNING, "E": logging.ERROR}
FIRST = ("time", "level", "logger", "event")
STACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ +File "(.+)", line (\d+)', re.MULTILINE)
_KIND = re.compile(r"^[\w.]+", re.MULTILINE)
_SECRET_NAME = re.compile(rf"(?i)({SECRET_NAMES}|cookie)$")
_calls = logging.getLogger("engross.served")
_Event = MutableMapping[str, Any]
_Line = tuple[int, dict[str, Any]]
_Writing = Callable[[logging.Logger, Iterable[_Line]], None]
_NAMES = {level: name for name, level in LEVELS.items()}


class CallLog:
    """Writes the line that every call leaves."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._labels = Labels(catalogue)

    def read(self, ended: Iterable[Ended]) -> None:
        """Write a line for each call that ended."""
        lines: list[_Line] = []
        try:
            for one in ended:
                if _calls.isEnabledFor(level := _level_of(one.answer)):
                    lines.append((level, self._line(one.request, one.answer)))
        finally:
            # Those before one that cannot be written down are.
            if lines:
                _write(_calls, lines)

    def _line(self, request: Request, answer: Reply | None) -> dict[str, Any]:
        told: dict[str, Any] = {
            "event": "call" if answer is not None else "call abandoned",
            "flow": self._labels.of(request.flow),
            "surface": request.surface,
            "tenant": request.tenant,
            "principal": request.principal.id,
        }
        if told["flow"] == UNKNOWN:
            told["asked"] = redact(shortened(request.flow))
        if answer is not None:
            told.update(outcome_of(answer))
            told["duration_ms"] = answer.duration_ms
        if request.dry_run:
            told["dry_run"] = True
        return told


def _level_of(answer: Reply | None) -> int:
    return logging.WARNING if answer is None else OF_TYPE[answer.reply_type]


def write_line(logger: logging.Logger, level: int, fields: dict[str, Any]) -> None:
    """Log fields, whoever chose what is in them, without what looks like a secret."""
    if logger.isEnabledFor(level):
        _write(logger, [(level, _each_text(redact, fields))])


def _write_records(logger: logging.Logger, lines: Iterable[_Line]) -> None:
    """Log lines that are already as they should be; they come in a record's `engross_line`."""
    for level, fields in lines:
        record = logging.LogRecord(logger.name, level, "", 0, fields["event"], None, None)
        record.engross_line = fields
        logger.handle(record)


_write: _Writing = _write_records


def configure_logs(level: str, stream: TextIO | None = None) -> None:
    """Send all logs of this process to a stream, by default standard error."""
    if level.lower() not in LEVELS:
        data = {"setting": "log_level", "allowed_values": list(LEVELS)}
        raise Failed(codes.CONFIG_INVALID, {"setting": "log_level"}, data=data)
    global _write
    chosen = stream or sys.stderr
    handler = _Handler(chosen)
    handler.setFormatter(_Lines(for_people=chosen.isatty()))
    _write = _write_records if chosen.isatty() else _straight_to(handler)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(LEVELS[level.lower()], logging.WARNING))
    logging.getLogger("engross").setLevel(LEVELS[level.lower()])
    # Its lines say less than ours, about the same calls.
    logging.getLogger("engross.calls").disabled = True
    logging.captureWarnings(True)


def _straight_to(handler: logging.StreamHandler[TextIO]) -> _Writing:
    """A short cut for lines that need no formatting: a record of its own would cost each call as much again."""
    lock = handler.lock
    assert lock is not None

    def write(logger: logging.Logger, lines: Iterable[_Line]) -> None:
        time, name = present(now), logger.name
        text = b"".join(
            [
                _as_text({"time": time, "level": _NAMES[level], "logger": name, **fields}) + b"\n"
                for level, fields in lines
            ]
        )
        with lock:
            try:
                handler.stream.write(text.decode())
                handler.stream.flush()
            except (OSError, ValueError):
                # Nobody reads the log any more; calls go on.
                return

    return write


class _Handler(logging.StreamHandler[TextIO]):
    """What the standard one says where nobody takes a line holds all that was to be in it, as it was."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Nobody reads the log any more; calls go on."""


class _Lines(ProcessorFormatter):
    """structlog's formatting of every record."""

    def __init__(self, *, for_people: bool) -> None:
        super().__init__(
            processors=[ProcessorFormatter.remove_processors_meta, _as_fields, _for_people() if for_people else _json],
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                structlog.stdlib.ExtraAdder(),
            ],
        )

    def format(self, record: logging.LogRecord) -> str:
        """A line; of a record that cannot be made one, that there was one."""
        try:
            return super().format(record)
        except Exception as failure:
            told = f"a record that cannot be written down: {type(failure).__name__}"
            return super().format(logging.LogRecord(record.name, record.levelno, "", 0, told, None, None))


def _as_fields(_logger: object, _method: str, event: _Event) -> _Event:
    """The fields of a prepared line; those of others without stacks and secrets, nor what is for a terminal alone."""
    line = event.pop("engross_line", None)
    if line is not None:
        return {**event, **line}
    event.pop("color_message", None)
    event.pop("stack_info", None)
    failure = event.pop("exc_info", None)
    text = str(event["event"])
    if isinstance(failure, tuple) and isinstance(failure[1], BaseException):
        record_crash(event.get("trace_id"), failure[1], event.get("logger"))
        # Below its first line asyncio repeats what the exception says.
        event.update({"event": text.partition("\n")[0], **_place_of(failure[1])})
    elif STACK in text:
        event.update(_of_stack(text, event))
    without_secrets: _Event = _each_text(redact, _unnamed(orjson.loads(_dumped(event))))
    return without_secrets


def _unnamed(value: Any) -> Any:
    """The same without the texts whose names say that they are secrets."""
    if isinstance(value, dict):
        return {
            name: "***" if isinstance(one, str) and _SECRET_NAME.search(name) else _unnamed(one)
            for name, one in value.items()
        }
    return [_unnamed(one) for one in value] if isinstance(value, list) else value


def _place_of(failure: BaseException) -> dict[str, str]:
    place = failure.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    told = {"error": type(failure).__name__}
    if place is not None:
        told["at"] = _place(place.tb_frame.f_code.co_filename, place.tb_lineno)
    return told


def _of_stack(text: str, event: _Event) -> dict[str, str]:
    """What a line says of a stack that somebody took for a message: uvicorn does when the server cannot begin."""
    said, _, _ = text.partition(STACK)
    _, _, last = text.rpartition(STACK)
    kind = _KIND.search(last)
    told = {"event": said.partition("\n")[0] or "failed", "error": kind[0].rpartition(".")[2] if kind else "unknown"}
    frames = _FRAME.findall(last)
    if frames:
        told["at"] = _place(*frames[-1])
    record_stack(event.get("trace_id"), told["error"], text, event.get("logger"))
    return told


def _place(file: str, line: int | str) -> str:
    return f"{PurePath(file).name}:{line}"


def _for_people() -> Callable[..., str]:
    """Shows what is in a line of JSON, so that nothing can get to a terminal in another way."""
    render = structlog.dev.ConsoleRenderer()

    def show(logger: object, method: str, event: _Event) -> str:
        fields = orjson.loads(_as_text(event))
        # It may not go on where a line of its own would begin. Of other fields structlog escapes the ends of lines.
        fields["event"] = fields["event"].replace("\n", "\n    ")
        return str(render(logger, method, fields))

    return show


def _json(_logger: object, _method: str, event: _Event) -> str:
    return _as_text({name: event.pop(name) for name in FIRST if name in event} | dict(event)).decode()


def _as_text(line: Mapping[str, Any]) -> bytes:
    text = _dumped(line)
    # JSON escapes some of what a terminal would obey, but whoever takes a text out of it gets that back.
    if text.isascii() and b"\\" not in text and b"\x7f" not in text:
        return text
    return orjson.dumps(_each_text(visible, orjson.loads(text)))


def _dumped(line: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, default=str)
    except TypeError:
        # Half a character, or a number or name that JSON does not know.
        return orjson.dumps({_whole(name): _whole(value) for name, value in line.items()})


def _each_text(change: Callable[[str], str], value: Any) -> Any:
    """The same with every text in it changed, however deep it lies; names are texts, too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): _each_text(change, one) for name, one in value.items()}
    if isinstance(value, list):
        return [_each_text(change, one) for one in value]
    return value


def _whole(value: object) -> str:
    return str(value).encode("utf-8", "backslashreplace").decode()
