"""Schemas made from types: closed for what comes in, open for what goes out."""

from typing import Annotated, Any, Literal, NotRequired

import annotated_types
import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import Field
from typing_extensions import Doc, TypedDict

from engross.flows import Aggregate, Described, FlowDefinitionError, NoArguments, schema_of
from engross.replies import codes, reply
from engross.replies.envelopes import DIALECTS, structured
from tests.flows.shelf import AddBook, add_book_flow


def field(shape: type[Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = schema_of(shape, "test")["properties"][name]
    return found


def test_a_typed_dict_becomes_a_closed_object() -> None:
    schema = schema_of(AddBook, "test")
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == (
        "object",
        ["title"],
        False,
    )
    assert list(schema["properties"]) == list(AddBook.__annotations__)


def test_nested_objects_are_written_out_and_closed() -> None:
    binding = field(AddBook, "binding")
    assert binding["required"] == ["cover"]
    assert binding["additionalProperties"] is False
    assert binding["properties"]["pages"] == {
        "type": "integer",
        "description": "How many pages.",
        "minimum": 1,
    }
    assert "$ref" not in str(schema_of(AddBook, "test"))


def test_an_open_map_stays_open() -> None:
    assert field(AddBook, "notes") == {
        "type": "object",
        "description": "Anything else.",
        "additionalProperties": True,
    }


def test_titles_are_dropped_but_a_field_called_title_is_kept() -> None:
    schema = schema_of(AddBook, "test")
    assert "title" not in schema
    assert schema["properties"]["title"] == {
        "type": "string",
        "description": "The title.",
        "minLength": 1,
        "maxLength": 80,
    }


class ManyWays(TypedDict):
    by_us: Annotated[str, Described("Said by us.", pattern="^a")]
    by_field: Annotated[str, Field(description="Said by pydantic.", max_length=3)]
    by_doc: Annotated[str, Doc("Said by Doc."), annotated_types.MinLen(2)]
    inside: Annotated[NotRequired[Annotated[list[Annotated[str, Described("Each.")]], Doc("All.")]], "unrelated"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("by_us", {"type": "string", "description": "Said by us.", "pattern": "^a"}),
        ("by_field", {"type": "string", "description": "Said by pydantic.", "maxLength": 3}),
        ("by_doc", {"type": "string", "description": "Said by Doc.", "minLength": 2}),
        (
            "inside",
            {"type": "array", "description": "All.", "items": {"type": "string", "description": "Each."}},
        ),
    ],
)
def test_fields_can_be_described_in_three_ways(name: str, said: dict[str, Any]) -> None:
    assert field(ManyWays, name) == said


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("minLen", "minLength"),
        ("max_length", "maxLength"),
        ("minimun", "minimum"),
        ("ge", None),
        ("desc", "description"),
    ],
)
def test_a_keyword_that_is_none_is_refused_with_the_one_that_is_meant(slip: str, meant: str | None) -> None:
    with pytest.raises(FlowDefinitionError) as refused:
        Described("The title.", pattern="^a", **{slip: 1})
    (complaint,) = refused.value.complaints
    assert complaint.startswith(slip)
    assert ("did you mean" in complaint) == (meant is not None)
    assert meant is None or f"did you mean {meant}?" in complaint


def test_every_keyword_that_is_none_is_told_and_those_of_ones_own_pass() -> None:
    with pytest.raises(FlowDefinitionError) as refused:
        Described("The title.", minLen=1, maxLen=2)
    assert len(refused.value.complaints) == 2
    assert Described("The title.", **{"x-colour": "red"}).keywords["x-colour"] == "red"


def test_absent_and_null_stay_different_without_any_combinator() -> None:
    assert field(AddBook, "subtitle")["type"] == ["string", "null"]
    flow = add_book_flow()
    assert "subtitle" not in flow.check({"title": "x"}).arguments
    assert flow.check({"title": "x", "subtitle": None}).arguments["subtitle"] is None


def test_the_published_schema_does_not_advertise_null() -> None:
    assert add_book_flow().published["properties"]["subtitle"]["type"] == "string"


class Choosy(TypedDict):
    choice: NotRequired[Annotated[Literal["a", "b"] | None, Described("One of two.")]]


def test_null_leaves_the_published_enum_too() -> None:
    flow = Aggregate("shelf", "Shelf").define(
        "read", lambda reader, arguments: {}, name="x", description="x", arguments=Choosy, answers=None
    )
    assert flow.enforced["properties"]["choice"]["enum"] == ["a", "b", None]
    assert flow.published["properties"]["choice"]["enum"] == ["a", "b"]
    assert flow.check({"choice": None}).arguments == {"choice": None}


class Unions(TypedDict):
    simple: int | str
    telling: list[int] | str
    twice: Annotated[str, Field(max_length=3)] | Literal["long enough"]


def test_only_unions_that_no_keyword_would_blur_become_a_list_of_types() -> None:
    assert field(Unions, "simple")["type"] == ["integer", "string"]
    assert "anyOf" in field(Unions, "telling")
    assert "anyOf" in field(Unions, "twice")


def test_a_field_with_a_default_is_not_required() -> None:
    class Paged(TypedDict):
        limit: Annotated[int, Described("How many.", default=10)]
        offset: Annotated[int, Field(description="From where.", default=0)]

    schema = schema_of(Paged, "test")
    assert schema.get("required", []) == []
    assert [part["default"] for part in schema["properties"].values()] == [10, 0]


def test_a_flow_without_arguments_takes_none() -> None:
    assert schema_of(NoArguments, "test") == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_schema_without_fields_takes_and_gives_anything() -> None:
    anything = {"type": "object"}
    flow = Aggregate("shelf", "Shelf").define(
        "read", lambda reader, arguments: {}, name="x", description="x", arguments=anything, answers=anything
    )
    assert flow.check({"whatever": [1], "proposal_id": "p1"}).arguments == {"whatever": [1]}
    assert list(flow.published["properties"]) == ["proposal_id"]
    assert list(flow.output["properties"]) == ["reply"]


def test_a_schema_that_is_no_object_is_refused() -> None:
    with pytest.raises(FlowDefinitionError):
        schema_of({"type": "array"}, "test")


def test_the_schema_given_is_not_changed() -> None:
    given: dict[str, Any] = {
        "type": "object",
        "title": "T",
        "properties": {"a": {"title": "A", "type": "string"}},
    }
    before = str(given)
    assert "title" not in schema_of(given, "test")
    assert str(given) == before


def test_a_condition_is_not_closed_for_it_describes_no_object_of_its_own() -> None:
    by_phone = {"properties": {"by": {"const": "phone"}}, "required": ["by"]}
    given = {
        "type": "object",
        "properties": {"by": {"type": "string"}, "phone": {"type": "string"}, "email": {"type": "string"}},
        "if": by_phone,
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
    }
    schema = schema_of(given, "test")
    assert schema["if"] == by_phone
    assert schema["additionalProperties"] is False
    assert Draft202012Validator(schema).is_valid({"by": "phone", "phone": "12"})
    assert not Draft202012Validator(schema).is_valid({"by": "phone", "email": "a@b"})


def test_answers_require_reply_and_leave_the_rest_open() -> None:
    output = add_book_flow().output
    assert output["required"] == ["reply"]
    assert output["additionalProperties"] is True
    book = output["properties"]["book"]
    assert book["additionalProperties"] is True
    assert "required" not in book


def test_answers_without_a_type_still_require_reply() -> None:
    def look(reader: object, arguments: NoArguments) -> dict[str, object]:
        """Look."""
        return {}

    output = Aggregate("shelf", "Shelf").read(look).output
    assert (list(output["properties"]), output["required"]) == (["reply"], ["reply"])


class Awkward(TypedDict):
    errors: Annotated[list[str], Described("A name that failures use as well.")]
    suggestions: list[str]
    field: int


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_failures_fit_the_output_schema_too(dialect: str) -> None:
    def look(reader: object, arguments: NoArguments) -> Awkward:
        """Look."""
        raise NotImplementedError

    fits = Draft202012Validator(Aggregate("shelf", "Shelf").read(look).output).is_valid
    failure = reply(
        codes.VALIDATION_ERROR,
        {"problem": "x"},
        {
            "errors": [{"reply_code": codes.UNKNOWN_FIELD, "message": "m"}],
            "field": "a",
            "suggestions": {"did_you_mean": []},
        },
    )
    assert fits(structured(failure, dialect))
    assert fits(structured(reply(codes.SYS_CRASH), dialect))
    assert fits(structured(reply(codes.READ_OK, data={"errors": [], "suggestions": []}), dialect))
