"""The flows that take a model in from a file, and hand one out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engross.calls import Answer, FactDraft
from engross.flows import Aggregate, Example
from engross.ledger import Reader, Unit

from .. import advice
from ..schemas import MODEL_ID, choice, number, shape, text
from ..ways import Ways
from .facets import NO_MODEL, NO_VIEW, WHOLE_FILE, changing, reading
from .samples import A_COMPONENT, A_SERVICE, RELATED

if TYPE_CHECKING:
    from ..exchange.arrival import Arrived

Arguments = Mapping[str, Any]

LARGEST_TEXT = 8 * 1024 * 1024
FORMAT = choice("Its format.", ["auto", "exchange_xml", "archimate", "archi_csv"], default="auto")
IMPORT = shape(
    (),
    mode=choice("dry_run only reports.", ["dry_run", "commit"], default="dry_run"),
    format=FORMAT,
    content=text("The file; a zip in base64.", LARGEST_TEXT),
    content_hash=text("Or of an uploaded file.", 64),
    files={"type": "object", "description": "Or Archi's CSV files by name."},
    model_id=text("Into this model; else a new one.", 255),
    model_name=text("Name of the model.", 255),
    on_invalid=choice("Illegal relationships.", ["refuse", "skip"], default="refuse"),
)
EXPORT = shape(
    (),
    model_id=MODEL_ID,
    format=choice("Its format.", ["exchange_xml", "archi_csv", "mermaid", "svg"], default="exchange_xml"),
    view_id=text("Only this view, as a picture.", 255),
    part=number("Part of a long file.", 1, 100_000, 1),
)
SMALL: Mapping[str, object] = {
    "elements.csv": "ID,Type,Name,Documentation\ne1,ApplicationComponent,Orders,\ne2,ApplicationService,Ordering,\n",
    "relations.csv": "ID,Type,Name,Documentation,Source,Target\nr1,RealizationRelationship,,,e1,e2\n",
}


def add_file_flows(architecture: Aggregate, ways: Ways) -> None:
    """Import, which looks first, and export."""

    @architecture.record(
        effect="create",
        **changing(IMPORT),
        refuses=WHOLE_FILE,
        bulk=True,
        examples=[
            Example("See what it would bring", {"files": SMALL}, reply="VALIDATION_DONE"),
            Example("Take it over", {"files": SMALL, "mode": "commit", "model_name": "Shop"}, reply="CREATED"),
            Example("What is no model", {"content": "<html/>"}, reply="IMPORT_UNREADABLE"),
            Example(
                "What could do harm",
                {"content": "<!DOCTYPE m [<!ENTITY a 'b'>]><m>&a;</m>", "format": "exchange_xml"},
                reply="IMPORT_UNSAFE",
            ),
        ],
    )
    def import_model(unit: Unit, arrived: Arrived) -> Answer:
        """Import a model file: exchange XML, .archimate or Archi's CSV. A dry run unless mode is commit."""
        from ..exchange.arrival import taken_over

        return taken_over(unit, arrived)

    @import_model.prepare
    def _read(reader: Reader, arguments: Arguments) -> Arrived:
        from ..exchange.arrival import arrived

        return arrived(reader, arguments, ways.content)

    import_model.suggest(advice.after_import, alone=True)
    import_model.assess(_risk)

    @architecture.read(
        **reading(EXPORT),
        refuses=[*NO_MODEL, *NO_VIEW],
        timeout_seconds=120.0,
        examples=[
            Example("As exchange XML", {}, given=(A_COMPONENT, A_SERVICE, RELATED)),
            Example("As Archi's CSV", {"format": "archi_csv"}, given=(A_COMPONENT,)),
            Example("As a picture", {"format": "mermaid"}, given=(A_COMPONENT, A_SERVICE, RELATED)),
            Example("No such model", {"model_id": "model_nowhere"}, reply="MODEL_NOT_FOUND"),
        ],
    )
    def export_model(reader: Reader, arguments: Arguments) -> Answer:
        """Export a model: exchange XML, Archi's CSV, or a picture of it or of a view."""
        from ..exchange.handout import handed_out

        return handed_out(reader, arguments)


def _risk(arguments: Arguments, facts: tuple[FactDraft, ...]) -> int:
    """Going over what is there already is of high risk; a new model beside it is not."""
    return 3 if any(fact.type.endswith("Updated") for fact in facts) else 2
