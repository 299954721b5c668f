"""Finding flows by ref and by tool name."""

from typing import Any

import pytest

from engross.flows import Aggregate, Catalogue, Flow, FlowDefinitionError, NoArguments
from engross.replies import Invalid, codes


def nothing(unit: object, arguments: NoArguments) -> None:
    """Do nothing."""


def shelf_and_desk() -> tuple[Aggregate, Aggregate]:
    shelf, desk = Aggregate("shelf", "Shelf"), Aggregate("desk", "Desk", naming="snake")
    shelf.define("record", nothing, name="add-book", effect="create")
    shelf.define("read", nothing, name="count-books")
    desk.define("read", nothing, name="open-drawer")
    return shelf, desk


def test_a_flow_is_found_by_its_ref() -> None:
    catalogue = Catalogue(shelf_and_desk())
    assert catalogue.flow("shelf.add-book").ref == "shelf.add-book"
    assert catalogue.find("shelf.add-books") is None
    assert [flow.ref for flow in catalogue] == ["desk.open-drawer", "shelf.add-book", "shelf.count-books"]
    assert len(catalogue) == 3


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("shelf.ad-book", "shelf.add-book"),
        ("shelf.addBook", "shelf.add-book"),
        ("addBook", "shelf.add-book"),
        ("add-book", "shelf.add-book"),
        ("count", "shelf.count-books"),
        ("open_drawer", "desk.open-drawer"),
    ],
)
def test_an_unknown_operation_is_invalid_and_names_the_nearest(asked: str, first: str) -> None:
    with pytest.raises(Invalid) as refused:
        Catalogue(shelf_and_desk()).flow(asked)
    assert refused.value.code == codes.UNKNOWN_OPERATION
    suggestions = refused.value.issues[0].suggestions
    assert suggestions is not None
    assert suggestions["did_you_mean"][0] == first


def test_a_very_long_ref_is_not_repeated_in_full() -> None:
    with pytest.raises(Invalid) as refused:
        Catalogue(shelf_and_desk()).flow("x" * 100_000)
    assert len(refused.value.params["operation"]) <= 80


def test_each_flow_has_a_tool_by_default() -> None:
    catalogue = Catalogue(shelf_and_desk())
    assert [(exposure.toolset, exposure.tool) for exposure in catalogue.exposures()] == [
        ("desk", "open_drawer"),
        ("shelf", "addBook"),
        ("shelf", "countBooks"),
    ]


def test_exposures_can_be_narrowed_to_toolsets() -> None:
    catalogue = Catalogue(shelf_and_desk())
    assert catalogue.toolsets == ("desk", "shelf")
    assert [exposure.tool for exposure in catalogue.exposures(["desk"])] == ["open_drawer"]
    assert catalogue.exposures(["attic"]) == []
    assert catalogue.exposures([]) == []


def test_an_explicit_exposure_replaces_the_default_one() -> None:
    shelf, desk = shelf_and_desk()
    shelf.expose(shelf.flows["add-book"], tool="add_book", toolset="legacy")
    catalogue = Catalogue([shelf, desk])
    assert catalogue.tool("addBook") is None
    assert [exposure.tool for exposure in catalogue.exposures(["legacy"])] == ["add_book"]


def test_a_tool_inherits_what_its_exposure_does_not_say() -> None:
    shelf, desk = shelf_and_desk()
    desk.expose("shelf.add-book", tool="file", description="File a book.", hints={"openWorld": True})
    tool = Catalogue([shelf, desk]).tool("file")
    assert tool is not None
    assert (tool.name, tool.title, tool.description) == ("file", "Add book", "File a book.")
    assert tool.hints == {"readOnly": False, "destructive": False, "idempotent": False, "openWorld": True}
    assert tool.flow.ref == "shelf.add-book"


def test_another_aggregates_exposure_leaves_the_default_in_place() -> None:
    shelf, desk = shelf_and_desk()
    desk.expose("shelf.add-book", tool="file")
    catalogue = Catalogue([shelf, desk])
    assert catalogue.tool("addBook") is not None
    assert catalogue.tool("file") is not None


def test_a_flow_can_do_without_a_tool() -> None:
    shelf = Aggregate("shelf", "Shelf")
    flow = shelf.define("read", nothing, name="look", exposed=False)
    catalogue = Catalogue([shelf])
    assert catalogue.exposures() == []
    assert catalogue.find("shelf.look") is flow


def refused(*aggregates: Aggregate) -> FlowDefinitionError:
    with pytest.raises(FlowDefinitionError) as caught:
        Catalogue(aggregates)
    return caught.value


def test_a_namespace_twice_is_refused() -> None:
    assert refused(Aggregate("shelf", "One"), Aggregate("shelf", "Two")).complaints


def test_a_tool_name_twice_is_refused() -> None:
    shelf, desk = shelf_and_desk()
    desk.expose(desk.flows["open-drawer"], tool="addBook")
    assert len(refused(shelf, desk).complaints) == 1


@pytest.mark.shows_text
def test_an_exposure_of_a_missing_flow_is_refused_with_the_nearest() -> None:
    shelf, desk = shelf_and_desk()
    desk.expose("shelf.ad-book", tool="file")
    assert "did you mean shelf.add-book?" in str(refused(shelf, desk))


def test_every_older_version_of_a_fact_needs_an_upcaster() -> None:
    shelf = Aggregate("shelf", "Shelf")
    shelf.applies("book-added", version=4)(nothing)
    shelf.upcasts("book-added", from_version=2)(dict)
    assert len(refused(shelf).complaints) == 2


@pytest.mark.parametrize("tool", ["shelf.add", "with space", "x" * 65, "ümlaut"])
def test_a_tool_name_that_clients_refuse_is_refused(tool: str) -> None:
    shelf, _ = shelf_and_desk()
    with pytest.raises(FlowDefinitionError):
        shelf.expose(shelf.flows["add-book"], tool=tool)


def test_a_flow_name_too_long_for_a_tool_needs_an_exposure() -> None:
    shelf = Aggregate("shelf", "Shelf")
    flow: Flow = shelf.define("read", nothing, name="-".join(["word"] * 20))
    assert len(refused(shelf).complaints) == 1
    shelf.expose(flow, tool="words")
    assert Catalogue([shelf]).tool("words")


def test_unknown_hints_of_an_exposure_are_refused() -> None:
    shelf, _ = shelf_and_desk()
    hints: Any = {"readonly": True}
    with pytest.raises(FlowDefinitionError):
        shelf.expose(shelf.flows["add-book"], tool="x", hints=hints)
