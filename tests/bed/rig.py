"""Flows that do what a test needs a flow to do: wait until told, and break."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Reader

rig = Aggregate("rig", "The test bed's own flows")


class Hold(TypedDict):
    """Where to say that it has begun, and what to wait for."""

    begun: Annotated[str, Described("A file to make at the beginning.", maxLength=500)]
    until: Annotated[str, Described("A file to wait for.", maxLength=500)]


class Crash(TypedDict):
    """What to die of."""

    words: Annotated[str, Described("The text of the exception.", maxLength=500)]


class Flood(TypedDict):
    """How much to answer."""

    size: Annotated[int, Described("The length of the answer's text.", minimum=0, maximum=3_900_000)]


@rig.read
def flood(reader: Reader, arguments: Flood) -> Mapping[str, Any]:
    """Answer with a lot of text."""
    return {"text": "x" * arguments["size"]}


@rig.read(timeout_seconds=600)
def hold(reader: Reader, arguments: Hold) -> Mapping[str, Any]:
    """Begin, and end when a file is there."""
    Path(arguments["begun"]).touch()
    while not Path(arguments["until"]).exists():
        time.sleep(0.005)
    return {"held": True}


@rig.read
def crash(reader: Reader, arguments: Crash) -> Mapping[str, Any]:
    """Raise an exception."""
    raise RuntimeError(arguments["words"])
