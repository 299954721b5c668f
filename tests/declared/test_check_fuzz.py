"""Whatever is in a file, the loader says what is wrong with it: it never crashes, and never takes long."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engross.declared.bearing_out import Bearing
from engross.declared.checking import check
from engross.declared.compiling import compiled
from engross.declared.engine import Engine
from engross.declared.fault import Faults
from engross.declared.node import plain
from engross.declared.reading import DEEPEST, HEAVIEST, LARGEST, read
from engross.flows import Aggregate, Catalogue, Semantics
from tests.declared.papers import ENVIRONMENT, SHELF
from tests.declared.test_check_sections import ALONE, IMPORTING, SKILLED, SPEECH

PROMISED = {"other.flow": Semantics()}
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
MARKS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "&a ",
    "*a",
    "!x ",
    "'",
    '"',
    "|",
    ">",
    "%",
    "@",
    "\t",
    "\0",
    "é",
    "? ",
    "{{",
    "$",
    "~",
]
PAPERS = [SHELF, SKILLED, IMPORTING, SPEECH, ALONE]

OTHER = [Aggregate("other", "Other")]


@OTHER[0].read(name="flow", arguments={"type": "object", "properties": {}}, answers=None)
def _flow(reader: object, arguments: object) -> None:
    """Somebody else's flow."""


pytestmark = pytest.mark.requirement("REL-07")


def survives(folder: Path, content: bytes) -> None:
    """A check of these bytes ends with a document, with faults, or with both; every fault has a place in a file."""
    file = folder / "fuzz.yaml"
    file.write_bytes(content)
    found = check(file, PROMISED, ENVIRONMENT)
    assert found.document is not None or found.broken
    if not found.broken and found.document is not None:
        # What passes can be offered.
        bearing = Bearing(found.document, PROMISED)
        Catalogue([*compiled(Engine(bearing.document(), found.binds), bearing), *OTHER])
    for fault in found.faults:
        assert fault.place.line >= 1
        assert fault.place.column >= 1
        assert fault.message


@QUICK
@given(content=some.binary(max_size=400))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    survives(tmp_path_factory.getbasetemp(), content)


@QUICK
@given(content=some.text(alphabet="ab:-[]{}#&*!|>'\"%@`?,\n \t0$~<", max_size=300))
def test_any_text_of_the_characters_that_mean_something(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    survives(tmp_path_factory.getbasetemp(), content.encode())


def mutated(text: str, dice: Random) -> str:
    """A document with a few things changed that one may change by mistake."""
    for _ in range(dice.randint(1, 4)):
        lines = text.split("\n")
        place = dice.randrange(len(text))
        line = dice.randrange(len(lines))
        kind = dice.randrange(6)
        if kind == 0:
            text = text[:place] + dice.choice(MARKS) + text[place:]
        elif kind == 1:
            text = text[:place] + text[place + dice.randint(1, 12) :]
        elif kind == 2:
            lines.insert(line, dice.choice(lines))
            text = "\n".join(lines)
        elif kind == 3:
            lines[line] = dice.choice(["", " ", "  "]) + lines[line]
            text = "\n".join(lines)
        elif kind == 4:
            words = lines[line].split(" ")
            dice.shuffle(words)
            lines[line] = " ".join(words)
            text = "\n".join(lines)
        else:
            name, _, _ = lines[line].partition(":")
            lines[line] = f"{name}: {dice.choice(['[]', '{}', '7', 'null', 'true', '[1, {a: b}]', '{a: {b: c}}', ''])}"
            text = "\n".join(lines)
        text = text or "x"
    return text


@pytest.mark.parametrize("seed", range(5))
def test_documents_with_mistakes(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)
    for _ in range(80):
        survives(tmp_path, mutated(dice.choice(PAPERS), dice).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("part", ["capability", "info", "binds", "consumes", "aggregates", "exposes"])
@pytest.mark.parametrize(
    "value", ["null", "[]", "{}", "7", "text", "[null]", "[{}]", "[[]]", "{a: null}", "{a: {}}", "[{from: x}]"]
)
def test_every_section_may_hold_anything(tmp_path: Path, part: str, value: str) -> None:
    survives(tmp_path, f'ikanos: "1.0.0-beta5"\n{part}: {value}\n'.encode())
    survives(tmp_path, f'ikanos: "1.0.0-beta5"\ncapability:\n  {part}: {value}\n'.encode())


def refused(text: str | bytes) -> Faults:
    """The faults of a text that is not read to its end."""
    faults = Faults()
    assert read(text, "x.yaml", faults) is None
    assert faults.broken
    return faults


def test_a_bomb_of_aliases_does_not_unfold() -> None:
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join(['*' + before] * 10)}]" for before, name in pairwise(names)]
    refused("\n".join(lines))


def test_an_anchor_that_holds_itself_is_refused() -> None:
    refused("a: &a [*a]")
    refused("a: &a { b: *a }")


def test_aliases_that_are_modest_are_read() -> None:
    node = read("a: &a { x: 1 }\nb: *a\nc: [*a, *a]\n", "x.yaml", Faults())
    assert node is not None
    assert plain(node) == {"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}, {"x": 1}]}


@pytest.mark.parametrize(
    "text", ["[" * 5000, "a:\n" * 1 + "".join(" " * n + "a:\n" for n in range(1, 500)), "- " * 5000]
)
def test_what_is_too_deep_is_given_up(text: str) -> None:
    refused(text)


def test_what_lies_deep_behind_aliases_is_given_up() -> None:
    deep = "[" * (DEEPEST - 5) + "]" * (DEEPEST - 5)
    refused(f"a: &a {deep}\nb: [[[[[[[[*a]]]]]]]]\n")


def test_what_is_too_large_is_not_read() -> None:
    refused("x" * (LARGEST + 1))
    wide = "1," * (HEAVIEST // 50)
    refused(f"a: &a [{wide}]\nb: [{'*a,' * 60}]\n")


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = "yes: yes\nno: no\noctal: 010\nmodern: 0o10\nhex: 0x1F\ndate: 2026-01-31\ntime: 12:30:45\n"
    text += 'n: ~\ne: 1e3\nq: "1"\n'
    node = read(text, "x.yaml", Faults())
    assert node is not None
    assert plain(node) == {
        "yes": "yes",
        "no": "no",
        "octal": 10,
        "modern": 8,
        "hex": 31,
        "date": "2026-01-31",
        "time": "12:30:45",
        "n": None,
        "e": 1000.0,
        "q": "1",
    }


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + SHELF.encode())
    assert check(tmp_path / "bom.yaml", {}, ENVIRONMENT).faults == ()
