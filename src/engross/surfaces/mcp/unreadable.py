"""Answers to lines that are no message of the protocol.

A client waits for the answer to its request, so a request is refused under its id wherever that can be made out, be the
rest of the line what it may. Nothing else of the line is repeated: it may be a secret that went astray.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8

import mcp_types as types
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData
from pydantic import ValidationError
from pydantic_core import from_json

from .protocol import error_line

_UNREAD = ErrorData(code=PARSE_ERROR, message="Parse error")
_INVALID = ErrorData(code=INVALID_REQUEST, message="Invalid request")
LONGEST_NUMBER = 40
_NUMBERS = range(-(2**63), 2**64)
"""Whole numbers that can be written in an answer."""


def refused(line: bytes) -> bytes | None:
    """The error that answers a line which is no message; None if it is one."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as unreadable:
        return error_line(number_of(line), _INVALID if _is_json(unreadable) else _UNREAD)
    if isinstance(message, types.JSONRPCNotification) and "id" in from_json(line):
        # Whoever gives an id waits for an answer; one that is no id makes no notification of a request.
        return error_line(None, _INVALID)
    return None


def number_of(line: bytes) -> types.RequestId | None:
    """The id of the request that a line would be, if that much can be read."""
    try:
        # Half characters and broken bytes do not matter here, as long as they are not in the id itself.
        text = line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
        message = json.loads(text, parse_int=_whole_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None
    number = message.get("id")
    if type(number) is int and number in _NUMBERS:
        return number
    return number if isinstance(number, str) and _is_whole(number) else None


def _whole_number(text: str) -> int | None:
    """A number, unless it is longer than any id and dear to read."""
    return int(text) if len(text) < LONGEST_NUMBER else None


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_json(unreadable: ValidationError) -> bool:
    errors = unreadable.errors(include_input=False, include_url=False)
    return all(error["type"] != "json_invalid" for error in errors)
