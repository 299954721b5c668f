"""Semantics and the hints that follow from them, as seeds/002 has it."""

import pytest

from engross.flows import HINTS, Aggregate, FlowDefinitionError, NoArguments, Semantics, hints

DERIVED = [
    pytest.param(Semantics(), {"readOnly": False}, id="nothing said"),
    pytest.param(Semantics(safe=True), {"readOnly": True, "destructive": False}, id="safe"),
    pytest.param(Semantics(safe=False), {"readOnly": False}, id="not safe"),
    pytest.param(Semantics(idempotent=True), {"readOnly": False, "idempotent": True}, id="idempotent"),
    pytest.param(
        Semantics(safe=True, idempotent=True),
        {"readOnly": True, "destructive": False, "idempotent": True},
        id="safe and idempotent",
    ),
    pytest.param(Semantics(cacheable=True), {"readOnly": False}, id="cacheable maps to nothing"),
    pytest.param(Semantics(destructive=True), {"readOnly": False, "destructive": True}, id="destructive"),
    pytest.param(Semantics(destructive=False), {"readOnly": False, "destructive": False}, id="not destructive"),
    pytest.param(None, {}, id="no semantics at all"),
]


@pytest.mark.requirement("FLOW-06", "FLOW-07")
@pytest.mark.parametrize(("semantics", "derived"), DERIVED)
def test_hints_follow_from_semantics(semantics: Semantics | None, derived: dict[str, bool]) -> None:
    assert hints(semantics) == derived


@pytest.mark.requirement("FLOW-06")
def test_semantics_left_out_fall_back_to_false() -> None:
    semantics = Semantics()
    assert (semantics.safe, semantics.idempotent, semantics.cacheable) == (False, False, False)
    assert semantics.destructive is None


OVERRIDDEN = [
    pytest.param({"openWorld": True}, {"readOnly": True, "destructive": False, "openWorld": True}, id="added"),
    pytest.param({"readOnly": False}, {"readOnly": False, "destructive": False}, id="replaced"),
    pytest.param({"readOnly": None}, {"readOnly": True, "destructive": False}, id="null inherits"),
    pytest.param({}, {"readOnly": True, "destructive": False}, id="nothing overridden"),
    pytest.param(
        {"readOnly": False, "destructive": True, "idempotent": True, "openWorld": False},
        {"readOnly": False, "destructive": True, "idempotent": True, "openWorld": False},
        id="all replaced",
    ),
]


@pytest.mark.requirement("FLOW-07")
@pytest.mark.parametrize(("overrides", "result"), OVERRIDDEN)
def test_each_override_that_is_not_null_wins(overrides: dict[str, bool | None], result: dict[str, bool]) -> None:
    assert hints(Semantics(safe=True), overrides) == result


def test_an_unknown_hint_is_refused() -> None:
    with pytest.raises(FlowDefinitionError):
        hints(Semantics(), {"readonly": True})


def test_a_safe_flow_cannot_be_destructive() -> None:
    with pytest.raises(FlowDefinitionError):
        Semantics(safe=True, destructive=True)


def flows_of_every_kind() -> Aggregate:
    shelf = Aggregate("shelf", "Shelf")

    def nothing(unit: object, arguments: NoArguments) -> None:
        """Do nothing."""

    shelf.define("read", nothing, name="look")
    shelf.define("record", nothing, name="add", effect="create")
    shelf.define("record", nothing, name="change", effect="update")
    shelf.define("record", nothing, name="drop", effect="delete")
    shelf.define("reach", nothing, name="order")
    shelf.define("reach", nothing, name="ask", effect="create")
    return shelf


ALL_FOUR = [
    pytest.param("look", (True, False, True, False), id="a read"),
    pytest.param("add", (False, False, False, False), id="a create"),
    pytest.param("change", (False, True, False, False), id="an update"),
    pytest.param("drop", (False, True, True, False), id="a delete"),
    pytest.param("order", (False, True, False, True), id="a reach that says nothing of its effect"),
    pytest.param("ask", (False, False, False, True), id="a reach that creates"),
]


@pytest.mark.requirement("ARCH-36")
@pytest.mark.parametrize(("name", "values"), ALL_FOUR)
def test_a_flow_always_gives_all_four_hints(name: str, values: tuple[bool, ...]) -> None:
    assert flows_of_every_kind().flows[name].hints() == dict(zip(HINTS, values, strict=True))


@pytest.mark.requirement("ARCH-36")
def test_an_override_wins_over_what_the_kind_gives() -> None:
    flow = flows_of_every_kind().flows["add"]
    assert flow.hints({"openWorld": True, "idempotent": None}) == {
        "readOnly": False,
        "destructive": False,
        "idempotent": False,
        "openWorld": True,
    }


@pytest.mark.requirement("FLOW-07")
def test_a_flow_in_derived_style_carries_only_what_semantics_say() -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.reach(hint_style="derived", semantics=Semantics(idempotent=True))
    def order(unit: object, arguments: NoArguments) -> None:
        """Order."""

    assert order.hints() == {"readOnly": False, "idempotent": True}
