"""Every rule of the checker, each with a document that breaks it and the very place it has to name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from engross.declared.checking import check
from tests.declared.papers import ENVIRONMENT, SHELF, broken, examined, marked, named, written


class Case(NamedTuple):
    """A way to break the shelf: the rule, what is replaced by what, and what was probably meant."""

    rule: str
    old: str
    new: str
    meant: str | None = None
    severity: str = "error"


GET_ITEM = "          call: erp.get-item\n          with: { sku: sku }\n"
SAFE = "          semantics: { safe: true, idempotent: true }\n"
FLOW = '        get-item:\n          description: "Read one article."\n'
OUTPUT_LIST = """\
          outputParameters:
            - type: object
              properties:
                sku: { type: string, mapping: "$.id" }
                price: { type: number, mapping: "$.price.amount" }
"""
OUTPUT_MAP = """\
          outputParameters:
            sku: { type: string }
            supplier: { type: object, properties: { name: { type: string } } }
"""
TOOL = "        get-item: { ref: stock.get-item }\n"
REST = "            get-item: { ref: stock.get-item, method: GET }\n"

CASES: dict[str, Case] = {
    # V1
    "a text that is no YAML": Case("V1", 'display: "Stock"', 'display: "Stock" §"'),
    "a key twice": Case(
        "V1",
        "        item-with-supplier:\n",
        "        §get-item:\n          description: x\n        item-with-supplier:\n",
    ),
    "a tag": Case("V1", 'display: "Stock"', "display: §!!python/name:os.system x"),
    "a number that JSON cannot tell": Case("V1", 'display: "Stock"', "display: §.nan"),
    "an alias without an anchor": Case("V1", 'display: "Stock"', "display: §*nowhere"),
    # V2
    "a version that nobody knows": Case("V2", 'ikanos: "1.0.0-beta5"', '§ikanos: "9.0"', severity="warning"),
    "a section beside the capability": Case("V2", "capability:\n", "§consumes: []\ncapability:\n"),
    # V3
    "an unknown property": Case("V3", "          call: erp.get-item\n", "          §cal: erp.get-item\n", "call"),
    "an old name": Case("V3", '      display: "Stock"\n', '      §label: "Stock"\n', "display"),
    "a wrong type": Case("V3", 'display: "Stock"', "display: §[Stock]"),
    "a number where a text has to be": Case("V3", 'display: "Stock"', "display: §7"),
    "a text where a truth has to be": Case("V3", "required: false", 'required: §"no"'),
    "something missing": Case(
        "V3", '        get-item:\n          description: "Read one article."\n', "        §get-item:\n"
    ),
    "a name that is none": Case("V3", "            lang: { type", "            §la ng: { type"),
    "a flow that is not in kebab": Case("V3", "        item-with-supplier:\n", "        §Item_With_Supplier:\n"),
    "a word that is none of a few": Case("V3", "lang: { type: string", "lang: { type: §strin", "string"),
    "a step of no type": Case("V3", "            suppliers: { type: call, ", "            §suppliers: { "),
    "a script": Case(
        "V3",
        "            suppliers: { type: call, call: erp.list-suppliers }",
        "            suppliers: { type: §script, file: x.js }",
    ),
    "a template that does not close": Case("V3", 'with: { sku: "{{sku}}" }', 'with: { sku: §"{{sku" }'),
    "a pattern that is none": Case(
        "V3", "            lang: { type: string, ", "            lang: { type: string, §pattern: '(', "
    ),
    "an output with mapping and value": Case("V3", 'mapping: "$.id" }', 'mapping: "$.id", §value: x }'),
    "a file that is forwarded": Case(
        "V3",
        '          path: "/items/{sku}"\n',
        '          path: "/items/{sku}"\n          §forward: { targetNamespace: erp }\n',
    ),
    "an input that is called like a control": Case(
        "V3", "            lang: { type", "            §confirm_token: { type"
    ),
    "a default of another type": Case(
        "V3", "            lang: { type: string", "            §lang: { type: string, default: 7"
    ),
    "a value of another type": Case(
        "V3", "            lang: { type: string", "            §lang: { type: string, enum: [1]"
    ),
    "a default that is not allowed": Case(
        "V3", "            lang: { type: string", "            §lang: { type: string, default: a, enum: [b]"
    ),
    "a pattern that looks back": Case(
        "V3", "            lang: { type: string", "            §lang: { type: string, pattern: '(?<!a)b'"
    ),
    "safe and destructive": Case(
        "V3", FLOW + SAFE, "        §" + FLOW.lstrip() + "          semantics: { safe: true, destructive: true }\n"
    ),
    "an example with an unknown reply": Case(
        "V3",
        GET_ITEM,
        GET_ITEM + "          examples:\n            - §{ arguments: { sku: A }, reply: READ_OKAY }\n",
        "READ_OK",
    ),
    "a header that is not a document's to set": Case(
        "V3",
        "            list-suppliers: { method: GET }",
        "            §list-suppliers: { method: GET, inputParameters: { host: { in: header, value: x } } }",
    ),
    # V4
    "a key and another namespace": Case(
        "V4", '      display: "Stock"\n', '      display: "Stock"\n      §namespace: store\n'
    ),
    # V5
    "a namespace for two things": Case(
        "V5", "    - type: mcp\n      namespace: shelf-mcp\n", "    - §type: mcp\n      namespace: erp\n"
    ),
    "a namespace that the office has": Case(
        "V5", "    - type: rest\n      namespace: shelf-rest\n", "    - §type: rest\n      namespace: docs\n"
    ),
    # V6
    "call and steps": Case(
        "V6", GET_ITEM, GET_ITEM + "          §steps: { one: { type: call, call: erp.list-suppliers } }\n"
    ),
    "mappings without steps": Case("V6", GET_ITEM, GET_ITEM + '          §mappings: [{ target: a, value: "$.b" }]\n'),
    "a map of outputs with call": Case("V6", OUTPUT_LIST, "          §outputParameters: { sku: { type: string } }\n"),
    "a list of outputs with steps": Case("V6", OUTPUT_MAP, "          §outputParameters: [{ type: array }]\n"),
    "a mapping in an output with steps": Case(
        "V6", "            sku: { type: string }\n", '            sku: { type: string, §mapping: "$.a" }\n'
    ),
    # V7
    "a flow with a ref": Case("V7", GET_ITEM, GET_ITEM + "          §ref: stock.item-with-supplier\n"),
    # V8
    "a ref to nothing": Case(
        "V8", REST, "            get-item: { §ref: stock.get-itm, method: GET }\n", "stock.get-item"
    ),
    "a ref with a call": Case("V8", TOOL, "        get-item: { ref: stock.get-item, §call: erp.get-item }\n"),
    "a tool that leaves out what its flow needs": Case(
        "V8", TOOL, "        §get-item: { ref: stock.get-item, inputParameters: { lang: {} } }\n"
    ),
    # V9
    "a call of no operation": Case(
        "V9",
        "suppliers: { type: call, call: erp.list-suppliers }",
        "suppliers: { type: call, §call: erp.list-supplier }",
        "erp.list-suppliers",
    ),
    "a call of no namespace": Case(
        "V9",
        "suppliers: { type: call, call: erp.list-suppliers }",
        "suppliers: { type: call, §call: epr.list-suppliers }",
        "erp.list-suppliers",
    ),
    "a flow that calls itself": Case("V9", GET_ITEM, "          §call: stock.get-item\n          with: { sku: sku }\n"),
    "a handler that nobody registered": Case(
        "V9",
        "            suppliers: { type: call, call: erp.list-suppliers }",
        "            §suppliers: { type: handler, handler: never-registered }",
        None,
        "warning",
    ),
    # V10
    "a lookup in no step": Case(
        "V10",
        "            supplier:\n              type: lookup\n              index: suppliers\n",
        "            §supplier:\n              type: lookup\n              index: supliers\n",
        "suppliers",
    ),
    "a mapping from no step": Case("V10", 'value: "$.item.id"', '§value: "$.itm.id"', "item"),
    "a looked up value from no step": Case(
        "V10", 'lookupValue: "$.item.supplierCode"', '§lookupValue: "$.itme.supplierCode"', "item"
    ),
    "a template that names a later step": Case(
        "V10", 'with: { sku: "{{sku}}" }', 'with: { sku: §"{{suppliers.0.id}}" }'
    ),
    # V11
    "something that the operation does not take": Case(
        "V11", "with: { sku: sku }", "with: { sku: sku, lan: §lang }", "lang", "warning"
    ),
    "a variable that nothing gives": Case(
        "V11", 'with: { sku: "{{sku}}" }', 'with: { sku: §"{{skku}}" }', "sku", "warning"
    ),
    "a qualified name that nothing gives": Case(
        "V11", "with: { sku: sku }", "with: { sku: §stock.skku }", "sku", "warning"
    ),
    "the old way to refer": Case("V11", "with: { sku: sku }", "with: { sku: §$this.stock.sku }", None, "warning"),
    "the name of a step as a text": Case(
        "V11",
        "suppliers: { type: call, call: erp.list-suppliers }",
        "suppliers: { type: call, call: erp.get-item, with: { sku: §item } }",
        None,
        "warning",
    ),
    "a path variable that is no input": Case(
        "V11",
        '          path: "/items/{sku}"\n          operations',
        '          §path: "/items/{ksu}"\n          operations',
        "sku",
    ),
    "an example that gives what the flow does not take": Case(
        "V11", GET_ITEM, GET_ITEM + "          examples:\n            - §{ arguments: { skku: A } }\n", "sku"
    ),
    # V12
    "a tool twice": Case(
        "V12",
        "    - type: rest\n",
        "    - { type: mcp, namespace: more, tools: { §get-item: { ref: stock.get-item } } }\n    - type: rest\n",
    ),
    "a route twice": Case(
        "V12",
        REST,
        REST
        + '        again:\n          path: "/items/{lang}"\n'
        + "          operations: { §more: { ref: stock.get-item, method: GET } }\n",
    ),
    "an operation twice": Case(
        "V12", "            list-suppliers: { method: GET }", "            §get-item: { method: GET }"
    ),
    "a method twice on a path": Case("V12", REST, REST + "            again: { ref: stock.get-item, §method: GET }\n"),
    # V14
    "a variable that is not bound": Case(
        "V14",
        'authentication: { type: apikey, key: X-Key, value: "{{ERP_KEY}}"',
        'authentication: §{ type: apikey, key: X-Key, value: "{{ERP_KAY}}"',
        "ERP_KEY",
    ),
    "an environment without it": Case("V14", "keys: { ERP_KEY: ERP_KEY }", "keys: { §ERP_KEY: NOT_THERE }"),
    "a bind from elsewhere": Case(
        "V14", "  - { namespace: env, keys", "  - §{ namespace: env, location: 'vault://secret', keys"
    ),
    # V16
    "a path that is none": Case("V16", 'mapping: "$.price.amount"', '§mapping: "$.price[?"'),
    "a mapping that is no path": Case("V16", 'value: "$.item.id"', '§value: "item.id"'),
    # L1
    "a safe flow by POST": Case(
        "L1", REST, "            §get-item: { ref: stock.get-item, method: POST }\n", None, "warning"
    ),
    "a safe flow that is destructive": Case(
        "L1", TOOL, "        §get-item: { ref: stock.get-item, hints: { destructive: true } }\n", None, "warning"
    ),
    "an idempotent flow that is none": Case(
        "L1", TOOL, "        §get-item: { ref: stock.get-item, hints: { idempotent: false } }\n", None, "warning"
    ),
    # L2
    "an upstream without description": Case(
        "L2",
        '    - type: http\n      namespace: erp\n      description: "ERP"\n',
        "    - §type: http\n      namespace: erp\n",
        None,
        "warning",
    ),
    "a resource without description": Case(
        "L2",
        '        suppliers:\n          path: "/suppliers"\n          description: "All suppliers."\n',
        '        §suppliers:\n          path: "/suppliers"\n',
        None,
        "warning",
    ),
    "an address with a slash": Case(
        "L2", 'baseUri: "http://127.0.0.1:8090/v2"', '§baseUri: "http://127.0.0.1:8090/v2/"', None, "warning"
    ),
    "an address of nobody": Case(
        "L2", 'baseUri: "http://127.0.0.1:8090/v2"', '§baseUri: "https://api.example.com/v2"', None, "warning"
    ),
    "a query in a path": Case("L2", 'path: "/suppliers"', '§path: "/suppliers?all=1"', None, "warning"),
    "a path with a slash": Case(
        "L2",
        '          path: "/items/{sku}"\n          operations',
        '          §path: "/items/{sku}/"\n          operations',
        None,
        "warning",
    ),
    "a script in a description": Case(
        "L2",
        '        get-item:\n          description: "Read one article."',
        '        §get-item:\n          description: "Read <script>alert(1)</script>."',
    ),
    # L3
    "an input that nothing uses": Case(
        "L3", "            lang: { type", "            §tongue: { type", None, "warning"
    ),
    "an input whose place another text takes": Case(
        "L3",
        """\
            sku: { type: string, description: "Article number" }
            lang: { type: string, description: "Language", required: false }
          call: erp.get-item
          with: { sku: sku }
""",
        """\
            §sku: { type: string, description: "Article number" }
            lang: { type: string, description: "Language", required: false }
          call: erp.get-item
          with: { sku: skku }
""",
        None,
        "warning",
    ),
    "alternatives that look like fields": Case(
        "L3",
        "            - type: object\n",
        '            - { type: string, mapping: "$.a" }\n            - §type: object\n',
        None,
        "warning",
    ),
    # L4
    "authentication over stdio": Case(
        "L4",
        "    - type: mcp\n",
        "    - type: mcp\n      transport: stdio\n      §authentication: { type: bearer, token: x }\n",
        None,
        "warning",
    ),
    "control from elsewhere": Case(
        "L4",
        "    - type: mcp\n",
        "    - { type: control, §address: 10.0.0.1, port: 9000 }\n    - type: mcp\n",
        None,
        "warning",
    ),
    # L9
    "a flow without semantics": Case("L9", FLOW + SAFE, "        §" + FLOW.lstrip(), None, "warning"),
}


def test_the_shelf_itself_is_right(tmp_path: Path) -> None:
    assert examined(tmp_path, SHELF).faults == ()


@pytest.mark.requirement("FLOW-02", "FLOW-03", "FLOW-04", "FLOW-11")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_broken_document_is_named_by_rule_and_place(tmp_path: Path, case: Case) -> None:
    paper = broken(case.old, case.new)
    found = examined(tmp_path, paper.text)
    assert (case.severity, paper.line, paper.column) in named(found.faults, case.rule), found.faults
    meant = [one.did_you_mean for one in found.faults if one.rule == case.rule and one.place.line == paper.line]
    if case.meant is not None:
        assert (case.meant,) in meant
    assert found.broken == any(one.severity == "error" for one in found.faults)


@pytest.mark.requirement("FLOW-03")
def test_a_flow_does_something(tmp_path: Path) -> None:
    paper = marked(SHELF.replace("        get-item:\n          desc", "        §get-item:\n          desc", 1))
    outputs = paper.text.index("          call: erp.get-item\n"), paper.text.index("        item-with-supplier:\n")
    text = paper.text[: outputs[0]] + paper.text[outputs[1] :]
    assert named(examined(tmp_path, text).faults, "V6") == [("error", paper.line, paper.column)]


def test_an_address_that_nothing_fills_is_told_at_the_call(tmp_path: Path) -> None:
    paper = broken(
        "            suppliers: { type: call, call: erp.list-suppliers }",
        "            suppliers: { type: call, §call: erp.list-suppliers }",
        SHELF.replace('path: "/suppliers"', 'path: "/suppliers/{region}"'),
    )
    assert named(examined(tmp_path, paper.text).faults, "V11") == [("warning", paper.line, paper.column)]


def test_a_flow_that_nothing_refers_to_is_told_where_it_is(tmp_path: Path) -> None:
    text = SHELF.replace("        item-with-supplier: { ref: stock.item-with-supplier }\n", "")
    line = text[: text.index("        item-with-supplier:")].count("\n") + 1
    assert named(examined(tmp_path, text).faults, "L3") == [("warning", line, 9)]


def test_a_port_is_taken_once(tmp_path: Path) -> None:
    paper = broken(
        "      namespace: shelf-rest\n",
        "      namespace: shelf-rest\n      §port: 3001\n",
        SHELF.replace("      namespace: shelf-mcp\n", "      namespace: shelf-mcp\n      port: 3001\n"),
    )
    assert named(examined(tmp_path, paper.text).faults, "V12") == [("error", paper.line, paper.column)]


def test_stdio_has_no_port_and_control_is_there_once(tmp_path: Path) -> None:
    paper = broken("    - type: mcp\n", "    - type: mcp\n      transport: stdio\n      §port: 3001\n")
    assert named(examined(tmp_path, paper.text).faults, "V12") == [("error", paper.line, paper.column)]
    paper = broken("    - type: mcp\n", "    - { type: control }\n    - §{ type: control }\n    - type: mcp\n")
    assert named(examined(tmp_path, paper.text).faults, "V12") == [("error", paper.line, paper.column)]


def test_a_lookup_needs_a_step_that_has_run(tmp_path: Path) -> None:
    step = "            suppliers: { type: call, call: erp.list-suppliers }\n"
    text = SHELF.replace(step, "").replace(
        "outputParameters: [name, country]\n", f"outputParameters: [name, country]\n{step}"
    )
    paper = broken("            supplier:\n", "            §supplier:\n", text)
    assert named(examined(tmp_path, paper.text).faults, "V10") == [("error", paper.line, paper.column)]


@pytest.mark.shows_text
@pytest.mark.requirement("FLOW-02")
def test_a_duplicate_key_is_told_with_both_lines(tmp_path: Path) -> None:
    again = (
        "        get-item:\n          description: x\n          outputParameters: { a: { type: string, value: b } }\n"
    )
    text = SHELF.replace("        item-with-supplier:\n", again + "        item-with-supplier:\n", 1)
    (fault,) = [one for one in examined(tmp_path, text).faults if one.rule == "V1"]
    first = SHELF[: SHELF.index(FLOW)].count("\n") + 1
    assert fault.place.line > first
    assert f"line {first}" in fault.message
    assert f"line {fault.place.line}" in fault.message


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = SHELF.replace("call: erp.list-suppliers", "call: erp.list-supplier").replace("$.item.id", "$.itm.id")
    text = text.replace("ref: stock.get-item, method", "ref: stock.get-itm, method")
    assert {one.rule for one in examined(tmp_path, text).faults if one.severity == "error"} == {"V8", "V9", "V10"}


def test_without_binds_nothing_is_looked_up(tmp_path: Path) -> None:
    file = written(tmp_path, SHELF)
    assert check(file, {}, {}).broken
    assert not check(file, {}, {}, bound=False).broken


def test_a_secret_shows_in_no_fault_and_no_representation(tmp_path: Path) -> None:
    written(tmp_path, "KEY: [unclosed-secret\n", "secrets.yaml")
    text = SHELF.replace(
        "  - { namespace: env, keys: { ERP_KEY: ERP_KEY } }",
        "  - { namespace: env, location: 'file:///./secrets.yaml', keys: { ERP_KEY: KEY } }",
    )
    found = examined(tmp_path, text)
    assert found.broken
    assert "unclosed-secret" not in repr(found)
    assert ENVIRONMENT["ERP_KEY"] not in repr(examined(tmp_path, SHELF))


def test_a_pattern_that_cannot_be_read_is_complained_about_once(tmp_path: Path) -> None:
    paper = broken('"Language", required: false }', '"Language", required: false, §pattern: "[" }')
    assert named(examined(tmp_path, paper.text).faults, "V3") == [("error", paper.line, paper.column)]
