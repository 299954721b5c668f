"""Making a flow from a function: what is not said follows from the function, its kind and its effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from .controls import controls_of
from .definition import FlowDefinitionError
from .facets import Effect, Facets, Kind
from .flow import Flow
from .names import kebab
from .nearest import nearest
from .semantics import Semantics
from .signature import Handler, answers_type, arguments_type, documentation

if TYPE_CHECKING:
    from .aggregate import Aggregate

_BY_EFFECT: dict[Effect | None, Semantics] = {
    "create": Semantics(destructive=False),
    # An update overwrites what was there.
    "update": Semantics(destructive=True),
    "delete": Semantics(destructive=True, idempotent=True),
    None: Semantics(),
}


def define(aggregate: Aggregate, kind: Kind, handler: Handler, **facets: Unpack[Facets]) -> Flow:
    """The flow that this function is the code of."""
    given: dict[str, Any] = dict(facets)
    name = given.pop("name", None) or kebab(handler.__name__)
    subject = f"{aggregate.namespace}.{name}"
    _refuse_unknown(given, subject)
    effect = given.pop("effect", None)
    arguments = given.pop("arguments", None)
    return Flow(
        aggregate=aggregate,
        name=name,
        kind=kind,
        handler=handler,
        description=given.pop("description", None) or documentation(handler),
        arguments=arguments if arguments is not None else arguments_type(handler, subject),
        answers=given.pop("answers") if "answers" in given else answers_type(handler, subject),
        semantics=given.pop("semantics", None) or _semantics(kind, effect),
        effect=effect,
        tier=given.pop("tier", _tier(kind, effect)),
        dialect=given.pop("dialect", None) or aggregate.dialect,
        controls=tuple(given.pop("controls", controls_of(kind))),
        widened=given.pop("enforced", None),
        examples=tuple(given.pop("examples", ())),
        refuses=tuple(given.pop("refuses", ())),
        **given,
    )


def _refuse_unknown(facets: dict[str, Any], subject: str) -> None:
    for name in facets:
        if name not in Facets.__annotations__:
            close = nearest(name, Facets.__annotations__)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(Facets.__annotations__)}."
            raise FlowDefinitionError(subject, f"Nothing can be said about {name}; {hint}")


def _semantics(kind: Kind, effect: Effect | None) -> Semantics:
    return Semantics(safe=True, idempotent=True) if kind == "read" else _BY_EFFECT.get(effect, Semantics())


def _tier(kind: Kind, effect: Effect | None) -> int:
    """Deleting asks for a confirmation, unless somebody decides otherwise."""
    if kind == "read":
        return 0
    return 3 if effect == "delete" else 2
