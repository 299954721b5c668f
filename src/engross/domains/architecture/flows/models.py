"""The flows about models, and which of them calls are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer, FactDraft
from engross.flows import MOMENT, Aggregate, Example, NoArguments
from engross.ledger import Reader, Unit

from .. import advice
from ..schemas import DESCRIPTION, MODEL_ID, NAME, choice, number, shape, text
from ..ways import Ways
from .facets import ANY_FILE, AS_OF, NO_MODEL, changing, reading
from .files import FORMAT, LARGEST_TEXT
from .samples import A_COMPONENT, A_MODEL, A_SERVICE, RELATED

Arguments = Mapping[str, Any]

CREATE = shape(("name",), name=NAME, description=DESCRIPTION)
MOST_LISTED = number("Most of a kind.", 1, 1000, 100)
DIFF = shape(
    (),
    model_id=MODEL_ID,
    other_model_id=text("The model to compare it with.", 255),
    other_as_of=text("As of this ledger position or instant.", 40),
    content=text("Or a file; a zip in base64.", LARGEST_TEXT),
    content_hash=text("Or of an uploaded file.", 64),
    files={"type": "object", "description": "Or Archi's CSV files by name."},
    format=FORMAT,
    limit=MOST_LISTED,
)
SET_CONTEXT = shape(
    (),
    model_id=text("Model to pin; null unpins.", 128),
    scope=choice("For whom.", ["me", "everyone"], default="me"),
)


def add_model_flows(architecture: Aggregate, ways: Ways) -> None:
    """Make a model, choose one to work in, and list them."""

    @architecture.record(
        effect="create",
        **changing(CREATE),
        examples=[
            Example("Another model", A_MODEL[1], reply="CREATED"),
            Example("One that is there already", {"name": "default"}, reply="DUPLICATE_NAME"),
        ],
    )
    def create_model(unit: Unit, arguments: Arguments) -> Answer:
        """Create a model to keep elements in."""
        from ..model_writes import create_model

        return create_model(unit, arguments)

    create_model.suggest(advice.after_model, alone=True)

    @architecture.record(
        effect="update",
        tier=1,
        posture="direct",
        arguments=SET_CONTEXT,
        enforced=_nullable_model(),
        controls=("client_request_id", "reason", "confirm_token"),
        answers=None,
        examples=[
            Example("Work in a model", {"model_id": "$0.model.id"}, given=(A_MODEL,), reply="UPDATED"),
            Example("No such model", {"model_id": "model_nowhere"}, reply="MODEL_NOT_FOUND"),
        ],
    )
    def set_context(unit: Unit, arguments: Arguments) -> Answer:
        """Pin the model that your calls are about when they name none."""
        from ..model_writes import set_context

        return set_context(unit, arguments)

    set_context.suggest(advice.after_context, alone=True)
    set_context.assess(_risk_of_context)

    @architecture.read(
        controls=AS_OF,
        answers=None,
        examples=[Example("All models", {}, given=(A_MODEL,))],
    )
    def list_models(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """List models, and which is yours by default."""
        from ..looking import every_model

        return every_model(reader)

    _add_whole_models(architecture, ways)


def _add_whole_models(architecture: Aggregate, ways: Ways) -> None:
    """What is about a model as a whole. It costs as much as the model is large."""

    @architecture.read(
        **reading(shape((), model_id=MODEL_ID)),
        refuses=NO_MODEL,
        exposed=False,
        timeout_seconds=120.0,
        examples=[Example("What is in it", {}, given=(A_COMPONENT, A_SERVICE, RELATED))],
    )
    def describe_model(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Show what is in a model: how many elements and relationships of each type, and its views."""
        from ..models import effective_model
        from ..overview import overview

        return overview(reader, effective_model(reader, arguments.get("model_id")))

    @architecture.read(
        **reading(shape((), model_id=MODEL_ID, limit=MOST_LISTED)),
        refuses=NO_MODEL,
        exposed=False,
        timeout_seconds=120.0,
        examples=[Example("Is it sound?", {}, given=(A_COMPONENT,))],
    )
    def check_model(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Check a whole model: what the metamodel would not allow today, and what could be better."""
        from ..checkup import checkup
        from ..models import effective_model

        return checkup(reader, effective_model(reader, arguments.get("model_id")), arguments.get("limit", 100))

    @architecture.read(
        **reading(DIFF, other_as_of=dict(MOMENT)),
        refuses=[*NO_MODEL, *ANY_FILE],
        exposed=False,
        timeout_seconds=120.0,
        examples=[
            Example("With another model", {"other_model_id": "Target 2030"}, given=(A_COMPONENT, A_MODEL)),
            Example("With itself, before", {"other_as_of": "0"}, given=(A_COMPONENT,)),
            Example("With nothing", {}, reply="VALIDATION_ERROR"),
        ],
    )
    def diff_models(reader: Reader, arguments: Arguments) -> Mapping[str, Any]:
        """Compare a model with another one, with itself at another time, or with a file."""
        from ..comparing import compared

        return compared(reader, arguments, ways.content)


def _nullable_model() -> dict[str, Any]:
    """Null says something here: that no model is pinned any more."""
    fields = SET_CONTEXT["properties"]
    return {**SET_CONTEXT, "properties": {**fields, "model_id": {**fields["model_id"], "type": ["string", "null"]}}}


def _risk_of_context(arguments: Arguments, facts: tuple[FactDraft, ...]) -> int:
    """One's own context is a preference; everybody's is not."""
    return 3 if arguments.get("scope") == "everyone" else 1
