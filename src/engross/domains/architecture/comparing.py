"""Which two are compared: models, moments of one, or a model and a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from engross.flows import moment_of
from engross.ledger import Reader, settled_position
from engross.replies import Invalid

from .differences import Side, differences
from .exchange.arrival import Content, sent
from .looking import read_context
from .models import effective_model
from .refusals import malformed

Arguments = Mapping[str, Any]
FILE = ("content", "content_hash", "files")


def compared(reader: Reader, arguments: Arguments, content: Content | None) -> dict[str, Any]:
    """What differs between a model and whatever it is compared with."""
    model_id = effective_model(reader, arguments.get("model_id"))
    before = Side.stored(reader, model_id)
    after, told = _other(reader, model_id, arguments, content)
    return {
        "from": read_context(reader, model_id),
        "to": told,
        **differences(before, after, arguments.get("limit", 100)),
    }


def _other(reader: Reader, model_id: str, arguments: Arguments, content: Content | None) -> tuple[Side, dict[str, Any]]:
    if any(name in arguments for name in FILE):
        if "other_model_id" in arguments or "other_as_of" in arguments:
            raise Invalid.many([malformed("/other_model_id", "compare with a file or with a model, not with both")])
        parcel = sent(reader, arguments, content)
        return Side.of(parcel), {"file": parcel.format, "name": parcel.name}
    if "other_model_id" not in arguments and "other_as_of" not in arguments:
        hint = "Give other_model_id, other_as_of or a file."
        raise Invalid.many([malformed("/other_model_id", "there is nothing to compare it with", hint)])
    as_of = _other_moment(reader, arguments.get("other_as_of"))
    there = Reader(reader.reading, replace(reader.context, as_of=as_of))
    other = effective_model(there, arguments.get("other_model_id", model_id), "other_model_id")
    told = {"model_id": other, "as_of": as_of}
    return Side.stored(there, other), {name: value for name, value in told.items() if value is not None}


def _other_moment(reader: Reader, asked: int | str | None) -> int | None:
    moment = None if asked is None else moment_of(asked)
    if moment is None:
        return None
    position = settled_position(reader.reading, moment, reader.now)
    if position is None:
        latest = f"The latest position is {reader.reading.watermark()}."
        raise Invalid.many([malformed("/other_as_of", "other_as_of is ahead of the ledger", latest)])
    return position
