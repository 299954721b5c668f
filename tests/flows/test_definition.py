"""Defining flows: little to write, and errors that say what to do."""

import sys
import typing
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import (
    Aggregate,
    Catalogue,
    Consistency,
    Described,
    Determinism,
    FlowDefinitionError,
    NoArguments,
    Semantics,
    schema_of,
)
from engross.replies import codes


class CountBooks(TypedDict):
    shelf: NotRequired[Annotated[str, Described("Which shelf.")]]


class Counted(TypedDict):
    count: int


def nothing(unit: object, arguments: NoArguments) -> None:
    """Do nothing."""


def test_a_flow_takes_five_lines() -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.read
    def count_books(reader: object, arguments: CountBooks) -> Counted:
        """Count the books."""
        return {"count": 3}

    assert (count_books.ref, count_books.description) == ("shelf.count-books", "Count the books.")
    assert (count_books.kind, count_books.tier, count_books.version) == ("read", 0, "1.0.0")
    assert count_books.arguments is CountBooks
    assert count_books.answers is Counted
    assert shelf.flows == {"count-books": count_books}


def test_a_flow_can_still_be_called_as_the_function_it_was() -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.read
    def count_books(reader: object, arguments: CountBooks) -> Counted:
        """Count the books."""
        return {"count": len(arguments)}

    assert count_books(None, {"shelf": "a"}) == {"count": 1}


def test_a_type_defined_inside_a_function_is_found_when_annotations_are_text() -> None:
    shelf = Aggregate("shelf", "Shelf")

    class Local(TypedDict):
        name: str

    @shelf.read
    def look(reader: "Unknown", arguments: "Local") -> "Local":  # type: ignore[name-defined]  # noqa: F821
        """Look."""
        return arguments

    assert look.arguments is Local
    assert look.answers is Local


def test_a_module_with_postponed_annotations_works() -> None:
    module = ModuleType("postponed")
    exec(  # the module as a file would be
        "from __future__ import annotations\n"
        "from typing_extensions import TypedDict\n"
        "from engross.flows import Aggregate\n"
        "class Look(TypedDict):\n    name: str\n"
        "shelf = Aggregate('shelf', 'Shelf')\n"
        "@shelf.read\n"
        "def look(reader: OnlyForTypeCheckers, arguments: Look) -> Look:\n    'Look.'\n",
        module.__dict__,
    )
    assert module.look.arguments is module.Look


def test_a_name_that_is_a_keyword_may_end_in_an_underscore() -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.read
    def list_(reader: object, arguments: NoArguments) -> Counted:
        """List."""
        return {"count": 0}

    assert list_.name == "list"


def test_a_json_schema_serves_where_there_is_no_typed_dict() -> None:
    shelf = Aggregate("shelf", "Shelf")
    shape = {"type": "object", "properties": {"name": {"type": "string", "description": "A name."}}}
    flow = shelf.define(
        "read", lambda reader, arguments: {}, name="look", description="Look.", arguments=shape, answers=None
    )
    assert flow.check({"name": "x"}).arguments == {"name": "x"}
    assert flow.published["additionalProperties"] is False


def test_attached_functions_are_kept_and_stay_callable() -> None:
    shelf = Aggregate("shelf", "Shelf")
    flow = shelf.define("record", nothing, effect="create")

    @flow.prepare
    def prepare(context: object, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return arguments

    @flow.suggest
    def suggest(reader: object, answer: object) -> list[str]:
        return []

    @flow.normalise
    def normalise(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return arguments, []

    @flow.assess
    def assess(arguments: object, facts: object) -> int:
        return 3

    assert (flow.preparer, flow.suggester) == (prepare, suggest)
    assert (flow.normaliser, flow.risk) == (normalise, assess)
    assert assess(None, None) == 3


def test_a_second_preparer_is_refused() -> None:
    flow = Aggregate("shelf", "Shelf").define("record", nothing, effect="create")
    flow.prepare(nothing)
    with pytest.raises(FlowDefinitionError):
        flow.prepare(nothing)


def test_a_flow_in_a_catalogue_no_longer_changes() -> None:
    shelf = Aggregate("shelf", "Shelf")
    flow = shelf.define("record", nothing, effect="create")
    Catalogue([shelf])
    with pytest.raises(FlowDefinitionError):
        flow.prepare(nothing)
    with pytest.raises(FlowDefinitionError):
        shelf.define("read", nothing, name="late")
    with pytest.raises(FlowDefinitionError):
        shelf.expose(flow, tool="late")
    with pytest.raises(AttributeError):
        flow.tier = 1  # type: ignore[misc]


def without_docstring(unit: object, arguments: NoArguments) -> None: ...


def without_annotation(unit, arguments) -> None:
    """Say nothing of the arguments."""


def without_return(unit: object, arguments: NoArguments):
    """Say nothing of the answer."""


def with_one_parameter(unit: object) -> None:
    """Take no arguments."""


def with_a_plain_dict(unit: object, arguments: dict) -> None:
    """Take anything."""


def with_an_unknown_type(unit: object, arguments: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Take what nobody knows."""


async def waiting(unit: object, arguments: NoArguments) -> None:
    """Wait."""


def _private(unit: object, arguments: NoArguments) -> None:
    """Hide."""


class OwnKey(TypedDict):
    client_request_id: str


def with_an_own_key(unit: object, arguments: OwnKey) -> None:
    """Take the key as an argument."""


UNFIT_FUNCTIONS = [
    *(without_docstring, without_annotation, without_return, with_one_parameter, with_a_plain_dict),
    *(with_an_unknown_type, waiting, _private, with_an_own_key),
]


@pytest.mark.parametrize("function", UNFIT_FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_that_does_not_say_enough_is_refused(function: Callable[..., object]) -> None:
    with pytest.raises(FlowDefinitionError) as refused:
        Aggregate("shelf", "Shelf").read(function)
    assert refused.value.complaints


UNFIT_FACETS: list[tuple[str, dict[str, Any]]] = [
    ("read", {"semantics": Semantics()}),
    ("read", {"tier": 1}),
    ("read", {"effect": "create"}),
    ("record", {}),
    ("record", {"effect": "destroy"}),
    ("record", {"effect": "create", "semantics": Semantics(safe=True)}),
    ("record", {"effect": "create", "tier": 0}),
    ("record", {"effect": "create", "tier": 5}),
    ("record", {"effect": "create", "posture": "whatever"}),
    ("reach", {"effect": "destroy"}),
    ("reach", {"inline": True}),
    ("read", {"name": "Not_kebab"}),
    ("read", {"name": "dotted.name"}),
    ("read", {"version": "1.0"}),
    ("read", {"rate": "often"}),
    ("read", {"rate": "0/minute"}),
    ("read", {"timeout_seconds": 0}),
    ("read", {"dialect": "klingon"}),
    ("read", {"controls": ("as_off",)}),
    ("read", {"answers": int}),
    ("read", {"state_at": "book."}),
    ("record", {"effect": "update", "expects": "base_hash"}),
    ("read", {"tear": 2}),
]


@pytest.mark.parametrize(("kind", "facets"), UNFIT_FACETS, ids=lambda value: str(value))
def test_facets_that_contradict_are_refused(kind: Any, facets: dict[str, Any]) -> None:
    with pytest.raises(FlowDefinitionError):
        Aggregate("shelf", "Shelf").define(kind, nothing, **facets)


def test_a_flow_expects_what_it_says_or_the_version_it_asks_for() -> None:
    def shape(*names: str) -> dict[str, Any]:
        return {"type": "object", "properties": {name: {"type": "integer"} for name in names}}

    def expected(*names: str, **facets: Any) -> str | None:
        return (
            Aggregate("shelf", "Shelf")
            .define("record", nothing, effect="update", arguments=shape(*names), **facets)
            .expects
        )

    assert expected("id") is None
    assert expected("id", "expected_version") == "expected_version"
    assert expected("id", "base_hash") is None
    assert expected("id", "base_hash", expects="base_hash") == "base_hash"


def test_all_complaints_come_at_once() -> None:
    with pytest.raises(FlowDefinitionError) as refused:
        Aggregate("shelf", "Shelf").define("read", nothing, tier=3, version="x", rate="y")
    assert len(refused.value.complaints) == 3


def test_a_name_can_be_used_once() -> None:
    shelf = Aggregate("shelf", "Shelf")
    shelf.read(nothing)
    with pytest.raises(FlowDefinitionError):
        shelf.read(nothing)


@pytest.mark.parametrize("namespace", ["Shelf", "two words", "", "under_score", "-x", "a--b"])
def test_a_namespace_is_kebab_case(namespace: str) -> None:
    with pytest.raises(FlowDefinitionError):
        Aggregate(namespace, "Shelf")


def test_an_aggregate_has_a_name_for_people() -> None:
    with pytest.raises(FlowDefinitionError):
        Aggregate("shelf", " ")


@pytest.mark.shows_text
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the standard TypedDict is fine from 3.12 on")
def test_on_python_3_11_the_standard_typed_dict_is_refused_with_the_remedy() -> None:
    class Old(typing.TypedDict):
        name: str

    def look(reader: object, arguments: Old) -> None:
        """Look."""

    with pytest.raises(FlowDefinitionError) as refused:
        Aggregate("shelf", "Shelf").read(look)
    assert "typing_extensions" in str(refused.value)


def test_a_type_that_contains_itself_is_refused() -> None:
    with pytest.raises(FlowDefinitionError):
        schema_of(Tree, "shelf.grow")


class Tree(TypedDict):
    children: "list[Tree]"


@pytest.mark.requirement("MEM-38")
def test_every_flow_carries_its_consistency_and_determinism() -> None:
    shelf = Aggregate("shelf", "Shelf")
    usual = shelf.read(nothing)
    special = shelf.define(
        "read",
        nothing,
        name="guess",
        consistency=Consistency("eventual", max_delay_ms=5000),
        determinism=Determinism(False, "A model is asked."),
    )
    assert (usual.consistency.tier, usual.determinism.deterministic) == ("strong", True)
    assert (special.consistency.max_delay_ms, special.determinism.reason) == (5000, "A model is asked.")


@pytest.mark.requirement("MEM-38")
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Determinism(False),
        lambda: Determinism(False, ""),
        lambda: Determinism(True, "though it is"),
        lambda: Consistency("eventual"),
        lambda: Consistency("eventual", 0),
        lambda: Consistency("strong", 10),
        lambda: Consistency("weak"),  # type: ignore[arg-type]
    ],
)
def test_a_promise_with_a_hole_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(FlowDefinitionError):
        wrong()


@pytest.mark.requirement("MEM-38")
def test_a_flow_names_what_it_may_be_refused_with() -> None:
    shelf = Aggregate("shelf", "Shelf")
    assert shelf.define("read", nothing, name="look").refuses == ()
    flow = shelf.define("read", nothing, name="find", refuses=[codes.RECORD_NOT_FOUND, codes.STORE_FULL])
    assert flow.refuses == (codes.RECORD_NOT_FOUND, codes.STORE_FULL)


@pytest.mark.requirement("MEM-38")
@pytest.mark.parametrize(
    "refuses",
    [
        ["WA-RES-I-999"],
        ["RECORD_NOT_FOUND"],
        [None],
        [["WA-RES-I-007"]],
        codes.RECORD_NOT_FOUND,
        [codes.READ_OK],
        [codes.OUTSIDE_SCOPE],
        [codes.RECORD_NOT_FOUND, codes.RECORD_NOT_FOUND],
    ],
    ids=["unknown", "a key", "nothing", "a list", "no list", "a success", "reserved", "twice"],
)
def test_a_code_that_cannot_be_answered_is_refused(refuses: Any) -> None:
    shelf = Aggregate("shelf", "Shelf")
    with pytest.raises(FlowDefinitionError) as refused:
        shelf.define("read", nothing, name="look", refuses=refuses)
    assert len(refused.value.complaints) == 1


@pytest.mark.shows_text
def test_whoever_gives_the_key_of_a_code_is_told_how_to_write_it() -> None:
    shelf = Aggregate("shelf", "Shelf")
    with pytest.raises(FlowDefinitionError) as refused:
        shelf.define("read", nothing, name="look", refuses=["RECORD_NOT_FOUND"])
    assert "codes.RECORD_NOT_FOUND" in refused.value.complaints[0]


def test_deleting_is_tier_3_unless_somebody_decides_otherwise() -> None:
    shelf = Aggregate("shelf", "Shelf")
    assert shelf.define("record", nothing, name="drop", effect="delete").tier == 3
    assert shelf.define("record", nothing, name="tidy", effect="delete", tier=1).tier == 1
    assert shelf.define("record", nothing, name="add", effect="create").tier == 2


def test_fact_handlers_are_registered_once() -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.applies("book-added", version=2)
    def apply(state: object, fact: object) -> None: ...

    @shelf.upcasts("book-added", from_version=1)
    def upcast(payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "kind": "Novel"}

    @shelf.erases
    def erase(state: object, fact: object) -> None: ...

    @shelf.keeps
    def keep(reader: object, subject: str) -> None: ...

    assert shelf.appliers["book-added"].function is apply
    assert shelf.appliers["book-added"].version == 2
    assert shelf.upcasters["book-added", 1]({}) == {"kind": "Novel"}
    assert shelf.eraser is erase
    assert shelf.keeper is keep
    with pytest.raises(FlowDefinitionError):
        shelf.applies("book-added")(nothing)
    with pytest.raises(FlowDefinitionError):
        shelf.upcasts("book-added")(dict)
    with pytest.raises(FlowDefinitionError):
        shelf.erases(nothing)
    with pytest.raises(FlowDefinitionError):
        shelf.keeps(keep)


@pytest.mark.parametrize("fact_type", ["Erased", "Reached"])
def test_facts_of_the_ledgers_own_are_not_for_aggregates(fact_type: str) -> None:
    with pytest.raises(FlowDefinitionError):
        Aggregate("shelf", "Shelf").applies(fact_type)(nothing)


def test_versions_of_facts_start_at_1() -> None:
    with pytest.raises(FlowDefinitionError):
        Aggregate("shelf", "Shelf").applies("book-added", version=0)(nothing)
