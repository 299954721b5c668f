"""Answers to what is no message of the protocol: lines from a pipe, and bodies of requests over HTTP.

A client waits for the answer to its request, so a request is refused under its id wherever that can be made out, be the
rest of the line what it may. Nothing else of the line is repeated: it may be a secret that went astray. A call of a
tool whose arguments are what cannot be read gets a Reply.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8

import mcp_types as types
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData
from pydantic import ValidationError
from pydantic_core import from_json

from engross.flows import Flow
from engross.replies import Invalid, codes

from .overlong import Refusing, Sender, sender_of
from .pipes import ENDS, Overlong
from .protocol import error_line

_UNREAD = ErrorData(code=PARSE_ERROR, message="Parse error")
_INVALID = ErrorData(code=INVALID_REQUEST, message="Invalid request")
LONGEST_NUMBER = 40
_NUMBERS = range(-(2**63), 2**64)
"""Whole numbers that can be written in an answer."""
_TOO_LARGE = 10**LONGEST_NUMBER
"""Stands for any number that is longer: no flow takes either."""


def refused(line: bytes, refusing: Refusing, *, is_modern: bool) -> bytes | None:
    """What answers a line which is no message; None if it is one."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as unreadable:
        if _is_json(unreadable):
            return error_line(number_of(line), _INVALID)
        return replied(line, refusing, is_modern=is_modern) or unread(line)
    if isinstance(message, types.JSONRPCNotification) and "id" in from_json(line):
        # Whoever gives an id waits for an answer; one that is no id makes no notification of a request.
        return error_line(None, _INVALID)
    return None


def unread(line: bytes) -> bytes:
    """The protocol's own error for what cannot be read."""
    return error_line(number_of(line), _UNREAD)


def number_of(line: bytes) -> types.RequestId | None:
    """The id of the request that a line would be, if that much can be read."""
    try:
        # Half characters and broken bytes do not matter here, as long as they are not in the id itself.
        text = line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
        message = json.loads(text, parse_int=_whole_number)
    except RecursionError:
        sender = _sender(line)
        return sender.id if sender.method else None
    except ValueError:
        return None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None
    number = message.get("id")
    if type(number) is int and number in _NUMBERS:
        return number
    return number if isinstance(number, str) and _is_whole(number) else None


def replied(line: bytes, refusing: Refusing, *, is_modern: bool) -> bytes | None:
    """The Reply to a call whose arguments are no plain JSON; None if they are, or it is no call."""
    try:
        message = json.loads(line.decode(), parse_int=_any_number)
    except RecursionError:
        return refusing.call(_sender(line), _too_deep, is_modern=is_modern)
    except ValueError:
        return None
    params = message.get("params") if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None
    name = params.get("name") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(name, str):
        return None

    def against(flow: Flow) -> BaseException | None:
        try:
            flow.check(params.get("arguments") or {})
        except (Exception, SystemExit) as refusal:
            return refusal
        return None

    return refusing.call(Sender(number_of(line), message.get("method"), name), against, is_modern=is_modern)


def _sender(line: bytes) -> Sender:
    return sender_of(Overlong(line[:ENDS], line[-ENDS:]))


def _too_deep(flow: Flow) -> Invalid:
    return Invalid(codes.LIMIT_EXCEEDED, {"what": "The depth", "limit": flow.limits.depth})


def _whole_number(text: str) -> int | None:
    """A number, unless it is longer than any id and dear to read."""
    return int(text) if len(text) < LONGEST_NUMBER else None


def _any_number(text: str) -> int:
    return int(text) if len(text) < LONGEST_NUMBER else _TOO_LARGE


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_json(unreadable: ValidationError) -> bool:
    errors = unreadable.errors(include_input=False, include_url=False)
    return all(error["type"] != "json_invalid" for error in errors)
