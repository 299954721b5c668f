"""Constraints: what passes, and with which code the rest does not."""

from __future__ import annotations

import pytest

from engross.octave import List, Literal, Number, OctaveError, Pattern, Value, breach, chain_of, rule_of


def code(value: Value, chain: str) -> str | None:
    found = breach(value, chain_of(chain))
    return None if found is None else found.code


@pytest.mark.parametrize(
    ("chain", "good", "bad", "expected"),
    [
        ("REQ", ["x", 0, False, List()], [None, ""], "E003"),
        ("OPT", ["x", None, ""], [], None),
        ('CONST["5"]', ["5"], [5, "6"], "E004"),
        ("CONST[5]", [5], ["5", 5.0, True], "E004"),
        ("CONST[null]", [None], ["null"], "E004"),
        ("ENUM[ACTIVE,DRAFT]", ["ACTIVE", "DRAFT", "ACT", "D"], ["active", "", "X"], "E005"),
        ("ENUM[ACTIVE,ACTION]", ["ACTIVE", "ACTIO"], ["ACTI", "A"], "E006"),
        ("TYPE[STRING]", ["x", ""], [1, True, None, List()], "E007"),
        ("TYPE[NUMBER]", [1, 1.5, Number("007")], [True, "1", None], "E007"),
        ("TYPE[BOOLEAN]", [True, False], [1, "true"], "E007"),
        ("TYPE[LIST]", [List()], ["x", Pattern("[a∧REQ]")], "E007"),
        ("TYPE[LITERAL]", [Literal("x")], ["x"], "E007"),
        ("LANG[python]", [Literal("x", "Python")], [Literal("x"), Literal("x", "sql"), "x"], "E007"),
        ('REGEX["^u_"]', ["u_1", "u_"], ["x_u_", ""], "E008"),
        ('REGEX["[a-z]+$"]', ["abc"], ["abc1"], "E008"),
        ("DIR", ["/a/b"], ["a\0b"], "E009"),
        ("APPEND_ONLY", [List([1])], ["x", None], "E010"),
        ("RANGE[1,5]", [1, 5, 2.5, "3", Number("1e0")], [0, 6, True, "x", None], "E011"),
        ("MAX_LENGTH[2]", ["ab", List([1])], ["abc", List([1, 2, 3]), 1], "E012"),
        ("MIN_LENGTH[2]", ["ab", List([1, 2])], ["a", List(), 22], "E013"),
        ("DATE", ["2026-02-28"], ["2026-02-30", "2026-2-1", "28.02.2026", 20260228], "E014"),
        (
            "ISO8601",
            ["2026-02-28", "2026-02-28T10:00:00Z", "2026-02-28T10:00+02:00"],
            ["yesterday", "2026-13-01"],
            "E015",
        ),
        ("REQ∧OPT", [], ["x"], "E999"),
        ("CONST[1]∧CONST[2]", [], [1], "E999"),
        ("CONST[A]∧ENUM[B,C]", [], ["A"], "E999"),
    ],
)
def test_a_value_meets_a_constraint_or_has_its_code(
    chain: str, good: list[Value], bad: list[Value], expected: str | None
) -> None:
    assert [code(value, chain) for value in good] == [None] * len(good)
    assert [code(value, chain) for value in bad] == [expected] * len(bad)


def test_a_chain_ends_with_its_first_failure() -> None:
    assert code("", "REQ∧TYPE[NUMBER]") == "E003"
    assert code("x", "REQ∧TYPE[NUMBER]") == "E007"


def test_blanks_may_stand_between_constraints_and_parentheses_around_a_type() -> None:
    assert chain_of("REQ TYPE(STRING) MAX_LENGTH[5]") == chain_of("REQ∧TYPE[STRING]∧MAX_LENGTH[5]")


@pytest.mark.parametrize(
    "chain",
    [
        "FOO",
        "REQ[1]",
        "ENUM",
        "TYPE[THING]",
        'REGEX["("]',
        "RANGE[5,1]",
        "RANGE[1]",
        "MAX_LENGTH[x]",
        "MAX_LENGTH[-1]",
        "LANG[]",
        "CONST[1,2]",
    ],
)
def test_a_constraint_that_cannot_be_used_is_refused(chain: str) -> None:
    with pytest.raises(OctaveError) as caught:
        chain_of(chain)
    assert caught.value.code in ("E_CONSTRAINT", "E005")


def test_a_pattern_is_taken_apart() -> None:
    rule = rule_of('["u_1"∧REQ∧ENUM[a,"b c"]∧REGEX["^a\\\\d"]→§A\N{LOGICAL OR}§B]')
    assert rule.example == "u_1"
    assert [str(constraint) for constraint in rule.constraints] == ["REQ", 'ENUM[a,"b c"]', 'REGEX["^a\\\\d"]']
    assert rule.targets == ("A", "B")
    assert rule.required
    assert rule_of('[["a","b"]∧OPT]').example == List(["a", "b"])
