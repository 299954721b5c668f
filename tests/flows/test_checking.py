"""Checking arguments: all errors at once, each with its place and with help."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate, Checker, Described, Flow, FlowDefinitionError, NoArguments
from engross.replies import Invalid, Issue, codes, reply_of
from tests.flows.shelf import AddBook, add_book_flow


def issues_of(flow: Flow, arguments: object) -> tuple[Issue, ...]:
    with pytest.raises(Invalid) as refused:
        flow.check(arguments)
    return refused.value.issues


def only_issue(arguments: object) -> Issue:
    (issue,) = issues_of(add_book_flow(), arguments)
    return issue


def help_of(issue: Issue) -> Mapping[str, Any]:
    assert issue.suggestions is not None
    return issue.suggestions


def test_arguments_that_fit_pass_untouched() -> None:
    given = {"title": "Emma", "kind": "Novel", "tags": ["a"], "notes": {"deep": [1, {"er": None}]}}
    checked = add_book_flow().check(given)
    assert checked.arguments == given
    assert checked.arguments is not given
    assert checked.warnings == ()


@pytest.mark.requirement("ARCH-18")
def test_an_unknown_field_is_invalid_and_names_the_nearest_one() -> None:
    issue = only_issue({"title": "Emma", "yeer": 1815})
    assert (issue.code, issue.pointer) == (codes.UNKNOWN_FIELD, "/yeer")
    assert help_of(issue)["did_you_mean"] == ["year"]
    assert {"title", "year", "client_request_id"} <= set(help_of(issue)["allowed_fields"])


@pytest.mark.requirement("ARCH-18")
@pytest.mark.parametrize(
    "name",
    [
        *("tenant_id", "tenant", "principal", "user", "roles", "id", "message_id", "correlation_id"),
        *("aggregate_version", "occurred_at", "layer", "trace_id"),
    ],
)
def test_a_field_that_the_server_owns_is_not_allowed(name: str) -> None:
    issue = only_issue({"title": "Emma", name: "x"})
    assert (issue.code, issue.pointer) == (codes.FIELD_NOT_ALLOWED, f"/{name}")


@pytest.mark.requirement("ARCH-18")
def test_forbidden_fields_are_found_inside_objects_too() -> None:
    issue = only_issue({"title": "Emma", "binding": {"cover": "cloth", "tenant_id": "x"}})
    assert (issue.code, issue.pointer) == (codes.FIELD_NOT_ALLOWED, "/binding/tenant_id")


def test_a_server_name_that_the_schema_offers_is_allowed() -> None:
    class GetBook(TypedDict):
        id: Annotated[str, Described("Which book.")]

    def get_book(reader: object, arguments: GetBook) -> None:
        """Get a book."""

    assert Aggregate("shelf", "Shelf").read(get_book).check({"id": "b1"}).arguments == {"id": "b1"}


def test_a_missing_field_is_pointed_at_itself() -> None:
    issue = only_issue({})
    assert (issue.code, issue.pointer) == (codes.VALIDATION_ERROR, "/title")
    assert issue.details == {"rule": "required", "expected": "a string", "description": "The title."}


def test_a_missing_field_inside_an_object_is_pointed_at_itself() -> None:
    assert only_issue({"title": "x", "binding": {}}).pointer == "/binding/cover"


RULES: list[tuple[dict[str, Any], str, str, object]] = [
    ({"title": 1}, "/title", "type", None),
    ({"title": ""}, "/title", "minLength", 1),
    ({"title": "x" * 81}, "/title", "maxLength", 80),
    ({"kind": "Nonsense"}, "/kind", "enum", None),
    ({"year": 1399}, "/year", "minimum", 1400),
    ({"year": 2101}, "/year", "maximum", 2100),
    ({"year": 1815.5}, "/year", "type", None),
    ({"tags": "a"}, "/tags", "type", None),
    ({"tags": ["a"] * 6}, "/tags", "maxItems", 5),
    ({"tags": ["a", 2]}, "/tags/1", "type", None),
    ({"isbn": "x"}, "/isbn", "pattern", None),
    ({"printed_on": "tomorrow"}, "/printed_on", "format", None),
    ({"binding": None}, "/binding", "type", None),
]


def test_one_character_is_expected_in_the_singular_and_two_are_not() -> None:
    for given, expected in (("", "at least 1 character long"), ("x" * 81, "at most 80 characters long")):
        assert (only_issue({"title": given}).details or {})["expected"] == expected


def test_a_pattern_that_is_too_long_to_be_shown_is_told_by_the_fields_description() -> None:
    for pattern, is_shown in (("^[a-z]+$", True), (f"^({'|'.join('abcdefghij' * 9)})$", False)):
        rule = {"type": "string", "description": "One small letter.", "pattern": pattern}
        (issue,) = Checker({"type": "object", "properties": {"field": rule}}).check({"field": "X"})
        expected = (issue.details or {})["expected"]
        assert ("^" in expected, "One small letter" in expected) == (is_shown, not is_shown)


@pytest.mark.parametrize(("wrong", "pointer", "rule", "limit"), RULES, ids=lambda value: str(value)[:30])
def test_each_rule_has_its_issue(wrong: dict[str, Any], pointer: str, rule: str, limit: object) -> None:
    issue = only_issue({"title": "Emma", **wrong})
    assert (issue.code, issue.pointer) == (codes.VALIDATION_ERROR, pointer)
    assert issue.details is not None
    assert (issue.details["rule"], issue.details.get("limit")) == (rule, limit)
    assert issue.details["expected"]


LOOSE_RULES: list[tuple[dict[str, Any], object]] = [
    ({"exclusiveMinimum": 3}, 3),
    ({"exclusiveMaximum": 3}, 3),
    ({"multipleOf": 2}, 3),
    ({"const": 1}, 2),
    ({"minItems": 1}, []),
    ({"uniqueItems": True}, [1, 1]),
    ({"minProperties": 1}, {}),
    ({"maxProperties": 0}, {"a": 1}),
    ({"propertyNames": {"pattern": "^a"}}, {"b": 1}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1),
    ({"not": {"type": "integer"}}, 1),
    ({"contains": {"type": "string"}}, [1]),
    ({"if": {"type": "integer"}, "then": {"minimum": 3}}, 1),
    ({"allOf": [{"minimum": 3}]}, 1),
]


@pytest.mark.parametrize(("rule", "value"), LOOSE_RULES, ids=lambda value: str(value)[:30])
def test_rules_that_only_an_enforced_schema_uses_have_issues_too(rule: dict[str, Any], value: object) -> None:
    (issue,) = Checker({"type": "object", "properties": {"field": rule}}).check({"field": value})
    assert (issue.code, issue.pointer) == (codes.VALIDATION_ERROR, "/field")
    assert issue.as_data()["details"]["expected"]


def test_a_field_that_must_be_left_out_is_named() -> None:
    (issue,) = Checker({"type": "object", "properties": {"field": False}}).check({"field": 1})
    assert issue.pointer == "/field"


def test_an_unevaluated_field_counts_as_unknown() -> None:
    (issue,) = Checker({"type": "object", "unevaluatedProperties": False}).check({"field": 1})
    assert (issue.code, issue.pointer) == (codes.UNKNOWN_FIELD, "/field")


def test_a_value_outside_an_enum_gets_the_allowed_ones_and_the_nearest() -> None:
    issue = only_issue({"title": "Emma", "kind": "Short Story"})
    assert help_of(issue)["did_you_mean"] == ["ShortStory"]
    assert help_of(issue)["allowed_values"] == ["Novel", "Essay", "ShortStory"]


def test_a_missing_choice_lists_what_may_be_chosen() -> None:
    choice = {"enum": ["a", "b"]}
    schema = {"type": "object", "properties": {"kind": choice}, "required": ["kind"]}
    assert help_of(Checker(schema).check({})[0]) == {"allowed_values": ["a", "b"]}
    several = {"type": "object", "properties": {"kinds": {"type": "array", "items": choice}}}
    assert help_of(Checker({**several, "required": ["kinds"]}).check({})[0]) == {"allowed_values": ["a", "b"]}
    anything = {"type": "object", "properties": {"kinds": {"type": "array", "items": True}}, "required": ["kinds"]}
    assert help_of(Checker(anything).check({})[0]) == {"hint": "Add kinds."}


def test_a_long_enum_is_cut_and_counted() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [str(number) for number in range(500)]}}}
    suggestions = help_of(Checker(schema).check({"n": "x"})[0])
    assert len(suggestions["allowed_values"]) == 100
    assert suggestions["allowed_values_in_all"] == 500


def test_a_field_already_given_is_not_suggested() -> None:
    issue = only_issue({"title": "Emma", "titel": "Emma"})
    assert "title" not in help_of(issue).get("did_you_mean", [])


def test_all_errors_come_at_once_in_the_order_of_the_schema() -> None:
    wrong = {
        "zzz": 1,
        "aaa": 1,
        "commit_mode": "later",
        "binding": {"pages": 0, "extra": 1},
        "tags": [1, "a", 2],
        "year": "x",
        "client_request_id": "short",
    }
    found = [(issue.pointer, issue.code) for issue in issues_of(add_book_flow(), wrong)]
    assert found == [
        ("/title", codes.VALIDATION_ERROR),
        ("/year", codes.VALIDATION_ERROR),
        ("/tags/0", codes.VALIDATION_ERROR),
        ("/tags/2", codes.VALIDATION_ERROR),
        ("/binding/cover", codes.VALIDATION_ERROR),
        ("/binding/pages", codes.VALIDATION_ERROR),
        ("/binding/extra", codes.UNKNOWN_FIELD),
        ("/client_request_id", codes.VALIDATION_ERROR),
        ("/commit_mode", codes.VALIDATION_ERROR),
        ("/aaa", codes.UNKNOWN_FIELD),
        ("/zzz", codes.UNKNOWN_FIELD),
    ]


def test_the_order_does_not_depend_on_the_order_of_the_arguments() -> None:
    wrong = {"zzz": 1, "tags": [1], "year": "x", "commit_mode": 3, "aaa": 2}
    backwards = dict(reversed(wrong.items()))
    assert issues_of(add_book_flow(), wrong) == issues_of(add_book_flow(), backwards)


def test_names_with_slashes_and_tildes_are_escaped_in_pointers() -> None:
    assert only_issue({"title": "x", "a/b~c": 1}).pointer == "/a~1b~0c"


@pytest.mark.parametrize("whole", [None, True, 3, 2.5, "text", [], [{"title": "x"}]])
def test_arguments_that_are_no_object_are_invalid_as_a_whole(whole: object) -> None:
    issue = only_issue(whole)
    assert (issue.code, issue.pointer) == (codes.VALIDATION_ERROR, "")


def test_values_are_never_repeated() -> None:
    secret = "hunter2-hunter2"
    wrong = {
        "title": [secret],
        "kind": secret,
        "year": secret,
        "isbn": secret,
        "binding": {"cover": 1, "x": secret},
    }
    with pytest.raises(Invalid) as refused:
        add_book_flow().check({**wrong, "unknown": secret, "commit_mode": secret})
    answer = reply_of(refused.value)
    assert secret not in f"{answer.data} {answer.params} {answer.message} {refused.value!r}"


def test_a_huge_value_leaves_no_trace_but_its_length() -> None:
    issue = only_issue({"title": "x" * 1_000_000})
    assert issue.details is not None
    assert issue.details["received_length"] == 1_000_000
    assert len(str(issue)) < 1000


def test_ten_thousand_errors_are_cut_to_a_hundred_and_counted() -> None:
    with pytest.raises(Invalid) as refused:
        add_book_flow().check({"title": "x", **{f"field{number}": 1 for number in range(10_000)}})
    assert len(refused.value.issues) == 100
    assert refused.value.data == {"errors_in_all": 10_000}
    assert reply_of(refused.value).code == codes.UNKNOWN_FIELD


def test_a_checker_by_itself_cuts_as_well() -> None:
    checker = Checker({"type": "object", "additionalProperties": {"type": "string"}})
    assert len(checker.check({str(number): number for number in range(1000)})) == 100


def test_defaults_of_top_level_fields_are_filled_in() -> None:
    assert add_book_flow().check({"title": "Emma"}).arguments == {"title": "Emma", "kind": "Novel"}


def test_a_default_does_not_replace_what_is_given() -> None:
    assert add_book_flow().check({"title": "Emma", "kind": "Essay"}).arguments["kind"] == "Essay"


class Tagged(TypedDict):
    tags: NotRequired[Annotated[list[str], Described("Words.", default=["new"])]]


def test_a_default_list_is_new_for_every_call() -> None:
    def tag(reader: object, arguments: Tagged) -> None:
        """Tag."""

    flow = Aggregate("shelf", "Shelf").read(tag)
    first = flow.check({}).arguments
    first["tags"].append("changed")
    assert flow.check({}).arguments == {"tags": ["new"]}


def test_whole_numbers_arrive_as_integers_at_every_depth() -> None:
    given = {"title": "Emma", "year": 1815.0, "binding": {"cover": "cloth", "pages": 400.0}}
    arguments = add_book_flow().check(given).arguments
    assert repr((arguments["year"], arguments["binding"]["pages"])) == "(1815, 400)"
    assert repr(given["year"]) == "1815.0"


def test_integers_in_lists_arrive_as_integers() -> None:
    schema = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer"}}}}
    flow = Aggregate("shelf", "Shelf").define(
        "read", lambda reader, arguments: {}, name="x", description="x", arguments=schema, answers=None
    )
    assert repr(flow.check({"ids": [1.0, 2]}).arguments["ids"]) == "[1, 2]"


def test_true_is_no_integer() -> None:
    assert only_issue({"title": "x", "year": True}).pointer == "/year"


@pytest.mark.parametrize("number", [1e300, -1e300, 2.0**63])
def test_a_float_beyond_64_bits_is_no_integer(number: float) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert [issue.pointer for issue in Checker(schema).check({"n": number})] == ["/n"]


def test_what_a_pattern_needs_never_grows_faster_than_the_text() -> None:
    checker = Checker({"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}})
    assert checker.check({"x": "a" * 100_000 + "b"})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": {"a": {"pattern": "^(?!b)a"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/elsewhere"}}},
    ],
    ids=["a wrong type", "a broken pattern", "a pattern that looks ahead", "a reference to elsewhere"],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(FlowDefinitionError):
        Checker(schema)


def widened_flow() -> Flow:
    shelf = Aggregate("shelf", "Shelf")
    loose = {"type": "object", "properties": {"title": {"type": "string"}, "kind": {"type": "string"}}}

    @shelf.record(effect="create", enforced=loose)
    def add_book(unit: object, arguments: AddBook) -> None:
        """Put a book on the shelf."""

    return add_book


def test_the_enforced_schema_may_be_wider_than_the_published_one() -> None:
    flow = widened_flow()
    assert flow.check({"title": "Emma", "kind": "short story"}).arguments["kind"] == "short story"
    assert flow.published["properties"]["kind"]["enum"] == ["Novel", "Essay", "ShortStory"]


def test_a_normaliser_runs_before_the_check_and_its_warnings_are_kept() -> None:
    flow = add_book_flow()
    warning = {
        "code": "ALIAS_USED",
        "message": "Read as ShortStory.",
        "field": "kind",
        "suggestion": "ShortStory",
    }

    @flow.normalise
    def normalise(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        assert "client_request_id" not in arguments
        if arguments.get("kind") == "short story":
            return {**arguments, "kind": "ShortStory"}, [warning]
        return arguments, []

    checked = flow.check({"title": "Emma", "kind": "short story", "client_request_id": "12345678"})
    assert checked.arguments["kind"] == "ShortStory"
    assert checked.warnings == (warning,)
    assert flow.check({"title": "Emma"}).warnings == ()
    assert issues_of(flow, {"title": "Emma", "kind": "poem"})[0].pointer == "/kind"


def test_a_normaliser_may_change_its_copy_but_not_the_callers_arguments() -> None:
    flow = add_book_flow()

    @flow.normalise
    def normalise(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        arguments["title"] = arguments.pop("name")
        return arguments, []

    given = {"name": "Emma"}
    assert flow.check(given).arguments["title"] == "Emma"
    assert given == {"name": "Emma"}


def test_a_flow_without_arguments_refuses_any() -> None:
    def look(reader: object, arguments: NoArguments) -> None:
        """Look."""

    flow = Aggregate("shelf", "Shelf").read(look)
    assert flow.check({}).arguments == {}
    assert issues_of(flow, {"x": 1})[0].code == codes.UNKNOWN_FIELD


@pytest.mark.parametrize("value", [5, {"a": 1}, [1], True])
def test_a_wrong_type_says_which_one_is_right(value: object) -> None:
    issue = only_issue({"title": value})
    assert issue.details is not None
    assert issue.details["expected"] == "a string"
