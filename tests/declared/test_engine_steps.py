"""Flows with steps: order, what runs together, lookups, handlers, flows that call flows, and mappings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from engross.calls import Context, Principal
from engross.declared.handlers import HANDLERS, step_handler
from engross.declared.trace import traced
from engross.flows import Semantics
from engross.replies import Coded, Denied, Failed, Invalid, Reply, codes, reply
from tests.declared.engines import ANYBODY, context, document, engine, run, value
from tests.declared.upstream import Asked, Told, Upstream

STOCK = """
item:
  path: "/items/{{sku}}"
  description: "Items"
  operations:
    get-item:
      method: GET
      inputParameters: { sku: { in: path } }
suppliers:
  path: /suppliers
  description: "Suppliers"
  operations:
    list-suppliers: { method: GET }
    add-supplier: { method: POST, body: { type: json, data: { name: "{{name}}" } } }
orders:
  path: /orders
  description: "Orders"
  operations:
    place-order: { method: POST, body: { type: json, data: { sku: "{{sku}}", from: "{{supplier.code}}" } } }
"""
WITH_SUPPLIER = """
one:
  description: "One item and the supplier that ships it."
  semantics: { safe: true, idempotent: true }
  inputParameters:
    sku: { type: string, description: "Article number" }
  steps:
    item: { type: call, call: up.get-item, with: { sku: "{{sku}}" } }
    suppliers: { type: call, call: up.list-suppliers }
    supplier:
      type: lookup
      index: suppliers
      match: code
      lookupValue: "$.item.supplierCode"
      outputParameters: [name, country]
  mappings:
    - { target: sku, value: "$.item.sku" }
    - { target: supplier.name, value: "$.supplier.name" }
    - { target: supplier.country, value: "$.supplier.country" }
  outputParameters:
    sku: { type: string }
    supplier: { type: object, properties: { name: { type: string } } }
"""


def stock(asked: Asked) -> object:
    """Items and suppliers."""
    if asked.path.startswith("/items/"):
        sku = asked.path.rpartition("/")[2]
        return {"sku": sku, "supplierCode": 7 if sku == "A" else 99}
    if asked.method == "POST":
        return Told(201, b'{"id": "o-1"}')
    return [{"code": "6", "name": "Six"}, {"code": "7", "name": "Seven"}, {"code": 7, "name": "Late"}, "odd"]


@pytest.mark.requirement("FLOW-03")
def test_steps_are_put_together_by_mappings(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, WITH_SUPPLIER))
        assert value(shop, "test.one", {"sku": "A"}) == {"sku": "A", "supplier": {"name": "Seven", "country": None}}


def test_what_a_lookup_does_not_find_is_left_out(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        assert value(engine(tmp_path, document(erp, STOCK, WITH_SUPPLIER)), "test.one", {"sku": "B"}) == {"sku": "B"}


def test_independent_steps_run_together_and_dependent_ones_wait(tmp_path: Path) -> None:
    together = Barrier(3, timeout=10)
    names = ["a", "b", "c"]

    def answer(asked: Asked) -> object:
        name = asked.path.rpartition("/")[2]
        if name in names:
            together.wait()
        return {"sku": name, "name": name}

    steps = "\n".join(f"    {name}: {{ type: call, call: up.get-item, with: {{ sku: {name} }} }}" for name in names)
    flow = f"""
one:
  description: "Five steps."
  semantics: {{ safe: true }}
  steps:
{steps}
    last: {{ type: call, call: up.get-item, with: {{ sku: "{{{{a.name}}}}{{{{b.name}}}}{{{{c.name}}}}" }} }}
  mappings: [{{ target: last, value: "$.last.sku" }}]
"""
    with Upstream(answer) as erp:
        assert value(engine(tmp_path, document(erp, STOCK, flow)), "test.one") == {"last": "abc"}
        assert erp.most_at_once >= 3
        assert erp.last.path == "/items/abc"


def test_steps_that_may_change_something_keep_the_order_of_the_document(tmp_path: Path) -> None:
    meeting = Barrier(2, timeout=0.2)

    def answer(asked: Asked) -> object:
        try:
            meeting.wait()
        except BrokenBarrierError:
            meeting.reset()
            return {"alone": True}
        return {"alone": False}

    flow = """
one:
  description: "Writes thrice."
  inputParameters: { name: { type: string, description: "Name" } }
  steps:
    first: { type: call, call: up.add-supplier }
    second: { type: call, call: up.add-supplier }
    third: { type: call, call: up.list-suppliers }
  mappings:
    - { target: first, value: "$.first.alone" }
    - { target: second, value: "$.second.alone" }
    - { target: third, value: "$.third.alone" }
"""
    with Upstream(answer) as erp:
        shop = engine(tmp_path, document(erp, STOCK, flow))
        assert value(shop, "test.one", {"name": "x"}) == {"first": True, "second": True, "third": True}
        assert [asked.method for asked in erp.asked] == ["POST", "POST", "GET"]
        assert erp.most_at_once == 1


ORDERING = """
one:
  description: "Order from the supplier of an item."
  inputParameters: { sku: { type: string, description: "Article number" } }
  steps:
    item: { type: call, call: up.get-item }
    suppliers: { type: call, call: up.list-suppliers }
    supplier: { type: lookup, index: suppliers, match: code, lookupValue: "{{item.supplierCode}}",
      outputParameters: [code] }
    order: { type: call, call: up.place-order }
  mappings: [{ target: order, value: "$.order.id" }]
"""


def test_the_operation_itself_may_use_what_earlier_steps_gave(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        assert value(engine(tmp_path, document(erp, STOCK, ORDERING)), "test.one", {"sku": "A"}) == {"order": "o-1"}
        assert erp.last.json == {"sku": "A", "from": "7"}


def test_only_calls_that_may_change_something_carry_the_key(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, ORDERING))
        run(shop, "test.one", {"sku": "A"}, client_request_id="order-00017")
        keys = {asked.path: asked.headers.get("idempotency-key") for asked in erp.asked}
        assert keys == {"/items/A": None, "/suppliers": None, "/orders": "order-00017"}


def test_several_changes_under_one_key_are_told_apart(tmp_path: Path) -> None:
    flow = """
one:
  description: "Adds two."
  inputParameters: { name: { type: string, description: "Name" } }
  steps:
    first: { type: call, call: up.add-supplier }
    second: { type: call, call: up.add-supplier, with: { name: other } }
"""
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, flow))
        run(shop, "test.one", {"name": "x"}, key="request-1")
        assert [asked.headers["idempotency-key"] for asked in erp.asked] == ["request-1:first", "request-1:second"]


def test_a_failing_step_stops_the_flow_and_is_named(tmp_path: Path) -> None:
    def answer(asked: Asked) -> object:
        return Told(404, b'{"no": "such item"}') if asked.path.startswith("/items") else []

    with Upstream(answer) as erp:
        with pytest.raises(Invalid) as refused:
            run(engine(tmp_path, document(erp, STOCK, ORDERING)), "test.one", {"sku": "A"})
        assert refused.value.code == codes.UPSTREAM_NOT_FOUND
        assert refused.value.answer()["step"] == "item"
        assert all(asked.method == "GET" for asked in erp.asked)


def test_a_refusal_after_something_was_done_is_no_refusal_of_the_whole(tmp_path: Path) -> None:
    flow = """
one:
  description: "Adds, then orders."
  inputParameters: { name: { type: string, description: "Name" }, sku: { type: string, description: "Sku" } }
  steps:
    added: { type: call, call: up.add-supplier }
    order: { type: call, call: up.place-order }
"""

    def answer(asked: Asked) -> object:
        return Told(422, b'{"no": "such supplier"}') if asked.path == "/orders" else {"ok": True}

    with Upstream(answer) as erp:
        with pytest.raises(Failed) as failed:
            run(engine(tmp_path, document(erp, STOCK, flow)), "test.one", {"name": "x", "sku": "A"})
        answered = failed.value.answer()
        assert answered is not None
        assert (answered["step"], answered["steps_done"]) == ("order", ["added"])
        assert answered["upstream_status"] == 422


def test_a_thousand_steps_run(tmp_path: Path) -> None:
    steps = "\n".join(
        f'    s{n}: {{ type: call, call: up.get-item, with: {{ sku: "{{{{s{n - 5}.sku}}}}" }} }}'
        if n >= 5
        else f"    s{n}: {{ type: call, call: up.get-item, with: {{ sku: k{n} }} }}"
        for n in range(1000)
    )
    flow = f"""
one:
  description: "A thousand steps."
  semantics: {{ safe: true }}
  steps:
{steps}
  mappings: [{{ target: last, value: "$.s999.sku" }}]
"""
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, flow))
        assert value(shop, "test.one", deadline=None) == {"last": "k4"}
        assert len(erp.asked) == 1000
        assert erp.most_at_once <= 8


def test_projections_of_an_operation_replace_an_object_and_extend_items(tmp_path: Path) -> None:
    resources = """
a:
  path: /a
  description: "A"
  operations:
    one:
      method: GET
      outputParameters: { id: { type: string, value: "$.deep.id" }, none: { type: string, value: "$.x" } }
b:
  path: /b
  description: "B"
  operations:
    many: { method: GET, outputParameters: { id: { type: string, value: "$.deep.id" } } }
"""
    flow = """
one:
  description: "Projected."
  semantics: { safe: true }
  steps:
    a: { type: call, call: up.one }
    b: { type: call, call: up.many }
  mappings:
    - { target: a, value: "$.a" }
    - { target: b, value: "$.b" }
    - { target: ids, value: "$.b[*].id" }
"""

    def answer(asked: Asked) -> object:
        one = {"deep": {"id": "d"}, "more": 1}
        return one if asked.path == "/a" else [one, "odd"]

    with Upstream(answer) as erp:
        assert value(engine(tmp_path, document(erp, resources, flow)), "test.one") == {
            "a": {"id": "d", "none": None},
            "b": [{"deep": {"id": "d"}, "more": 1, "id": "d"}, {"id": None}],
            "ids": ["d", None],
        }


def test_without_mappings_the_last_call_is_the_answer(tmp_path: Path) -> None:
    flow = """
one:
  description: "No mappings."
  semantics: { safe: true }
  inputParameters: { sku: { type: string, description: "Sku" } }
  steps:
    suppliers: { type: call, call: up.list-suppliers }
    item: { type: call, call: up.get-item, with: { sku: "{{suppliers.0.code}}" } }
"""
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, flow))
        assert value(shop, "test.one", {"sku": "A"}) == {"sku": "6", "supplierCode": 99}


def test_a_lookup_over_a_list_finds_each_and_drops_what_is_not_there(tmp_path: Path) -> None:
    flow = """
one:
  description: "Many lookups."
  semantics: { safe: true }
  inputParameters: { codes: { type: array, description: "Codes" } }
  steps:
    suppliers: { type: call, call: up.list-suppliers }
    found: { type: lookup, index: suppliers, match: code, lookupValue: codes, outputParameters: [name] }
  mappings: [{ target: names, value: "$.found[*].name" }]
"""
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, flow))
        assert value(shop, "test.one", {"codes": [7, "6", "none", None]}) == {"names": ["Seven", "Six"]}


HANDLED = """
one:
  description: "A Python step."
  semantics: { safe: true }
  inputParameters: { sku: { type: string, description: "Sku" } }
  steps:
    item: { type: call, call: up.get-item }
    scored: { type: handler, handler: score, with: { weight: 3, code: "{{item.supplierCode}}" } }
  mappings: [{ target: score, value: "$.scored" }]
"""


def score(inputs: Mapping[str, Any], outputs: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """A handler."""
    return [inputs["sku"], outputs["item"]["sku"], given["weight"] * given["code"]]


async def score_later(inputs: Mapping[str, Any], outputs: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """A handler that waits."""
    await asyncio.sleep(0)
    return score(inputs, outputs, given)


@pytest.mark.parametrize("function", [score, score_later])
def test_a_step_may_be_a_registered_python_function(function: Any, tmp_path: Path) -> None:
    step_handler("score")(function)
    try:
        with Upstream(stock) as erp:
            shop = engine(tmp_path, document(erp, STOCK, HANDLED))
            assert value(shop, "test.one", {"sku": "A"}) == {"score": ["A", "A", 21]}
    finally:
        del HANDLERS["score"]


def test_a_handler_that_crashes_is_named_and_nothing_of_why_is_told(tmp_path: Path) -> None:
    def crash(*_: Any) -> None:
        raise RuntimeError("password=sesame")

    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, HANDLED), handlers={"score": crash})
        with pytest.raises(Failed) as failed:
            run(shop, "test.one", {"sku": "A"})
        assert failed.value.code == codes.STEP_FAILED
        assert failed.value.answer() == {"step": "scored"}


def test_a_handler_may_refuse(tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise Invalid(codes.VALIDATION_ERROR, {"problem": "not this one"})

    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, HANDLED), handlers={"score": refuse})
        with pytest.raises(Invalid):
            run(shop, "test.one", {"sku": "A"})


NESTED = """
inner:
  description: "The inner one."
  semantics: { safe: true }
  inputParameters:
    sku: { type: string, description: "Sku" }
    lang: { type: string, description: "Language", default: en, required: false }
  call: up.get-item
one:
  description: "Calls a flow."
  semantics: { safe: true }
  inputParameters: { sku: { type: string, description: "Sku" } }
  steps:
    inner: { type: call, call: test.inner }
    other: { type: call, call: test.inner, with: { sku: "B" } }
  mappings:
    - { target: mine, value: "$.inner.sku" }
    - { target: other, value: "$.other.sku" }
"""


def test_a_flow_may_call_a_flow(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, NESTED))
        assert value(shop, "test.one", {"sku": "A"}) == {"mine": "A", "other": "B"}


OFFICE = """
one:
  description: "Calls a flow of the office."
  {semantics}
  inputParameters:
    name: {{ type: string, description: "Name" }}
    notes: {{ type: string, description: "Notes", required: false }}
  steps:
    made: {{ type: call, call: shelf.add-book, with: {{ title: "{{{{name}}}}" }} }}
  mappings: [{{ target: id, value: "$.made.book.id" }}]
"""


class Counter:
    """An office that remembers what it was asked."""

    def __init__(self, answer: Reply) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any], str, str | None]] = []

    async def __call__(self, ref: str, arguments: Mapping[str, Any], context: Context, key: str | None) -> Reply:
        self.asked.append((ref, dict(arguments), context.principal.id, key))
        return self.answer

    def allow(self, ref: str, context: Context) -> None:
        """Everybody may call everything."""

    def fields(self, ref: str) -> list[str]:
        """What a flow takes."""
        return ["title", "notes"]


def with_office(tmp_path: Path, answer: Reply, semantics: str = "") -> tuple[Any, Counter]:
    """An engine whose document calls a flow that only the office has."""
    from engross.declared.checking import check
    from engross.declared.engine import Engine
    from tests.declared.engines import LOCAL

    file = tmp_path / "document.yaml"
    file.write_text(document("https://erp.example.org", STOCK, OFFICE.format(semantics=semantics)))
    found = check(file, others={"shelf.add-book": Semantics()}, environ={})
    assert not found.broken, found.faults
    assert found.document is not None
    office = Counter(answer)
    return Engine(found.document, found.binds, LOCAL, office=office), office


def test_a_flow_may_call_a_flow_of_the_office_as_whoever_asks(tmp_path: Path) -> None:
    shop, office = with_office(tmp_path, reply(codes.CREATED, data={"book": {"id": "b-1"}}))
    assert value(shop, "test.one", {"name": "Dune", "notes": "Read it."}, key="request-0001") == {"id": "b-1"}
    assert office.asked == [("shelf.add-book", {"title": "Dune", "notes": "Read it."}, "scout", "request-0001")]


def test_what_the_office_answered_somebody_is_kept_for_that_one_only(tmp_path: Path) -> None:
    semantics = "semantics: { safe: true, cacheable: true }"
    shop, office = with_office(tmp_path, reply(codes.SYS_OK, data={"book": {"id": "b-1"}}), semantics)
    other = Principal("other", "human", frozenset({"viewer"}))
    for who in (ANYBODY, ANYBODY, other):
        assert value(shop, "test.one", {"name": "Dune"}, principal=who) == {"id": "b-1"}
    assert [asked[2] for asked in office.asked] == ["scout", "other"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(codes.VALIDATION_ERROR, {"problem": "no"}), Invalid),
        (reply(codes.CALL_DENIED, {"flow": "shelf.add-book"}), Denied),
        (reply(codes.SYS_CRASH), Failed),
    ],
)
def test_what_the_office_refuses_is_refused_with_its_code(tmp_path: Path, answer: Reply, kind: type[Coded]) -> None:
    shop, _ = with_office(tmp_path, answer)
    with pytest.raises(kind) as refused:
        run(shop, "test.one", {"name": "Dune"})
    assert refused.value.code == answer.code
    assert (refused.value.answer() or {})["step"] == "made"


def test_a_circle_through_the_office_ends(tmp_path: Path) -> None:
    shop, _ = with_office(tmp_path, reply(codes.SYS_OK))
    flow = shop.document.flow("test.one")

    class Again(Counter):
        async def __call__(self, ref: str, arguments: Mapping[str, Any], context: Context, key: str | None) -> Reply:
            outcome = await shop.arun(flow, {"name": "x"}, context, key=key)
            return reply(codes.SYS_OK, data=outcome.value)

    shop.office = Again(reply(codes.SYS_OK))
    with pytest.raises(Failed) as failed:
        run(shop, "test.one", {"name": "Dune"})
    assert failed.value.code == codes.FLOW_CYCLE


def test_a_dry_run_makes_no_call_that_may_change_something(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, ORDERING))
        outcome = run(shop, "test.one", {"sku": "A"}, dry_run=True)
        assert [asked.method for asked in erp.asked] == ["GET", "GET"]
        (would,) = outcome.would
        assert (would["step"], would["method"], would["url"]) == ("order", "POST", f"{erp.url}/orders")
        assert would["body"] == '{"sku":"A","from":"7"}'


def test_a_trace_shows_every_request_output_and_mapping(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, WITH_SUPPLIER))
        with traced() as steps:
            run(shop, "test.one", {"sku": "A"})
        assert sorted((step["step"], step["type"]) for step in steps) == [
            ("item", "call"),
            ("supplier", "lookup"),
            ("suppliers", "call"),
            ("test.one", "mapping"),
        ]
        item = next(step for step in steps if step["step"] == "item")
        assert item["request"]["url"] == f"{erp.url}/items/A"
        assert (item["status"], item["output"]["sku"]) == (200, "A")
        assert steps[-1]["mappings"][0] == {"target": "sku", "value": "$.item.sku", "output": "A"}
        with traced() as nothing:
            pass
        assert nothing == []


@pytest.mark.requirement("FLOW-05")
def test_a_mock_answers_with_its_values_in_their_types(tmp_path: Path) -> None:
    flow = """
one:
  description: "Answers by itself."
  semantics: { safe: true }
  inputParameters: { name: { type: string, description: "Name" }, n: { type: number, description: "Number" } }
  outputParameters:
    greeting: { type: string, value: "Hello {{name}} {{name}}" }
    n: { type: number, value: "{{n}}" }
    answer: { type: number, value: "42" }
    on: { type: boolean, value: "true" }
"""
    shop = engine(tmp_path, document("https://erp.example.org", STOCK, flow))
    assert value(shop, "test.one", {"name": "{{n}}", "n": 5}) == {
        "greeting": "Hello {{n}} {{n}}",
        "n": 5,
        "answer": 42,
        "on": True,
    }


OUTPUTS = """
one:
  description: "Outputs."
  semantics: { safe: true }
  inputParameters: { sku: { type: string, description: "Sku" } }
  call: up.get-item
  outputParameters:
"""
RESPONSE = {
    "id": 5,
    "tags": ["x", "y"],
    "parts": [{"n": "1.5", "deep": {"k": [{"v": 1}]}}, {"deep": {}}],
    "single": {"n": "2"},
    "none": None,
    "yes": "True",
    "whole": 3.0,
    "nested": {"a": {"b": 1}},
}


@pytest.mark.requirement("FLOW-05")
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ('- { type: string, mapping: "$.id" }', "5"),
        ('- { type: string, mapping: "$.missing" }\n- { type: number, mapping: "$.id" }', 5),
        ('- { type: string, mapping: "$.missing" }', RESPONSE),
        ('- { type: string, value: "fixed {{sku}}" }', "fixed A"),
        ('- { type: array, mapping: "$.tags", items: { type: string } }', ["x", "y"]),
        (
            '- { type: array, mapping: "$.parts", items: { type: object, properties: {'
            ' n: { type: number, mapping: "$.n" },'
            ' ks: { type: array, mapping: "$.deep.k", items: { type: number, mapping: "$.v" } } } } }',
            [{"n": 1.5, "ks": [1]}, {"n": None, "ks": None}],
        ),
        (
            '- { type: array, mapping: "$.single",'
            ' items: { type: object, properties: { n: { type: string, mapping: "$.n" } } } }',
            [{"n": "2"}],
        ),
        (
            '- { type: object, mapping: "$.nested", properties: { b: { type: number, mapping: "$.a.b" },'
            ' kind: { type: string, value: "k" },'
            ' more: { type: object, properties: { c: { type: number, mapping: "$.a.b" } } } } }',
            {"b": 1, "kind": "k", "more": {"c": 1}},
        ),
        ('- { type: boolean, mapping: "$.yes" }', True),
        ('- { type: integer, mapping: "$.whole" }', 3),
        ('- { type: object, properties: { gone: { type: string, mapping: "$.gone" } } }', {"gone": None}),
    ],
)
def test_outputs_are_found_all_the_way_down(outputs: str, expected: object, tmp_path: Path) -> None:
    flow = OUTPUTS + "\n".join(f"    {line}" for line in outputs.splitlines())
    with Upstream(lambda asked: RESPONSE) as erp:
        assert value(engine(tmp_path, document(erp, STOCK, flow)), "test.one", {"sku": "A"}) == expected


@pytest.mark.requirement("FLOW-05")
@pytest.mark.parametrize(
    "output", ["string, mapping: $.parts", "number, mapping: '$.tags[0]'", "boolean, mapping: $.id"]
)
def test_what_is_not_of_the_declared_type_stops_the_flow(output: str, tmp_path: Path) -> None:
    flow = f"{OUTPUTS}    - {{ type: {output} }}"
    with Upstream(lambda asked: RESPONSE) as erp, pytest.raises(Failed) as failed:
        run(engine(tmp_path, document(erp, STOCK, flow)), "test.one", {"sku": "A"})
    assert failed.value.code == codes.UPSTREAM_UNREADABLE


WITHS = """
one:
  description: "The forms of with."
  semantics: { safe: true }
  inputParameters:
    location: { type: string, description: "Where" }
    days: { type: integer, description: "How many", required: false }
    tags: { type: array, description: "Tags", required: false }
  call: up.ask
  with:
    named: location
    braces: "{{days}}"
    qualified: test.tags
    literal: somewhere
    number: 3
    mixed: "in {{location}} for {{days}} days"
    swapped: "{{tags}}"
"""
ASK = """
ask:
  path: /ask
  description: "Ask"
  operations:
    ask:
      method: POST
      body: { type: json, data: { named: "{{named}}", braces: "{{braces}}", qualified: "{{qualified}}",
        literal: "{{literal}}", number: "{{number}}", mixed: "{{mixed}}", swapped: "{{swapped}}",
        passed: "{{location}}" } }
"""


@pytest.mark.requirement("FLOW-03")
def test_with_has_four_forms_and_keeps_types(tmp_path: Path) -> None:
    with Upstream(lambda asked: asked.json) as echo:
        shop = engine(tmp_path, document(echo, ASK, WITHS))
        assert value(shop, "test.one", {"location": "Oslo", "days": 3, "tags": ["a"]}) == {
            "named": "Oslo",
            "braces": 3,
            "qualified": ["a"],
            "literal": "somewhere",
            "number": 3,
            "mixed": "in Oslo for 3 days",
            "swapped": ["a"],
            "passed": "Oslo",
        }
        absent = value(shop, "test.one", {"location": "{{days}}"})
        assert absent == {
            "named": "{{days}}",
            "literal": "somewhere",
            "number": 3,
            "mixed": "in {{days}} for  days",
            "passed": "{{days}}",
        }


def test_runs_share_nothing(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, WITH_SUPPLIER))
        with ThreadPoolExecutor(8) as crowd:
            answers = list(crowd.map(lambda n: value(shop, "test.one", {"sku": f"k{n}"}), range(60)))
        assert answers == [{"sku": f"k{n}"} for n in range(60)]


def test_a_run_works_on_an_event_loop_too(tmp_path: Path) -> None:
    with Upstream(stock) as erp:
        shop = engine(tmp_path, document(erp, STOCK, WITH_SUPPLIER))
        flow = shop.document.flow("test.one")
        assert flow is not None

        async def many() -> list[Any]:
            runs = [shop.arun(flow, {"sku": f"k{n}"}, context()) for n in range(20)]
            return [outcome.value["sku"] for outcome in await asyncio.gather(*runs)]

        for _ in range(2):
            assert asyncio.run(many()) == [f"k{n}" for n in range(20)]
