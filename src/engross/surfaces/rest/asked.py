"""What the head of a request says: its headers, its query, and how the call is to be made."""

from __future__ import annotations

from collections.abc import Container
from math import isfinite
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.types import Scope

from engross.flows import Flow
from engross.replies import Invalid, codes
from engross.surfaces.arrived import headers_of, whole_body

MOST_FIELDS = 1000
MOST_PINS = 16
DRY_RUN = "dry_run"
_YES = {"true": True, "1": True, "?1": True, "false": False, "0": False, "?0": False}
_TEXTS = {
    b"traceparent": "traceparent",
    b"tracestate": "tracestate",
    b"x-correlation-id": "correlation_id",
    b"x-causation-id": "causation_id",
}
_TIMEOUT, _PINS = b"engross-timeout", b"engross-pins"
_TRUTHS = {b"engross-dry-run": DRY_RUN, b"engross-break-glass": "break_glass"}
_STEERING = frozenset({_TIMEOUT, _PINS, *_TRUTHS, *_TEXTS})

Fields = list[tuple[str, str]]


class Asked:
    """One request, as far as its head tells, and its body if that came along."""

    __slots__ = ("_is_steered", "_query", "body", "headers", "method")

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.body = whole_body(scope)
        self._query: bytes = scope["query_string"]
        self.headers = headers_of(scope)
        self._is_steered = not self.headers.keys().isdisjoint(_STEERING)

    def header(self, name: bytes) -> str | None:
        """A header's text."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    @property
    def key(self) -> str | None:
        """The Idempotency-Key. As a structured field it is quoted; what a key may hold needs no escapes."""
        text = self.header(b"idempotency-key")
        return text[1:-1] if text is not None and len(text) > 1 and text[0] == text[-1] == '"' else text

    @property
    def fields(self) -> Fields:
        """The fields of the query, in their order."""
        if not self._query:
            return []
        try:
            return parse_qsl(
                self._query.decode("ascii"),
                keep_blank_values=True,
                strict_parsing=False,
                errors="strict",
                max_num_fields=MOST_FIELDS,
            )
        except UnicodeDecodeError:
            raise Invalid(codes.MALFORMED_INPUT, {"problem": "the query is not UTF-8"}) from None
        except ValueError:
            over = {"what": "The number of fields in the query", "limit": MOST_FIELDS}
            raise Invalid(codes.LIMIT_EXCEEDED, over) from None

    @property
    def trace(self) -> dict[str, Any]:
        """Where the call comes from, as options of a request."""
        headers = self.headers
        if not self._is_steered:
            return {}
        return {option: headers[name].decode("latin-1") for name, option in _TEXTS.items() if name in headers}

    def options(self, flow: Flow, call_seconds: float) -> dict[str, Any]:
        """How else the call is to be made, as options of a request."""
        headers, options = self.headers, dict[str, Any]()
        if not self._is_steered:
            return options
        if _TIMEOUT in headers:
            options["timeout"] = min(self._seconds(), flow.timeout_seconds, call_seconds)
        if _PINS in headers:
            options["pins"] = self._pins()
        for name, option in _TRUTHS.items():
            if name in headers:
                options[option] = self.truth(name)
        return options

    def _seconds(self) -> float:
        try:
            seconds = float(self.headers[_TIMEOUT])
        except ValueError:
            seconds = 0.0
        if not isfinite(seconds) or seconds <= 0:
            refuse_header("Engross-Timeout", "it takes a number of seconds above 0")
        return seconds

    def _pins(self) -> dict[str, str]:
        text = self.headers[_PINS].decode("latin-1")
        try:
            pins = parse_qsl(text, strict_parsing=True, errors="strict", max_num_fields=MOST_PINS)
        except ValueError:
            refuse_header("Engross-Pins", "it takes pairs such as model_id=m1, joined by &")
        return dict(pins)

    def truth(self, name: bytes) -> bool:
        """Whether a header says yes."""
        said = _YES.get(self.headers[name].decode("latin-1").lower())
        if said is None:
            refuse_header(name.decode().title(), "it takes true or false")
        return said


def take_dry_run(fields: Fields, options: dict[str, Any], own: Container[str] = ()) -> Fields:
    """The fields without `dry_run`, which goes to the options, unless it is an argument of the flow's own."""
    if DRY_RUN in own:
        return fields
    rest = [field for field in fields if field[0] != DRY_RUN]
    for name, text in fields:
        if name == DRY_RUN:
            said = _YES.get(text.lower())
            if said is None or options.get(DRY_RUN, said) is not said:
                problem = "dry_run takes true or false, once"
                raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field=DRY_RUN)
            options[DRY_RUN] = said
    return rest


def refuse_header(name: str, problem: str) -> NoReturn:
    """The header does not say what such a header can say."""
    raise Invalid(codes.VALIDATION_ERROR, {"problem": f"{name}: {problem}"}, details={"header": name})
