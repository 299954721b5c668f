"""Templates and paths: what they mean, what they refuse, and that nothing breaks them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, unquote
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.declared.jsonpath import PathError, compiled
from engross.declared.lookup import Index, chosen
from engross.declared.model import MISSING
from engross.declared.pen import FormPen, HeaderPen, JsonPen, PathPen, Unwritable, XmlPen
from engross.declared.template import compiled as template
from engross.declared.template import path_template

SCOPE: dict[str, Any] = {
    "a": "A",
    "n": 5,
    "f": 5.0,
    "t": True,
    "none": None,
    "list": [1, {"k": "v"}],
    "a.b": "literal",
    "step-a": {"id": 7, "tags": ["p", "q"]},
    "rows": [{"n": 1}, {"n": 2}],
    "braces": "{{a}}",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{a}} {{ a }} {{{a}}} {{&a}}", "A A A A"),
        ("{{n}} {{f}} {{t}} {{none}}{{missing}}", "5 5.0 true "),
        ("{{list}}", '[1,{"k":"v"}]'),
        ("{{step-a.id}} {{step-a.tags.1}} {{step-a.tags.9}}", "7 q "),
        ("{{a.b}}", "literal"),
        ("{{#rows}}<{{n}}{{a}}>{{/rows}}", "<1A><2A>"),
        ("{{^missing}}none{{/missing}}{{#missing}}some{{/missing}}", "none"),
        ("{{#t}}yes{{/t}}{{#step-a}}{{id}}{{/step-a}}", "yes7"),
        ("{{#list}}[{{.}}]{{/list}}", '[1][{"k":"v"}]'),
        ("{{! a comment }}x", "x"),
        ("{{=<% %>=}}<%a%> {{a}}", "A {{a}}"),
        ("{{braces}}", "{{a}}"),
        ("no variables", "no variables"),
        ("", ""),
        ("{single} } }} {", "{single} } }} {"),
    ],
)
def test_a_template_means_what_mustache_says(text: str, expected: str) -> None:
    assert template(text).render(SCOPE) == expected


@pytest.mark.parametrize(
    "text", ["{{", "{{a", "{{}}", "{{>p}}", "{{#a}}", "{{/a}}", "{{#a}}{{/b}}", "{{=x=}}", "{{a b}}"]
)
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        template(text)


def test_a_path_takes_single_braces_too() -> None:
    assert path_template("/a/{n}/{{a}}").render(SCOPE, PathPen) == "/a/5/A"
    assert path_template("/a/{n}").variables == {"n"}


@given(st.text())
def test_any_text_stays_inside_its_place(text: str) -> None:
    scope = {"x": text}
    if not any("\ud800" <= mark <= "\udfff" for mark in text):
        assert json.loads(template('{"a":"<{{x}}>","b":{{x}}}').render(scope, JsonPen)) == {"a": f"<{text}>", "b": text}
        assert parse_qsl(template("a={{x}}&b=1").render(scope, FormPen), True) == [("a", text), ("b", "1")]
        try:
            path = template("/p/{{x}}/q").render(scope, PathPen)
        except Unwritable:
            assert text in ("", ".", "..")
        else:
            assert [unquote(part) for part in path.split("/")] == ["", "p", text, "q"]
    try:
        written = template("<a b='{{x}}'>{{x}}</a>").render(scope, XmlPen)
    except Unwritable:
        return
    root = fromstring(written)
    # Only line ends are XML's own to change.
    assert (root.text or "").replace("\n", "") == text.replace("\r\n", "").replace("\r", "").replace("\n", "")
    assert len(root) == 0


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_a_header_stays_one_line(text: str) -> None:
    try:
        line = template("v {{x}}").render({"x": text}, HeaderPen)
    except Unwritable:
        return
    assert not set(line) & {"\r", "\n", "\0"}


@given(st.text(alphabet="{}#^/&!>=ab. \n"))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    try:
        template(text).render(SCOPE)
    except ValueError:
        return


DATA: dict[str, Any] = {
    "get-item": {"sku": 1, "tags": ["a", "b"], "supplier code": 7, "rows": [{"a": 1}, {"b": 2}, {"a": 3}]},
    "x": None,
    "1": "one",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", DATA),
        ("$.", DATA),
        ("$.x", None),
        ("$.gone", MISSING),
        ("get-item.sku", 1),
        ("$.get-item.tags[-1]", "b"),
        ("$.get-item.tags[5]", MISSING),
        ("$.get-item.supplier code", 7),
        ("$['get-item'][\"sku\"]", 1),
        ("$.get-item.rows[*].a", [1, 3]),
        ("$.get-item.rows[0:2].a", [1]),
        ("$.get-item.rows[0,2].a", [1, 3]),
        ("$..a", [1, 3]),
        ("$.get-item.rows[?@.a > 1]", [{"a": 3}]),
        ("$.get-item.rows[?@.b].b", [2]),
        ("$.get-item.tags[?search(@, '^a')]", ["a"]),
        ("$.1", "one"),
        ("$.gone[*].a", []),
        ("$.x.y", MISSING),
    ],
)
def test_a_path_finds_what_rfc_9535_says(path: str, expected: object) -> None:
    assert compiled(path).find(DATA) == expected


@pytest.mark.parametrize(
    "path",
    ["", " ", "$.[", "$.a[", "$.a[?", "$.a.length()", "$..", "$.a[01]", "$['a", "$$", "$.a[?@.b==]", "[[", "$a", "."],
)
def test_what_is_no_path_is_refused_with_a_reason(path: str) -> None:
    with pytest.raises(PathError, match=r"\w"):
        compiled(path)


def test_a_path_knows_the_step_it_starts_from() -> None:
    assert [compiled(path).first for path in ("$.item.x", "item.x[*]", "$['item'][?@.a]", "$..x", "$[*]", "$")] == [
        "item",
        "item",
        "item",
        None,
        None,
        None,
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.requirement("REL-07")
@given(st.text(alphabet="$.[]*?@:,'\"()&|!<>=-abc019 \\", max_size=40) | st.text(max_size=20), VALUES)
def test_any_text_is_a_path_that_finds_something_or_nothing_or_is_refused(text: str, value: Any) -> None:
    try:
        path = compiled(text)
    except PathError:
        return
    found = path.find(value)
    assert path.singular or isinstance(found, list)


@pytest.mark.requirement("REL-07")
@pytest.mark.parametrize(
    "text",
    [
        "$" + ".a" * 1500,
        "$" + "[0]" * 1000,
        "$..a" * 800,
        "$[?" + "(" * 1500,
        "$[?" + "!" * 1500,
        "$['" + "x" * 3000,
        "$" * 5000,
    ],
    ids=lambda text: text[:6],
)
def test_long_paths_do_not_crash(text: str) -> None:
    try:
        compiled(text).find({"a": [1]})
    except PathError:
        return


@pytest.mark.requirement("REL-07")
def test_a_path_into_something_deep_is_an_error_and_no_crash() -> None:
    deep: Any = 1
    for _ in range(2000):
        deep = {"a": deep}
    with pytest.raises(PathError):
        compiled("$..b").find(deep)


@pytest.mark.requirement("REL-07")
@given(VALUES, st.lists(st.sampled_from("abc") | st.integers(-2, 2), max_size=4))
def test_the_quick_way_and_the_library_find_the_same(value: Any, parts: list[Any]) -> None:
    from jsonpath_rfc9535 import find

    dotted = "$" + "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in parts)
    expected = find(dotted, value).values()
    assert compiled(dotted).find(value) == (expected[0] if expected else MISSING)


def test_an_index_compares_texts_and_the_first_wins() -> None:
    rows = [
        {"k": 5, "v": "five"},
        {"k": "5", "v": "late"},
        {"k": True, "v": "yes"},
        {"v": "none"},
        "odd",
        {"k": [1], "v": "l"},
    ]
    index = Index(rows, "k")
    assert [(index.find(key) or {}).get("v") for key in (5, "5", True, "true", [1], None, 6)] == [
        "five",
        "five",
        "yes",
        "yes",
        "l",
        None,
        None,
    ]
    assert chosen({"a": 1}, ["a", "b"]) == {"a": 1, "b": None}
    assert Index({"k": 1, "v": 2}, "k").find("1") == {"k": 1, "v": 2}
