"""The two shapes of a document, its sections, imports, binds, skills, and lints that look at the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from engross.declared.checking import check, checked
from engross.declared.fault import BadDocument
from engross.declared.model import Constant, McpExposes, Reference, Template
from engross.flows import Semantics
from tests.declared.papers import ENVIRONMENT, SHELF, broken, examined, marked, named, written

MAP = """\
ikanos: "1.0.0-beta5"
capability:
  aggregates:
    words:
      display: "Words"
      flows:
        greet:
          description: "Greet."
          semantics: { safe: true }
          inputParameters: { name: { type: string, description: "Whom" } }
          outputParameters: { greeting: { type: string, value: "Hello, {{name}}" } }
"""
LIST = MAP.replace("    words:\n      display", "    - namespace: words\n      display")
ALONE = """\
ikanos: "1.0.0-beta5"
aggregates:
  - namespace: words
    display: "Words"
    flows:
      greet:
        description: "Greet."
        semantics: { safe: true }
        inputParameters: { name: { type: string, description: "Whom" } }
        call: speech.say
        with: { text: words.name }
"""
SPEECH = """\
ikanos: "1.0.0-beta5"
consumes:
  - type: http
    namespace: speech
    description: "Speech"
    baseUri: "https://speech.internal"
    resources:
      say:
        path: "/say"
        description: "Say"
        operations:
          say: { method: GET, inputParameters: { text: { in: query } } }
"""
IMPORTING = """\
ikanos: "1.0.0-beta5"
capability:
  consumes:
    - { from: speech.yaml, import: speech }
  aggregates:
    - { from: words.yaml, import: words, as: phrases }
  exposes:
    - { type: mcp, namespace: talk, tools: { greet: { ref: phrases.greet } } }
"""


@pytest.mark.requirement("FLOW-01")
@pytest.mark.parametrize("text", [MAP, LIST], ids=["map", "list"])
def test_aggregates_are_a_map_or_a_list(tmp_path: Path, text: str) -> None:
    found = examined(tmp_path, text)
    assert found.faults == ()
    assert found.document is not None
    assert [flow.ref for flow in found.document.flows()] == ["words.greet"]


@pytest.mark.requirement("FLOW-01")
def test_a_section_alone_is_a_document_and_may_call_what_its_importer_consumes(tmp_path: Path) -> None:
    file = written(tmp_path, ALONE, "words.yaml")
    assert check(file).faults == ()
    with pytest.raises(BadDocument) as bad:
        checked(file)
    assert [fault.rule for fault in bad.value.faults] == ["V9"]


@pytest.mark.requirement("FLOW-01")
def test_a_list_needs_namespaces_and_each_once(tmp_path: Path) -> None:
    paper = marked(LIST.replace("    - namespace: words\n      display", "    - §display"))
    assert named(examined(tmp_path, paper.text).faults, "V4") == [("error", paper.line, paper.column)]
    again = LIST[LIST.index("    - namespace") :].replace("- namespace", "- §namespace")
    paper = marked(LIST + again)
    assert named(examined(tmp_path, paper.text).faults, "V4") == [("error", paper.line, paper.column)]


def test_the_two_shapes_do_not_mix(tmp_path: Path) -> None:
    paper = marked(ALONE + "§exposes:\n  - { type: mcp, namespace: talk, tools: { greet: { ref: words.greet } } }\n")
    assert named(examined(tmp_path, paper.text).faults, "V2") == [("error", paper.line, paper.column)]
    assert named(examined(tmp_path, 'ikanos: "1.0.0-beta5"\n').faults, "V2") == [("error", 1, 1)]
    assert named(examined(tmp_path, 'ikanos: "1.0.0-beta5"\ncapability: { binds: [] }\n').faults, "V2")


def test_lists_with_names_inside_are_read_with_a_warning(tmp_path: Path) -> None:
    text = MAP.replace("        greet:\n          description", "        - name: greet\n          description")
    found = examined(tmp_path, text)
    assert not found.broken
    assert [(one.rule, one.severity) for one in found.faults] == [("V3", "warning")]
    assert found.document is not None
    assert found.document.flow("words.greet") is not None


class TestImports:
    """What a document takes from other files."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A folder with two sections."""
        written(tmp_path, ALONE, "words.yaml")
        written(tmp_path, SPEECH, "speech.yaml")
        return tmp_path

    def test_an_imported_aggregate_is_called_by_its_new_name_and_knows_its_old_one(self, folder: Path) -> None:
        found = examined(folder, IMPORTING)
        assert found.faults == ()
        assert found.document is not None
        flow = found.document.flow("phrases.greet")
        assert flow is not None
        assert flow.given["text"] == Reference(("name",), flow.given["text"].place)
        assert flow.given["text"].place.file.endswith("words.yaml")
        assert {source.name for source in found.document.sources} == {"shelf.yaml", "words.yaml", "speech.yaml"}

    def test_the_digest_covers_what_is_imported(self, folder: Path) -> None:
        before = examined(folder, IMPORTING).document
        written(folder, SPEECH.replace('"Say"', '"Say it"'), "speech.yaml")
        after = examined(folder, IMPORTING).document
        assert before is not None
        assert after is not None
        assert before.digest != after.digest

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("from: words.yaml", "§from: wrods.yaml"),
            ("import: words", "§import: wrods"),
            ("from: words.yaml", "§from: speech.yaml"),
            ("from: speech.yaml, import", "§from: 'empty.yaml', import"),
            ("{ from: words.yaml", "{ §location: x, from: words.yaml"),
        ],
    )
    def test_an_import_that_finds_nothing_is_named(self, folder: Path, old: str, new: str) -> None:
        written(folder, "", "empty.yaml")
        paper = broken(old, new, IMPORTING)
        found = examined(folder, paper.text)
        assert ("error", paper.line, paper.column) in named(found.faults, "V13"), found.faults

    def test_two_imports_of_one_name_need_another_name(self, folder: Path) -> None:
        entry = "    - { from: words.yaml, import: words, as: phrases }\n"
        paper = broken(entry, entry + entry.replace("{ from", "§{ from"), IMPORTING)
        assert named(examined(folder, paper.text).faults, "V13") == [("error", paper.line, paper.column)]

    def test_under_a_key_an_import_is_called_by_the_key(self, folder: Path) -> None:
        text = IMPORTING.replace(
            "    - { from: words.yaml, import: words, as: phrases }", "    phrases: { from: words.yaml, import: words }"
        )
        assert examined(folder, text).faults == ()
        paper = marked(text.replace("import: words }", "import: words, §as: other }"))
        assert named(examined(folder, paper.text).faults, "V13") == [("error", paper.line, paper.column)]

    def test_what_is_wrong_in_an_imported_file_is_told_with_its_place(self, folder: Path) -> None:
        paper = marked(SPEECH.replace("method: GET", "method: §FETCH"))
        written(folder, paper.text, "speech.yaml")
        (fault,) = [one for one in examined(folder, IMPORTING).faults if one.rule == "V3"]
        assert fault.place.file.endswith("speech.yaml")
        assert (fault.place.line, fault.place.column) == (paper.line, paper.column)


class TestBinds:
    """Values from elsewhere."""

    def test_binds_come_from_files_beside_the_document(self, tmp_path: Path) -> None:
        written(tmp_path, "KEY: 0017\nOTHER: {a: 1}\n", "secrets.yaml")
        where = "location: 'file:///./secrets.yaml', keys: { ERP_KEY: KEY }"
        found = examined(tmp_path, SHELF.replace("keys: { ERP_KEY: ERP_KEY }", where))
        assert found.faults == ()
        assert (found.binds.value("ERP_KEY"), found.binds.value("env.ERP_KEY")) == ("0017", "0017")
        assert found.binds.secrets == ("0017",)
        assert "0017" not in repr(found.binds)

    def test_binds_of_the_capability_and_beside_it_are_both_read(self, tmp_path: Path) -> None:
        text = SHELF.replace("capability:\n", "capability:\n  binds: [{ namespace: more, keys: { TWO: TWO } }]\n")
        found = check(written(tmp_path, text), {}, {**ENVIRONMENT, "TWO": "two"})
        assert found.faults == ()
        assert found.binds.value("more.TWO") == "two"

    def test_a_variable_of_two_namespaces_needs_its_namespace(self, tmp_path: Path) -> None:
        text = SHELF.replace(
            "  - { namespace: env, keys: { ERP_KEY: ERP_KEY } }",
            "  - { namespace: env, keys: { ERP_KEY: ERP_KEY } }\n  - { namespace: also, keys: { ERP_KEY: ERP_KEY } }",
        )
        assert [one.rule for one in examined(tmp_path, text).faults] == ["V14"]
        assert examined(tmp_path, text.replace("{{ERP_KEY}}", "{{also.ERP_KEY}}")).faults == ()

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        paper = broken(
            "  - { namespace: env, keys: { ERP_KEY: ERP_KEY } }",
            "  - §{ namespace: env, location: 'file:///./gone.yaml', keys: { ERP_KEY: ERP_KEY } }",
        )
        assert named(examined(tmp_path, paper.text).faults, "V14") == [("error", paper.line, paper.column)]


SKILLED = (
    SHELF
    + """\
    - type: skill
      namespace: shelf-skills
      skills:
        reading:
          description: "Read articles."
          location: "file:///./skills/reading"
          tools:
            get-item: { description: "Read one.", from: { sourceNamespace: shelf-mcp, action: get-item } }
            by-rest: { description: "Read one.", from: { sourceNamespace: shelf-rest, action: get-item } }
            how: { description: "How to.", instruction: how.md }
"""
)


class TestSkills:
    """V15."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A folder with the files of the skill."""
        written(tmp_path, "Read it.", "skills/reading/how.md")
        return tmp_path

    def test_a_skill_that_is_right(self, folder: Path) -> None:
        assert examined(folder, SKILLED).faults == ()

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('how: { description: "How to.", instruction: how.md }', '§how: { description: "How to." }'),
            (
                'how: { description: "How to.", instruction: how.md }',
                '§how: { description: "How to.", instruction: how.md, from: { sourceNamespace: a, action: b } }',
            ),
            ("from: { sourceNamespace: shelf-mcp", "§from: { sourceNamespace: shelf-mpc"),
            (
                "from: { sourceNamespace: shelf-mcp, action: get-item }",
                "§from: { sourceNamespace: shelf-mcp, action: x }",
            ),
            ("instruction: how.md", "§instruction: ../../shelf.yaml"),
            ("        reading:\n", "        §reading:\n"),
            ('          location: "file:///./skills/reading"\n', ""),
        ],
    )
    def test_a_skill_that_is_wrong_is_named(self, folder: Path, old: str, new: str) -> None:
        text = SKILLED
        if "reading:" in new:
            text = text.replace("skills/reading", "skills/writing")
        if not new:
            text, old, new = text.replace(old, ""), "instruction: how.md", "§instruction: how.md"
        paper = broken(old, new, text)
        found = examined(folder, paper.text)
        assert ("error", paper.line, paper.column) in named(found.faults, "V15"), found.faults


@pytest.mark.requirement("FLOW-14")
class TestWhenToIntroduceAnAggregate:
    """L5 to L9."""

    STEPS = "{ one: { type: call, call: erp.list-suppliers } }"

    def test_steps_that_repeat(self, tmp_path: Path) -> None:
        tools = (
            f'        first: {{ description: "a", steps: {self.STEPS} }}\n'
            f'        §second: {{ description: "b", steps: {self.STEPS} }}\n'
        )
        paper = broken("        get-item: { ref: stock.get-item }\n", tools)
        assert named(examined(tmp_path, paper.text).faults, "L5") == [("warning", paper.line, paper.column)]

    def test_a_tool_and_an_operation_that_do_the_same(self, tmp_path: Path) -> None:
        tool = '        get-item: { description: "a", call: erp.list-suppliers }\n'
        text = SHELF.replace("        get-item: { ref: stock.get-item }\n", tool)
        paper = broken(
            "            get-item: { ref: stock.get-item, method: GET }\n",
            '            §get-item: { description: "a", call: erp.list-suppliers, method: GET }\n',
            text.replace('path: "/items/{sku}"', 'path: "/items"'),
        )
        assert named(examined(tmp_path, paper.text).faults, "L6") == [("warning", paper.line, paper.column)]

    def test_hints_that_repeat(self, tmp_path: Path) -> None:
        paper = broken(
            "item-with-supplier: { ref: stock.item-with-supplier }",
            "§item-with-supplier: { ref: stock.item-with-supplier, hints: { readOnly: true } }",
            SHELF.replace("{ ref: stock.get-item }", "{ ref: stock.get-item, hints: { readOnly: true } }"),
        )
        assert named(examined(tmp_path, paper.text).faults, "L7") == [("warning", paper.line, paper.column)]

    def test_more_than_five_steps(self, tmp_path: Path) -> None:
        step = "            more-{}: {{ type: call, call: erp.list-suppliers }}\n"
        more = "".join(step.format(number) for number in range(3))
        text = SHELF.replace("            item: { type: call", f"{more}            item: {{ type: call")
        paper = broken("        item-with-supplier:\n", "        §item-with-supplier:\n", text)
        assert named(examined(tmp_path, paper.text).faults, "L8") == [("warning", paper.line, paper.column)]

    def test_semantics_that_are_missing(self, tmp_path: Path) -> None:
        found = examined(tmp_path, MAP.replace("          semantics: { safe: true }\n", ""))
        assert [(one.rule, one.severity) for one in found.faults] == [("L9", "warning")]


class TestWith:
    """What a value in `with` means (a name of an input, a template, a text)."""

    def values(self, folder: Path, given: str) -> dict[str, object]:
        """The values of `with` on the first flow."""
        found = examined(folder, SHELF.replace("with: { sku: sku }", f"with: {given}"))
        assert found.document is not None
        flow = found.document.flow("stock.get-item")
        assert flow is not None
        return dict(flow.given)

    @pytest.mark.requirement("FLOW-03")
    def test_a_name_of_an_input_refers_to_it_in_each_spelling(self, tmp_path: Path) -> None:
        found = self.values(tmp_path, '{ sku: sku, lang: stock.lang, a: "{{sku}}", b: "{{ lang }}", c: "{{{sku}}}" }')
        assert [one.path for one in found.values() if isinstance(one, Reference)] == [
            ("sku",),
            ("lang",),
            ("sku",),
            ("lang",),
            ("sku",),
        ]

    def test_anything_else_is_a_text_or_a_template(self, tmp_path: Path) -> None:
        found = self.values(tmp_path, '{ sku: test-db-id-123, lang: "x-{{sku}}", n: 5, t: true, o: { a: [1, "b"] } }')
        assert [one.value for one in found.values() if isinstance(one, Constant)] == [
            "test-db-id-123",
            5,
            True,
            {"a": [1, "b"]},
        ]
        assert isinstance(found["lang"], Template)


@pytest.mark.requirement("FLOW-08")
def test_a_tool_inherits_the_fields_of_inputs_that_it_leaves_out(tmp_path: Path) -> None:
    tool = "        get-item: { ref: stock.get-item, inputParameters: { sku: { description: Number } } }\n"
    found = examined(tmp_path, SHELF.replace("        get-item: { ref: stock.get-item }\n", tool))
    assert found.faults == ()
    assert found.document is not None
    exposes = found.document.exposes["shelf-mcp"]
    assert isinstance(exposes, McpExposes)
    (own,) = exposes.tools["get-item"].offer.inputs.values()
    assert (own.type, own.description, own.required) == ("string", "Number", True)


def test_a_ref_may_name_a_flow_of_the_office(tmp_path: Path) -> None:
    text = SHELF.replace("        get-item: { ref: stock.get-item }\n", "        book: { ref: shelf.count-books }\n")
    assert not check(written(tmp_path, text), {"shelf.count-books": Semantics()}, ENVIRONMENT).broken
    (fault,) = [
        one
        for one in check(written(tmp_path, text), {"shelf.count-book": Semantics()}, ENVIRONMENT).faults
        if one.rule == "V8"
    ]
    assert fault.did_you_mean == ("shelf.count-book",)


OFFICE = {"shelf.add-book": Semantics(), "shelf.get-book": Semantics(safe=True, idempotent=True)}


@pytest.mark.requirement("FLOW-11")
@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        ("{ ref: stock.get-item, method: GET }", "{ ref: shelf.add-book, method: GET }", True),
        ("{ ref: stock.get-item, method: GET }", "{ ref: shelf.get-book, method: DELETE }", True),
        ("{ ref: stock.get-item, method: GET }", "{ ref: shelf.get-book, method: GET }", False),
        ("{ ref: stock.get-item, method: GET }", "{ ref: shelf.add-book, method: POST }", False),
        ("{ ref: stock.get-item }", "{ ref: shelf.add-book, hints: { readOnly: true } }", True),
        ("{ ref: stock.get-item }", "{ ref: shelf.get-book, hints: { readOnly: true } }", False),
        (
            "call: erp.get-item\n          with: { sku: sku }",
            "call: shelf.add-book\n          with: { title: sku }",
            True,
        ),
        (
            "call: erp.get-item\n          with: { sku: sku }",
            "call: shelf.get-book\n          with: { id: sku }",
            False,
        ),
    ],
)
def test_what_is_said_of_a_flow_of_the_office_is_held_against_what_it_promises(
    tmp_path: Path, before: str, after: str, is_told: bool
) -> None:
    assert before in SHELF
    found = check(written(tmp_path, SHELF.replace(before, after, 1)), OFFICE, ENVIRONMENT)
    assert not found.broken
    assert [one.rule for one in found.faults if one.rule == "L1"] == ["L1"] * is_told


def test_a_resource_that_calls_what_is_not_safe_is_told_before_an_office_refuses_it(tmp_path: Path) -> None:
    exposed = """\
    - type: mcp
      namespace: looked-up
      resources:
        all: {{ display: "All", uri: "shelf://all", description: "All of it.", call: {0} }}
"""
    texts = {ref: SHELF + exposed.format(ref) for ref in OFFICE}
    found = {ref: check(written(tmp_path, text), OFFICE, ENVIRONMENT) for ref, text in texts.items()}
    assert not found["shelf.get-book"].broken
    line = texts["shelf.add-book"].count("\n")
    assert named(found["shelf.add-book"].faults, "V3") == [("error", line, 9)]


RING = """\
ikanos: "1.0.0-beta5"
capability:
  aggregates:
    ring:
      display: Ring
      flows:
"""
LINK = """\
        {name}:
          description: "x"
          semantics: {{ safe: true }}
          {mark}call: ring.{next}
"""
END = """\
        end:
          description: "x"
          semantics: { safe: true }
          outputParameters: { a: { type: string, value: b } }
"""


RINGED = [("a", "b", ""), ("b", "c", ""), ("c", "a", "§")]


def test_flows_that_call_each_other_in_a_circle_are_told(tmp_path: Path) -> None:
    flows = [LINK.format(name=name, next=after, mark=mark) for name, after, mark in RINGED]
    paper = marked(RING + "".join(flows))
    found = examined(tmp_path, paper.text)
    assert named(found.faults, "V9") == [("error", paper.line, paper.column)]


def test_a_long_chain_of_flows_is_no_circle(tmp_path: Path) -> None:
    links = [LINK.format(name=f"f{number}", next=f"f{number + 1}", mark="") for number in range(400)]
    text = RING + "".join(links).replace("ring.f400", "ring.end") + END
    assert examined(tmp_path, text).faults == ()
