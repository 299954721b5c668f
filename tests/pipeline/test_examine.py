"""A call that does not have the shape: what the flow itself says against the rest of it is told along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

import orjson
import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate, CallWarning, Described
from engross.ledger import Unit
from engross.replies import Invalid, Issue, Reply, codes
from tests.bed.offices import Offices
from tests.pipeline.tables import everything

Examiner = Callable[[Unit, Mapping[str, Any], frozenset[str]], list[Issue]]


class Order(TypedDict):
    """What is ordered."""

    dish: Annotated[str, Described("The dish.", minLength=1)]
    sides: NotRequired[Annotated[list[str], Described("What comes with it.")]]
    table: NotRequired[Annotated[dict[str, Any], Described("Where it goes.")]]
    count: NotRequired[Annotated[int, Described("How many.", minimum=1, default=1)]]


def missing(field: str) -> Issue:
    return Issue(codes.RECORD_NOT_FOUND, {"kind": "dish", "id": "x"}, f"/{field}")


def kitchen(examiner: Examiner) -> Aggregate:
    """A flow that takes orders, with this examiner."""
    aggregate = Aggregate("kitchen", "Kitchen")

    @aggregate.record(effect="create", posture="direct", refuses=[codes.RECORD_NOT_FOUND])
    def take_order(unit: Unit, arguments: Order) -> Mapping[str, Any]:
        """Take an order."""
        return {"order": dict(arguments)}

    take_order.examine(examiner)
    return aggregate


def told(answer: Reply) -> list[tuple[str, str]]:
    assert answer.reply_type == "I", answer
    return [(error["code"], error["field"]) for error in answer.data["errors"]]


def test_the_examiner_gets_what_fits_and_hears_what_was_refused(offices: Offices) -> None:
    seen: list[tuple[dict[str, Any], frozenset[str]]] = []

    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        seen.append((dict(arguments), refused))
        return [missing("table"), missing("dish"), missing("sides/1")]

    clara = offices.open(kitchen(examine))
    order = {"dish": "", "sides": ["a", 2], "table": {"a": 1}, "bogus": 1}
    answer = clara.call("kitchen.take-order", order)
    assert seen == [({"table": {"a": 1}, "count": 1}, frozenset({"dish", "sides", "bogus"}))]
    # What was refused already is not refused again.
    assert told(answer) == [
        ("VALIDATION_ERROR", "dish"),
        ("VALIDATION_ERROR", "sides.1"),
        ("UNKNOWN_FIELD", "bogus"),
        ("RECORD_NOT_FOUND", "table"),
    ]
    dry = clara.call("kitchen.take-order", order, dry_run=True)
    assert told(dry) == told(answer)
    assert order == {"dish": "", "sides": ["a", 2], "table": {"a": 1}, "bogus": 1}


def test_nobody_is_asked_about_a_call_that_fits_or_that_is_no_object(offices: Offices) -> None:
    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        raise AssertionError("nobody should ask")

    clara = offices.open(kitchen(examine))
    assert clara.call("kitchen.take-order", {"dish": "Soup"}).ok
    assert clara.call("kitchen.take-order", {"dish": "a\0b"}).message_key == "MALFORMED_INPUT"
    not_an_object: Any = [1]
    assert clara.call("kitchen.take-order", not_an_object).reply_type == "I"


def test_an_examination_leaves_nothing_and_may_raise_what_it_finds(offices: Offices) -> None:
    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        unit.new_id("order_")
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "dish", "id": "x"}, field="table")

    clara = offices.open(kitchen(examine))
    clara.call("kitchen.take-order", {"dish": "Soup"})
    before = everything(clara)
    answer = clara.call("kitchen.take-order", {"dish": ""})
    assert told(answer) == [("VALIDATION_ERROR", "dish"), ("RECORD_NOT_FOUND", "table")]
    assert everything(clara) == before


def test_a_caller_who_may_not_make_the_call_learns_nothing_from_it(offices: Offices) -> None:
    asked: list[str] = []

    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        asked.append(unit.context.principal.id)
        return [missing("table")]

    clara = offices.open(kitchen(examine))
    vera = clara.as_("vera", "human", ["viewer"])
    not_an_object: Any = [1]
    for wrong in ({"dish": ""}, {"dsih": "Soup"}, {}, not_an_object, {"dish": "a\0b"}):
        denied = vera.call("kitchen.take-order", wrong)
        assert (denied.reply_type, denied.message_key, "errors" in denied.data) == ("D", "WRITE_DENIED", False)
    assert asked == []
    assert told(clara.call("kitchen.take-order", {"dish": ""}))[1:] == [("RECORD_NOT_FOUND", "table")]
    assert len(asked) == 1


def test_a_policy_that_asks_for_a_reason_hears_one_that_came_with_a_wrong_shape(
    offices: Offices, tmp_path: Path
) -> None:
    (tmp_path / "house.cedar").write_text(
        '@id("house.reasons") @denial("CALL_DENIED") '
        'forbid (principal, action == Action::"call", resource) when { !context.reason_given };'
    )
    clara = offices.open(kitchen(lambda *_: []), policies=tmp_path)
    assert clara.call("kitchen.take-order", {"dish": ""}).message_key == "CALL_DENIED"
    assert told(clara.call("kitchen.take-order", {"dish": "", "reason": "Hungry"})) == [("VALIDATION_ERROR", "dish")]
    # A reason that does not fit is none that is missing.
    too_long = clara.call("kitchen.take-order", {"dish": "Soup", "reason": "x" * 3000})
    assert told(too_long) == [("VALIDATION_ERROR", "reason")]
    broken = clara.call("kitchen.take-order", {"dish": "a\0b", "reason": "Hungry"})
    assert told(broken) == [("MALFORMED_INPUT", "dish")]


@pytest.mark.parametrize(
    ("wrong", "findings"), [({"dish": ""}, 2), ({"dish": "a\0b"}, 1)], ids=["examined", "not-examined"]
)
def test_a_call_without_the_shape_counts_once_and_one_too_many_hears_so(
    offices: Offices, tmp_path: Path, wrong: dict[str, Any], findings: int
) -> None:
    asked: list[str] = []

    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        asked.append(unit.context.principal.id)
        return [missing("table")]

    (tmp_path / "knobs.toml").write_text('rate_limits = { write = "3/hour" }')
    clara = offices.open(kitchen(examine), policies=tmp_path)
    bella = clara.as_("bella", "human", ["curator"], surface="rest")
    answers = [bella.call("kitchen.take-order", wrong) for _ in range(2)]
    assert [len(told(answer)) for answer in answers] == [findings] * 2
    assert bella.call("kitchen.take-order", {"dish": "Soup"}).ok
    looks = len(asked)
    for late in (wrong, {"dish": "Soup"}):
        answer = bella.call("kitchen.take-order", late)
        assert (answer.reply_type, answer.message_key) == ("D", "RATE_LIMIT_EXCEEDED")
    assert len(asked) == looks
    # Who may not call at all still hears that, and nobody is counted where calls are not.
    assert bella.as_("vera", "human", ["viewer"]).call("kitchen.take-order", wrong).message_key == "WRITE_DENIED"
    assert {clara.call("kitchen.take-order", wrong).reply_type for _ in range(5)} == {"I"}


def test_what_the_normaliser_refuses_is_a_wrong_shape_like_any_other(offices: Offices, tmp_path: Path) -> None:
    (tmp_path / "knobs.toml").write_text('rate_limits = { write = "3/hour" }')
    diner = kitchen(lambda *_: [])

    def normalise(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[CallWarning]]:
        if arguments.get("dish") == "Hat":
            raise Invalid(codes.VALIDATION_ERROR, {"problem": "nobody eats hats"}, field="dish")
        return arguments, []

    diner.flows["take-order"].normalise(normalise)
    bella = offices.open(diner, policies=tmp_path).as_("bella", "human", ["curator"], surface="rest")
    vera = bella.as_("vera", "human", ["viewer"], surface="rest")
    assert vera.call("kitchen.take-order", {"dish": "Hat"}).message_key == "WRITE_DENIED"
    answers = [bella.call("kitchen.take-order", {"dish": "Hat"}) for _ in range(3)]
    assert [told(answer) for answer in answers] == [[("VALIDATION_ERROR", "dish")]] * 3
    assert bella.call("kitchen.take-order", {"dish": "Soup"}).message_key == "RATE_LIMIT_EXCEEDED"


def test_trying_out_takes_nothing_from_the_allowance_of_what_is_tried_out(offices: Offices, tmp_path: Path) -> None:
    (tmp_path / "knobs.toml").write_text('rate_limits = { write = "1/hour" }')
    bella = offices.open(kitchen(lambda *_: []), policies=tmp_path).as_("bella", "human", ["curator"], surface="rest")
    for payload in ({"dish": ""}, {"dish": "Soup"}, {"dish": 5}):
        tried = bella.call("record.validate-write", {"operation": "kitchen.take-order", "payload": payload})
        assert tried.message_key == "VALIDATION_DONE", tried
        assert "RATE_LIMIT_EXCEEDED" not in str(tried.data)
    assert bella.call("kitchen.take-order", {"dish": "Soup"}).ok
    assert bella.call("kitchen.take-order", {"dish": "Soup"}).message_key == "RATE_LIMIT_EXCEEDED"


def test_an_examiner_that_crashes_takes_nothing_from_the_refusal(offices: Offices) -> None:
    def examine(unit: Unit, arguments: Mapping[str, Any], refused: frozenset[str]) -> list[Issue]:
        raise KeyError("dish")

    clara = offices.open(kitchen(examine))
    answer = clara.call("kitchen.take-order", {"dish": ""})
    assert told(answer) == [("VALIDATION_ERROR", "dish")]
    (crash,) = (offices.folder / "logs" / "crashes.jsonl").read_bytes().splitlines()
    assert orjson.loads(crash)["trace_id"] == answer.trace_id
