"""What may be said about a flow besides its code. What is left out follows from the function and the kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from .checked import Normaliser
from .consistency import Consistency
from .determinism import Determinism
from .example import Example
from .limits import Limits
from .schemas import Shape
from .semantics import Semantics

Kind = Literal["read", "record", "reach"]
Effect = Literal["create", "update", "delete"]
Posture = Literal["proposal", "direct"]
Dialect = Literal["plain", "architecture", "memory", "documents"]
HintStyle = Literal["complete", "derived", "said"]


class Facets(TypedDict, total=False):
    """The keyword arguments of `.read`, `.record` and `.reach`."""

    name: str
    description: str
    version: str
    arguments: Shape
    """Where the second parameter is not the arguments but what a preparer made of them."""
    answers: Shape | None
    enforced: Mapping[str, Any] | None
    """What is really accepted, after the normaliser, where that is wider than what is published."""
    normaliser: Normaliser | None
    semantics: Semantics
    effect: Effect | None
    tier: int
    posture: Posture
    people_only: bool
    owner_field: str | None
    """The argument in which a caller may say whose record it is. The credential decides; another name is denied."""
    examples: Sequence[Example]
    dialect: Dialect
    state_at: str | None
    """Where in the answer the state of the one object stands that it shows: `book.version`.

    Whatever changes that object expects it; where nothing does, leave it out.
    """
    expects: str | None
    """The argument that names the state on which a call builds, if it is not called expected_version."""
    consistency: Consistency
    determinism: Determinism
    refuses: Sequence[str]
    """Reply codes, as `codes.X`: the refusals and failures of its own, beyond those that any call may get."""
    controls: Sequence[str]
    limits: Limits
    rate: str | None
    """How often a caller may call it, as `100/minute`; `upload`: as often as the operator lets files come in."""
    timeout_seconds: float
    bulk: bool
    """It takes in very much at once, and gets the operator's `bulk_seconds` for it, on the writer too."""
    deprecated_since: str | None
    hint_style: HintStyle
    """`derived`: only the hints that follow from semantics, as tools of capability documents carry them; `said`: only
    those that the tool says itself."""
    inline: bool
    """A look by primary key: brief enough to run on an event loop's own thread."""
    content: bool
    """The answer's field `content` holds MCP content blocks: texts, pictures, sounds, embedded resources."""
    rehearses: bool
    """A reach flow whose code runs in a dry run too: it reads, changes nothing, and tells what it would call."""
    exposed: bool
    """False: no tool of its own, unless `.expose` gives it one."""
